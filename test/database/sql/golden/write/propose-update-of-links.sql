-- $1 = "1n"
-- $2 = "7n"
-- $3 = "Atlas"
-- $4 = "731"
-- $5 = ["11","12"]
-- $6 = 2
-- $7 = ["11","12"]
-- $8 = "Atlas"
-- $9 = "731"
-- $10 = "731"
-- $11 = "staff"
-- $12 = ["11","12"]
-- $13 = "America/New_York"
-- $14 = "2026-03-31T14:00"
-- $15 = "21"
-- $16 = "731"
/* max propose update */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint)
SELECT (SELECT g.fresh FROM g) AS fresh, r.*
FROM (SELECT) o
LEFT JOIN (SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(TRUE) IS TRUE, (TRUE) IS TRUE
AND NOT EXISTS (SELECT 1 FROM "data"."meeting_attendees" r2
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND NOT EXISTS (SELECT 1 FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
AND (EXISTS (SELECT 1 FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = r1."company_id"
AND r3."name" = $3::text OFFSET 0) OR r1."owner_id" = $4::bigint) OFFSET 0))]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN to_char(timezone('UTC', p."start_at"), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, CASE WHEN (TRUE) IS TRUE
AND NOT EXISTS (SELECT 1 FROM "data"."meeting_attendees" r2
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND NOT EXISTS (SELECT 1 FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
AND (EXISTS (SELECT 1 FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = r1."company_id"
AND r3."name" = $3::text OFFSET 0) OR r1."owner_id" = $4::bigint) OFFSET 0)) THEN (SELECT coalesce(array_agg(DISTINCT r4."person_id"), '{}')::text FROM "data"."meeting_attendees" r4
WHERE r4.organization_id = $1::bigint
AND r4."meeting_id" = p.id) END]::text[] AS before,
ARRAY[to_char(timezone('UTC', a."start_at"), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (SELECT coalesce(array_agg(DISTINCT r5."person_id"), '{}')::text FROM (SELECT $1::bigint AS organization_id, a.id AS "meeting_id", u.id AS "person_id" FROM unnest($5::text[]::bigint[]) u(id)) r5
WHERE r5.organization_id = $1::bigint
AND r5."meeting_id" = a.id)]::text[] AS after,
ARRAY[TRUE, (SELECT count(*) = $6::int FROM "data"."people" r6
WHERE r6.organization_id = $1::bigint
AND r6.id IN (SELECT unnest($7::text[]::bigint[]))
AND (EXISTS (SELECT 1 FROM "data"."companies" r7
WHERE r7.organization_id = $1::bigint
AND r7.id = r6."company_id"
AND r7."name" = $8::text OFFSET 0) OR r6."owner_id" = $9::bigint))]::boolean[] AS targets,
ARRAY[(EXISTS (SELECT r9."meeting_id" FROM "data"."meeting_attendees" r9 JOIN "data"."people" r8 ON r8.organization_id = $1::bigint
AND r8.id = r9."person_id"
WHERE r9.organization_id = $1::bigint
AND r9."meeting_id" = p.id
AND r8."id" = $10::bigint OFFSET 0)) IS TRUE]::boolean[] AS bits_before,
ARRAY[(EXISTS (SELECT r11."meeting_id" FROM (SELECT $1::bigint AS organization_id, a.id AS "meeting_id", u.id AS "person_id" FROM unnest($12::text[]::bigint[]) u(id)) r11 JOIN "data"."people" r10 ON r10.organization_id = $1::bigint
AND r10.id = r11."person_id"
WHERE r11.organization_id = $1::bigint
AND r11."meeting_id" = a.id
AND r10."status" = $11::text OFFSET 0)) IS TRUE]::boolean[] AS bits_after, NULL::text AS row
FROM "data"."meetings" p
CROSS JOIN LATERAL (SELECT p.organization_id, p.id, p."name" AS "name", p."name_k" AS "name_k", p."status" AS "status", p."status_k" AS "status_k", timezone($13::text, $14::timestamp) AS "start_at", p."end_at" AS "end_at", p."owner_id" AS "owner_id", p."company_id" AS "company_id") a
WHERE p.organization_id = $1::bigint
AND p.id = $15::bigint
AND EXISTS (SELECT r13."meeting_id" FROM "data"."meeting_attendees" r13 JOIN "data"."people" r12 ON r12.organization_id = $1::bigint
AND r12.id = r13."person_id"
WHERE r13.organization_id = $1::bigint
AND r13."meeting_id" = p.id
AND r12."id" = $16::bigint OFFSET 0)) r ON true
ORDER BY r.id
