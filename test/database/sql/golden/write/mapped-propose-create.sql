-- $1 = "1n"
-- $2 = "7n"
-- $3 = "acme"
-- $4 = "11111111-2222-3333-4444-555555555555"
-- $5 = 1
-- $6 = false
-- $7 = "acme"
-- $8 = "66666666-7777-8888-9999-000000000000"
-- $9 = "open"
-- $10 = "Broken lamp"
-- $11 = "2026-03-31"
-- $12 = "66666666-7777-8888-9999-000000000000"
-- $13 = "false"
-- $14 = "acme"
/* max propose create */
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
AND NOT FALSE FROM pg_class c
WHERE c.oid = to_regclass('"host"."tickets"')
AND c.relkind IN ('r', 'p')), false) AS writable, r.*
FROM (SELECT) o
LEFT JOIN (SELECT CASE WHEN a."tenant" = $3::text THEN $1::bigint END AS organization_id, $4::text AS id, CASE WHEN TRUE THEN a."name"::text END AS name,
ARRAY[TRUE, TRUE, TRUE]::boolean[] AS visible,
ARRAY[NULL, NULL, NULL]::text[] AS before,
ARRAY[a."name"::text, to_char(a."due", 'YYYY-MM-DD'), a."agent_id"::text]::text[] AS after,
ARRAY[TRUE, TRUE, (SELECT count(*) = $5::int FROM "host"."agents" r1
WHERE r1."tenant" = $7::text
AND r1."gone" = $6::boolean
AND r1."Key" = $8::uuid
AND TRUE)]::boolean[] AS targets,
ARRAY[]::boolean[] AS bits_before,
ARRAY[(a."status"::text = $9::text) IS TRUE]::boolean[] AS bits_after, NULL::text AS row FROM (SELECT (NULL::"host"."tickets")."Key" AS "Key", (jsonb_populate_record(NULL::"host"."tickets", jsonb_build_object('gone', $13::text)))."gone" AS "gone", (jsonb_populate_record(NULL::"host"."tickets", jsonb_build_object('tenant', $14::text)))."tenant" AS "tenant", $10::text AS "name", (NULL::"host"."tickets")."status" AS "status", (NULL::"host"."tickets")."fee" AS "fee", (NULL::"host"."tickets")."cur" AS "cur", (NULL::"host"."tickets")."opened" AS "opened", $11::date AS "due", (NULL::"host"."tickets")."count" AS "count", (NULL::"host"."tickets")."weight" AS "weight", $12::uuid AS "agent_id", (NULL::"host"."tickets")."kind" AS "kind", (NULL::"host"."tickets")."closed_at" AS "closed_at") a) r ON true
ORDER BY r.id
