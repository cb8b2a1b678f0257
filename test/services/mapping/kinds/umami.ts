import { type Kind, lookup } from "./Kind.ts"

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`

/** Web analytics: no foreign keys, a table named user, and people without phone number or e-mail address. */
export const umami: Kind = {
  name: "umami",
  schemas: ["umami"],
  sql: `
CREATE TABLE "user" (user_id uuid PRIMARY KEY, username varchar(255) NOT NULL UNIQUE, password varchar(60) NOT NULL, role varchar(50) NOT NULL, logo_url varchar(2183), display_name varchar(255), created_at timestamptz(6) DEFAULT now(), updated_at timestamptz(6), deleted_at timestamptz(6));
CREATE TABLE team (team_id uuid PRIMARY KEY, name varchar(50) NOT NULL, access_code varchar(50) UNIQUE, logo_url varchar(2183), created_at timestamptz(6), updated_at timestamptz(6), deleted_at timestamptz(6));
CREATE TABLE team_user (team_user_id uuid PRIMARY KEY, team_id uuid NOT NULL, user_id uuid NOT NULL, role varchar(50) NOT NULL, created_at timestamptz(6), updated_at timestamptz(6));
CREATE TABLE website (website_id uuid PRIMARY KEY, name varchar(100) NOT NULL, domain varchar(500), share_id varchar(50) UNIQUE, reset_at timestamptz(6), user_id uuid, team_id uuid, created_by uuid, created_at timestamptz(6), updated_at timestamptz(6), deleted_at timestamptz(6));
CREATE TABLE session (session_id uuid PRIMARY KEY, website_id uuid NOT NULL, browser varchar(20), os varchar(20), device varchar(20), screen varchar(11), language varchar(35), country char(2), region varchar(20), city varchar(50), distinct_id varchar(50), created_at timestamptz(6));
CREATE TABLE website_event (event_id uuid PRIMARY KEY, website_id uuid NOT NULL, session_id uuid NOT NULL, visit_id uuid NOT NULL, created_at timestamptz(6), url_path varchar(500) NOT NULL, url_query varchar(500), utm_source varchar(255), referrer_domain varchar(500), page_title varchar(500), gclid varchar(255), event_type integer NOT NULL DEFAULT 1, event_name varchar(50), tag varchar(50), hostname varchar(100));
CREATE TABLE event_data (event_data_id uuid PRIMARY KEY, website_id uuid NOT NULL, website_event_id uuid NOT NULL, data_key varchar(500) NOT NULL, string_value varchar(500), number_value decimal(19,4), date_value timestamptz(6), data_type integer NOT NULL, created_at timestamptz(6));
CREATE TABLE report (report_id uuid PRIMARY KEY, user_id uuid NOT NULL, website_id uuid NOT NULL, type varchar(50) NOT NULL, name varchar(200) NOT NULL, description varchar(500) NOT NULL, parameters jsonb NOT NULL, created_at timestamptz(6), updated_at timestamptz(6));
INSERT INTO "user" VALUES ('${id(1)}', 'admin', 'x', 'admin', NULL, 'Ada Root', '2024-01-01', NULL, NULL), ('${id(2)}', 'kim', 'x', 'user', NULL, 'Kim Park', '2024-02-01', NULL, NULL), ('${id(3)}', 'gone', 'x', 'user', NULL, 'Gone', '2024-02-01', NULL, '2024-03-01');
INSERT INTO team VALUES ('${id(1)}', 'Growth', 'team_abc', NULL, '2024-01-01', NULL, NULL);
INSERT INTO team_user VALUES ('${id(1)}', '${id(1)}', '${id(2)}', 'team-member', '2024-01-01', NULL);
INSERT INTO website SELECT ('00000000-0000-4000-8000-00000000000' || n)::uuid, 'Site ' || n, 'site' || n || '.example', 's' || n, NULL, CASE WHEN n % 2 = 0 THEN '${id(2)}'::uuid ELSE '${id(1)}'::uuid END, CASE WHEN n > 4 THEN '${id(1)}'::uuid END, '${id(1)}', timestamptz '2024-01-05' + n * interval '20 days', NULL, CASE WHEN n = 9 THEN now() END FROM generate_series(1, 9) n;
INSERT INTO session SELECT ('10000000-0000-4000-8000-00000000000' || n)::uuid, ('00000000-0000-4000-8000-00000000000' || 1 + n % 4)::uuid, 'firefox', 'Linux', 'desktop', '1920x1080', 'en-US', CASE WHEN n % 3 = 0 THEN 'DE' ELSE 'US' END, NULL, 'Oslo', NULL, '2024-05-01' FROM generate_series(1, 9) n;
INSERT INTO website_event SELECT ('20000000-0000-4000-8000-00000000000' || n)::uuid, ('00000000-0000-4000-8000-00000000000' || 1 + n % 4)::uuid, ('10000000-0000-4000-8000-00000000000' || n)::uuid, '${id(1)}', '2024-05-01', '/p/' || n FROM generate_series(1, 9) n;
INSERT INTO report VALUES ('${id(1)}', '${id(2)}', '${id(2)}', 'funnel', 'Signups', 'x', '{}', '2024-05-01', NULL);
`,
  without: [],
  admin: id(1),
  second: id(2),
  sees: {
    people: { columns: ["name"], sql: `SELECT user_id FROM "user" WHERE deleted_at IS NULL` },
    websites: {
      columns: "*",
      where: { user: "$me" },
      sql: `SELECT website_id FROM website WHERE user_id = '${id(2)}' AND deleted_at IS NULL`
    },
    sessions: {
      columns: "*",
      where: { website: { user: "$me" } },
      sql: `SELECT session_id FROM session s JOIN website w USING (website_id) WHERE w.user_id = '${id(2)}'`
    }
  },
  lookups: [
    lookup(
      "websites",
      "user=Kim Park",
      `SELECT website_id FROM website WHERE user_id = '${id(2)}' AND deleted_at IS NULL`
    ),
    lookup("websites", "", "SELECT website_id FROM website WHERE deleted_at IS NULL"),
    lookup(
      "websites",
      "team=Growth",
      "SELECT website_id FROM website WHERE team_id IS NOT NULL AND deleted_at IS NULL",
      undefined
    ),
    lookup("websites", "domain~site3", "SELECT website_id FROM website WHERE domain ~ 'site3'"),
    lookup("websites", "created_at<2024-03", "SELECT website_id FROM website WHERE created_at < '2024-03-01 05:00Z'"),
    lookup("websites", "created_by=Ada Root", "SELECT website_id FROM website WHERE deleted_at IS NULL"),
    lookup("sessions", "country=DE", "SELECT session_id FROM session WHERE country = 'DE'"),
    lookup(
      "sessions",
      "website=Site 2",
      "SELECT session_id FROM session WHERE website_id = '00000000-0000-4000-8000-000000000002'"
    ),
    lookup("people", "name=kim park", `SELECT user_id FROM "user" WHERE username = 'kim'`),
    lookup("people", "role=admin", `SELECT user_id FROM "user" WHERE role = 'admin'`, undefined),
    lookup("team_users", "user=Kim Park", "SELECT team_user_id FROM team_user", undefined)
  ],
  credentials: ["user.password", "team.access_code"],
  drop: { table: "team", type: "teams" },
  rename: { table: "website", column: "domain", type: "websites", slug: "domain" }
}
