-- managed: "data"."people", "data"."companies"
-- $1 = 1
-- $2 = 7
-- $3 = open
-- $4 = open
-- $5 = open
-- $6 = open
-- $7 = open
-- $8 = open
-- $9 = open
-- $10 = open
-- $11 = open
-- $12 = open
-- $13 = 26
-- $14 = open
-- $15 = open
-- $16 = open
-- $17 = open
/* max test */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
r AS MATERIALIZED (SELECT x.k0, x.k1, count(*) AS n, count(x.v0) AS c0, count(DISTINCT x.v0) AS a0
FROM (SELECT r1.id AS k0, r3.id AS k1, CASE WHEN btrim(p."name") <> '' THEN p."name" END AS v0, 1 AS one
FROM "data"."people" p
LEFT JOIN "data"."people" r1 ON r1.organization_id = $1::bigint
AND r1.id = p."owner_id"
AND ((r1."status_k" = $3::text
AND CASE WHEN r1."status" = $4::text THEN TRUE END)) IS TRUE
LEFT JOIN "data"."companies" r2 ON r2.organization_id = $1::bigint
AND r2.id = p."company_id"
AND ((p."status_k" = $5::text
AND CASE WHEN p."status" = $6::text THEN TRUE END)
AND (r2."status_k" = $7::text
AND CASE WHEN r2."status" = $8::text THEN TRUE END)) IS TRUE
LEFT JOIN "data"."people" r3 ON r3.organization_id = $1::bigint
AND r3.id = r2."owner_id"
AND ((r2."status_k" = $9::text
AND CASE WHEN r2."status" = $10::text THEN TRUE END)
AND (r3."status_k" = $11::text
AND CASE WHEN r3."status" = $12::text THEN TRUE END)) IS TRUE
WHERE p.organization_id = $1::bigint
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.k0, x.k1),
w AS MATERIALIZED (SELECT r.k0, r.k1, sum(r.n) OVER ()::bigint AS total, r.n AS gn, FALSE AS several, NULL::numeric AS whole, r.c0 AS m0, r.a0 AS f0
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.k0 IS NULL, y.k1 IS NULL, y.lead DESC NULLS LAST, y.gn DESC, y.k0, y.k1) AS place
FROM (SELECT w.*, TRUE AS met, w.f0 AS lead
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT count(*)::int
FROM w
WHERE TRUE) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''), '|', coalesce('=' || length(o.k1::text)::text || ':' || o.k1::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.k0::text AS t0, r4."name" AS name0, o.k1::text AS t1, r5."name" AS name1, o.f0::text AS f0, o.m0::bigint AS c0
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $13::int
LEFT JOIN "data"."people" r4 ON r4.organization_id = $1::bigint
AND r4.id = o.k0
AND (r4."status_k" = $14::text
AND CASE WHEN r4."status" = $15::text THEN TRUE END)
LEFT JOIN "data"."people" r5 ON r5.organization_id = $1::bigint
AND r5.id = o.k1
AND (r5."status_k" = $16::text
AND CASE WHEN r5."status" = $17::text THEN TRUE END)
ORDER BY o.place
