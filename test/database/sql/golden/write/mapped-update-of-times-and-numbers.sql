-- $1 = "1n"
-- $2 = "12.50"
-- $3 = "America/New_York"
-- $4 = "2026-03-31T14:00"
-- $5 = "Asia/Kolkata"
-- $6 = "2026-04-01T09:00"
-- $7 = "UTC"
-- $8 = false
-- $9 = "acme"
-- $10 = "11111111-2222-3333-4444-555555555555"
-- $11 = "Asia/Kolkata"
-- $12 = "UTC"
/* max update */
WITH g AS MATERIALIZED (SELECT max.held(ARRAY['"host"."tickets"'],
ARRAY['identity of tickets']) AS held)
UPDATE "host"."tickets" p SET "fee" = $2::numeric, "opened" = timezone($5::text, timezone($3::text, $4::timestamp)), "closed_at" = timezone($7::text, timezone($3::text, $6::timestamp))
WHERE (SELECT g.held FROM g)
AND p."tenant" = $9::text
AND p."gone" = $8::boolean
AND p."Key" = $10::uuid
RETURNING p."Key"::text AS id,
ARRAY[trim_scale(CASE WHEN p."fee" > '-Infinity'
AND p."fee" < 'Infinity' THEN p."fee" END)::text, to_char(timezone('UTC', CASE WHEN p."opened" >= '4712-01-01 BC'
AND p."opened" < '294276-01-01' THEN timezone($11::text, p."opened") ELSE timezone('UTC', p."opened") END), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), to_char(timezone('UTC', timezone($12::text, p."closed_at")), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')]::text[] AS after
