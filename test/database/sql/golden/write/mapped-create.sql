-- $1 = "1n"
-- $2 = "Broken lamp"
-- $3 = "2026-03-31"
-- $4 = "66666666-7777-8888-9999-000000000000"
-- $5 = "false"
-- $6 = "acme"
/* max create */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held)
INSERT INTO "host"."tickets" AS p ("name", "due", "agent_id", "gone", "tenant") SELECT $2::text, $3::date, $4::uuid, (jsonb_populate_record(NULL::"host"."tickets", jsonb_build_object('gone', $5::text)))."gone", (jsonb_populate_record(NULL::"host"."tickets", jsonb_build_object('tenant', $6::text)))."tenant"
WHERE (SELECT g.held FROM g)
AND TRUE
RETURNING p."Key"::text AS id,
ARRAY[p."name"::text, to_char(p."due", 'YYYY-MM-DD'), p."agent_id"::text]::text[] AS after
