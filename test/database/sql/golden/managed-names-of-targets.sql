-- $1 = 1
-- $2 = 7
-- $3 = open
-- $4 = open
-- $5 = 6
-- $6 = open
-- $7 = open
-- $8 = open
/* max test */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id, p."name" AS v FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (p."status_k" = $3::text
AND CASE WHEN p."status" = $4::text THEN TRUE END)
ORDER BY p."name", p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status, CASE WHEN j0.id IS NOT NULL THEN ARRAY[j0.id::text, j0.name] END AS c0, CASE WHEN j1.id IS NOT NULL THEN ARRAY[j1.id::text, j1.name] END AS c1
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id, m.v FROM m
ORDER BY m.v, m.id
LIMIT $5::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
LEFT JOIN LATERAL (SELECT r1.id, CASE WHEN r1."status" = $6::text THEN r1."name" END AS name FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."owner_id"
AND r1."status" = $7::text) j0 ON true
LEFT JOIN LATERAL (SELECT r2.id, NULL::text AS name FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = p."company_id"
AND TRUE
AND p."status" = $8::text) j1 ON true
ORDER BY k.v, k.id
