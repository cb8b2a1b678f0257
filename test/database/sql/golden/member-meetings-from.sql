-- pool: search
-- $1 = "1n"
-- $2 = "7n"
-- $3 = "staff"
-- $4 = "731"
-- $5 = "America/New_York"
-- $6 = "2026-03-01T00:00:00"
-- $7 = 6
-- $8 = ["Atlas","Borealis"]
-- $9 = "731"
-- $10 = "staff"
/* max meetings start:gte */
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
AND p."start_at" >= timezone($5::text, $6::timestamp)
ORDER BY p."start_at", p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status, to_char(timezone($5::text, p."start_at"), 'YYYY-MM-DD HH24:MI:SS') AS c0, j1.related AS c1
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id, m.v FROM m
ORDER BY m.v, m.id
LIMIT $7::int) k ON true
LEFT JOIN "data"."meetings" p ON p.organization_id = $1::bigint AND p.id = k.id
LEFT JOIN LATERAL (SELECT array_agg(x.part
ORDER BY x.id, x.n) AS related FROM (SELECT y.id, z.n, z.part FROM (SELECT r5.id, r5."name" AS name FROM "data"."meeting_attendees" r7 JOIN "data"."people" r5 ON r5.organization_id = $1::bigint
AND r5.id = r7."person_id"
WHERE r7.organization_id = $1::bigint
AND r7."meeting_id" = p.id
AND (EXISTS (SELECT 1 FROM "data"."companies" r6
WHERE r6.organization_id = $1::bigint
AND r6.id = r5."company_id"
AND r6."name" = ANY($8::text[]) OFFSET 0) OR r5."owner_id" = $9::bigint OR r5."status" = $10::text)
ORDER BY r5.id
LIMIT 11) y, LATERAL (VALUES (1, y.id::text), (2, y.name)) z(n, part)) x) j1 ON true
ORDER BY k.v, k.id
