-- $1 = "1n"
-- $2 = "acme"
-- $3 = "open"
-- $4 = false
-- $5 = "acme"
-- $6 = "11111111-2222-3333-4444-555555555555"
/* max verify */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held) SELECT CASE WHEN p."tenant" = $2::text THEN $1::bigint END AS organization_id, p."Key"::text AS id,
ARRAY[to_char(p."due", 'YYYY-MM-DD')]::text[] AS after,
ARRAY[(p."status"::text = $3::text) IS TRUE]::boolean[] AS bits_after
FROM "host"."tickets" p
WHERE (SELECT g.held FROM g)
AND p."tenant" = $5::text
AND p."gone" = $4::boolean
AND p."Key" = $6::uuid
ORDER BY p."Key"
