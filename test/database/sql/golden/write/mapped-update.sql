-- $1 = "1n"
-- $2 = "Broken lamp"
-- $3 = "2026-03-31"
-- $4 = "66666666-7777-8888-9999-000000000000"
-- $5 = false
-- $6 = "acme"
-- $7 = ["11111111-2222-3333-4444-555555555555","66666666-7777-8888-9999-000000000000"]
/* max update */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held)
UPDATE "host"."tickets" p SET "name" = $2::text, "due" = $3::date, "agent_id" = $4::uuid
WHERE (SELECT g.held FROM g)
AND p."tenant" = $6::text
AND p."gone" = $5::boolean
AND p."Key" IN (SELECT unnest($7::text[]::uuid[]))
RETURNING p."Key"::text AS id,
ARRAY[p."name"::text, to_char(p."due", 'YYYY-MM-DD'), p."agent_id"::text]::text[] AS after
