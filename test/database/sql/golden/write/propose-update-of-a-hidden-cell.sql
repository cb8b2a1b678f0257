-- $1 = "1n"
-- $2 = "7n"
-- $3 = "555"
-- $4 = null
-- $5 = null
-- $6 = null
-- $7 = "31"
/* max propose update */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint)
SELECT (SELECT g.fresh FROM g) AS fresh, r.*
FROM (SELECT) o
LEFT JOIN (SELECT p.organization_id, p.id::text AS id, CASE WHEN TRUE THEN p."name" END AS name,
ARRAY[(TRUE) IS TRUE, FALSE]::boolean[] AS visible,
ARRAY[CASE WHEN (TRUE) IS TRUE THEN p."phone" END, NULL]::text[] AS before,
ARRAY[a."phone", a."email"]::text[] AS after,
ARRAY[TRUE, TRUE]::boolean[] AS targets,
ARRAY[(TRUE) IS TRUE]::boolean[] AS bits_before,
ARRAY[(TRUE) IS TRUE]::boolean[] AS bits_after, NULL::text AS row
FROM "data"."companies" p
CROSS JOIN LATERAL (SELECT p.organization_id, p.id, p."name" AS "name", p."name_k" AS "name_k", p."status" AS "status", p."status_k" AS "status_k", p."owner_id" AS "owner_id", $3::text AS "phone", $4::text AS "phone_k", $5::text AS "email", $6::text AS "email_k") a
WHERE p.organization_id = $1::bigint
AND p.id = $7::bigint
AND TRUE) r ON true
ORDER BY r.id
