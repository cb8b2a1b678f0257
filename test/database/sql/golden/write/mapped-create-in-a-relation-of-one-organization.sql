-- $1 = "1n"
-- $2 = "Broken lamp"
-- $3 = null
/* max create */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held)
INSERT INTO "host"."tickets" AS p ("name", "closed") SELECT $2::text, (jsonb_populate_record(NULL::"host"."tickets", jsonb_build_object('closed', $3::text)))."closed"
WHERE (SELECT g.held FROM g)
AND TRUE
RETURNING p."Key"::text AS id,
ARRAY[p."name"::text]::text[] AS after
