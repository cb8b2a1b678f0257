-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = "secret"
-- $4 = "atlas"
-- $5 = "secret"
-- $6 = "atlas"
-- $7 = ["Atlas","Borealis"]
-- $8 = "731"
-- $9 = "staff"
-- $10 = ["Atlas","Borealis"]
-- $11 = "731"
-- $12 = "secret"
-- $13 = "atlas"
-- $14 = ["atlas","borealis"]
-- $15 = ["Atlas","Borealis"]
-- $16 = "731"
-- $17 = "staff"
-- $18 = "staff"
-- $19 = ["atlas","borealis"]
-- $20 = ["Atlas","Borealis"]
-- $21 = "731"
-- $22 = "secret"
-- $23 = "atlas"
-- $24 = 6
-- $25 = ["Atlas","Borealis"]
-- $26 = "731"
/* max people company.name:eq */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), o AS MATERIALIZED (SELECT count(*) > 20 AS many FROM (SELECT FROM (SELECT r1.* FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
ORDER BY r1.id
LIMIT 1000) r1
WHERE (r1."status" <> $3::text
AND r1."name_k" = $4::text)
LIMIT 21) x), f AS MATERIALIZED (SELECT r2.id FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND (r2."status" <> $5::text
AND r2."name_k" = $6::text)), few AS MATERIALIZED (SELECT CASE WHEN (SELECT g.fresh FROM g)
AND NOT o.many THEN ARRAY(SELECT f.id FROM f
LIMIT 1001) END AS ids FROM o), near AS MATERIALIZED (SELECT CASE WHEN cardinality(few.ids) <= 1000 THEN ARRAY(SELECT w.id FROM "data"."people" w
WHERE w.organization_id = $1::bigint
AND w."company_id" = ANY(few.ids)
LIMIT 20001) END AS ids FROM few), s AS MATERIALIZED (SELECT (cardinality(near.ids) <= 20000) IS TRUE AS few FROM near), m AS MATERIALIZED (WITH read AS MATERIALIZED (SELECT p.id FROM (SELECT p.* FROM (SELECT p.* FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (SELECT o.many FROM o)
ORDER BY p.id
LIMIT 300000) p
WHERE TRUE
AND (EXISTS (SELECT 1 FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = p."company_id"
AND r3."name" = ANY($7::text[]) OFFSET 0) OR p."owner_id" = $8::bigint OR p."status" = $9::text)
AND (EXISTS (SELECT 1 FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = p."company_id"
AND r4."name" = ANY($10::text[]) OFFSET 0) OR p."owner_id" = $11::bigint)
ORDER BY p.id
LIMIT 30000) p
WHERE TRUE
AND EXISTS (SELECT 1 FROM "data"."companies" r5
WHERE r5.organization_id = $1::bigint
AND r5.id = p."company_id"
AND (r5."status" <> $12::text
AND r5."name_k" = $13::text) OFFSET 0)
ORDER BY p.id
LIMIT 1001), enough AS MATERIALIZED (SELECT count(*) >= 1001 AS yes FROM read) (SELECT p.id FROM "data"."people" p
WHERE (SELECT s.few FROM s)
AND p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p.id = ANY((SELECT near.ids FROM near)::bigint[])
AND (EXISTS (SELECT 1 FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = p."company_id"
AND r3."name" = ANY($7::text[]) OFFSET 0) OR p."owner_id" = $8::bigint OR p."status" = $9::text)
AND (EXISTS (SELECT 1 FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = p."company_id"
AND r4."name" = ANY($10::text[]) OFFSET 0) OR p."owner_id" = $11::bigint)
ORDER BY p.id
LIMIT 1001) UNION ALL SELECT * FROM read
WHERE (SELECT enough.yes FROM enough) UNION ALL (SELECT p.id FROM (SELECT p.* FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (EXISTS (SELECT 1 FROM "data"."companies" r6
WHERE r6.organization_id = $1::bigint
AND r6.id = p."company_id"
AND (r6."name_k" = ANY($14::text[])
AND CASE WHEN r6."name" = ANY($15::text[]) THEN TRUE END)) OR p."owner_id" = $16::bigint OR (p."status_k" = $17::text
AND CASE WHEN p."status" = $18::text THEN TRUE END))
AND (EXISTS (SELECT 1 FROM "data"."companies" r7
WHERE r7.organization_id = $1::bigint
AND r7.id = p."company_id"
AND (r7."name_k" = ANY($19::text[])
AND CASE WHEN r7."name" = ANY($20::text[]) THEN TRUE END)) OR p."owner_id" = $21::bigint)
AND EXISTS (SELECT 1 FROM "data"."companies" r8
WHERE r8.organization_id = $1::bigint
AND r8.id = p."company_id"
AND (r8."status" <> $22::text
AND r8."name_k" = $23::text))
AND (SELECT NOT s.few FROM s)
AND (SELECT NOT enough.yes FROM enough) OFFSET 0) p
ORDER BY p.id
LIMIT 1001)
ORDER BY id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, CASE WHEN (EXISTS (SELECT 1 FROM "data"."companies" r9
WHERE r9.organization_id = $1::bigint
AND r9.id = p."company_id"
AND r9."name" = ANY($25::text[]) OFFSET 0) OR p."owner_id" = $26::bigint) THEN p."status" END AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $24::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.id
