-- $1 = "1n"
-- $2 = "11111111-2222-3333-4444-555555555555"
-- $3 = "Lamp"
-- $4 = null
-- $5 = null
-- $6 = null
-- $7 = null
-- $8 = null
-- $9 = null
-- $10 = null
-- $11 = null
-- $12 = null
-- $13 = null
-- $14 = null
-- $15 = "open"
-- $16 = "Asia/Kolkata"
-- $17 = "UTC"
-- $18 = "acme"
-- $19 = "Asia/Kolkata"
-- $20 = "UTC"
-- $21 = "open"
-- $22 = false
-- $23 = "acme"
-- $24 = "open"
/* max lock */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held) SELECT CASE WHEN p."tenant" = $18::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, CASE WHEN TRUE THEN p."name"::text END AS name,
ARRAY[(TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (p."status"::text = $15::text) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."name"::text END, CASE WHEN (TRUE) IS TRUE THEN p."status"::text END, CASE WHEN (TRUE) IS TRUE THEN trim_scale(CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::text END, CASE WHEN (TRUE) IS TRUE THEN to_char(timezone('UTC', CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($16::text, p."opened") ELSE timezone('UTC', p."opened") END), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, CASE WHEN (p."status"::text = $15::text) IS TRUE THEN to_char(p."due", 'YYYY-MM-DD') END, CASE WHEN (TRUE) IS TRUE THEN p."count"::text END, CASE WHEN (TRUE) IS TRUE THEN trim_scale(CASE WHEN p."weight" > '-Infinity'
AND p."weight" < 'Infinity' THEN p."weight" END)::text END, CASE WHEN (TRUE) IS TRUE THEN p."agent_id"::text END, CASE WHEN (TRUE) IS TRUE THEN p."kind"::text END, CASE WHEN (TRUE) IS TRUE THEN to_char(timezone('UTC', timezone($17::text, p."closed_at")), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END]::text[] AS before,
ARRAY[p."name"::text IS NOT DISTINCT FROM e.b0, p."status"::text IS NOT DISTINCT FROM e.b1, trim_scale(CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::text IS NOT DISTINCT FROM e.b2, to_char(timezone('UTC', CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($19::text, p."opened") ELSE timezone('UTC', p."opened") END), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') IS NOT DISTINCT FROM e.b3, to_char(p."due", 'YYYY-MM-DD') IS NOT DISTINCT FROM e.b4, p."count"::text IS NOT DISTINCT FROM e.b5, trim_scale(CASE WHEN p."weight" > '-Infinity'
AND p."weight" < 'Infinity' THEN p."weight" END)::text IS NOT DISTINCT FROM e.b6, p."agent_id"::text IS NOT DISTINCT FROM e.b7, p."kind"::text IS NOT DISTINCT FROM e.b8, to_char(timezone('UTC', timezone($20::text, p."closed_at")), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') IS NOT DISTINCT FROM e.b9]::boolean[] AS same, CASE WHEN TRUE THEN p."name"::text END IS NOT DISTINCT FROM e.name AS same_name, TRUE AS same_row,
ARRAY[]::boolean[] AS targets,
ARRAY[(p."status"::text = $21::text) IS TRUE]::boolean[] AS bits_before
FROM "host"."tickets" p
JOIN (VALUES ($2::uuid, $3::text, $4::jsonb, $5::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::text, $12::text, $13::text, $14::text)) e(id, name, row, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9) ON e.id = p."Key"
WHERE (SELECT g.held FROM g)
AND p."tenant" = $23::text
AND p."gone" = $22::boolean
AND p."status"::text = $24::text
ORDER BY p."Key"
FOR UPDATE OF p NOWAIT
