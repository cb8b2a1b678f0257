-- $1 = "1n"
-- $2 = "America/New_York"
-- $3 = "2026-03-31T14:00"
-- $4 = ["21"]
-- $5 = ["11","12"]
-- $6 = "21"
/* max update */
WITH l0 AS (DELETE FROM "data"."meeting_attendees" l
WHERE l.organization_id = $1::bigint
AND l."meeting_id" = ANY($4::text[]::bigint[])
AND l."person_id" <> ALL($5::text[]::bigint[])), l1 AS (INSERT INTO "data"."meeting_attendees" (organization_id, "meeting_id", "person_id") SELECT $1::bigint, k.id, u.id FROM unnest($4::text[]::bigint[]) k(id), unnest($5::text[]::bigint[]) u(id) ON CONFLICT DO NOTHING)
UPDATE "data"."meetings" p SET "start_at" = timezone($2::text, $3::timestamp)
WHERE p.organization_id = $1::bigint
AND p.id = $6::bigint
RETURNING p.id::text AS id,
ARRAY[to_char(timezone('UTC', p."start_at"), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), NULL]::text[] AS after
