import { type Kind, lookup } from "./Kind.ts"

const AT = "createat bigint, updateat bigint, deleteat bigint"
const id = (name: string) => name.padEnd(26, "x")

/** Chat: names without word boundaries, ids of 26 letters, milliseconds as numbers, and no foreign keys. */
export const mattermost: Kind = {
  name: "mattermost",
  schemas: ["mattermost"],
  sql: `
CREATE TYPE channel_type AS ENUM ('P', 'G', 'O', 'D');
CREATE TABLE users (id varchar(26) PRIMARY KEY, ${AT}, username varchar(64) UNIQUE, password varchar(128), authdata varchar(128) UNIQUE, authservice varchar(32), email varchar(128) UNIQUE, emailverified boolean, nickname varchar(64), firstname varchar(64), lastname varchar(64), roles varchar(256), allowmarketing boolean, props jsonb, lastpasswordupdate bigint, failedattempts int, locale varchar(5), mfaactive boolean, mfasecret varchar(128), "position" varchar(128), timezone jsonb);
CREATE TABLE teams (id varchar(26) PRIMARY KEY, ${AT}, displayname varchar(64), name varchar(64) UNIQUE, description varchar(255), email varchar(128), type varchar(1), inviteid varchar(32), allowopeninvite boolean);
CREATE TABLE channels (id varchar(26) PRIMARY KEY, ${AT}, teamid varchar(26), type channel_type, displayname varchar(64), name varchar(64), header varchar(1024), purpose varchar(250), lastpostat bigint, totalmsgcount bigint, creatorid varchar(26));
CREATE TABLE channelmembers (channelid varchar(26) NOT NULL, userid varchar(26) NOT NULL, roles varchar(256), lastviewedat bigint, msgcount bigint, PRIMARY KEY (channelid, userid));
CREATE TABLE posts (id varchar(26) PRIMARY KEY, ${AT}, userid varchar(26), channelid varchar(26), rootid varchar(26), originalid varchar(26), message varchar(65535), type varchar(26), props jsonb, hashtags varchar(1000), fileids varchar(300), ispinned boolean);
CREATE TABLE sessions (id varchar(26) PRIMARY KEY, token varchar(26), createat bigint, expiresat bigint, lastactivityat bigint, userid varchar(26), deviceid varchar(512), roles varchar(256), isoauth boolean);
CREATE TABLE tokens (token varchar(64) PRIMARY KEY, createat bigint, type varchar(64), extra varchar(2048));
CREATE TABLE useraccesstokens (id varchar(26) PRIMARY KEY, token varchar(26) UNIQUE, userid varchar(26), description varchar(512), isactive boolean);
CREATE TABLE oauthapps (id varchar(26) PRIMARY KEY, creatorid varchar(26), createat bigint, updateat bigint, clientsecret varchar(128), name varchar(64), description varchar(512), homepage varchar(256), istrusted boolean);
CREATE TABLE incomingwebhooks (id varchar(26) PRIMARY KEY, ${AT}, userid varchar(26), channelid varchar(26), teamid varchar(26), displayname varchar(64), description varchar(500));
CREATE TABLE outgoingwebhooks (id varchar(26) PRIMARY KEY, token varchar(26), ${AT}, creatorid varchar(26), channelid varchar(26), displayname varchar(64));
CREATE TABLE fileinfo (id varchar(26) PRIMARY KEY, creatorid varchar(26), postid varchar(26), ${AT}, path varchar(512), name varchar(256), extension varchar(64), size bigint, mimetype varchar(256), width int, content text);
CREATE TABLE status (userid varchar(26) PRIMARY KEY, status varchar(32), manual boolean, lastactivityat bigint);
CREATE TABLE preferences (userid varchar(26) NOT NULL, category varchar(32) NOT NULL, name varchar(32) NOT NULL, value text, PRIMARY KEY (userid, category, name));
INSERT INTO users (id, username, password, email, firstname, lastname, createat, deleteat) VALUES ('${id("u1")}', 'sysadmin', 'x', 'sys@chat.example', 'Sys', 'Admin', 1700000000000, 0), ('${id("u2")}', 'pat', 'x', 'pat@chat.example', 'Pat', 'Lee', 1700000000001, 0);
INSERT INTO teams (id, displayname, name, createat, deleteat) VALUES ('${id("t1")}', 'Core Team', 'core', 1, 0);
INSERT INTO channels (id, teamid, type, displayname, name, creatorid, totalmsgcount) SELECT rpad('c' || n, 26, 'x'), '${id("t1")}', (ARRAY['O', 'P'])[1 + n % 2]::channel_type, 'Channel ' || n, 'channel-' || n, CASE WHEN n % 2 = 0 THEN '${id("u2")}' ELSE '${id("u1")}' END, n * 5 FROM generate_series(1, 8) n;
INSERT INTO posts (id, userid, channelid, message, createat, ispinned) SELECT rpad('p' || n, 26, 'x'), CASE WHEN n % 3 = 0 THEN '${id("u2")}' ELSE '${id("u1")}' END, rpad('c' || 1 + n % 8, 26, 'x'), 'Hello ' || n, 1700000000000 + n, n % 4 = 0 FROM generate_series(1, 20) n;
INSERT INTO status VALUES ('${id("u1")}', 'online', false, 1);
`,
  without: ["channelmembers", "preferences", "tokens"],
  admin: "sys@chat.example",
  second: "pat@chat.example",
  sees: {
    people: { columns: ["name", "username"], sql: "SELECT id FROM users" },
    channels: { columns: "*", where: { type: "O" }, sql: "SELECT id FROM channels WHERE type = 'O'" },
    posts: {
      columns: ["name", "user", "channel", "ispinned"],
      where: { ispinned: true },
      sql: "SELECT id FROM posts WHERE ispinned"
    }
  },
  lookups: [
    lookup("channels", "type=O", "SELECT id FROM channels WHERE type = 'O'"),
    lookup("channels", "name=channel-3", "SELECT id FROM channels WHERE name = 'channel-3'"),
    lookup("channels", "totalmsgcount>=20", "SELECT id FROM channels WHERE totalmsgcount >= 20"),
    lookup("channels", "displayname~channel", "SELECT id FROM channels"),
    lookup("posts", "ispinned=true", "SELECT id FROM posts WHERE ispinned"),
    lookup(
      "posts",
      "channel=channel-3",
      `SELECT id FROM posts WHERE channelid = '${id("c3")}'`,
      "SELECT 1 WHERE false"
    ),
    lookup("posts", "user=Pat Lee", `SELECT id FROM posts WHERE userid = '${id("u2")}'`),
    lookup("posts", "message~hello 1", "SELECT id FROM posts WHERE message ~ 'Hello 1'", undefined),
    lookup("people", "name=pat lee", "SELECT id FROM users WHERE username = 'pat'"),
    lookup("people", "email=PAT@chat.example", "SELECT id FROM users WHERE username = 'pat'", undefined),
    lookup("people", "username=sysadmin", "SELECT id FROM users WHERE username = 'sysadmin'"),
    lookup("statuses", "name=online", "SELECT userid FROM status", undefined),
    lookup("teams", "name=core", "SELECT id FROM teams", undefined)
  ],
  credentials: [
    "oauthapps.clientsecret",
    "outgoingwebhooks.token",
    "sessions.token",
    "tokens.token",
    "useraccesstokens.token",
    "users.mfasecret",
    "users.password"
  ],
  drop: { table: "channels", type: "channels" },
  rename: { table: "posts", column: "hashtags", type: "posts", slug: "hashtags" }
}
