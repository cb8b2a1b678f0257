-- $1 = "1n"
-- $2 = "acme"
-- $3 = false
-- $4 = "acme"
-- $5 = ["11111111-2222-3333-4444-555555555555","66666666-7777-8888-9999-000000000000"]
-- $6 = "open"
/* max seen */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held) SELECT CASE WHEN p."tenant" = $2::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, CASE WHEN TRUE THEN p."name"::text END AS name,
ARRAY[(TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."name"::text END, CASE WHEN (TRUE) IS TRUE THEN p."status"::text END, CASE WHEN (TRUE) IS TRUE THEN trim_scale(CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::text END]::text[] AS before
FROM "host"."tickets" p
WHERE (SELECT g.held FROM g)
AND p."tenant" = $4::text
AND p."gone" = $3::boolean
AND p."Key" IN (SELECT unnest($5::text[]::uuid[]))
AND p."status"::text = $6::text
ORDER BY p."Key"
