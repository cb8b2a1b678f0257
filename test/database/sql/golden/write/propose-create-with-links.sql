-- $1 = "1n"
-- $2 = "7n"
-- $3 = ["11"]
-- $4 = 1
-- $5 = "11"
-- $6 = "Atlas"
-- $7 = "731"
-- $8 = "731"
-- $9 = ["11"]
-- $10 = "Review"
-- $11 = "review"
-- $12 = "2026-03-31T14:00:00.000000Z"
-- $13 = "22"
/* max propose create */
WITH g AS MATERIALIZED (SELECT o.epoch = $2::bigint
AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o
WHERE o.organization_id = $1::bigint)
SELECT (SELECT g.fresh FROM g) AS fresh, r.*
FROM (SELECT) o
LEFT JOIN (SELECT a.organization_id, a.id::text AS id, NULL::text AS name,
ARRAY[TRUE, TRUE, TRUE]::boolean[] AS visible,
ARRAY[NULL, NULL, NULL]::text[] AS before,
ARRAY[a."name", to_char(timezone('UTC', a."start_at"), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (SELECT coalesce(array_agg(DISTINCT r1."person_id"), '{}')::text FROM (SELECT $1::bigint AS organization_id, a.id AS "meeting_id", u.id AS "person_id" FROM unnest($3::text[]::bigint[]) u(id)) r1
WHERE r1.organization_id = $1::bigint
AND r1."meeting_id" = a.id)]::text[] AS after,
ARRAY[TRUE, TRUE, (SELECT count(*) = $4::int FROM "data"."people" r2
WHERE r2.organization_id = $1::bigint
AND r2.id = $5::bigint
AND (EXISTS (SELECT 1 FROM "data"."companies" r3
WHERE r3.organization_id = $1::bigint
AND r3.id = r2."company_id"
AND r3."name" = $6::text OFFSET 0) OR r2."owner_id" = $7::bigint))]::boolean[] AS targets,
ARRAY[]::boolean[] AS bits_before,
ARRAY[(EXISTS (SELECT r5."meeting_id" FROM (SELECT $1::bigint AS organization_id, a.id AS "meeting_id", u.id AS "person_id" FROM unnest($9::text[]::bigint[]) u(id)) r5 JOIN "data"."people" r4 ON r4.organization_id = $1::bigint
AND r4.id = r5."person_id"
WHERE r5.organization_id = $1::bigint
AND r5."meeting_id" = a.id
AND r4."id" = $8::bigint OFFSET 0)) IS TRUE]::boolean[] AS bits_after, NULL::text AS row FROM (SELECT $1::bigint AS organization_id, $13::bigint AS id, $10::text AS "name", $11::text AS "name_k", NULL::text AS "status", NULL::text AS "status_k", $12::timestamptz AS "start_at", NULL::timestamptz AS "end_at", NULL::bigint AS "owner_id", NULL::bigint AS "company_id") a) r ON true
ORDER BY r.id
