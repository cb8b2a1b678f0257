-- pool: lookup
-- $1 = "1n"
-- $2 = "7n"
-- $3 = ["Atlas","Borealis"]
-- $4 = "731"
-- $5 = "staff"
-- $6 = ["Atlas","Borealis"]
-- $7 = "731"
-- $8 = "a@b"
-- $9 = 6
-- $10 = ["Atlas","Borealis"]
-- $11 = "731"
-- $12 = "vip"
-- $13 = "secret"
-- $14 = ["Atlas","Borealis"]
-- $15 = "731"
-- $16 = ["Atlas","Borealis"]
-- $17 = "731"
/* max people email:eq */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (EXISTS (SELECT 1 FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."company_id"
AND r1."name" = ANY($3::text[]) OFFSET 0) OR p."owner_id" = $4::bigint OR p."status" = $5::text)
AND ((EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = p."company_id"
AND r2."name" = ANY($6::text[]) OFFSET 0) OR p."owner_id" = $7::bigint)
AND p."email_k" = $8::text)
ORDER BY p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, CASE WHEN (EXISTS (SELECT 1 FROM "data"."companies" r6
WHERE r6.organization_id = $1::bigint
AND r6.id = p."company_id"
AND r6."name" = ANY($16::text[]) OFFSET 0) OR p."owner_id" = $17::bigint) THEN p."status" END AS status, CASE WHEN ((EXISTS (SELECT 1 FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = p."company_id"
AND r3."name" = ANY($10::text[]) OFFSET 0) OR p."owner_id" = $11::bigint)
AND p."status" <> $12::text) THEN p."phone" END AS c0, CASE WHEN j1.id IS NOT NULL THEN ARRAY[j1.id::text, j1.name] END AS c1
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $9::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
LEFT JOIN LATERAL (SELECT r4.id, r4."name" AS name FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = p."company_id"
AND r4."status" <> $13::text
AND (EXISTS (SELECT 1 FROM "data"."companies" r5
WHERE r5.organization_id = $1::bigint
AND r5.id = p."company_id"
AND r5."name" = ANY($14::text[]) OFFSET 0) OR p."owner_id" = $15::bigint)) j1 ON true
ORDER BY k.id
