-- $1 = 1
-- $2 = 7
-- $3 = false
-- $4 = acme
-- $5 = 6
-- $6 = 11111111-2222-3333-4444-555555555555
-- $7 = acme
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."agents"'], ARRAY['identity of agents'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint), m AS MATERIALIZED (SELECT p."Key", p."gone", p."tenant", p."name" FROM "host"."agents" p
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh FROM g)
ORDER BY p."Key"
LIMIT 1001)
SELECT (SELECT g.fresh FROM g) AS fresh, t.total, CASE WHEN p."tenant" = $7::text THEN $1::bigint END AS organization_id, p."Key"::text AS id, p."name"::text AS name, NULL AS status
FROM (SELECT count(*)::int AS total FROM m) t
LEFT JOIN LATERAL (SELECT p."Key", p."gone", p."tenant", p."name" FROM "host"."agents" p
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh FROM g)
AND p."Key" > $6::uuid
ORDER BY p."Key"
LIMIT $5::int) p ON true
ORDER BY p."Key"
