-- $1 = "1n"
-- $2 = "21"
-- $3 = "{\"id\": 21}"
-- $4 = ["11"]
/* max restore */
WITH l0 AS (INSERT INTO "data"."meeting_attendees" (organization_id, "meeting_id", "person_id") SELECT $1::bigint, k.id, u.id FROM unnest(ARRAY[$2::bigint]) k(id), unnest($4::text[]::bigint[]) u(id) ON CONFLICT DO NOTHING)
INSERT INTO "data"."meetings" AS p SELECT r.* FROM jsonb_populate_record(NULL::"data"."meetings", $3::jsonb) r
WHERE r.organization_id = $1::bigint
AND r.id = $2::bigint
RETURNING p.id::text AS id
