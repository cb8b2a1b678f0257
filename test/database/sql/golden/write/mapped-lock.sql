-- $1 = "1n"
-- $2 = "11111111-2222-3333-4444-555555555555"
-- $3 = "Lamp"
-- $4 = null
-- $5 = null
-- $6 = null
-- $7 = "66666666-7777-8888-9999-000000000000"
-- $8 = "open"
-- $9 = "acme"
-- $10 = 1
-- $11 = false
-- $12 = "acme"
-- $13 = "66666666-7777-8888-9999-000000000000"
-- $14 = "open"
-- $15 = false
-- $16 = "acme"
-- $17 = "open"
/* max lock */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."agents"', '"host"."tickets"'],
ARRAY['identity of agents', 'identity of tickets']) AS held) SELECT CASE WHEN p."tenant" = $9::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, CASE WHEN TRUE THEN p."name"::text END AS name,
ARRAY[(TRUE) IS TRUE, (p."status"::text = $8::text) IS TRUE, (TRUE) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."name"::text END, CASE WHEN (p."status"::text = $8::text) IS TRUE THEN to_char(p."due", 'YYYY-MM-DD') END, CASE WHEN (TRUE) IS TRUE THEN p."agent_id"::text END]::text[] AS before,
ARRAY[p."name"::text IS NOT DISTINCT FROM e.b0, to_char(p."due", 'YYYY-MM-DD') IS NOT DISTINCT FROM e.b1, p."agent_id"::text IS NOT DISTINCT FROM e.b2]::boolean[] AS same, CASE WHEN TRUE THEN p."name"::text END IS NOT DISTINCT FROM e.name AS same_name, TRUE AS same_row,
ARRAY[TRUE, TRUE, (SELECT count(*) = $10::int FROM "host"."agents" r1
WHERE r1."tenant" = $12::text
AND r1."gone" = $11::boolean
AND r1."Key" = $13::uuid
AND TRUE)]::boolean[] AS targets,
ARRAY[(p."status"::text = $14::text) IS TRUE]::boolean[] AS bits_before
FROM "host"."tickets" p
JOIN (VALUES ($2::uuid, $3::text, $4::jsonb, $5::text, $6::text, $7::text)) e(id, name, row, b0, b1, b2) ON e.id = p."Key"
WHERE (SELECT g.held FROM g)
AND p."tenant" = $16::text
AND p."gone" = $15::boolean
AND p."status"::text = $17::text
ORDER BY p."Key"
FOR UPDATE OF p NOWAIT
