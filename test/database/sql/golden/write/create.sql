-- $1 = "1n"
-- $2 = "Ada"
-- $3 = "ada"
-- $4 = "2081"
-- $5 = "Ada@example.com"
-- $6 = "ada@example.com"
-- $7 = "14"
/* max create */
INSERT INTO "data"."people" AS p (organization_id, id, "name", "name_k", "owner_id", "email", "email_k")
VALUES ($1::bigint, $7::bigint, $2::text, $3::text, $4::bigint, $5::text, $6::text)
RETURNING p.id::text AS id,
ARRAY[p."name", p."owner_id"::text, p."email"]::text[] AS after
