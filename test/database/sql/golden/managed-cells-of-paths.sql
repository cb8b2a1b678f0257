-- $1 = 1
-- $2 = 7
-- $3 = 6
-- $4 = open
-- $5 = open
-- $6 = open
-- $7 = open
-- $8 = open
-- $9 = open
/* max test */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p.id FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh FROM g)
ORDER BY p.id
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, p.organization_id, p.id, p."name" AS name, p."status" AS status, (SELECT r1."phone" FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."owner_id"
AND TRUE) AS c0, (SELECT CASE WHEN r2."status" = $4::text THEN r2."phone" END FROM "data"."people" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = p."owner_id"
AND p."status" = $5::text
AND r2."status" = $6::text) AS c1, (SELECT (SELECT ARRAY[r4.id::text, CASE WHEN r4."status" = $7::text THEN r4."name" END] FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = r3."company_id"
AND r4."status" = $8::text) FROM "data"."people" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = p."owner_id"
AND TRUE) AS c2, (SELECT (SELECT ARRAY[r6.id::text, NULL::text] FROM "data"."companies" r6
WHERE r6.organization_id = $1::bigint
AND r6.id = r5."company_id"
AND r5."status" = $9::text
AND TRUE) FROM "data"."people" r5
WHERE r5.organization_id = $1::bigint
AND r5.id = p."owner_id"
AND TRUE) AS c3
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT m.id FROM m
ORDER BY m.id
LIMIT $3::int) k ON true
LEFT JOIN "data"."people" p ON p.organization_id = $1::bigint AND p.id = k.id
ORDER BY k.id
