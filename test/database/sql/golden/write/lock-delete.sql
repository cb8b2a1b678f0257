-- $1 = "1n"
-- $2 = "11"
-- $3 = "Taylor"
-- $4 = "{\"id\": 11}"
-- $5 = null
-- $6 = null
-- $7 = null
-- $8 = null
-- $9 = null
-- $10 = null
-- $11 = "731"
-- $12 = "731"
-- $13 = "731"
-- $14 = "731"
-- $15 = "731"
-- $16 = "731"
-- $17 = "Won"
-- $18 = "Atlas"
-- $19 = "731"
/* max lock */ SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(TRUE) IS TRUE, (p."owner_id" = $11::bigint) IS TRUE, (p."owner_id" = $12::bigint) IS TRUE, (p."owner_id" = $13::bigint) IS TRUE, (p."owner_id" = $14::bigint) IS TRUE, (p."owner_id" = $15::bigint) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."name" END, CASE WHEN (p."owner_id" = $11::bigint) IS TRUE THEN p."status" END, CASE WHEN (p."owner_id" = $12::bigint) IS TRUE THEN p."owner_id"::text END, CASE WHEN (p."owner_id" = $13::bigint) IS TRUE THEN p."company_id"::text END, CASE WHEN (p."owner_id" = $14::bigint) IS TRUE THEN p."phone" END, CASE WHEN (p."owner_id" = $15::bigint) IS TRUE THEN p."email" END]::text[] AS before,
ARRAY[p."name" IS NOT DISTINCT FROM e.b0, p."status" IS NOT DISTINCT FROM e.b1, p."owner_id"::text IS NOT DISTINCT FROM e.b2, p."company_id"::text IS NOT DISTINCT FROM e.b3, p."phone" IS NOT DISTINCT FROM e.b4, p."email" IS NOT DISTINCT FROM e.b5]::boolean[] AS same, CASE WHEN TRUE THEN p."name" END IS NOT DISTINCT FROM e.name AS same_name, p IS NOT DISTINCT FROM jsonb_populate_record(NULL::"data"."people", e.row) AS same_row,
ARRAY[]::boolean[] AS targets,
ARRAY[((p."owner_id" = $16::bigint
AND p."status" <> $17::text)) IS TRUE]::boolean[] AS bits_before
FROM "data"."people" p
JOIN (VALUES ($2::bigint, $3::text, $4::jsonb, $5::text, $6::text, $7::text, $8::text, $9::text, $10::text)) e(id, name, row, b0, b1, b2, b3, b4, b5) ON e.id = p.id
WHERE p.organization_id = $1::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."company_id"
AND r1."name" = $18::text OFFSET 0) OR p."owner_id" = $19::bigint)
ORDER BY p.id
FOR UPDATE OF p NOWAIT
