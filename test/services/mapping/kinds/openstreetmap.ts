import { type Kind, lookup } from "./Kind.ts"

/** Elements by id and version, tags as rows, an IP address, and users with old-fashioned names for credentials. */
export const openstreetmap: Kind = {
  name: "openstreetmap",
  schemas: ["openstreetmap"],
  sql: `
CREATE TYPE user_status_enum AS ENUM ('pending', 'active', 'confirmed', 'suspended', 'deleted');
CREATE TYPE note_status_enum AS ENUM ('open', 'closed', 'hidden');
CREATE TYPE note_event_enum AS ENUM ('opened', 'closed', 'reopened', 'commented', 'hidden');
CREATE TYPE nwr_enum AS ENUM ('Node', 'Way', 'Relation');
CREATE TABLE users (id bigserial PRIMARY KEY, email varchar NOT NULL UNIQUE, pass_crypt varchar NOT NULL, pass_salt varchar, creation_time timestamp NOT NULL DEFAULT now(), display_name varchar NOT NULL DEFAULT '' UNIQUE, data_public boolean NOT NULL DEFAULT false, description text NOT NULL DEFAULT '', home_lat double precision, home_lon double precision, new_email varchar, creation_ip varchar, languages varchar, status user_status_enum NOT NULL DEFAULT 'active', terms_agreed timestamp, preferred_editor varchar, auth_uid varchar, changesets_count int NOT NULL DEFAULT 0, image_fingerprint varchar);
CREATE TABLE changesets (id bigserial PRIMARY KEY, user_id bigint NOT NULL REFERENCES users, created_at timestamp NOT NULL, min_lat int, max_lat int, min_lon int, max_lon int, closed_at timestamp NOT NULL, num_changes int NOT NULL DEFAULT 0);
CREATE TABLE changeset_tags (changeset_id bigint NOT NULL REFERENCES changesets, k varchar NOT NULL DEFAULT '', v varchar NOT NULL DEFAULT '', PRIMARY KEY (changeset_id, k));
CREATE TABLE changeset_comments (id serial PRIMARY KEY, changeset_id bigint NOT NULL REFERENCES changesets, author_id bigint NOT NULL REFERENCES users, body text NOT NULL, created_at timestamp NOT NULL, visible boolean NOT NULL);
CREATE TABLE changesets_subscribers (subscriber_id bigint NOT NULL REFERENCES users, changeset_id bigint NOT NULL REFERENCES changesets, UNIQUE (subscriber_id, changeset_id));
CREATE TABLE current_nodes (id bigserial PRIMARY KEY, latitude int NOT NULL, longitude int NOT NULL, changeset_id bigint NOT NULL REFERENCES changesets, visible boolean NOT NULL, "timestamp" timestamp NOT NULL, tile bigint NOT NULL, version bigint NOT NULL);
CREATE TABLE current_node_tags (node_id bigint NOT NULL REFERENCES current_nodes, k varchar NOT NULL, v varchar NOT NULL, PRIMARY KEY (node_id, k));
CREATE TABLE current_ways (id bigserial PRIMARY KEY, changeset_id bigint NOT NULL REFERENCES changesets, "timestamp" timestamp NOT NULL, visible boolean NOT NULL, version bigint NOT NULL);
CREATE TABLE current_way_nodes (way_id bigint NOT NULL REFERENCES current_ways, node_id bigint NOT NULL REFERENCES current_nodes, sequence_id bigint NOT NULL, PRIMARY KEY (way_id, sequence_id));
CREATE TABLE nodes (node_id bigint NOT NULL, latitude int NOT NULL, longitude int NOT NULL, changeset_id bigint NOT NULL REFERENCES changesets, visible boolean NOT NULL, "timestamp" timestamp NOT NULL, tile bigint NOT NULL, version bigint NOT NULL, redaction_id int, PRIMARY KEY (node_id, version));
CREATE TABLE notes (id bigserial PRIMARY KEY, latitude int NOT NULL, longitude int NOT NULL, tile bigint NOT NULL, updated_at timestamp NOT NULL, created_at timestamp NOT NULL, status note_status_enum NOT NULL, closed_at timestamp, description text NOT NULL, user_id bigint REFERENCES users, user_ip inet);
CREATE TABLE note_comments (id bigserial PRIMARY KEY, note_id bigint NOT NULL REFERENCES notes, visible boolean NOT NULL, created_at timestamp NOT NULL, author_ip inet, author_id bigint REFERENCES users, body text, event note_event_enum);
CREATE TABLE diary_entries (id bigserial PRIMARY KEY, user_id bigint NOT NULL REFERENCES users, title varchar NOT NULL, body text NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL, language_code varchar NOT NULL DEFAULT 'en', visible boolean NOT NULL DEFAULT true);
CREATE TABLE friends (id bigserial PRIMARY KEY, user_id bigint NOT NULL REFERENCES users, friend_user_id bigint NOT NULL REFERENCES users, created_at timestamp);
CREATE TABLE messages (id bigserial PRIMARY KEY, from_user_id bigint NOT NULL REFERENCES users, to_user_id bigint NOT NULL REFERENCES users, title varchar NOT NULL, body text NOT NULL, sent_on timestamp NOT NULL, message_read boolean NOT NULL DEFAULT false);
CREATE TABLE oauth_applications (id bigserial PRIMARY KEY, owner_type varchar NOT NULL, owner_id bigint NOT NULL, name varchar NOT NULL, uid varchar NOT NULL, secret varchar NOT NULL, redirect_uri text NOT NULL, scopes varchar NOT NULL DEFAULT '', confidential boolean NOT NULL DEFAULT true);
CREATE TABLE oauth_access_tokens (id bigserial PRIMARY KEY, resource_owner_id bigint REFERENCES users, application_id bigint NOT NULL REFERENCES oauth_applications, token varchar NOT NULL, refresh_token varchar, expires_in int, revoked_at timestamp, created_at timestamp NOT NULL, scopes varchar, previous_refresh_token varchar NOT NULL DEFAULT '');
CREATE TABLE user_preferences (user_id bigint NOT NULL REFERENCES users, k varchar NOT NULL, v varchar NOT NULL, PRIMARY KEY (user_id, k));
INSERT INTO users (email, pass_crypt, display_name, status) VALUES ('ada@map.example', 'x', 'ada', 'active'), ('bo@map.example', 'x', 'bo', 'active'), ('cy@map.example', 'x', 'cy', 'suspended');
INSERT INTO changesets (user_id, created_at, closed_at, num_changes) SELECT 1 + n % 3, timestamp '2023-03-01' + n * interval '1 day', timestamp '2023-03-01 02:00' + n * interval '1 day', n FROM generate_series(1, 15) n;
INSERT INTO changeset_comments (changeset_id, author_id, body, created_at, visible) SELECT n, 1 + n % 2, 'Comment ' || n, '2023-04-01', true FROM generate_series(1, 9) n;
INSERT INTO changesets_subscribers SELECT 1 + n % 2, n FROM generate_series(1, 9) n;
INSERT INTO current_nodes (latitude, longitude, changeset_id, visible, "timestamp", tile, version) SELECT n * 10000000, 0, 1 + n % 15, n % 4 > 0, '2023-03-05', 1, 1 FROM generate_series(1, 20) n;
INSERT INTO current_ways (changeset_id, "timestamp", visible, version) SELECT 1 + n % 15, '2023-03-05', true, 1 FROM generate_series(1, 6) n;
INSERT INTO notes (latitude, longitude, tile, updated_at, created_at, status, description, user_id, user_ip) SELECT n, n, 1, '2023-05-01', '2023-05-01', (ARRAY['open', 'closed'])[1 + n % 2]::note_status_enum, 'Note ' || n, 1 + n % 2, ('10.0.0.' || n)::inet FROM generate_series(1, 8) n;
INSERT INTO diary_entries (user_id, title, body, created_at, updated_at) SELECT 1 + n % 2, 'Day ' || n, 'text', '2023-06-01', '2023-06-01' FROM generate_series(1, 6) n;
INSERT INTO messages (from_user_id, to_user_id, title, body, sent_on) SELECT 1 + n % 2, 2 - n % 2, 'Re ' || n, 'hi', date '2023-06-10' + n FROM generate_series(1, 6) n;
`,
  without: [
    "changeset_tags",
    "changesets_subscribers",
    "current_node_tags",
    "current_way_nodes",
    "nodes",
    "user_preferences"
  ],
  admin: "ada@map.example",
  second: "bo@map.example",
  sees: {
    people: { columns: ["name", "status"], sql: "SELECT id FROM users" },
    changesets: { columns: "*", where: { user: "$me" }, sql: "SELECT id FROM changesets WHERE user_id = 2" },
    changeset_comments: { columns: ["name", "author", "changeset"], sql: "SELECT id FROM changeset_comments" },
    notes: {
      columns: ["name", "status"],
      where: { status: "open" },
      sql: "SELECT id FROM notes WHERE status = 'open'"
    },
    messages: {
      columns: "*",
      where: { any: [{ to_user: "$me" }, { from_user: "$me" }] },
      sql: "SELECT id FROM messages WHERE 2 IN (from_user_id, to_user_id)"
    }
  },
  lookups: [
    lookup("people", "status=suspended", "SELECT id FROM users WHERE status = 'suspended'"),
    lookup("changesets", "user=bo", "SELECT id FROM changesets WHERE user_id = 2"),
    lookup("changesets", "num_changes>=10", "SELECT id FROM changesets WHERE num_changes >= 10"),
    lookup("changesets", "created_at<2023-03-06", "SELECT id FROM changesets WHERE created_at < '2023-03-06 05:00'"),
    lookup("changeset_comments", "author=ada", "SELECT id FROM changeset_comments WHERE author_id = 1"),
    lookup("current_nodes", "visible=false", "SELECT id FROM current_nodes WHERE NOT visible", undefined),
    lookup("notes", "status=open", "SELECT id FROM notes WHERE status = 'open'"),
    lookup("notes", "user_ip=10.0.0.3", "SELECT id FROM notes WHERE id = 3", undefined),
    lookup("messages", "to_user=bo", "SELECT id FROM messages WHERE to_user_id = 2"),
    lookup("changesets", "subscribers=ada", "SELECT changeset_id FROM changesets_subscribers WHERE subscriber_id = 1"),
    lookup("diary_entries", "name=day 3", "SELECT id FROM diary_entries WHERE id = 3", undefined)
  ],
  credentials: [
    "oauth_access_tokens.previous_refresh_token",
    "oauth_access_tokens.refresh_token",
    "oauth_access_tokens.token",
    "oauth_applications.secret",
    "users.pass_crypt",
    "users.pass_salt"
  ],
  drop: { table: "oauth_applications", type: "oauth_applications" },
  rename: { table: "changesets", column: "num_changes", type: "changesets", slug: "num_changes" }
}
