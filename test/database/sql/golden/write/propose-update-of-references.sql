-- $1 = "1n"
-- $2 = "7n"
-- $3 = "Atlas"
-- $4 = "731"
-- $5 = "731"
-- $6 = "731"
-- $7 = 1
-- $8 = "13"
-- $9 = "Atlas"
-- $10 = "731"
-- $11 = "731"
-- $12 = "Won"
-- $13 = "731"
-- $14 = "Atlas"
-- $15 = "Won"
-- $16 = "13"
-- $17 = null
-- $18 = null
-- $19 = "11"
-- $20 = "Atlas"
-- $21 = "731"
/* max propose update */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint)
SELECT (SELECT g.fresh FROM g) AS fresh, r.*
FROM (SELECT) o
LEFT JOIN (SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(p."owner_id" = $5::bigint) IS TRUE
AND (p."owner_id" IS NULL OR EXISTS (SELECT 1 FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."owner_id"
AND (EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = r1."company_id"
AND r2."name" = $3::text OFFSET 0) OR r1."owner_id" = $4::bigint) OFFSET 0)), (p."owner_id" = $6::bigint) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (p."owner_id" = $5::bigint) IS TRUE
AND (p."owner_id" IS NULL OR EXISTS (SELECT 1 FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."owner_id"
AND (EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = r1."company_id"
AND r2."name" = $3::text OFFSET 0) OR r1."owner_id" = $4::bigint) OFFSET 0)) THEN p."owner_id"::text END, CASE WHEN (p."owner_id" = $6::bigint) IS TRUE THEN p."phone" END]::text[] AS before,
ARRAY[a."owner_id"::text, a."phone"]::text[] AS after,
ARRAY[(SELECT count(*) = $7::int FROM "data"."people" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = $8::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = r3."company_id"
AND r4."name" = $9::text OFFSET 0) OR r3."owner_id" = $10::bigint)), TRUE]::boolean[] AS targets,
ARRAY[(p."owner_id" = $11::bigint) IS TRUE, (p."status" <> $12::text) IS TRUE]::boolean[] AS bits_before,
ARRAY[(a."owner_id" = $13::bigint) IS TRUE, (EXISTS (SELECT 1 FROM "data"."people" r5
WHERE r5.organization_id = $1::bigint
AND r5.id = a."owner_id"
AND EXISTS (SELECT 1 FROM "data"."companies" r6
WHERE r6.organization_id = $1::bigint
AND r6.id = r5."company_id"
AND r6."name" = $14::text OFFSET 0) OFFSET 0)) IS TRUE, (a."status" <> $15::text) IS TRUE]::boolean[] AS bits_after, NULL::text AS row
FROM "data"."people" p
CROSS JOIN LATERAL (SELECT p.organization_id, p.id, p."name" AS "name", p."name_k" AS "name_k", p."status" AS "status", p."status_k" AS "status_k", $16::bigint AS "owner_id", p."company_id" AS "company_id", $17::text AS "phone", $18::text AS "phone_k", p."email" AS "email", p."email_k" AS "email_k") a
WHERE p.organization_id = $1::bigint
AND p.id = $19::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r7
WHERE r7.organization_id = $1::bigint
AND r7.id = p."company_id"
AND r7."name" = $20::text OFFSET 0) OR p."owner_id" = $21::bigint)) r ON true
ORDER BY r.id
