-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = "staff"
-- $4 = "731"
-- $5 = "America/New_York"
-- $6 = "2026-03-31T14:00"
-- $7 = 6
-- $8 = "731"
-- $9 = "731"
-- $10 = "staff"
-- $11 = "731"
/* max meetings start:lt */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id, p."start_at" AS v FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (NOT EXISTS (SELECT r2."meeting_id" FROM "data"."meeting_attendees" r2 JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND (r1."status" <> $3::text OR r1."status" IS NULL))
AND p.id = ANY(ARRAY(SELECT r4."meeting_id" FROM "data"."meeting_attendees" r4
WHERE r4.organization_id = $1::bigint
AND r4."person_id" = ANY(ARRAY(SELECT r3.id FROM "data"."people" r3
WHERE r3.organization_id = $1::bigint
AND r3."id" = $4::bigint)))))
AND p."start_at" < timezone($5::text, $6::timestamp)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 1001), c AS MATERIALIZED (SELECT p."start_at" AS v FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND p.id = $9::bigint
AND (NOT EXISTS (SELECT r6."meeting_id" FROM "data"."meeting_attendees" r6 JOIN "data"."people" r5 ON r5.organization_id = $1::bigint
AND r5.id = r6."person_id"
WHERE r6.organization_id = $1::bigint
AND r6."meeting_id" = p.id
AND (r5."status" <> $10::text OR r5."status" IS NULL) OFFSET 0)
AND EXISTS (SELECT r8."meeting_id" FROM "data"."meeting_attendees" r8 JOIN "data"."people" r7 ON r7.organization_id = $1::bigint
AND r7.id = r8."person_id"
WHERE r8.organization_id = $1::bigint
AND r8."meeting_id" = p.id
AND r7."id" = $11::bigint OFFSET 0)))
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN LATERAL (SELECT p.id, p."start_at" AS v FROM "data"."meetings" p, c
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND (NOT EXISTS (SELECT r2."meeting_id" FROM "data"."meeting_attendees" r2 JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND (r1."status" <> $3::text OR r1."status" IS NULL))
AND p.id = ANY(ARRAY(SELECT r4."meeting_id" FROM "data"."meeting_attendees" r4
WHERE r4.organization_id = $1::bigint
AND r4."person_id" = ANY(ARRAY(SELECT r3.id FROM "data"."people" r3
WHERE r3.organization_id = $1::bigint
AND r3."id" = $4::bigint)))))
AND p."start_at" < timezone($5::text, $6::timestamp)
AND (p."start_at", p.id) < (c.v, $8::bigint)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT $7::int) k ON true
LEFT JOIN "data"."meetings" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.v DESC, k.id DESC
