-- mapped: "host"."tickets"
-- $1 = 1
-- $2 = 7
-- $3 = Asia/Kolkata
-- $4 = America/New_York
-- $5 = Asia/Kolkata
-- $6 = false
-- $7 = acme
-- $8 = 26
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'], ARRAY['identity of tickets'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
s AS MATERIALIZED (SELECT x.k0, x.k1, count(*) AS n, count(x.v0) AS c0, min(x.v0) AS a0, count(x.v1) AS c1, sum(x.v1::numeric) AS a1
FROM (SELECT CASE WHEN isfinite(CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($3::text, p."opened") ELSE timezone('UTC', p."opened") END) THEN CASE WHEN CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($3::text, p."opened") ELSE timezone('UTC', p."opened") END >= '4712-01-01 BC'
AND CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($3::text, p."opened") ELSE timezone('UTC', p."opened") END < '294276-01-01' THEN date_trunc('month', timezone($4::text, CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($3::text, p."opened") ELSE timezone('UTC', p."opened") END))::date ELSE timezone('UTC', CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($3::text, p."opened") ELSE timezone('UTC', p."opened") END)::date END END AS k0, CASE WHEN isfinite(p."due") THEN extract(isodow
FROM p."due")::int END AS k1, CASE WHEN isfinite(CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($5::text, p."opened") ELSE timezone('UTC', p."opened") END) THEN CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($5::text, p."opened") ELSE timezone('UTC', p."opened") END END AS v0, CASE WHEN CASE WHEN p."weight" > '-Infinity'
AND p."weight" < 'Infinity' THEN p."weight" END IS NOT NULL THEN CASE WHEN p."weight" > '-Infinity'
AND p."weight" < 'Infinity' THEN p."weight" END END AS v1, 1 AS one
FROM "host"."tickets" p
WHERE p."tenant" = $7::text
AND p."gone" = $6::boolean
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.k0, x.k1),
r AS MATERIALIZED (SELECT s.k0 AS k0, s.k1 AS k1, sum(s.n)::bigint AS n, sum(s.c0)::bigint AS c0, min(s.a0) AS a0, sum(s.c1)::bigint AS c1, sum(s.a1) AS a1
FROM s
WHERE s.n > 0
GROUP BY s.k0, s.k1),
w AS MATERIALIZED (SELECT r.k0, r.k1, sum(r.n) OVER ()::bigint AS total, r.n AS gn, FALSE AS several, NULL::numeric AS whole, r.c0 AS m0, r.a0 AS f0, r.c1 AS m1, trim_scale(round(r.a1 / nullif(r.c1, 0), 4)) AS f1
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.k0 IS NULL, y.k0 DESC, y.k1 IS NULL, y.k1 DESC, y.lead DESC NULLS LAST, y.gn DESC) AS place
FROM (SELECT w.*, TRUE AS met, w.f0 AS lead
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT count(*)::int
FROM w
WHERE TRUE) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''), '|', coalesce('=' || length(o.k1::text)::text || ':' || o.k1::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.k0::text AS t0, o.k1::text AS t1, to_char(CASE WHEN o.f0 >= '4712-01-01 BC'
AND o.f0 < '294276-01-01' THEN timezone($4::text, o.f0) ELSE timezone('UTC', o.f0) END, 'YYYY-MM-DD HH24:MI:SS') AS f0, o.m0::bigint AS c0, o.f1::text AS f1, o.m1::bigint AS c1
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $8::int
ORDER BY o.place
