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
s AS MATERIALIZED (SELECT x.u, count(*) AS n, count(x.v0) AS c0, sum(x.v0::numeric) AS a0
FROM (SELECT CASE WHEN (CASE WHEN abs((CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::numeric) < 1e30
AND abs((p."count")::numeric) < 1e30 THEN trim_scale((CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::numeric * (p."count")::numeric) END) IS NOT NULL THEN (CASE WHEN abs((CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::numeric) < 1e30
AND abs((p."count")::numeric) < 1e30 THEN trim_scale((CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::numeric * (p."count")::numeric) END) END AS v0, CASE WHEN (CASE WHEN (CASE WHEN abs((CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::numeric) < 1e30
AND abs((p."count")::numeric) < 1e30 THEN trim_scale((CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::numeric * (p."count")::numeric) END) IS NOT NULL THEN (CASE WHEN abs((CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::numeric) < 1e30
AND abs((p."count")::numeric) < 1e30 THEN trim_scale((CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::numeric * (p."count")::numeric) END) END) IS NOT NULL THEN nullif(btrim(p."cur"::text), '') END COLLATE "C" AS u, 1 AS one
FROM "host"."tickets" p
WHERE p."tenant" = $4::text
AND p."gone" = $3::boolean
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.u),
r AS MATERIALIZED (SELECT s.u, sum(s.n)::bigint AS n, sum(s.c0)::bigint AS c0, sum(s.a0) AS a0
FROM s
WHERE s.n > 0
GROUP BY s.u),
w AS MATERIALIZED (SELECT r.u, sum(r.n) OVER ()::bigint AS total, sum(r.n) OVER () AS gn, (SELECT count(DISTINCT coalesce(q.u, '')) > 1
FROM r q
WHERE q.c0 > 0) AS several, CASE WHEN min(r.a0) OVER () >= 0 THEN sum(r.a0) OVER () END AS whole, r.c0 AS m0, r.a0 AS f0
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.lead DESC NULLS LAST, y.gn DESC) AS place
FROM (SELECT w.*, TRUE AS met, CASE WHEN NOT w.several THEN max(CASE WHEN w.m0 > 0 THEN w.f0 END) OVER () END AS lead
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT max(z.place)::int
FROM o z) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups')) AS own, o.place::int AS place, o.gn::bigint AS n, o.u, CASE WHEN o.whole > 0
AND NOT o.several THEN round(100 * o.f0 / o.whole)::int END AS share, o.f0::text AS f0, o.m0::bigint AS c0
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $5::int
ORDER BY o.place, o.m0 DESC, o.u
