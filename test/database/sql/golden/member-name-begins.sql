-- lane: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = ["Atlas","Borealis"]
-- $4 = "731"
-- $5 = "staff"
-- $6 = "ad"
-- $7 = "ae"
-- $8 = 6
-- $9 = ["Atlas","Borealis"]
-- $10 = "731"
/* max people name:ilike */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (p."company_id" = ANY(ARRAY(SELECT r1.id FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND r1."name" = ANY($3::text[]))) OR p."owner_id" = $4::bigint OR p."status" = $5::text)
AND (p."name_k" >= $6::text
AND p."name_k" < $7::text)
ORDER BY p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, CASE WHEN (EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = p."company_id"
AND r2."name" = ANY($9::text[]) OFFSET 0) OR p."owner_id" = $10::bigint) THEN p."status" END AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $8::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.id
