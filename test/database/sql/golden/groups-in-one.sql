-- mapped: "host"."tickets"
-- $1 = 1
-- $2 = 7
-- $3 = Asia/Kolkata
-- $4 = false
-- $5 = acme
-- $6 = 1
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'], ARRAY['identity of tickets'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
r AS MATERIALIZED (SELECT count(*) AS n, count(x.v0) AS c0, sum(x.v0::numeric) AS a0, count(x.v1) AS c1, count(DISTINCT x.v1) AS a1, count(x.v2) AS c2, count(DISTINCT x.v2) AS a2, count(x.v3) AS c3, count(DISTINCT x.v3) AS a3
FROM (SELECT CASE WHEN p."count" IS NOT NULL THEN p."count" END AS v0, CASE WHEN CASE WHEN p."weight" > '-Infinity'
AND p."weight" < 'Infinity' THEN p."weight" END IS NOT NULL THEN CASE WHEN p."weight" > '-Infinity'
AND p."weight" < 'Infinity' THEN p."weight" END END AS v1, CASE WHEN btrim(p."name"::text) <> '' THEN p."name"::text END AS v2, CASE WHEN isfinite(CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($3::text, p."opened") ELSE timezone('UTC', p."opened") END) THEN CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($3::text, p."opened") ELSE timezone('UTC', p."opened") END END AS v3, 1 AS one
FROM "host"."tickets" p
WHERE p."tenant" = $5::text
AND p."gone" = $4::boolean
AND (SELECT g.fresh
FROM g)) x),
w AS MATERIALIZED (SELECT sum(r.n) OVER ()::bigint AS total, r.n AS gn, FALSE AS several, CASE WHEN min(r.a0) OVER () >= 0 THEN sum(r.a0) OVER () END AS whole, r.c0 AS m0, r.a0 AS f0, r.c1 AS m1, r.a1 AS f1, r.c2 AS m2, r.a2 AS f2, r.c3 AS m3, r.a3 AS f3
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.lead DESC NULLS LAST, y.gn DESC) AS place
FROM (SELECT w.*, TRUE AS met, w.f0 AS lead
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT count(*)::int
FROM w
WHERE TRUE) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups')) AS own, o.place::int AS place, o.gn::bigint AS n, CASE WHEN o.whole > 0
AND NOT o.several THEN round(100 * o.f0 / o.whole)::int END AS share, o.f0::text AS f0, o.m0::bigint AS c0, o.f1::text AS f1, o.m1::bigint AS c1, o.f2::text AS f2, o.m2::bigint AS c2, o.f3::text AS f3, o.m3::bigint AS c3
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $6::int
ORDER BY o.place
