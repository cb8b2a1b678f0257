-- managed: "data"."people"
-- $1 = 1
-- $2 = 7
-- $3 = open
-- $4 = open
-- $5 = open
-- $6 = open
-- $7 = 3
-- $8 = 00000000000000000000000000000000
-- $9 = open
-- $10 = open
-- $11 = open
-- $12 = open
/* max test */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
s AS MATERIALIZED (SELECT x.k0, count(*) AS n
FROM (SELECT CASE WHEN (p."status_k" = $3::text
AND CASE WHEN p."status" = $4::text THEN TRUE END) THEN p."owner_id" END AS k0, 1 AS one
FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.k0),
r AS MATERIALIZED (SELECT r1.id AS k0, sum(s.n)::bigint AS n
FROM s
LEFT JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = s.k0
AND (r1."status_k" = $5::text
AND CASE WHEN r1."status" = $6::text THEN TRUE END)
WHERE s.n > 0
GROUP BY r1.id),
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
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.k0::text AS t0, CASE WHEN (r2."status_k" = $11::text
AND CASE WHEN r2."status" = $12::text THEN TRUE END) THEN r2."name" END AS name0
FROM (SELECT 1) one
LEFT JOIN o ON o.place > (SELECT min(c.place)
FROM o c
WHERE md5(concat('groups', '|', coalesce('=' || length(c.k0::text)::text || ':' || c.k0::text, ''))) = $8::text)
AND o.place <= (SELECT min(c.place)
FROM o c
WHERE md5(concat('groups', '|', coalesce('=' || length(c.k0::text)::text || ':' || c.k0::text, ''))) = $8::text) + $7::int
LEFT JOIN "data"."people" r2 ON r2.organization_id = $1::bigint
AND r2.id = o.k0
AND (r2."status_k" = $9::text
AND CASE WHEN r2."status" = $10::text THEN TRUE END)
ORDER BY o.place
