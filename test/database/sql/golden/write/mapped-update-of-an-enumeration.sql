-- $1 = "1n"
-- $2 = "open"
-- $3 = "urgent"
-- $4 = null
-- $5 = false
-- $6 = "acme"
-- $7 = "11111111-2222-3333-4444-555555555555"
/* max update */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held)
UPDATE "host"."tickets" p SET "status" = $2::text, "kind" = (jsonb_populate_record(NULL::"host"."tickets", jsonb_build_object('kind', $3::text)))."kind", "agent_id" = $4::bigint
WHERE (SELECT g.held FROM g)
AND p."tenant" = $6::text
AND p."gone" = $5::boolean
AND p."Key" = $7::uuid
RETURNING p."Key"::text AS id,
ARRAY[p."status"::text, p."kind"::text, p."agent_id"::text]::text[] AS after
