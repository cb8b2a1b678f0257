import { type Kind, lookup } from "./Kind.ts"

const TIMES = "created_at timestamp NOT NULL DEFAULT now(), updated_at timestamp NOT NULL DEFAULT now()"

/** A forum: no foreign keys, e-mail addresses in a table of their own, and a view. */
export const discourse: Kind = {
  name: "discourse",
  schemas: ["discourse"],
  sql: `
CREATE TABLE users (id serial PRIMARY KEY, username varchar(60) NOT NULL UNIQUE, ${TIMES}, name varchar, seen_notification_id bigint NOT NULL DEFAULT 0, last_posted_at timestamp, password_hash varchar(64), salt varchar(32), active boolean NOT NULL DEFAULT false, username_lower varchar(60) NOT NULL, last_seen_at timestamp, admin boolean NOT NULL DEFAULT false, trust_level int NOT NULL, approved boolean NOT NULL DEFAULT false, ip_address inet, suspended_till timestamp, primary_group_id int, title varchar, locale varchar(10), secure_identifier varchar);
CREATE TABLE user_emails (id serial PRIMARY KEY, user_id int NOT NULL, email varchar(513) NOT NULL, "primary" boolean NOT NULL DEFAULT false, ${TIMES}, normalized_email varchar);
CREATE TABLE user_profiles (user_id int PRIMARY KEY, location varchar(3000), website varchar(3000), bio_raw text, views int NOT NULL DEFAULT 0);
CREATE TABLE email_tokens (id serial PRIMARY KEY, user_id int NOT NULL, email varchar NOT NULL, confirmed boolean NOT NULL DEFAULT false, expired boolean NOT NULL DEFAULT false, ${TIMES}, token_hash varchar NOT NULL, scope int);
CREATE TABLE user_second_factors (id bigserial PRIMARY KEY, user_id int NOT NULL, method int NOT NULL, data varchar NOT NULL, enabled boolean NOT NULL DEFAULT false, last_used timestamp, ${TIMES}, name varchar);
CREATE TABLE api_keys (id serial PRIMARY KEY, user_id int, created_by_id int, ${TIMES}, allowed_ips inet[], hidden boolean NOT NULL DEFAULT false, last_used_at timestamp, revoked_at timestamp, description text, key_hash varchar NOT NULL, truncated_key varchar NOT NULL);
CREATE TABLE categories (id serial PRIMARY KEY, name varchar(50) NOT NULL, color varchar(6) NOT NULL DEFAULT '0088CC', topic_id int, topic_count int NOT NULL DEFAULT 0, ${TIMES}, user_id int NOT NULL, slug varchar NOT NULL, description text, read_restricted boolean NOT NULL DEFAULT false, parent_category_id int);
CREATE TABLE topics (id serial PRIMARY KEY, title varchar NOT NULL, last_posted_at timestamp, ${TIMES}, views int NOT NULL DEFAULT 0, posts_count int NOT NULL DEFAULT 0, user_id int, last_post_user_id int NOT NULL, reply_count int NOT NULL DEFAULT 0, deleted_at timestamp, like_count int NOT NULL DEFAULT 0, category_id int, visible boolean NOT NULL DEFAULT true, closed boolean NOT NULL DEFAULT false, archetype varchar NOT NULL DEFAULT 'regular', slug varchar);
CREATE TABLE posts (id serial PRIMARY KEY, user_id int, topic_id int NOT NULL, post_number int NOT NULL, raw text NOT NULL, cooked text NOT NULL, ${TIMES}, reply_to_post_number int, like_count int NOT NULL DEFAULT 0, deleted_at timestamp, deleted_by_id int, post_type int NOT NULL DEFAULT 1);
CREATE TABLE tags (id serial PRIMARY KEY, name varchar NOT NULL, ${TIMES}, public_topic_count int NOT NULL DEFAULT 0, target_tag_id int, description varchar);
CREATE TABLE topic_tags (id serial PRIMARY KEY, topic_id int NOT NULL, tag_id int NOT NULL, ${TIMES}, UNIQUE (topic_id, tag_id));
CREATE TABLE topic_users (user_id int NOT NULL, topic_id int NOT NULL, posted boolean NOT NULL DEFAULT false, last_read_post_number int, id serial PRIMARY KEY);
CREATE TABLE groups (id serial PRIMARY KEY, name varchar NOT NULL, ${TIMES}, automatic boolean NOT NULL DEFAULT false, user_count int NOT NULL DEFAULT 0, full_name varchar, smtp_server varchar, email_username varchar, email_password varchar);
CREATE TABLE group_users (id serial PRIMARY KEY, group_id int NOT NULL, user_id int NOT NULL, ${TIMES}, owner boolean NOT NULL DEFAULT false);
CREATE TABLE site_settings (id serial PRIMARY KEY, name varchar NOT NULL, data_type int NOT NULL, value text, ${TIMES});
CREATE VIEW badge_posts AS SELECT p.id, p.user_id, p.topic_id, p.created_at FROM posts p JOIN topics t ON t.id = p.topic_id WHERE p.deleted_at IS NULL AND t.visible;
INSERT INTO users (username, username_lower, name, trust_level, admin, password_hash, salt, ip_address) VALUES ('sam', 'sam', 'Sam Saffron', 4, true, 'x', 'y', '10.1.1.1'), ('eve', 'eve', 'Eve Reader', 1, false, 'x', 'y', NULL), ('tom', 'tom', NULL, 2, false, 'x', 'y', NULL);
INSERT INTO user_emails (user_id, email, "primary") VALUES (1, 'sam@forum.example', true), (2, 'eve@forum.example', true);
INSERT INTO user_profiles (user_id, location) VALUES (1, 'Sydney'), (2, 'Paris');
INSERT INTO categories (name, user_id, slug, read_restricted) VALUES ('Staff', 1, 'staff', true), ('General', 1, 'general', false);
INSERT INTO topics (title, user_id, last_post_user_id, views, category_id, created_at, deleted_at) SELECT 'Topic ' || n, 1 + n % 3, 1, n * 7, 1 + n % 2, timestamp '2023-01-01' + n * interval '10 days', CASE WHEN n = 12 THEN now() END FROM generate_series(1, 12) n;
INSERT INTO posts (user_id, topic_id, post_number, raw, cooked, like_count) SELECT 1 + n % 3, 1 + n % 12, n, 'Text ' || n, 'x', n % 6 FROM generate_series(1, 24) n;
INSERT INTO tags (name) VALUES ('howto'), ('news');
INSERT INTO topic_tags (topic_id, tag_id) SELECT n, 1 + n % 2 FROM generate_series(1, 6) n;
INSERT INTO groups (name) VALUES ('admins');
INSERT INTO group_users (group_id, user_id) VALUES (1, 1);
`,
  without: [],
  admin: "1",
  second: "2",
  sees: {
    people: { columns: ["name"], sql: "SELECT id FROM users" },
    categories: {
      columns: ["name"],
      where: { read_restricted: false },
      sql: "SELECT id FROM categories WHERE NOT read_restricted"
    },
    topics: {
      columns: ["name", "user", "category", "views", "created_at"],
      where: { category: { read_restricted: false } },
      sql: "SELECT id FROM topics WHERE category_id = 2 AND deleted_at IS NULL"
    },
    posts: { columns: "*", where: { user: "$me" }, sql: "SELECT id FROM posts WHERE user_id = 2" }
  },
  lookups: [
    lookup("topics", "user=Eve Reader", "SELECT id FROM topics WHERE user_id = 2 AND deleted_at IS NULL"),
    lookup("topics", "category=General", "SELECT id FROM topics WHERE category_id = 2 AND deleted_at IS NULL"),
    lookup(
      "topics",
      "category=Staff",
      "SELECT id FROM topics WHERE category_id = 1 AND deleted_at IS NULL",
      "SELECT 1 WHERE false"
    ),
    lookup("topics", "views>=50", "SELECT id FROM topics WHERE views >= 50 AND deleted_at IS NULL"),
    lookup(
      "topics",
      "created_at<2023-03",
      "SELECT id FROM topics WHERE created_at < '2023-03-01' AND deleted_at IS NULL"
    ),
    lookup("topics", "name~topic 1", "SELECT id FROM topics WHERE title ~ 'Topic 1' AND deleted_at IS NULL"),
    lookup("posts", "topic=Topic 4", "SELECT id FROM posts WHERE topic_id = 4"),
    lookup("posts", "like_count>=4", "SELECT id FROM posts WHERE like_count >= 4"),
    lookup("user_emails", "email=EVE@forum.example", "SELECT id FROM user_emails WHERE user_id = 2", undefined),
    lookup("user_profiles", "location=Sydney", "SELECT user_id FROM user_profiles WHERE user_id = 1", undefined),
    lookup("topic_tags", "tag=howto", "SELECT id FROM topic_tags WHERE tag_id = 1", undefined)
  ],
  credentials: [
    "api_keys.key_hash",
    "email_tokens.token_hash",
    "groups.email_password",
    "site_settings.value",
    "user_second_factors.data",
    "users.password_hash",
    "users.salt"
  ],
  drop: { table: "tags", type: "tags" },
  rename: { table: "topics", column: "views", type: "topics", slug: "views" }
}
