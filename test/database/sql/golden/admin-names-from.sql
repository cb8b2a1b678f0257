-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = "m"
-- $4 = 3
/* max people name:gte */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id, p."name_k" AS v FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p."name_k" >= $3::text
ORDER BY p."name_k", p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id, m.v FROM m
ORDER BY m.v, m.id
LIMIT $4::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.v, k.id
