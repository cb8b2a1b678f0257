-- $1 = "1n"
-- $2 = "Qualified"
-- $3 = "qualified"
-- $4 = ["11","12"]
/* max update */
UPDATE "data"."people" p SET "status" = $2::text, "status_k" = $3::text
WHERE p.organization_id = $1::bigint
AND p.id IN (SELECT unnest($4::text[]::bigint[]))
RETURNING p.id::text AS id,
ARRAY[p."status"]::text[] AS after
