-- $1 = "1n"
-- $2 = "staff"
-- $3 = "21"
/* max verify */ SELECT p.organization_id, p.id::text AS id,
ARRAY[(SELECT coalesce(array_agg(DISTINCT r1."person_id"), '{}')::text FROM "data"."meeting_attendees" r1
WHERE r1.organization_id = $1::bigint
AND r1."meeting_id" = p.id)]::text[] AS after,
ARRAY[(EXISTS (SELECT r3."meeting_id" FROM "data"."meeting_attendees" r3 JOIN "data"."people" r2 ON r2.organization_id = $1::bigint
AND r2.id = r3."person_id"
WHERE r3.organization_id = $1::bigint
AND r3."meeting_id" = p.id
AND r2."status" = $2::text OFFSET 0)) IS TRUE]::boolean[] AS bits_after
FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND p.id = $3::bigint
ORDER BY p.id
