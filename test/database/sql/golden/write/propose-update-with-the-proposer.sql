-- $1 = "1n"
-- $2 = "7n"
-- $3 = "731"
-- $4 = "731"
-- $5 = "Won"
-- $6 = "731"
-- $7 = "Atlas"
-- $8 = "Won"
-- $9 = "Qualified"
-- $10 = "qualified"
-- $11 = ["11","12"]
-- $12 = "Atlas"
-- $13 = "731"
-- $14 = "13"
-- $15 = "Atlas"
-- $16 = "731"
/* max propose update */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint)
SELECT (SELECT g.fresh FROM g) AS fresh, (SELECT CASE WHEN TRUE THEN m."name" END FROM "data"."people" m
WHERE m.organization_id = $1::bigint
AND m.id = $14::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = m."company_id"
AND r4."name" = $15::text OFFSET 0) OR m."owner_id" = $16::bigint)) AS proposer, r.*
FROM (SELECT) o
LEFT JOIN (SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(p."owner_id" = $3::bigint) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (p."owner_id" = $3::bigint) IS TRUE THEN p."status" END]::text[] AS before,
ARRAY[a."status"]::text[] AS after,
ARRAY[TRUE]::boolean[] AS targets,
ARRAY[(p."owner_id" = $4::bigint) IS TRUE, (p."status" <> $5::text) IS TRUE]::boolean[] AS bits_before,
ARRAY[(a."owner_id" = $6::bigint) IS TRUE, (EXISTS (SELECT 1 FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = a."owner_id"
AND EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = r1."company_id"
AND r2."name" = $7::text OFFSET 0) OFFSET 0)) IS TRUE, (a."status" <> $8::text) IS TRUE]::boolean[] AS bits_after, NULL::text AS row
FROM "data"."people" p
CROSS JOIN LATERAL (SELECT p.organization_id, p.id, p."name" AS "name", p."name_k" AS "name_k", $9::text AS "status", $10::text AS "status_k", p."owner_id" AS "owner_id", p."company_id" AS "company_id", p."phone" AS "phone", p."phone_k" AS "phone_k", p."email" AS "email", p."email_k" AS "email_k") a
WHERE p.organization_id = $1::bigint
AND p.id IN (SELECT unnest($11::text[]::bigint[]))
AND (EXISTS (SELECT 1 FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = p."company_id"
AND r3."name" = $12::text OFFSET 0) OR p."owner_id" = $13::bigint)) r ON true
ORDER BY r.id
