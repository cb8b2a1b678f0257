-- $1 = 1
-- $2 = 7
-- $3 = false
-- $4 = acme
-- $5 = open
-- $6 = Asia/Kolkata
-- $7 = 6
-- $8 = 11111111-2222-3333-4444-555555555555
-- $9 = false
-- $10 = acme
-- $11 = 11111111-2222-3333-4444-555555555555
-- $12 = open
-- $13 = acme
-- $14 = open
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'], ARRAY['identity of tickets'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p."Key", p."gone", p."tenant", p."name", p."status", p."fee", p."cur", p."opened", p."due", p."count", p."weight", p."agent_id" FROM "host"."tickets" p
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh FROM g)
AND p."status"::text = $5::text
ORDER BY CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END DESC, p."Key" DESC
LIMIT 1001), c AS MATERIALIZED (SELECT CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END AS v FROM "host"."tickets" p
WHERE p."tenant" = $10::text
AND p."gone" = $9::boolean
AND p."Key" = $11::uuid
AND p."status"::text = $12::text
ORDER BY v
LIMIT 1)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, CASE WHEN p."tenant" = $13::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, CASE WHEN p."status"::text = $14::text THEN p."name"::text END AS name, p."status"::text AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN LATERAL (SELECT p."Key", p."gone", p."tenant", p."name", p."status", p."fee", p."cur", p."opened", p."due", p."count", p."weight", p."agent_id" FROM "host"."tickets" p, c
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh FROM g)
AND p."status"::text = $5::text
AND (CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END, p."Key") < (c.v, $8::uuid)
ORDER BY CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END DESC, p."Key" DESC
LIMIT $7::int) p ON true
ORDER BY CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END DESC, p."Key" DESC
