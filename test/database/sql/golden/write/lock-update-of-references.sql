-- $1 = "1n"
-- $2 = "11"
-- $3 = "Taylor"
-- $4 = null
-- $5 = "12"
-- $6 = null
-- $7 = "Atlas"
-- $8 = "731"
-- $9 = "731"
-- $10 = "731"
-- $11 = 1
-- $12 = "13"
-- $13 = "Atlas"
-- $14 = "731"
-- $15 = "731"
-- $16 = "Won"
-- $17 = "Atlas"
-- $18 = "731"
/* max lock */ SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(p."owner_id" = $9::bigint) IS TRUE
AND (p."owner_id" IS NULL OR EXISTS (SELECT 1 FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."owner_id"
AND (EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = r1."company_id"
AND r2."name" = $7::text OFFSET 0) OR r1."owner_id" = $8::bigint) OFFSET 0)), (p."owner_id" = $10::bigint) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (p."owner_id" = $9::bigint) IS TRUE
AND (p."owner_id" IS NULL OR EXISTS (SELECT 1 FROM "data"."people" r1
WHERE r1.organization_id = $1::bigint
AND r1.id = p."owner_id"
AND (EXISTS (SELECT 1 FROM "data"."companies" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = r1."company_id"
AND r2."name" = $7::text OFFSET 0) OR r1."owner_id" = $8::bigint) OFFSET 0)) THEN p."owner_id"::text END, CASE WHEN (p."owner_id" = $10::bigint) IS TRUE THEN p."phone" END]::text[] AS before,
ARRAY[p."owner_id"::text IS NOT DISTINCT FROM e.b0, p."phone" IS NOT DISTINCT FROM e.b1]::boolean[] AS same, CASE WHEN TRUE THEN p."name" END IS NOT DISTINCT FROM e.name AS same_name, TRUE AS same_row,
ARRAY[(SELECT count(*) = $11::int FROM "data"."people" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = $12::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r4
WHERE r4.organization_id = $1::bigint
AND r4.id = r3."company_id"
AND r4."name" = $13::text OFFSET 0) OR r3."owner_id" = $14::bigint)), TRUE]::boolean[] AS targets,
ARRAY[(p."owner_id" = $15::bigint) IS TRUE, (p."status" <> $16::text) IS TRUE]::boolean[] AS bits_before
FROM "data"."people" p
JOIN (VALUES ($2::bigint, $3::text, $4::jsonb, $5::text, $6::text)) e(id, name, row, b0, b1) ON e.id = p.id
WHERE p.organization_id = $1::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r5
WHERE r5.organization_id = $1::bigint
AND r5.id = p."company_id"
AND r5."name" = $17::text OFFSET 0) OR p."owner_id" = $18::bigint)
ORDER BY p.id
FOR UPDATE OF p NOWAIT
