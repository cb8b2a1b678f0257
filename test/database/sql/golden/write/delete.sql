-- $1 = "1n"
-- $2 = ["21","22"]
-- $3 = ["21","22"]
/* max delete */
WITH l0 AS (DELETE FROM "data"."meeting_attendees" l
WHERE l.organization_id = $1::bigint
AND l."meeting_id" = ANY($3::text[]::bigint[]))
DELETE
FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND p.id IN (SELECT unnest($2::text[]::bigint[]))
RETURNING p.id::text AS id
