-- $1 = "1n"
-- $2 = "staff"
-- $3 = "21"
/* max verify */ SELECT p.organization_id, p.id::text AS id,
ARRAY[p."amount"::text]::text[] AS after,
ARRAY[(EXISTS (SELECT r2."meeting_id" FROM "data"."meeting_attendees" r2 JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = r2."person_id"
WHERE r2.organization_id = $1::bigint
AND r2."meeting_id" = p.id
AND r1."status" = $2::text OFFSET 0)) IS TRUE]::boolean[] AS bits_after
FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND p.id = $3::bigint
ORDER BY p.id
