-- $1 = "1n"
-- $2 = "open"
-- $3 = "Asia/Kolkata"
-- $4 = "UTC"
-- $5 = "acme"
-- $6 = false
-- $7 = "acme"
-- $8 = ["11111111-2222-3333-4444-555555555555","66666666-7777-8888-9999-000000000000"]
-- $9 = "open"
/* max seen */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."watch"', '"host"."tickets"'],
ARRAY['identity of watch', 'identity of tickets']) AS held) SELECT CASE WHEN p."tenant" = $5::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, CASE WHEN TRUE THEN p."name"::text END AS name,
ARRAY[(TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (p."status"::text = $2::text) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."name"::text END, CASE WHEN (TRUE) IS TRUE THEN p."status"::text END, CASE WHEN (TRUE) IS TRUE THEN trim_scale(CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::text END, CASE WHEN (TRUE) IS TRUE THEN to_char(timezone('UTC', CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($3::text, p."opened") ELSE timezone('UTC', p."opened") END), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, CASE WHEN (p."status"::text = $2::text) IS TRUE THEN to_char(p."due", 'YYYY-MM-DD') END, CASE WHEN (TRUE) IS TRUE THEN p."count"::text END, CASE WHEN (TRUE) IS TRUE THEN trim_scale(CASE WHEN p."weight" > '-Infinity'
AND p."weight" < 'Infinity' THEN p."weight" END)::text END, CASE WHEN (TRUE) IS TRUE THEN p."agent_id"::text END, CASE WHEN (TRUE) IS TRUE THEN (SELECT coalesce(array_agg(DISTINCT r1."a"), '{}')::text FROM "host"."watch" r1
WHERE r1."t" = p."Key") END, CASE WHEN (TRUE) IS TRUE THEN p."kind"::text END, CASE WHEN (TRUE) IS TRUE THEN to_char(timezone('UTC', timezone($4::text, p."closed_at")), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END]::text[] AS before
FROM "host"."tickets" p
WHERE (SELECT g.held FROM g)
AND p."tenant" = $7::text
AND p."gone" = $6::boolean
AND p."Key" IN (SELECT unnest($8::text[]::uuid[]))
AND p."status"::text = $9::text
ORDER BY p."Key"
