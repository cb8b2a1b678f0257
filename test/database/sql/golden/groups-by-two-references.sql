-- managed: "data"."people", "data"."companies"
-- $1 = 1
-- $2 = 7
-- $3 = open
-- $4 = open
-- $5 = 26
/* max test */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
s AS MATERIALIZED (SELECT x.k0, x.k1, count(*) AS n
FROM (SELECT p."owner_id" AS k0, p."company_id" AS k1, 1 AS one
FROM "data"."people" p
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh
FROM g)
AND p."company_id" IN (SELECT r1.id
FROM "data"."companies" r1
WHERE r1.organization_id = $1::bigint
AND (r1."status_k" = $3::text
AND CASE WHEN r1."status" = $4::text THEN TRUE END))) x
GROUP BY x.k0, x.k1),
r AS MATERIALIZED (SELECT r2.id AS k0, r3.id AS k1, sum(s.n)::bigint AS n
FROM s
LEFT JOIN "data"."people" r2 ON r2.organization_id = $1::bigint
AND r2.id = s.k0
LEFT JOIN "data"."companies" r3 ON r3.organization_id = $1::bigint
AND r3.id = s.k1
WHERE s.n > 0
GROUP BY r2.id, r3.id),
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
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''), '|', coalesce('=' || length(o.k1::text)::text || ':' || o.k1::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.k0::text AS t0, r4."name" AS name0, o.k1::text AS t1, r5."name" AS name1
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $5::int
LEFT JOIN "data"."people" r4 ON r4.organization_id = $1::bigint
AND r4.id = o.k0
LEFT JOIN "data"."companies" r5 ON r5.organization_id = $1::bigint
AND r5.id = o.k1
ORDER BY o.place
