-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = "731"
-- $4 = "731"
-- $5 = "held"
-- $6 = 6
/* max meetings status:eq */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (EXISTS (SELECT r2."meeting_id" FROM "data"."meeting_attendees" r2 JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND r1."id" = $3::bigint) OR p."owner_id" = $4::bigint)
AND p."status_k" = $5::text
ORDER BY p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $6::int) k ON true
LEFT JOIN "data"."meetings" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.id
