-- $1 = "1n"
-- $2 = "7n"
-- $3 = "open"
-- $4 = "acme"
-- $5 = 1
-- $6 = false
-- $7 = "acme"
-- $8 = "66666666-7777-8888-9999-000000000000"
-- $9 = "open"
-- $10 = "open"
-- $11 = "Broken lamp"
-- $12 = "2026-03-31"
-- $13 = "66666666-7777-8888-9999-000000000000"
-- $14 = false
-- $15 = "acme"
-- $16 = "11111111-2222-3333-4444-555555555555"
-- $17 = "open"
/* max propose update */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."agents"', '"host"."tickets"'],
ARRAY['identity of agents', 'identity of tickets'])
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
AND NOT EXISTS (SELECT FROM pg_constraint k
WHERE k.contype = 'f'
AND k.confrelid = c.oid
AND k.confupdtype IN ('c', 'n', 'd')
AND EXISTS (SELECT FROM pg_attribute a
WHERE a.attrelid = c.oid
AND a.attnum = ANY(k.confkey)
AND a.attname = ANY(ARRAY['name', 'due', 'agent_id']::text[]))) FROM pg_class c
WHERE c.oid = to_regclass('"host"."tickets"')
AND c.relkind IN ('r', 'p')), false) AS writable, r.*
FROM (SELECT) o
LEFT JOIN (SELECT CASE WHEN p."tenant" = $4::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, CASE WHEN TRUE THEN p."name"::text END AS name,
ARRAY[(TRUE) IS TRUE, (p."status"::text = $3::text) IS TRUE, (TRUE) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."name"::text END, CASE WHEN (p."status"::text = $3::text) IS TRUE THEN to_char(p."due", 'YYYY-MM-DD') END, CASE WHEN (TRUE) IS TRUE THEN p."agent_id"::text END]::text[] AS before,
ARRAY[a."name"::text, to_char(a."due", 'YYYY-MM-DD'), a."agent_id"::text]::text[] AS after,
ARRAY[TRUE, TRUE, (SELECT count(*) = $5::int FROM "host"."agents" r1
WHERE r1."tenant" = $7::text
AND r1."gone" = $6::boolean
AND r1."Key" = $8::uuid
AND TRUE)]::boolean[] AS targets,
ARRAY[(p."status"::text = $9::text) IS TRUE]::boolean[] AS bits_before,
ARRAY[(a."status"::text = $10::text) IS TRUE]::boolean[] AS bits_after, NULL::text AS row
FROM "host"."tickets" p
CROSS JOIN LATERAL (SELECT p."Key" AS "Key", p."gone" AS "gone", p."tenant" AS "tenant", $11::text AS "name", p."status" AS "status", p."fee" AS "fee", p."cur" AS "cur", p."opened" AS "opened", $12::date AS "due", p."count" AS "count", p."weight" AS "weight", $13::uuid AS "agent_id", p."kind" AS "kind", p."closed_at" AS "closed_at") a
WHERE p."tenant" = $15::text
AND p."gone" = $14::boolean
AND p."Key" = $16::uuid
AND p."status"::text = $17::text) r ON true
ORDER BY r.id
