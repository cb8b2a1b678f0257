-- mapped: "host"."tickets"
-- $1 = 1
-- $2 = 7
-- $3 = false
-- $4 = acme
-- $5 = 26
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'], ARRAY['identity of tickets'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
s AS MATERIALIZED (SELECT x.k0, count(*) AS n
FROM (SELECT CASE WHEN isfinite(p."due") THEN CASE WHEN p."due" >= '4712-01-01 BC'
AND p."due" < '294276-01-01' THEN date_trunc('week', (p."due")::timestamp)::date ELSE p."due" END END AS k0, 1 AS one
FROM "host"."tickets" p
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.k0),
r AS MATERIALIZED (SELECT s.k0 AS k0, sum(s.n)::bigint AS n
FROM s
WHERE s.n > 0
GROUP BY s.k0),
w AS MATERIALIZED (SELECT r.k0, sum(r.n) OVER ()::bigint AS total, r.n AS gn, FALSE AS several, NULL::numeric AS whole
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.k0 IS NULL, y.k0 DESC, y.gn DESC) AS place
FROM (SELECT w.*, TRUE AS met
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT count(*)::int
FROM w
WHERE TRUE) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.k0::text AS t0
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $5::int
ORDER BY o.place
