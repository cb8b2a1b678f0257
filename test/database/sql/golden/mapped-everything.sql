-- $1 = 1
-- $2 = 7
-- $3 = false
-- $4 = acme
-- $5 = open
-- $6 = 6
-- $7 = Asia/Kolkata
-- $8 = America/New_York
-- $9 = false
-- $10 = acme
-- $11 = false
-- $12 = acme
-- $13 = acme
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"', '"host"."agents"', '"host"."watch"'], ARRAY['identity of tickets', 'identity of agents', 'identity of watch'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p."Key", p."gone", p."tenant", p."name", p."status", p."fee", p."cur", p."opened", p."due", p."count", p."weight", p."agent_id" FROM "host"."tickets" p
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh FROM g)
AND p."status"::text = $5::text
ORDER BY p."Key"
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, CASE WHEN p."tenant" = $13::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, p."name"::text AS name, NULL AS status, (CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::text || coalesce(' ' || nullif(btrim(p."cur"::text), ''), '') AS c0, to_char(CASE WHEN CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($7::text, p."opened") ELSE timezone('UTC', p."opened") END >= '4712-01-01 BC'
AND CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($7::text, p."opened") ELSE timezone('UTC', p."opened") END < '294276-01-01' THEN timezone($8::text, CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($7::text, p."opened") ELSE timezone('UTC', p."opened") END) ELSE timezone('UTC', CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($7::text, p."opened") ELSE timezone('UTC', p."opened") END) END, 'YYYY-MM-DD HH24:MI:SS') AS c1, CASE WHEN p."due" >= '4712-01-01 BC'
AND p."due" < '294276-01-01' THEN to_char(p."due", 'YYYY-MM-DD') WHEN isfinite(p."due") THEN p."due"::text END AS c2, CASE WHEN j3.id IS NOT NULL THEN ARRAY[j3.id::text, j3.name] END AS c3, j4.related AS c4
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT p."Key", p."gone", p."tenant", p."name", p."status", p."fee", p."cur", p."opened", p."due", p."count", p."weight", p."agent_id" FROM m p
ORDER BY p."Key"
LIMIT $6::int) p ON true
LEFT JOIN LATERAL (SELECT r1."Key" AS id, r1."name"::text AS name FROM "host"."agents" r1
WHERE r1."tenant" = $10::text
AND r1."gone" = $9::boolean
AND r1."Key" = p."agent_id"
AND TRUE) j3 ON true
LEFT JOIN LATERAL (SELECT array_agg(x.part
ORDER BY x.id, x.n) AS related FROM (SELECT y.id, z.n, z.part FROM (SELECT r2."Key" AS id, NULL::text AS name FROM "host"."watch" r3 JOIN "host"."agents" r2 ON r2."tenant" = $12::text
AND r2."gone" = $11::boolean
AND r2."Key" = r3."a"
WHERE TRUE
AND r3."t" = p."Key"
AND TRUE
ORDER BY r2."Key"
LIMIT 11) y, LATERAL (VALUES (1, y.id::text), (2, y.name)) z(n, part)) x) j4 ON true
ORDER BY p."Key"
