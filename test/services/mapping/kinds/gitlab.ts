import { type Kind, lookup } from "./Kind.ts"

const TIMES = "created_at timestamp, updated_at timestamp"

/** Code hosting by Rails: many credentials, tables keyed by a user's id, partitions, and polymorphic references. */
export const gitlab: Kind = {
  name: "gitlab",
  schemas: ["gitlab"],
  sql: `
CREATE TABLE namespaces (id serial PRIMARY KEY, name varchar NOT NULL, path varchar NOT NULL, owner_id int, ${TIMES}, type varchar NOT NULL DEFAULT 'User', description varchar NOT NULL DEFAULT '', visibility_level int NOT NULL DEFAULT 20, runners_token varchar, runners_token_encrypted varchar, parent_id int REFERENCES namespaces, traversal_ids int[] NOT NULL DEFAULT '{}');
CREATE TABLE users (id serial PRIMARY KEY, email varchar NOT NULL DEFAULT '' UNIQUE, encrypted_password varchar NOT NULL DEFAULT '', reset_password_token varchar, reset_password_sent_at timestamp, remember_created_at timestamp, sign_in_count int DEFAULT 0, current_sign_in_ip varchar, ${TIMES}, name varchar NOT NULL DEFAULT '', admin boolean NOT NULL DEFAULT false, projects_limit int NOT NULL, failed_attempts int DEFAULT 0, username varchar UNIQUE, state varchar, confirmation_token varchar, confirmed_at timestamp, unconfirmed_email varchar, otp_required_for_login boolean NOT NULL DEFAULT false, encrypted_otp_secret varchar, encrypted_otp_secret_iv varchar, otp_backup_codes text, unlock_token varchar, external boolean DEFAULT false, incoming_email_token varchar, feed_token varchar, static_object_token varchar(255), notification_email varchar, preferred_language varchar, user_type smallint DEFAULT 0);
CREATE TABLE user_details (user_id int PRIMARY KEY REFERENCES users, job_title varchar(200) NOT NULL DEFAULT '', bio varchar(255) NOT NULL DEFAULT '', webauthn_xid text, linkedin text NOT NULL DEFAULT '', location text NOT NULL DEFAULT '', phone text, CONSTRAINT only_long CHECK (char_length(location) <= 500));
CREATE TABLE user_statuses (user_id int PRIMARY KEY REFERENCES users, cached_markdown_version int, emoji varchar NOT NULL DEFAULT 'speech_balloon', message varchar(100), availability smallint NOT NULL DEFAULT 0);
CREATE TABLE emails (id serial PRIMARY KEY, user_id int NOT NULL REFERENCES users, email varchar NOT NULL, ${TIMES}, confirmation_token varchar, confirmed_at timestamp);
CREATE TABLE keys (id serial PRIMARY KEY, user_id int REFERENCES users, ${TIMES}, key text NOT NULL, title varchar, type varchar, fingerprint varchar, public boolean NOT NULL DEFAULT false, last_used_at timestamp, fingerprint_sha256 bytea, usage_type smallint NOT NULL DEFAULT 0);
CREATE TABLE identities (id serial PRIMARY KEY, extern_uid varchar, provider varchar, user_id int REFERENCES users, ${TIMES}, secondary_extern_uid varchar);
CREATE TABLE personal_access_tokens (id serial PRIMARY KEY, user_id int NOT NULL REFERENCES users, name varchar NOT NULL, revoked boolean DEFAULT false, expires_at date, ${TIMES}, scopes varchar NOT NULL DEFAULT '[]', impersonation boolean NOT NULL DEFAULT false, token_digest varchar, last_used_at timestamp);
CREATE TABLE projects (id serial PRIMARY KEY, name varchar, path varchar, description text, ${TIMES}, creator_id int REFERENCES users, namespace_id int NOT NULL REFERENCES namespaces, last_activity_at timestamp, visibility_level int NOT NULL DEFAULT 0, archived boolean NOT NULL DEFAULT false, star_count int NOT NULL DEFAULT 0, runners_token varchar, runners_token_encrypted varchar, ci_config_path varchar, pending_delete boolean DEFAULT false);
CREATE TABLE project_statistics (id serial PRIMARY KEY, project_id int NOT NULL UNIQUE REFERENCES projects, commit_count bigint NOT NULL DEFAULT 0, storage_size bigint NOT NULL DEFAULT 0);
CREATE TABLE milestones (id serial PRIMARY KEY, title varchar NOT NULL, project_id int REFERENCES projects, description text, due_date date, ${TIMES}, state varchar, iid int);
CREATE TABLE labels (id serial PRIMARY KEY, title varchar, color varchar, project_id int REFERENCES projects, ${TIMES}, description varchar, type varchar);
CREATE TABLE issues (id serial PRIMARY KEY, title varchar, author_id int REFERENCES users, project_id int REFERENCES projects, ${TIMES}, description text, milestone_id int REFERENCES milestones, iid int, updated_by_id int REFERENCES users, weight int, confidential boolean NOT NULL DEFAULT false, due_date date, moved_to_id int REFERENCES issues, closed_at timestamp, state_id smallint NOT NULL DEFAULT 1, health_status smallint);
CREATE TABLE issue_assignees (user_id int NOT NULL REFERENCES users, issue_id int NOT NULL REFERENCES issues, PRIMARY KEY (issue_id, user_id));
CREATE TABLE label_links (id serial PRIMARY KEY, label_id int REFERENCES labels, target_id int, target_type varchar, ${TIMES});
CREATE TABLE merge_requests (id serial PRIMARY KEY, target_branch varchar NOT NULL, source_branch varchar NOT NULL, source_project_id int REFERENCES projects, author_id int REFERENCES users, assignee_id int REFERENCES users, title varchar, ${TIMES}, milestone_id int REFERENCES milestones, merge_status varchar NOT NULL DEFAULT 'unchecked', target_project_id int NOT NULL REFERENCES projects, iid int, description text, merge_commit_sha varchar, squash boolean NOT NULL DEFAULT false, draft boolean NOT NULL DEFAULT false);
CREATE TABLE notes (id serial PRIMARY KEY, note text, noteable_type varchar, author_id int REFERENCES users, ${TIMES}, project_id int REFERENCES projects, line_code varchar, commit_id varchar, noteable_id int, system boolean NOT NULL DEFAULT false, resolved_at timestamp, discussion_id varchar);
CREATE TABLE members (id serial PRIMARY KEY, access_level int NOT NULL, source_id int NOT NULL, source_type varchar NOT NULL, user_id int REFERENCES users, type varchar, ${TIMES}, invite_email varchar, invite_token varchar, expires_at date);
CREATE TABLE ci_runners (id serial PRIMARY KEY, token varchar, ${TIMES}, description varchar, contacted_at timestamp, active boolean NOT NULL DEFAULT true, name varchar, runner_type smallint NOT NULL, token_encrypted varchar, maximum_timeout int);
CREATE TABLE p_ci_builds (id bigserial, partition_id bigint NOT NULL, status varchar, finished_at timestamp, created_at timestamp, started_at timestamp, name varchar, stage varchar, project_id int REFERENCES projects, runner_id int REFERENCES ci_runners, token_encrypted varchar, PRIMARY KEY (id, partition_id)) PARTITION BY LIST (partition_id);
CREATE TABLE ci_builds_100 PARTITION OF p_ci_builds FOR VALUES IN (100);
CREATE TABLE web_hooks (id serial PRIMARY KEY, project_id int REFERENCES projects, ${TIMES}, type varchar DEFAULT 'ProjectHook', push_events boolean NOT NULL DEFAULT true, encrypted_token varchar, encrypted_token_iv varchar, encrypted_url varchar, encrypted_url_iv varchar);
CREATE TABLE oauth_applications (id serial PRIMARY KEY, name varchar NOT NULL, uid varchar NOT NULL, secret varchar NOT NULL, redirect_uri text NOT NULL, scopes varchar NOT NULL DEFAULT '', owner_id int, owner_type varchar);
CREATE TABLE schema_migrations (version varchar PRIMARY KEY);
CREATE TABLE ar_internal_metadata (key varchar PRIMARY KEY, value varchar);
INSERT INTO namespaces (name, path) VALUES ('Tools', 'tools'), ('Web', 'web');
INSERT INTO users (email, name, username, projects_limit, encrypted_password, admin, state) VALUES ('root@git.example', 'Ro Ot', 'root', 10, 'x', true, 'active'), ('dev@git.example', 'De Veloper', 'dev', 10, 'x', false, 'active'), ('out@git.example', 'Ou Tsider', 'out', 10, 'x', false, 'blocked');
INSERT INTO user_details (user_id, job_title) VALUES (1, 'Admin'), (2, 'Developer');
INSERT INTO projects (name, path, creator_id, namespace_id, star_count) SELECT 'Project ' || n, 'p' || n, 1 + n % 3, 1 + n % 2, n * 10 FROM generate_series(1, 6) n;
INSERT INTO milestones (title, project_id, due_date) VALUES ('v1', 1, '2024-03-01'), ('v2', 1, '2024-09-01');
INSERT INTO labels (title, color, project_id) VALUES ('bug', '#f00', 1);
INSERT INTO issues (title, author_id, project_id, milestone_id, weight, confidential, due_date) SELECT 'Issue ' || n, 1 + n % 3, 1 + n % 6, 1 + n % 2, n, n % 5 = 0, date '2024-02-01' + n FROM generate_series(1, 18) n;
INSERT INTO issue_assignees SELECT 1 + n % 2, n FROM generate_series(1, 12) n;
INSERT INTO merge_requests (target_branch, source_branch, author_id, assignee_id, title, target_project_id) SELECT 'main', 'b' || n, 1 + n % 3, 1 + n % 2, 'Merge ' || n, 1 + n % 6 FROM generate_series(1, 9) n;
INSERT INTO notes (note, author_id, project_id) SELECT 'Note ' || n, 1 + n % 3, 1 FROM generate_series(1, 6) n;
INSERT INTO keys (user_id, key, title) VALUES (1, 'ssh-ed25519 AAAA', 'laptop');
`,
  without: ["ar_internal_metadata", "issue_assignees", "p_ci_builds", "schema_migrations"],
  admin: "root@git.example",
  second: "dev@git.example",
  sees: {
    people: { columns: ["name", "username"], sql: "SELECT id FROM users" },
    issues: {
      columns: ["name", "author", "project", "due_date", "users"],
      where: { confidential: false },
      sql: "SELECT id FROM issues WHERE NOT confidential"
    },
    projects: { columns: ["name"], where: { creator: "$me" }, sql: "SELECT id FROM projects WHERE creator_id = 2" },
    merge_requests: {
      columns: "*",
      where: { any: [{ assignee: "$me" }, { author: "$me" }] },
      sql: "SELECT id FROM merge_requests WHERE 2 IN (assignee_id, author_id)"
    }
  },
  lookups: [
    lookup("issues", "author=De Veloper", "SELECT id FROM issues WHERE author_id = 2"),
    lookup("issues", "users=De Veloper", "SELECT issue_id FROM issue_assignees WHERE user_id = 2"),
    lookup("issues", "due_date<2024-02-08", "SELECT id FROM issues WHERE due_date < '2024-02-08'"),
    lookup("issues", "weight>=10", "SELECT id FROM issues WHERE weight >= 10", undefined),
    lookup("issues", "milestone=v2", "SELECT id FROM issues WHERE milestone_id = 2", undefined),
    lookup(
      "issues",
      "project=Project 1",
      "SELECT id FROM issues WHERE project_id = 1",
      "SELECT id FROM issues WHERE project_id = 1 AND NOT confidential"
    ),
    lookup("merge_requests", "author=De Veloper", "SELECT id FROM merge_requests WHERE author_id = 2"),
    lookup("merge_requests", "name=merge 3", "SELECT id FROM merge_requests WHERE id = 3"),
    lookup("projects", "namespace=Web", "SELECT id FROM projects WHERE namespace_id = 2", undefined),
    lookup("people", "username=OUT", "SELECT id FROM users WHERE username = 'out'"),
    lookup("user_details", "user=Ro Ot", "SELECT user_id FROM user_details WHERE user_id = 1", undefined)
  ],
  credentials: [
    "ci_runners.token",
    "ci_runners.token_encrypted",
    "emails.confirmation_token",
    "keys.key",
    "members.invite_token",
    "namespaces.runners_token",
    "namespaces.runners_token_encrypted",
    "oauth_applications.secret",
    "p_ci_builds.token_encrypted",
    "personal_access_tokens.token_digest",
    "projects.runners_token",
    "projects.runners_token_encrypted",
    "users.confirmation_token",
    "users.encrypted_otp_secret",
    "users.encrypted_otp_secret_iv",
    "users.encrypted_password",
    "users.feed_token",
    "users.incoming_email_token",
    "users.otp_backup_codes",
    "users.reset_password_token",
    "users.static_object_token",
    "users.unlock_token",
    "web_hooks.encrypted_token",
    "web_hooks.encrypted_token_iv",
    "web_hooks.encrypted_url",
    "web_hooks.encrypted_url_iv"
  ],
  drop: { table: "milestones", type: "milestones" },
  rename: { table: "issues", column: "weight", type: "issues", slug: "weight" }
}
