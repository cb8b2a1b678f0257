-- $1 = "1n"
-- $2 = "11"
-- $3 = "Taylor"
-- $4 = null
-- $5 = "Lost"
-- $6 = "12"
-- $7 = null
-- $8 = null
-- $9 = null
-- $10 = "731"
-- $11 = "731"
-- $12 = "Won"
-- $13 = "Atlas"
-- $14 = "731"
/* max lock */ SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(p."owner_id" = $10::bigint) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (p."owner_id" = $10::bigint) IS TRUE THEN p."status" END]::text[] AS before,
ARRAY[p."status" IS NOT DISTINCT FROM e.b0]::boolean[] AS same, CASE WHEN TRUE THEN p."name" END IS NOT DISTINCT FROM e.name AS same_name, TRUE AS same_row,
ARRAY[TRUE]::boolean[] AS targets,
ARRAY[(p."owner_id" = $11::bigint) IS TRUE, (p."status" <> $12::text) IS TRUE]::boolean[] AS bits_before
FROM "data"."people" p
JOIN (VALUES ($2::bigint, $3::text, $4::jsonb, $5::text), ($6::bigint, $7::text, $8::jsonb, $9::text)) e(id, name, row, b0) ON e.id = p.id
WHERE p.organization_id = $1::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."company_id"
AND r1."name" = $13::text OFFSET 0) OR p."owner_id" = $14::bigint)
ORDER BY p.id
FOR UPDATE OF p NOWAIT
