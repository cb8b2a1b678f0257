-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = "731"
-- $4 = "731"
-- $5 = "America/New_York"
-- $6 = "2026-03-01T00:00:00"
-- $7 = 6
-- $8 = "731"
-- $9 = "731"
-- $10 = "731"
-- $11 = "731"
/* max meetings start:lt */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED ((SELECT p.id, p."start_at" AS v FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p."start_at" < timezone($5::text, $6::timestamp)
AND EXISTS (SELECT r2."meeting_id" FROM "data"."meeting_attendees" r2 JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND r1."id" = $3::bigint)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 1001) UNION (SELECT p.id, p."start_at" AS v FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p."start_at" < timezone($5::text, $6::timestamp)
AND p."owner_id" = $4::bigint
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 1001)
ORDER BY v DESC, id DESC
LIMIT 1001), c AS MATERIALIZED (SELECT p."start_at" AS v FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND p.id = $9::bigint
AND (EXISTS (SELECT r4."meeting_id" FROM "data"."meeting_attendees" r4 JOIN "data"."people" r3 ON r3.organization_id = $1::bigint
AND r3.id = r4."person_id"
WHERE r4.organization_id = $1::bigint
AND r4."meeting_id" = p.id
AND r3."id" = $10::bigint OFFSET 0) OR p."owner_id" = $11::bigint))
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN LATERAL ((SELECT p.id, p."start_at" AS v FROM "data"."meetings" p, c
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p."start_at" < timezone($5::text, $6::timestamp)
AND EXISTS (SELECT r2."meeting_id" FROM "data"."meeting_attendees" r2 JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND r1."id" = $3::bigint)
AND (p."start_at", p.id) < (c.v, $8::bigint)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT $7::int) UNION (SELECT p.id, p."start_at" AS v FROM "data"."meetings" p, c
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p."start_at" < timezone($5::text, $6::timestamp)
AND p."owner_id" = $4::bigint
AND (p."start_at", p.id) < (c.v, $8::bigint)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT $7::int)
ORDER BY v DESC, id DESC
LIMIT $7::int) k ON true
LEFT JOIN "data"."meetings" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.v DESC, k.id DESC
