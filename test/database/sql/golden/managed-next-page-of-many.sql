-- $1 = 1
-- $2 = 7
-- $3 = 6
-- $4 = 77
-- $5 = 77
-- $6 = open
-- $7 = open
/* max test */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id, p."start_at" AS v FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
ORDER BY p."start_at", p.id
LIMIT 1001), c AS MATERIALIZED (SELECT p."start_at" AS v FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND p.id = $5::bigint
AND p."status" = $6::text)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status, j0.related AS c0
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN LATERAL (SELECT p.id, p."start_at" AS v FROM "data"."meetings" p, c
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (p."start_at", p.id) > (c.v, $4::bigint)
ORDER BY p."start_at", p.id
LIMIT $3::int) k ON true
LEFT JOIN "data"."meetings" p ON p.organization_id = $1::bigint AND p.id = k.id
LEFT JOIN LATERAL (SELECT array_agg(x.part
ORDER BY x.id, x.n) AS related FROM (SELECT y.id, z.n, z.part FROM (SELECT r1.id, r1."name" AS name FROM "data"."meeting_attendees" r2 JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND r1."status" = $7::text
ORDER BY r1.id
LIMIT 11) y, LATERAL (VALUES (1, y.id::text), (2, y.name)) z(n, part)) x) j0 ON true
ORDER BY k.v, k.id
