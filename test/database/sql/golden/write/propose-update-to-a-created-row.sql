-- $1 = "1n"
-- $2 = "7n"
-- $3 = "Atlas"
-- $4 = "731"
-- $5 = "731"
-- $6 = "731"
-- $7 = "731"
-- $8 = "Won"
-- $9 = "731"
-- $10 = "Atlas"
-- $11 = "Won"
-- $12 = "14"
-- $13 = "32"
-- $14 = "11"
-- $15 = "Atlas"
-- $16 = "731"
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
AND r2."name" = $3::text OFFSET 0) OR r1."owner_id" = $4::bigint) OFFSET 0)) THEN p."owner_id"::text END, CASE WHEN (p."owner_id" = $6::bigint) IS TRUE THEN p."company_id"::text END]::text[] AS before,
ARRAY[a."owner_id"::text, a."company_id"::text]::text[] AS after,
ARRAY[TRUE, TRUE]::boolean[] AS targets,
ARRAY[(p."owner_id" = $7::bigint) IS TRUE, (p."status" <> $8::text) IS TRUE]::boolean[] AS bits_before,
ARRAY[(a."owner_id" = $9::bigint) IS TRUE, (EXISTS (SELECT 1 FROM "data"."people" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = a."owner_id"
AND EXISTS (SELECT 1 FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = r3."company_id"
AND r4."name" = $10::text OFFSET 0) OFFSET 0)) IS TRUE, (a."status" <> $11::text) IS TRUE]::boolean[] AS bits_after, NULL::text AS row
FROM "data"."people" p
CROSS JOIN LATERAL (SELECT p.organization_id, p.id, p."name" AS "name", p."name_k" AS "name_k", p."status" AS "status", p."status_k" AS "status_k", $12::bigint AS "owner_id", $13::bigint AS "company_id", p."phone" AS "phone", p."phone_k" AS "phone_k", p."email" AS "email", p."email_k" AS "email_k") a
WHERE p.organization_id = $1::bigint
AND p.id = $14::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r5
WHERE r5.organization_id = $1::bigint
AND r5.id = p."company_id"
AND r5."name" = $15::text OFFSET 0) OR p."owner_id" = $16::bigint)) r ON true
ORDER BY r.id
