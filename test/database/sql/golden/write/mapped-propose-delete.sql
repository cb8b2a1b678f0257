-- $1 = "1n"
-- $2 = "7n"
-- $3 = "open"
-- $4 = "Asia/Kolkata"
-- $5 = "UTC"
-- $6 = "acme"
-- $7 = "open"
-- $8 = false
-- $9 = "acme"
-- $10 = ["11111111-2222-3333-4444-555555555555","66666666-7777-8888-9999-000000000000"]
-- $11 = "open"
/* max propose delete */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint)
SELECT (SELECT g.fresh FROM g) AS fresh, coalesce((SELECT max.relation_shape(c.oid) = 'the shape'
AND NOT c.relrowsecurity
AND NOT EXISTS (SELECT FROM pg_rewrite w
WHERE w.ev_class = c.oid)
AND NOT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid
WHERE t.tgrelid = c.oid
AND NOT t.tgisinternal
AND NOT max.trusts(f.proowner))
AND NOT EXISTS (WITH RECURSIVE d(oid) AS (SELECT c.oid UNION SELECT x.oid FROM d
CROSS JOIN LATERAL (SELECT i.inhrelid AS oid FROM pg_inherits i
WHERE i.inhparent = d.oid UNION ALL SELECT k.conrelid FROM pg_constraint k
WHERE k.contype = 'f'
AND k.confrelid = d.oid
AND k.confdeltype = 'c') x) SELECT FROM d JOIN pg_constraint k ON k.contype = 'f'
AND k.conparentid = 0
AND k.confrelid = d.oid
WHERE k.confdeltype IN ('c', 'n', 'd')
AND (SELECT n.nspname || '.' || r.relname FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace
WHERE r.oid = k.conrelid) <> ALL(ARRAY['host.note']::text[])) FROM pg_class c
WHERE c.oid = to_regclass('"host"."tickets"')
AND c.relkind IN ('r', 'p')), false) AS writable, r.*
FROM (SELECT) o
LEFT JOIN (SELECT CASE WHEN p."tenant" = $6::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, CASE WHEN TRUE THEN p."name"::text END AS name,
ARRAY[(TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (p."status"::text = $3::text) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE, (TRUE) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."name"::text END, CASE WHEN (TRUE) IS TRUE THEN p."status"::text END, CASE WHEN (TRUE) IS TRUE THEN trim_scale(CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::text END, CASE WHEN (TRUE) IS TRUE THEN to_char(timezone('UTC', CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($4::text, p."opened") ELSE timezone('UTC', p."opened") END), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, CASE WHEN (p."status"::text = $3::text) IS TRUE THEN to_char(p."due", 'YYYY-MM-DD') END, CASE WHEN (TRUE) IS TRUE THEN p."count"::text END, CASE WHEN (TRUE) IS TRUE THEN trim_scale(CASE WHEN p."weight" > '-Infinity'
AND p."weight" < 'Infinity' THEN p."weight" END)::text END, CASE WHEN (TRUE) IS TRUE THEN p."agent_id"::text END, CASE WHEN (TRUE) IS TRUE THEN p."kind"::text END, CASE WHEN (TRUE) IS TRUE THEN to_char(timezone('UTC', timezone($5::text, p."closed_at")), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END]::text[] AS before,
ARRAY[]::text[] AS after,
ARRAY[]::boolean[] AS targets,
ARRAY[(p."status"::text = $7::text) IS TRUE]::boolean[] AS bits_before,
ARRAY[]::boolean[] AS bits_after, NULL::text AS row
FROM "host"."tickets" p
WHERE p."tenant" = $9::text
AND p."gone" = $8::boolean
AND p."Key" IN (SELECT unnest($10::text[]::uuid[]))
AND p."status"::text = $11::text) r ON true
ORDER BY r.id
