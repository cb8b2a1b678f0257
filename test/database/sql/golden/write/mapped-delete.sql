-- $1 = "1n"
-- $2 = false
-- $3 = "acme"
-- $4 = "11111111-2222-3333-4444-555555555555"
/* max delete */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held)
DELETE
FROM "host"."tickets" p
WHERE (SELECT g.held FROM g)
AND p."tenant" = $3::text
AND p."gone" = $2::boolean
AND p."Key" = $4::uuid
RETURNING p."Key"::text AS id
