-- $1 = "1n"
-- $2 = ["21"]
-- $3 = ["11"]
-- $4 = "21"
/* max update */
WITH l0 AS (DELETE FROM "data"."meeting_attendees" l
WHERE l.organization_id = $1::bigint
AND l."meeting_id" = ANY($2::text[]::bigint[])
AND l."person_id" <> ALL($3::text[]::bigint[])), l1 AS (INSERT INTO "data"."meeting_attendees" (organization_id, "meeting_id", "person_id") SELECT $1::bigint, k.id, u.id FROM unnest($2::text[]::bigint[]) k(id), unnest($3::text[]::bigint[]) u(id) ON CONFLICT DO NOTHING) SELECT p.id::text AS id,
ARRAY[NULL]::text[] AS after
FROM "data"."meetings" p
WHERE p.organization_id = $1::bigint
AND p.id = $4::bigint
