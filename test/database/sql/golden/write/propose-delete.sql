-- $1 = "1n"
-- $2 = "7n"
-- $3 = "731"
-- $4 = "731"
-- $5 = "731"
-- $6 = "731"
-- $7 = "731"
-- $8 = "731"
-- $9 = "Won"
-- $10 = "11"
-- $11 = "Atlas"
-- $12 = "731"
/* max propose delete */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint)
SELECT (SELECT g.fresh FROM g) AS fresh, r.*
FROM (SELECT) o
LEFT JOIN (SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(TRUE) IS TRUE, (p."owner_id" = $3::bigint) IS TRUE, (p."owner_id" = $4::bigint) IS TRUE, (p."owner_id" = $5::bigint) IS TRUE, (p."owner_id" = $6::bigint) IS TRUE, (p."owner_id" = $7::bigint) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."name" END, CASE WHEN (p."owner_id" = $3::bigint) IS TRUE THEN p."status" END, CASE WHEN (p."owner_id" = $4::bigint) IS TRUE THEN p."owner_id"::text END, CASE WHEN (p."owner_id" = $5::bigint) IS TRUE THEN p."company_id"::text END, CASE WHEN (p."owner_id" = $6::bigint) IS TRUE THEN p."phone" END, CASE WHEN (p."owner_id" = $7::bigint) IS TRUE THEN p."email" END]::text[] AS before,
ARRAY[]::text[] AS after,
ARRAY[]::boolean[] AS targets,
ARRAY[((p."owner_id" = $8::bigint
AND p."status" <> $9::text)) IS TRUE]::boolean[] AS bits_before,
ARRAY[]::boolean[] AS bits_after, to_jsonb(p)::text AS row
FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND p.id = $10::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."company_id"
AND r1."name" = $11::text OFFSET 0) OR p."owner_id" = $12::bigint)) r ON true
ORDER BY r.id
