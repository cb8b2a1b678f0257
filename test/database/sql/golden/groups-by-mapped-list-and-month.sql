-- mapped: "host"."watch", "host"."agents", "host"."tickets"
-- $1 = 1
-- $2 = 7
-- $3 = Ann
-- $4 = false
-- $5 = acme
-- $6 = Asia/Kolkata
-- $7 = America/New_York
-- $8 = false
-- $9 = acme
-- $10 = false
-- $11 = acme
-- $12 = 26
-- $13 = Ann
-- $14 = false
-- $15 = acme
/* max test */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."watch"', '"host"."agents"', '"host"."tickets"'], ARRAY['identity of watch', 'identity of agents', 'identity of tickets'])
AND o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh
FROM max.organizations o
WHERE o.organization_id = $1::bigint),
d AS MATERIALIZED (SELECT count(*) AS n
FROM "host"."tickets" p
WHERE p."tenant" = $11::text
AND p."gone" = $10::boolean
AND (SELECT g.fresh
FROM g)),
r AS MATERIALIZED (SELECT x.k0, x.k1, count(*) AS n
FROM (SELECT r2."Key" AS k0, CASE WHEN isfinite(CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END) THEN CASE WHEN CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END >= '4712-01-01 BC'
AND CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END < '294276-01-01' THEN date_trunc('month', timezone($7::text, CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END))::date ELSE timezone('UTC', CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($6::text, p."opened") ELSE timezone('UTC', p."opened") END)::date END END AS k1, 1 AS one
FROM "host"."tickets" p
LEFT JOIN ((SELECT DISTINCT w."t", w."a"
FROM "host"."watch" w) r1 JOIN "host"."agents" r2 ON TRUE
AND r2."tenant" = $5::text
AND r2."gone" = $4::boolean
AND r2."Key" = r1."a"
AND r2."name"::text <> $3::text) ON r1."t" = p."Key"
WHERE p."tenant" = $9::text
AND p."gone" = $8::boolean
AND (SELECT g.fresh
FROM g)) x
GROUP BY x.k0, x.k1),
w AS MATERIALIZED (SELECT r.k0, r.k1, (SELECT d.n
FROM d)::bigint AS total, r.n AS gn, FALSE AS several, NULL::numeric AS whole
FROM r
WHERE r.n > 0),
o AS (SELECT y.*, dense_rank() OVER (ORDER BY y.k1 IS NULL, y.k1 DESC, y.k0 IS NULL, y.gn DESC, y.k0) AS place
FROM (SELECT w.*, TRUE AS met
FROM w) y
WHERE y.met)
SELECT (SELECT g.fresh
FROM g) AS fresh, (SELECT max(w.total)
FROM w) AS total, (SELECT count(*)::int
FROM w
WHERE TRUE) AS groups, (SELECT bool_or(w.several)
FROM w) AS several, md5(concat('groups', '|', coalesce('=' || length(o.k0::text)::text || ':' || o.k0::text, ''), '|', coalesce('=' || length(o.k1::text)::text || ':' || o.k1::text, ''))) AS own, o.place::int AS place, o.gn::bigint AS n, o.k0::text AS t0, r3."name"::text AS name0, o.k1::text AS t1
FROM (SELECT 1) one
LEFT JOIN o ON o.place > 0
AND o.place <= 0 + $12::int
LEFT JOIN "host"."agents" r3 ON r3."tenant" = $15::text
AND r3."gone" = $14::boolean
AND r3."Key" = o.k0
AND r3."name"::text <> $13::text
ORDER BY o.place
