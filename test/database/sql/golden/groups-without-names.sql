-- mapped: "host"."tickets", "host"."agents"
-- $1 = 1
-- $2 = 7
-- $3 = false
-- $4 = acme
-- $5 = false
-- $6 = acme
-- $7 = 26
-- $8 = false
-- $9 = acme
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"', '"host"."agents"'], ARRAY['identity of tickets', 'identity of agents'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
s AS MATERIALIZED (SELECT x.k0, count(*) AS n
FROM (SELECT p."agent_id" AS k0, 1 AS one
FROM "host"."tickets" p
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.k0),
r AS MATERIALIZED (SELECT r1."Key" AS k0, sum(s.n)::bigint AS n
FROM s
LEFT JOIN "host"."agents" r1 ON r1."tenant" = $6::text
AND r1."gone" = $5::boolean
AND r1."Key" = s.k0
WHERE s.n > 0
GROUP BY r1."Key"),
w AS MATERIALIZED (SELECT r.k0, sum(r.n) OVER ()::bigint AS total, r.n AS gn, FALSE AS several, NULL::numeric AS whole
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.k0 IS NULL, y.gn DESC, y.k0) AS place
FROM (SELECT w.*, TRUE AS met
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT count(*)::int
FROM w
WHERE TRUE) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.k0::text AS t0, NULL::text AS name0
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $7::int
LEFT JOIN "host"."agents" r2 ON r2."tenant" = $9::text
AND r2."gone" = $8::boolean
AND r2."Key" = o.k0
ORDER BY o.place
