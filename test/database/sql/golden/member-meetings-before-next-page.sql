-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = "731"
-- $4 = "731"
-- $5 = "staff"
-- $6 = "America/New_York"
-- $7 = "2026-03-31T14:00"
-- $8 = "2026-03-31T14:00"
-- $9 = "731"
-- $10 = "staff"
-- $11 = "2026-03-31T14:00"
-- $12 = "731"
-- $13 = 6
-- $14 = "731"
-- $15 = "731"
-- $16 = "staff"
-- $17 = "731"
/* max meetings start:lt */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), o AS MATERIALIZED (SELECT count(*) > 20 AS many FROM (SELECT FROM (SELECT r1.* FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
ORDER BY r1.id
LIMIT 1000) r1
WHERE r1."id" = $3::bigint
LIMIT 21) x), f AS MATERIALIZED (SELECT r2.id FROM "data"."people" r2
WHERE r2.organization_id = $1::bigint
AND r2."id" = $4::bigint), few AS MATERIALIZED (SELECT CASE WHEN (SELECT g.fresh FROM g)
AND NOT o.many THEN ARRAY(SELECT f.id FROM f
LIMIT 1001) END AS ids FROM o), near AS MATERIALIZED (SELECT CASE WHEN cardinality(few.ids) <= 1000 THEN ARRAY(SELECT w."meeting_id" FROM "data"."meeting_attendees" w
WHERE w.organization_id = $1::bigint
AND w."person_id" = ANY(few.ids)
LIMIT 20001) END AS ids FROM few), s AS MATERIALIZED (SELECT (cardinality(near.ids) <= 20000) IS TRUE AS few FROM near), m AS MATERIALIZED (WITH read AS MATERIALIZED (SELECT p.id, p."start_at" AS v FROM (SELECT p.* FROM (SELECT p.* FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p."start_at" < timezone($6::text, $8::timestamp)
AND (SELECT o.many FROM o)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 300000) p
WHERE TRUE
AND NOT EXISTS (SELECT r4."meeting_id" FROM "data"."meeting_attendees" r4 JOIN "data"."people" r3 ON r3.organization_id = $1::bigint
AND r3.id = r4."person_id"
WHERE r4.organization_id = $1::bigint
AND r4."meeting_id" = p.id
AND (r3."status" <> $5::text OR r3."status" IS NULL) OFFSET 0)
AND p."start_at" < timezone($6::text, $7::timestamp)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 30000) p
WHERE TRUE
AND EXISTS (SELECT r6."meeting_id" FROM "data"."meeting_attendees" r6 JOIN "data"."people" r5 ON r5.organization_id = $1::bigint
AND r5.id = r6."person_id"
WHERE r6.organization_id = $1::bigint
AND r6."meeting_id" = p.id
AND r5."id" = $9::bigint OFFSET 0)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 1001), enough AS MATERIALIZED (SELECT count(*) >= 1001 AS yes FROM read) (SELECT p.id, p."start_at" AS v FROM "data"."meetings" p
WHERE (SELECT s.few FROM s)
AND p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p.id = ANY((SELECT near.ids FROM near)::bigint[])
AND NOT EXISTS (SELECT r4."meeting_id" FROM "data"."meeting_attendees" r4 JOIN "data"."people" r3 ON r3.organization_id = $1::bigint
AND r3.id = r4."person_id"
WHERE r4.organization_id = $1::bigint
AND r4."meeting_id" = p.id
AND (r3."status" <> $5::text OR r3."status" IS NULL) OFFSET 0)
AND p."start_at" < timezone($6::text, $7::timestamp)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 1001) UNION ALL SELECT * FROM read
WHERE (SELECT enough.yes FROM enough) UNION ALL (SELECT p.id, p."start_at" AS v FROM (SELECT p.* FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND NOT EXISTS (SELECT r8."meeting_id" FROM "data"."meeting_attendees" r8 JOIN "data"."people" r7 ON r7.organization_id = $1::bigint
AND r7.id = r8."person_id"
WHERE r8.organization_id = $1::bigint
AND r8."meeting_id" = p.id
AND (r7."status" <> $10::text OR r7."status" IS NULL))
AND p."start_at" < timezone($6::text, $11::timestamp)
AND EXISTS (SELECT r10."meeting_id" FROM "data"."meeting_attendees" r10 JOIN "data"."people" r9 ON r9.organization_id = $1::bigint
AND r9.id = r10."person_id"
WHERE r10.organization_id = $1::bigint
AND r10."meeting_id" = p.id
AND r9."id" = $12::bigint)
AND (SELECT NOT s.few FROM s)
AND (SELECT NOT enough.yes FROM enough) OFFSET 0) p
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 1001)
ORDER BY v DESC, id DESC
LIMIT 1001), c AS MATERIALIZED (SELECT p."start_at" AS v FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND p.id = $15::bigint
AND (NOT EXISTS (SELECT r12."meeting_id" FROM "data"."meeting_attendees" r12 JOIN "data"."people" r11 ON r11.organization_id = $1::bigint
AND r11.id = r12."person_id"
WHERE r12.organization_id = $1::bigint
AND r12."meeting_id" = p.id
AND (r11."status" <> $16::text OR r11."status" IS NULL) OFFSET 0)
AND EXISTS (SELECT r14."meeting_id" FROM "data"."meeting_attendees" r14 JOIN "data"."people" r13 ON r13.organization_id = $1::bigint
AND r13.id = r14."person_id"
WHERE r14.organization_id = $1::bigint
AND r14."meeting_id" = p.id
AND r13."id" = $17::bigint OFFSET 0)))
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN LATERAL (WITH read AS MATERIALIZED (SELECT p.id, p."start_at" AS v FROM (SELECT p.* FROM (SELECT p.* FROM "data"."meetings" p, c
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p."start_at" < timezone($6::text, $8::timestamp)
AND (p."start_at", p.id) < (c.v, $14::bigint)
AND (SELECT o.many FROM o)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 300000) p
WHERE TRUE
AND NOT EXISTS (SELECT r4."meeting_id" FROM "data"."meeting_attendees" r4 JOIN "data"."people" r3 ON r3.organization_id = $1::bigint
AND r3.id = r4."person_id"
WHERE r4.organization_id = $1::bigint
AND r4."meeting_id" = p.id
AND (r3."status" <> $5::text OR r3."status" IS NULL) OFFSET 0)
AND p."start_at" < timezone($6::text, $7::timestamp)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT 30000) p
WHERE TRUE
AND EXISTS (SELECT r6."meeting_id" FROM "data"."meeting_attendees" r6 JOIN "data"."people" r5 ON r5.organization_id = $1::bigint
AND r5.id = r6."person_id"
WHERE r6.organization_id = $1::bigint
AND r6."meeting_id" = p.id
AND r5."id" = $9::bigint OFFSET 0)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT $13::int), enough AS MATERIALIZED (SELECT count(*) >= $13::int AS yes FROM read) (SELECT p.id, p."start_at" AS v FROM "data"."meetings" p, c
WHERE (SELECT s.few FROM s)
AND p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND p.id = ANY((SELECT near.ids FROM near)::bigint[])
AND NOT EXISTS (SELECT r4."meeting_id" FROM "data"."meeting_attendees" r4 JOIN "data"."people" r3 ON r3.organization_id = $1::bigint
AND r3.id = r4."person_id"
WHERE r4.organization_id = $1::bigint
AND r4."meeting_id" = p.id
AND (r3."status" <> $5::text OR r3."status" IS NULL) OFFSET 0)
AND p."start_at" < timezone($6::text, $7::timestamp)
AND (p."start_at", p.id) < (c.v, $14::bigint)
ORDER BY p."start_at" DESC, p.id DESC
LIMIT $13::int) UNION ALL SELECT * FROM read
WHERE (SELECT enough.yes FROM enough) UNION ALL (SELECT p.id, p."start_at" AS v FROM (SELECT p.* FROM "data"."meetings" p, c
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
AND NOT EXISTS (SELECT r8."meeting_id" FROM "data"."meeting_attendees" r8 JOIN "data"."people" r7 ON r7.organization_id = $1::bigint
AND r7.id = r8."person_id"
WHERE r8.organization_id = $1::bigint
AND r8."meeting_id" = p.id
AND (r7."status" <> $10::text OR r7."status" IS NULL))
AND p."start_at" < timezone($6::text, $11::timestamp)
AND EXISTS (SELECT r10."meeting_id" FROM "data"."meeting_attendees" r10 JOIN "data"."people" r9 ON r9.organization_id = $1::bigint
AND r9.id = r10."person_id"
WHERE r10.organization_id = $1::bigint
AND r10."meeting_id" = p.id
AND r9."id" = $12::bigint)
AND (p."start_at", p.id) < (c.v, $14::bigint)
AND (SELECT NOT s.few FROM s)
AND (SELECT NOT enough.yes FROM enough) OFFSET 0) p
ORDER BY p."start_at" DESC, p.id DESC
LIMIT $13::int)
ORDER BY v DESC, id DESC
LIMIT $13::int) k ON true
LEFT JOIN "data"."meetings" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.v DESC, k.id DESC
