-- mapped: "host"."tickets", "host"."agents"
-- $1 = 1
-- $2 = 7
-- $3 = open
-- $4 = open
-- $5 = open
-- $6 = false
-- $7 = acme
-- $8 = Ann
-- $9 = false
-- $10 = acme
-- $11 = 9
-- $12 = 1.5
-- $13 = 26
-- $14 = Ann
-- $15 = false
-- $16 = acme
-- $17 = Ann
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"', '"host"."agents"'], ARRAY['identity of tickets', 'identity of agents'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
s AS MATERIALIZED (SELECT x.k0, x.k1, x.u, count(*) AS n, count(x.v0) AS c0, sum(x.v0::numeric) AS a0, count(x.v1) AS c1, sum(x.v1::numeric) AS a1, count(x.v2) AS c2, max(x.v2) AS a2
FROM (SELECT p."agent_id" AS k0, (p."status"::text) COLLATE "C" AS k1, CASE WHEN p."status"::text = $3::text
AND CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END IS NOT NULL THEN CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END END AS v0, CASE WHEN p."status"::text = $4::text
AND CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END IS NOT NULL THEN CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END END AS v1, CASE WHEN isfinite(p."due") THEN p."due" END AS v2, CASE WHEN (CASE WHEN p."status"::text = $5::text
AND CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END IS NOT NULL THEN CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END END) IS NOT NULL THEN nullif(btrim(p."cur"::text), '') END COLLATE "C" AS u, 1 AS one
FROM "host"."tickets" p
WHERE p."tenant" = $7::text
AND p."gone" = $6::boolean
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.k0, x.k1, x.u),
r AS MATERIALIZED (SELECT r1."Key" AS k0, (CASE WHEN btrim(s.k1) <> '' THEN s.k1 END) COLLATE "C" AS k1, s.u, sum(s.n)::bigint AS n, sum(s.c0)::bigint AS c0, sum(s.a0) AS a0, sum(s.c1)::bigint AS c1, sum(s.a1) AS a1, sum(s.c2)::bigint AS c2, max(s.a2) AS a2
FROM s
LEFT JOIN "host"."agents" r1 ON r1."tenant" = $10::text
AND r1."gone" = $9::boolean
AND r1."Key" = s.k0
AND r1."name"::text <> $8::text
WHERE s.n > 0
GROUP BY r1."Key", (CASE WHEN btrim(s.k1) <> '' THEN s.k1 END) COLLATE "C", s.u),
w AS MATERIALIZED (SELECT r.k0, r.k1, r.u, sum(r.n) OVER ()::bigint AS total, sum(r.n) OVER (PARTITION BY r.k0, r.k1) AS gn, (SELECT count(DISTINCT coalesce(q.u, '')) > 1
FROM r q
WHERE q.c0 > 0) AS several, CASE WHEN min(r.a0) OVER () >= 0 THEN sum(r.a0) OVER () END AS whole, r.c0 AS m0, r.a0 AS f0, r.c1 AS m1, trim_scale(round(r.a1 / nullif(r.c1, 0), 4)) AS f1, sum(r.c2) OVER (PARTITION BY r.k0, r.k1) AS m2, max(r.a2) OVER (PARTITION BY r.k0, r.k1) AS f2
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.k0 IS NULL, y.k1 IS NULL, y.lead DESC NULLS LAST, y.gn DESC, y.k0, y.k1) AS place
FROM (SELECT w.*, w.gn < $11::numeric
AND coalesce(bool_or(w.m0 > 0
AND w.f0 = $12::numeric) OVER (PARTITION BY w.k0, w.k1), FALSE) AS met, CASE WHEN NOT w.several THEN max(CASE WHEN w.m0 > 0 THEN w.f0 END) OVER (PARTITION BY w.k0, w.k1) END AS lead
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT max(z.place)::int
FROM o z) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''), '|', coalesce('=' || length(o.k1::text)::text || ':' || o.k1::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.u, CASE WHEN o.whole > 0
AND NOT o.several THEN round(100 * o.f0 / o.whole)::int END AS share, o.k0::text AS t0, CASE WHEN r2."name"::text <> $17::text THEN r2."name"::text END AS name0, o.k1::text AS t1, o.f0::text AS f0, o.m0::bigint AS c0, o.f1::text AS f1, o.m1::bigint AS c1, o.f2::text AS f2, o.m2::bigint AS c2
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $13::int
LEFT JOIN "host"."agents" r2 ON r2."tenant" = $16::text
AND r2."gone" = $15::boolean
AND r2."Key" = o.k0
AND r2."name"::text <> $14::text
ORDER BY o.place, o.m0 DESC, o.u
