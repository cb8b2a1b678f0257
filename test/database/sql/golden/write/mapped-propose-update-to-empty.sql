-- $1 = "1n"
-- $2 = "7n"
-- $3 = "acme"
-- $4 = "open"
-- $5 = "open"
-- $6 = null
-- $7 = false
-- $8 = "acme"
-- $9 = "11111111-2222-3333-4444-555555555555"
-- $10 = "open"
/* max propose update */
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
AND NOT EXISTS (SELECT FROM pg_constraint k
WHERE k.contype = 'f'
AND k.confrelid = c.oid
AND k.confupdtype IN ('c', 'n', 'd')
AND EXISTS (SELECT FROM pg_attribute a
WHERE a.attrelid = c.oid
AND a.attnum = ANY(k.confkey)
AND a.attname = ANY(ARRAY['agent_id']::text[]))) FROM pg_class c
WHERE c.oid = to_regclass('"host"."tickets"')
AND c.relkind IN ('r', 'p')), false) AS writable, r.*
FROM (SELECT) o
LEFT JOIN (SELECT CASE WHEN p."tenant" = $3::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, CASE WHEN TRUE THEN p."name"::text END AS name,
ARRAY[(TRUE) IS TRUE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."agent_id"::text END]::text[] AS before,
ARRAY[a."agent_id"::text]::text[] AS after,
ARRAY[TRUE]::boolean[] AS targets,
ARRAY[(p."status"::text = $4::text) IS TRUE]::boolean[] AS bits_before,
ARRAY[(a."status"::text = $5::text) IS TRUE]::boolean[] AS bits_after, NULL::text AS row
FROM "host"."tickets" p
CROSS JOIN LATERAL (SELECT p."Key" AS "Key", p."gone" AS "gone", p."tenant" AS "tenant", p."name" AS "name", p."status" AS "status", p."fee" AS "fee", p."cur" AS "cur", p."opened" AS "opened", p."due" AS "due", p."count" AS "count", p."weight" AS "weight", $6::uuid AS "agent_id", p."kind" AS "kind", p."closed_at" AS "closed_at") a
WHERE p."tenant" = $8::text
AND p."gone" = $7::boolean
AND p."Key" = $9::uuid
AND p."status"::text = $10::text) r ON true
ORDER BY r.id
