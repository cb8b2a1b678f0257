import { type Kind, lookup } from "./Kind.ts"

const KINDS = ["artist_type", "gender", "area_type", "release_group_primary_type", "release_status", "label_type"]
const EDITS = "edits_pending int NOT NULL DEFAULT 0, last_updated timestamptz DEFAULT now()"
const LIFE =
  "begin_date_year smallint, begin_date_month smallint, begin_date_day smallint, end_date_year smallint, end_date_month smallint, end_date_day smallint, ended boolean NOT NULL DEFAULT false"

/** References whose columns are called like the table, with enumerations as tables. */
export const musicbrainz: Kind = {
  name: "musicbrainz",
  schemas: ["musicbrainz"],
  sql: `
${KINDS.map((table) => `CREATE TABLE ${table} (id serial PRIMARY KEY, name varchar(255) NOT NULL, parent int REFERENCES ${table}, child_order int NOT NULL DEFAULT 0, description text, gid uuid NOT NULL DEFAULT gen_random_uuid());\n`).join("")}
CREATE TABLE area (id serial PRIMARY KEY, gid uuid NOT NULL DEFAULT gen_random_uuid(), name varchar NOT NULL, type int REFERENCES area_type, ${EDITS}, ${LIFE}, comment varchar(255) NOT NULL DEFAULT '');
CREATE TABLE editor (id serial PRIMARY KEY, name varchar(64) NOT NULL, privs int DEFAULT 0, email varchar(64), website varchar(255), bio text, member_since timestamptz, email_confirm_date timestamptz, last_login_date timestamptz, birth_date date, gender int REFERENCES gender, area int REFERENCES area, password varchar(128) NOT NULL, ha1 char(32) NOT NULL, deleted boolean NOT NULL DEFAULT false);
CREATE TABLE artist (id serial PRIMARY KEY, gid uuid NOT NULL DEFAULT gen_random_uuid(), name varchar NOT NULL, sort_name varchar NOT NULL, ${LIFE}, type int REFERENCES artist_type, area int REFERENCES area, gender int REFERENCES gender, comment varchar(255) NOT NULL DEFAULT '', ${EDITS}, begin_area int REFERENCES area, end_area int REFERENCES area);
CREATE TABLE artist_credit (id serial PRIMARY KEY, name varchar NOT NULL, artist_count smallint NOT NULL, ref_count int DEFAULT 0, created timestamptz DEFAULT now(), ${EDITS}, gid uuid NOT NULL DEFAULT gen_random_uuid());
CREATE TABLE artist_credit_name (artist_credit int NOT NULL REFERENCES artist_credit, position smallint NOT NULL, artist int NOT NULL REFERENCES artist, name varchar NOT NULL, join_phrase text NOT NULL DEFAULT '', PRIMARY KEY (artist_credit, position));
CREATE TABLE label (id serial PRIMARY KEY, gid uuid NOT NULL DEFAULT gen_random_uuid(), name varchar NOT NULL, ${LIFE}, label_code int, type int REFERENCES label_type, area int REFERENCES area, comment varchar(255) NOT NULL DEFAULT '', ${EDITS});
CREATE TABLE release_group (id serial PRIMARY KEY, gid uuid NOT NULL DEFAULT gen_random_uuid(), name varchar NOT NULL, artist_credit int NOT NULL REFERENCES artist_credit, type int REFERENCES release_group_primary_type, comment varchar(255) NOT NULL DEFAULT '', ${EDITS});
CREATE TABLE release (id serial PRIMARY KEY, gid uuid NOT NULL DEFAULT gen_random_uuid(), name varchar NOT NULL, artist_credit int NOT NULL REFERENCES artist_credit, release_group int NOT NULL REFERENCES release_group, status int REFERENCES release_status, barcode varchar(255), comment varchar(255) NOT NULL DEFAULT '', quality smallint NOT NULL DEFAULT -1, ${EDITS});
CREATE TABLE release_label (id serial PRIMARY KEY, release int NOT NULL REFERENCES release, label int REFERENCES label, catalog_number varchar(255), last_updated timestamptz DEFAULT now());
CREATE TABLE recording (id serial PRIMARY KEY, gid uuid NOT NULL DEFAULT gen_random_uuid(), name varchar NOT NULL, artist_credit int NOT NULL REFERENCES artist_credit, length int, comment varchar(255) NOT NULL DEFAULT '', ${EDITS}, video boolean NOT NULL DEFAULT false);
CREATE TABLE medium (id serial PRIMARY KEY, release int NOT NULL REFERENCES release, position int NOT NULL, name varchar NOT NULL DEFAULT '', track_count int NOT NULL DEFAULT 0, ${EDITS});
CREATE TABLE track (id serial PRIMARY KEY, gid uuid NOT NULL DEFAULT gen_random_uuid(), recording int NOT NULL REFERENCES recording, medium int NOT NULL REFERENCES medium, position int NOT NULL, number text NOT NULL, name varchar NOT NULL, artist_credit int NOT NULL REFERENCES artist_credit, length int, is_data_track boolean NOT NULL DEFAULT false, ${EDITS});
CREATE TABLE isrc (id serial PRIMARY KEY, recording int NOT NULL REFERENCES recording, isrc char(12) NOT NULL, source smallint, edits_pending int NOT NULL DEFAULT 0, created timestamptz DEFAULT now());
CREATE TABLE place (id serial PRIMARY KEY, gid uuid NOT NULL DEFAULT gen_random_uuid(), name varchar NOT NULL, address varchar NOT NULL DEFAULT '', area int REFERENCES area, coordinates point, ${EDITS});
CREATE TABLE edit (id serial PRIMARY KEY, editor int NOT NULL REFERENCES editor, type smallint NOT NULL, status smallint NOT NULL, autoedit smallint NOT NULL DEFAULT 0, open_time timestamptz DEFAULT now(), close_time timestamptz, expire_time timestamptz NOT NULL);
CREATE TABLE edit_data (edit int PRIMARY KEY REFERENCES edit, data jsonb NOT NULL);
CREATE TABLE edit_artist (edit int REFERENCES edit, artist int REFERENCES artist, status smallint NOT NULL, PRIMARY KEY (edit, artist));
CREATE TABLE editor_oauth_token (id serial PRIMARY KEY, editor int NOT NULL REFERENCES editor, application int NOT NULL, authorization_code text, refresh_token text, access_token text, expire_time timestamptz, scope int NOT NULL, granted timestamptz NOT NULL DEFAULT now());
INSERT INTO artist_type (name) VALUES ('Person'), ('Group');
INSERT INTO gender (name) VALUES ('Male'), ('Female');
INSERT INTO area_type (name) VALUES ('Country');
INSERT INTO release_status (name) VALUES ('Official'), ('Promotion');
INSERT INTO area (name, type) VALUES ('Iceland', 1), ('Japan', 1);
INSERT INTO editor (name, email, password, ha1, area) VALUES ('ed', 'ed@music.example', 'x', 'x', 1), ('vi', 'vi@music.example', 'x', 'x', 2);
INSERT INTO artist (name, sort_name, type, area, gender, begin_date_year) SELECT 'Band ' || n, n || ', Band', 1 + n % 2, 1 + n % 2, CASE WHEN n % 3 = 0 THEN 2 END, 1960 + n * 5 FROM generate_series(1, 9) n;
INSERT INTO artist_credit (name, artist_count) SELECT 'Band ' || n, 1 FROM generate_series(1, 9) n;
INSERT INTO artist_credit_name SELECT n, 0, n, 'Band ' || n FROM generate_series(1, 9) n;
INSERT INTO label (name, area) VALUES ('Cold', 1), ('Rising', 2);
INSERT INTO release_group (name, artist_credit) SELECT 'Album ' || n, 1 + n % 9 FROM generate_series(1, 12) n;
INSERT INTO release (name, artist_credit, release_group, status, barcode) SELECT 'Album ' || n, 1 + n % 9, n, 1 + n % 2, '506000' || n FROM generate_series(1, 12) n;
INSERT INTO release_label (release, label) SELECT n, 1 + n % 2 FROM generate_series(1, 12) n;
INSERT INTO recording (name, artist_credit, length) SELECT 'Song ' || n, 1 + n % 9, n * 1000 FROM generate_series(1, 20) n;
INSERT INTO medium (release, position) SELECT n, 1 FROM generate_series(1, 12) n;
INSERT INTO track (recording, medium, position, number, name, artist_credit) SELECT n, 1 + n % 12, n, 'A' || n, 'Song ' || n, 1 + n % 9 FROM generate_series(1, 20) n;
INSERT INTO isrc (recording, isrc) VALUES (1, 'ISAAA0000001');
INSERT INTO edit (editor, type, status, expire_time) SELECT 1 + n % 2, 1, n % 3, '2024-01-08' FROM generate_series(1, 9) n;
INSERT INTO edit_artist SELECT n, 1 + n % 4, 1 FROM generate_series(1, 9) n;
`,
  without: ["artist_credit_name", "edit_artist"],
  admin: "ed@music.example",
  second: "vi@music.example",
  sees: {
    people: { columns: ["name"], sql: "SELECT id FROM editor WHERE NOT deleted" },
    artists: {
      columns: ["name", "area", "type", "begin_date_year"],
      where: { area: { name: "Japan" } },
      sql: "SELECT id FROM artist WHERE area = 2"
    },
    areas: { columns: ["name"], sql: "SELECT id FROM area" },
    edits: { columns: "*", where: { editor: "$me" }, sql: "SELECT id FROM edit WHERE editor = 2" },
    releases: { columns: ["name", "barcode", "artist_credit"], sql: "SELECT id FROM release" }
  },
  lookups: [
    lookup("artists", "area=Japan", "SELECT id FROM artist WHERE area = 2"),
    lookup("artists", "area=Iceland", "SELECT id FROM artist WHERE area = 1", "SELECT 1 WHERE false"),
    lookup("artists", "begin_date_year>=1990", "SELECT id FROM artist WHERE begin_date_year >= 1990"),
    lookup("artists", "gender=Female", "SELECT id FROM artist WHERE gender = 2", undefined),
    lookup("releases", "barcode=5060003", "SELECT id FROM release WHERE barcode = '5060003'"),
    lookup("releases", "artist_credit=Band 4", "SELECT id FROM release WHERE artist_credit = 4", undefined),
    lookup("recordings", "length<5000", "SELECT id FROM recording WHERE length < 5000", undefined),
    lookup("tracks", "medium=3", "SELECT id FROM track WHERE medium = 3", undefined),
    lookup("edits", "editor=vi", "SELECT id FROM edit WHERE editor = 2"),
    lookup(
      "edits",
      "artists=Band 2",
      "SELECT edit FROM edit_artist WHERE artist = 2",
      "SELECT edit FROM edit_artist JOIN edit e ON e.id = edit WHERE artist = 2 AND e.editor = 2 AND false"
    ),
    lookup("release_labels", "label=Cold", "SELECT id FROM release_label WHERE label = 1", undefined),
    lookup("isrcs", "name=isaaa0000001", "SELECT id FROM isrc", undefined)
  ],
  credentials: [
    "editor.password",
    "editor.ha1",
    "editor_oauth_token.authorization_code",
    "editor_oauth_token.refresh_token",
    "editor_oauth_token.access_token"
  ],
  drop: { table: "label", type: "labels" },
  rename: { table: "release", column: "barcode", type: "releases", slug: "barcode" }
}
