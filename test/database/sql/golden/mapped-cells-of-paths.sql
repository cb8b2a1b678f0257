-- $1 = 1
-- $2 = 7
-- $3 = false
-- $4 = acme
-- $5 = 6
-- $6 = false
-- $7 = acme
-- $8 = false
-- $9 = acme
-- $10 = false
-- $11 = acme
-- $12 = acme
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"', '"host"."agents"'], ARRAY['identity of tickets', 'identity of agents'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p."Key", p."gone", p."tenant", p."name", p."status", p."fee", p."cur", p."opened", p."due", p."count", p."weight", p."agent_id" FROM "host"."tickets" p
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh FROM g)
ORDER BY p."Key"
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, CASE WHEN p."tenant" = $12::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, p."name"::text AS name, p."status"::text AS status, (SELECT r1."name"::text FROM "host"."agents" r1
WHERE r1."tenant" = $7::text
AND r1."gone" = $6::boolean
AND r1."Key" = p."agent_id"
AND TRUE) AS c0, (SELECT (SELECT ARRAY[r3."Key"::text, r3."name"::text] FROM "host"."agents" r3
WHERE r3."tenant" = $9::text
AND r3."gone" = $8::boolean
AND r3."Key" = r2."agent_id"
AND TRUE) FROM "host"."agents" r2
WHERE r2."tenant" = $11::text
AND r2."gone" = $10::boolean
AND r2."Key" = p."agent_id"
AND TRUE) AS c1
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN (SELECT p."Key", p."gone", p."tenant", p."name", p."status", p."fee", p."cur", p."opened", p."due", p."count", p."weight", p."agent_id" FROM m p
ORDER BY p."Key"
LIMIT $5::int) p ON true
ORDER BY p."Key"
