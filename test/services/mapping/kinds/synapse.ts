import { type Kind, lookup } from "./Kind.ts"

/** A chat server: text keys with punctuation, times as numbers, tables without primary keys, and no foreign keys. */
export const synapse: Kind = {
  name: "synapse",
  schemas: ["synapse"],
  sql: `
CREATE TABLE users (name text UNIQUE, password_hash text, creation_ts bigint, admin smallint NOT NULL DEFAULT 0, upgrade_ts bigint, is_guest smallint NOT NULL DEFAULT 0, appservice_id text, consent_version text, user_type text, deactivated smallint NOT NULL DEFAULT 0, shadow_banned boolean, consent_ts bigint, approved boolean, locked boolean NOT NULL DEFAULT false, suspended boolean NOT NULL DEFAULT false);
ALTER TABLE users ALTER name SET NOT NULL;
CREATE TABLE profiles (user_id text NOT NULL UNIQUE, displayname text, avatar_url text, full_user_id text, fields jsonb);
CREATE TABLE user_threepids (user_id text NOT NULL, medium text NOT NULL, address text NOT NULL, validated_at bigint NOT NULL, added_at bigint NOT NULL, UNIQUE (medium, address));
CREATE TABLE access_tokens (id bigint PRIMARY KEY, user_id text NOT NULL, device_id text, token text NOT NULL UNIQUE, valid_until_ms bigint, puppets_user_id text, last_validated bigint, refresh_token_id bigint, used boolean);
CREATE TABLE refresh_tokens (id bigint PRIMARY KEY, user_id text NOT NULL, device_id text NOT NULL, token text NOT NULL UNIQUE, next_token_id bigint REFERENCES refresh_tokens, expiry_ts bigint);
CREATE TABLE devices (user_id text NOT NULL, device_id text NOT NULL, display_name text, last_seen bigint, ip text, user_agent text, hidden boolean DEFAULT false, CONSTRAINT device_uniqueness UNIQUE (user_id, device_id));
CREATE TABLE e2e_device_keys_json (user_id text NOT NULL, device_id text NOT NULL, ts_added_ms bigint NOT NULL, key_json text NOT NULL, UNIQUE (user_id, device_id));
CREATE TABLE e2e_room_keys (user_id text NOT NULL, room_id text NOT NULL, session_id text NOT NULL, version bigint NOT NULL, first_message_index int, forwarded_count int, is_verified boolean, session_data text NOT NULL);
CREATE TABLE registration_tokens (token text UNIQUE NOT NULL, uses_allowed int, pending int NOT NULL, completed int NOT NULL, expiry_time bigint);
CREATE TABLE rooms (room_id text PRIMARY KEY, is_public boolean, creator text, room_version text, has_auth_chain_index boolean);
CREATE TABLE room_stats_state (room_id text NOT NULL UNIQUE, name text, canonical_alias text, join_rules text, history_visibility text, encryption text, avatar text, guest_access text, is_federatable boolean, topic text, room_type text);
CREATE TABLE room_aliases (room_alias text NOT NULL UNIQUE, room_id text NOT NULL, creator text);
CREATE TABLE room_memberships (event_id text NOT NULL UNIQUE, user_id text NOT NULL, sender text NOT NULL, room_id text NOT NULL, membership text NOT NULL, forgotten int DEFAULT 0, display_name text, avatar_url text, event_stream_ordering bigint);
CREATE TABLE events (topological_ordering bigint NOT NULL, event_id text NOT NULL UNIQUE, type text NOT NULL, room_id text NOT NULL, content text, unrecognized_keys text, processed boolean NOT NULL, outlier boolean NOT NULL, depth bigint NOT NULL DEFAULT 0, origin_server_ts bigint, received_ts bigint, sender text, contains_url boolean, instance_name text, stream_ordering bigint, state_key text, rejection_reason text);
CREATE TABLE event_json (event_id text NOT NULL UNIQUE, room_id text NOT NULL, internal_metadata text NOT NULL, json text NOT NULL, format_version int);
CREATE TABLE event_reports (id bigint PRIMARY KEY, received_ts bigint NOT NULL, room_id text NOT NULL, event_id text NOT NULL, user_id text NOT NULL, reason text, content text);
CREATE TABLE pushers (id bigint PRIMARY KEY, user_name text NOT NULL, access_token bigint, profile_tag text NOT NULL, kind text NOT NULL, app_id text NOT NULL, app_display_name text NOT NULL, device_display_name text NOT NULL, pushkey text NOT NULL, ts bigint NOT NULL, lang text, data text, enabled boolean, UNIQUE (app_id, pushkey, user_name));
CREATE TABLE server_signature_keys (server_name text, key_id text, from_server text, ts_added_ms bigint, verify_key bytea, ts_valid_until_ms bigint, UNIQUE (server_name, key_id));
CREATE TABLE presence_state (user_id text, last_active_ts bigint, last_federation_update_ts bigint, status_msg text, currently_active boolean);
CREATE UNLOGGED TABLE event_push_summary_last (lock char(1) NOT NULL DEFAULT 'X' UNIQUE, stream_ordering bigint NOT NULL, CHECK (lock = 'X'));
CREATE TABLE threepid_validation_session (session_id text PRIMARY KEY, medium text NOT NULL, address text NOT NULL, client_secret text NOT NULL, last_send_attempt bigint NOT NULL, validated_at bigint);
CREATE TABLE schema_version (lock char(1) NOT NULL DEFAULT 'X' UNIQUE, version int NOT NULL, upgraded boolean NOT NULL);
INSERT INTO users (name, password_hash, admin, creation_ts) VALUES ('@ann:chat.example', 'x', 1, 1700000000), ('@bo:chat.example', 'x', 0, 1700001000), ('@cy/z+1:chat.example', 'x', 0, 1700002000);
INSERT INTO profiles (user_id, displayname) VALUES ('ann', 'Ann'), ('bo', 'Bo');
INSERT INTO user_threepids VALUES ('@ann:chat.example', 'email', 'ann@chat.example', 1, 1);
INSERT INTO devices (user_id, device_id, display_name) VALUES ('@ann:chat.example', 'D1', 'Phone'), ('@bo:chat.example', 'D1', 'Laptop');
INSERT INTO rooms (room_id, is_public, creator, room_version) SELECT '!r' || n || ':chat.example', n % 2 = 0, CASE WHEN n % 2 = 0 THEN '@bo:chat.example' ELSE '@ann:chat.example' END, (9 + n % 3)::text FROM generate_series(1, 6) n;
INSERT INTO room_stats_state (room_id, name, join_rules) SELECT '!r' || n || ':chat.example', 'Room ' || n, CASE WHEN n % 2 = 0 THEN 'public' ELSE 'invite' END FROM generate_series(1, 6) n;
INSERT INTO room_aliases SELECT '#room' || n || ':chat.example', '!r' || n || ':chat.example', '@ann:chat.example' FROM generate_series(1, 4) n;
INSERT INTO events (topological_ordering, event_id, type, room_id, processed, outlier, depth, sender, stream_ordering) SELECT n, '$e' || n, CASE WHEN n % 3 = 0 THEN 'm.room.member' ELSE 'm.room.message' END, '!r' || 1 + n % 6 || ':chat.example', true, false, n, CASE WHEN n % 2 = 0 THEN '@bo:chat.example' ELSE '@ann:chat.example' END, n FROM generate_series(1, 24) n;
INSERT INTO room_memberships (event_id, user_id, sender, room_id, membership) SELECT '$e' || n, CASE WHEN n % 2 = 0 THEN '@bo:chat.example' ELSE '@ann:chat.example' END, '@ann:chat.example', '!r' || 1 + n % 6 || ':chat.example', 'join' FROM generate_series(3, 24, 3) n;
INSERT INTO event_reports SELECT n, n, '!r1:chat.example', '$e' || n, '@bo:chat.example', 'Spam ' || n FROM generate_series(1, 3) n;
`,
  without: [
    "devices",
    "e2e_device_keys_json",
    "e2e_room_keys",
    "presence_state",
    "registration_tokens",
    "schema_version",
    "server_signature_keys",
    "user_threepids"
  ],
  admin: "id:@ann:chat.example",
  second: "id:@bo:chat.example",
  sees: {
    people: { columns: ["name"], sql: "SELECT name FROM users" },
    rooms: {
      columns: ["name", "creator", "room_version"],
      where: { is_public: true },
      sql: "SELECT room_id FROM rooms WHERE is_public"
    },
    events: {
      columns: ["name", "type", "room", "depth", "sender"],
      where: { room: { is_public: true } },
      sql: "SELECT event_id FROM events JOIN rooms USING (room_id) WHERE is_public"
    },
    event_reports: { columns: "*", where: { user: "$me" }, sql: "SELECT id FROM event_reports" }
  },
  lookups: [
    lookup("people", "name=@cy/z+1:chat.example", "SELECT name FROM users WHERE name ~ '^@cy'"),
    lookup("rooms", "creator=@bo:chat.example", "SELECT room_id FROM rooms WHERE creator = '@bo:chat.example'"),
    lookup("rooms", "room_version=9", "SELECT room_id FROM rooms WHERE room_version = '9'"),
    lookup("rooms", "is_public=false", "SELECT room_id FROM rooms WHERE NOT is_public", undefined),
    lookup("events", "room=!r2:chat.example", "SELECT event_id FROM events WHERE room_id = '!r2:chat.example'"),
    lookup(
      "events",
      "room=!r3:chat.example",
      "SELECT event_id FROM events WHERE room_id = '!r3:chat.example'",
      "SELECT 1 WHERE false"
    ),
    lookup("events", "type=m.room.member", "SELECT event_id FROM events WHERE type = 'm.room.member'"),
    lookup("events", "depth>=20", "SELECT event_id FROM events WHERE depth >= 20"),
    lookup("event_reports", "reason~spam", "SELECT id FROM event_reports"),
    lookup(
      "event_reports",
      "event=$e2",
      "SELECT id FROM event_reports WHERE event_id = '$e2'",
      // The room of that event isn't public, so the reference can't be followed.
      "SELECT 1 WHERE false"
    ),
    lookup(
      "room_memberships",
      "user=@bo:chat.example",
      "SELECT event_id FROM room_memberships WHERE user_id = '@bo:chat.example'",
      undefined
    ),
    lookup("room_stats_states", "name=room 4", "SELECT '!r4:chat.example'", undefined),
    lookup("room_aliases", "name~room3", "SELECT '#room3:chat.example'", undefined)
  ],
  credentials: [
    "access_tokens.token",
    "pushers.pushkey",
    "refresh_tokens.token",
    "registration_tokens.token",
    "threepid_validation_session.client_secret",
    "users.password_hash"
  ],
  drop: { table: "room_stats_state", type: "room_stats_states" },
  rename: { table: "events", column: "depth", type: "events", slug: "depth" }
}
