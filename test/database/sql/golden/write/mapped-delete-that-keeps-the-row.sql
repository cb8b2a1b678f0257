-- $1 = "1n"
-- $2 = false
-- $3 = "acme"
-- $4 = "11111111-2222-3333-4444-555555555555"
-- $5 = "true"
-- $6 = "now"
-- $7 = false
-- $8 = "acme"
/* max delete */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held)
UPDATE "host"."tickets" p SET "gone" = (jsonb_populate_record(NULL::"host"."tickets", jsonb_build_object('gone', $5::text)))."gone", "removed_at" = (jsonb_populate_record(NULL::"host"."tickets", jsonb_build_object('removed_at', $6::text)))."removed_at"
WHERE (SELECT g.held FROM g)
AND p."tenant" = $3::text
AND p."gone" = $2::boolean
AND p."Key" = $4::uuid
RETURNING p."Key"::text AS id, (p."tenant" = $8::text
AND p."gone" = $7::boolean) IS NOT TRUE AS gone
