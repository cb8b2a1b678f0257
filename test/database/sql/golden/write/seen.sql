-- $1 = "1n"
-- $2 = "731"
-- $3 = "11"
-- $4 = "Atlas"
-- $5 = "731"
/* max seen */ SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(p."owner_id" = $2::bigint) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (p."owner_id" = $2::bigint) IS TRUE THEN p."owner_id"::text END]::text[] AS before
FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND p.id = $3::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."company_id"
AND r1."name" = $4::text OFFSET 0) OR p."owner_id" = $5::bigint)
ORDER BY p.id
