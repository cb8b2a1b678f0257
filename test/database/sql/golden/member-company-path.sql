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
-- $11 = "secret"
-- $12 = "atlas"
-- $13 = 6
-- $14 = ["Atlas","Borealis"]
-- $15 = "731"
/* max people company.name:eq */
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
AND ((p."company_id" = ANY(ARRAY(SELECT r2.id FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND (r2."name_k" = ANY($8::text[])
AND CASE WHEN r2."name" = ANY($9::text[]) THEN TRUE END))) OR p."owner_id" = $10::bigint)
AND p."company_id" = ANY(ARRAY(SELECT r3.id FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND (r3."status" <> $11::text
AND r3."name_k" = $12::text))))
ORDER BY p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, CASE WHEN (EXISTS (SELECT 1 FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = p."company_id"
AND r4."name" = ANY($14::text[]) OFFSET 0) OR p."owner_id" = $15::bigint) THEN p."status" END AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $13::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.id
