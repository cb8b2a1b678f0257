-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = ["atlas","borealis"]
-- $4 = ["Atlas","Borealis"]
-- $5 = "731"
-- $6 = "staff"
-- $7 = "staff"
-- $8 = ["atlas","borealis"]
-- $9 = ["Atlas","Borealis"]
-- $10 = "731"
-- $11 = ["lead","vip"]
-- $12 = 6
-- $13 = ["Atlas","Borealis"]
-- $14 = "731"
/* max people status:ne */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (p."company_id" = ANY(ARRAY(SELECT r1.id FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND (r1."name_k" = ANY($3::text[])
AND CASE WHEN r1."name" = ANY($4::text[]) THEN TRUE END))) OR p."owner_id" = $5::bigint OR (p."status_k" = $6::text
AND CASE WHEN p."status" = $7::text THEN TRUE END))
AND (((EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = p."company_id"
AND (r2."name_k" = ANY($8::text[])
AND CASE WHEN r2."name" = ANY($9::text[]) THEN TRUE END)) OR p."owner_id" = $10::bigint)
AND p."status_k" = ANY($11::text[]))) IS NOT TRUE
ORDER BY p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, CASE WHEN (EXISTS (SELECT 1 FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = p."company_id"
AND r3."name" = ANY($13::text[]) OFFSET 0) OR p."owner_id" = $14::bigint) THEN p."status" END AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $12::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.id
