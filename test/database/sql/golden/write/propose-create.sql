-- $1 = "1n"
-- $2 = "7n"
-- $3 = 1
-- $4 = "2081"
-- $5 = "Atlas"
-- $6 = "731"
-- $7 = "731"
-- $8 = "Ada"
-- $9 = "ada"
-- $10 = "2081"
-- $11 = "Ada@example.com"
-- $12 = "ada@example.com"
-- $13 = "14"
/* max propose create */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint)
SELECT (SELECT g.fresh FROM g) AS fresh, r.*
FROM (SELECT) o
LEFT JOIN (SELECT a.organization_id, a.id::text AS id, NULL::text AS name,
ARRAY[TRUE, TRUE, TRUE]::boolean[] AS visible,
ARRAY[NULL, NULL, NULL]::text[] AS before,
ARRAY[a."name", a."owner_id"::text, a."email"]::text[] AS after,
ARRAY[TRUE, (SELECT count(*) = $3::int FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = $4::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = r1."company_id"
AND r2."name" = $5::text OFFSET 0) OR r1."owner_id" = $6::bigint)), TRUE]::boolean[] AS targets,
ARRAY[]::boolean[] AS bits_before,
ARRAY[(a."owner_id" = $7::bigint) IS TRUE]::boolean[] AS bits_after, NULL::text AS row FROM (SELECT $1::bigint AS organization_id, $13::bigint AS id, $8::text AS "name", $9::text AS "name_k", NULL::text AS "status", NULL::text AS "status_k", $10::bigint AS "owner_id", NULL::bigint AS "company_id", NULL::text AS "phone", NULL::text AS "phone_k", $11::text AS "email", $12::text AS "email_k") a) r ON true
ORDER BY r.id
