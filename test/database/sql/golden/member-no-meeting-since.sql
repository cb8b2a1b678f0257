-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = ["atlas","borealis"]
-- $4 = ["Atlas","Borealis"]
-- $5 = "731"
-- $6 = "staff"
-- $7 = "staff"
-- $8 = "staff"
-- $9 = "731"
-- $10 = "America/New_York"
-- $11 = "2026-11-01T00:00:00"
-- $12 = 6
-- $13 = ["Atlas","Borealis"]
-- $14 = "731"
/* max people meetings@attendees.start:ne */
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
AND NOT EXISTS (SELECT 1 FROM "data"."meeting_attendees" r3 JOIN "data"."meetings" r2 ON r2.organization_id = $1::bigint
AND r2.id = r3."meeting_id"
WHERE r3.organization_id = $1::bigint
AND r3."person_id" = p.id
AND ((NOT EXISTS (SELECT r5."meeting_id" FROM "data"."meeting_attendees" r5 JOIN "data"."people" r4 ON r4.organization_id = $1::bigint
AND r4.id = r5."person_id"
WHERE r5.organization_id = $1::bigint
AND r5."meeting_id" = r2.id
AND (r4."status" <> $8::text OR r4."status" IS NULL))
AND EXISTS (SELECT r7."meeting_id" FROM "data"."meeting_attendees" r7 JOIN "data"."people" r6 ON r6.organization_id = $1::bigint
AND r6.id = r7."person_id"
WHERE r7.organization_id = $1::bigint
AND r7."meeting_id" = r2.id
AND r6."id" = $9::bigint))
AND r2."start_at" >= timezone($10::text, $11::timestamp)))
ORDER BY p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, CASE WHEN (EXISTS (SELECT 1 FROM "data"."companies" r8
WHERE r8.organization_id = $1::bigint
AND r8.id = p."company_id"
AND r8."name" = ANY($13::text[]) OFFSET 0) OR p."owner_id" = $14::bigint) THEN p."status" END AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $12::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.id
