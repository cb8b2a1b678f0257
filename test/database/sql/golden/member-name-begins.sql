-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = ["atlas","borealis"]
-- $4 = ["Atlas","Borealis"]
-- $5 = "731"
-- $6 = "staff"
-- $7 = "staff"
-- $8 = "ad"
-- $9 = "ae"
-- $10 = 6
-- $11 = ["Atlas","Borealis"]
-- $12 = "731"
/* max people name:ilike */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED ((SELECT p.id FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (p."name_k" >= $8::text
AND p."name_k" < $9::text)
AND EXISTS (SELECT 1 FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."company_id"
AND (r1."name_k" = ANY($3::text[])
AND CASE WHEN r1."name" = ANY($4::text[]) THEN TRUE END))
ORDER BY p.id
LIMIT 1001) UNION (SELECT p.id FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (p."name_k" >= $8::text
AND p."name_k" < $9::text)
AND p."owner_id" = $5::bigint
ORDER BY p.id
LIMIT 1001) UNION (SELECT p.id FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (p."name_k" >= $8::text
AND p."name_k" < $9::text)
AND (p."status_k" = $6::text
AND CASE WHEN p."status" = $7::text THEN TRUE END)
ORDER BY p.id
LIMIT 1001)
ORDER BY id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, CASE WHEN (EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = p."company_id"
AND r2."name" = ANY($11::text[]) OFFSET 0) OR p."owner_id" = $12::bigint) THEN p."status" END AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $10::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.id
