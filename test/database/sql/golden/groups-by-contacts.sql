-- managed: "data"."people"
-- $1 = 1
-- $2 = 7
-- $3 = 26
/* max test */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
s AS MATERIALIZED (SELECT x.k0, x.k1, count(*) AS n
FROM (SELECT (p."phone") COLLATE "C" AS k0, (p."email") COLLATE "C" AS k1, 1 AS one
FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.k0, x.k1),
r AS MATERIALIZED (SELECT (CASE WHEN btrim(s.k0) <> '' THEN s.k0 END) COLLATE "C" AS k0, (CASE WHEN btrim(s.k1) <> '' THEN s.k1 END) COLLATE "C" AS k1, sum(s.n)::bigint AS n
FROM s
WHERE s.n > 0
GROUP BY (CASE WHEN btrim(s.k0) <> '' THEN s.k0 END) COLLATE "C", (CASE WHEN btrim(s.k1) <> '' THEN s.k1 END) COLLATE "C"),
w AS MATERIALIZED (SELECT r.k0, r.k1, sum(r.n) OVER ()::bigint AS total, r.n AS gn, FALSE AS several, NULL::numeric AS whole
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.k0 IS NULL, y.k1 IS NULL, y.gn DESC, y.k0, y.k1) AS place
FROM (SELECT w.*, TRUE AS met
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT count(*)::int
FROM w
WHERE TRUE) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''), '|', coalesce('=' || length(o.k1::text)::text || ':' || o.k1::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.k0::text AS t0, o.k1::text AS t1
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $3::int
ORDER BY o.place
