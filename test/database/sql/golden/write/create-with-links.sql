-- $1 = "1n"
-- $2 = "Review"
-- $3 = "review"
-- $4 = "2026-03-31T14:00:00.000000Z"
-- $5 = "22"
-- $6 = ["11"]
/* max create */
WITH l0 AS (INSERT INTO "data"."meeting_attendees" (organization_id, "meeting_id", "person_id") SELECT $1::bigint, k.id, u.id FROM unnest(ARRAY[$5::bigint]) k(id), unnest($6::text[]::bigint[]) u(id) ON CONFLICT DO NOTHING)
INSERT INTO "data"."meetings" AS p (organization_id, id, "name", "name_k", "start_at")
VALUES ($1::bigint, $5::bigint, $2::text, $3::text, $4::timestamptz)
RETURNING p.id::text AS id,
ARRAY[p."name", to_char(timezone('UTC', p."start_at"), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), NULL]::text[] AS after
