import { type Kind, lookup } from "./Kind.ts"

const TIMES =
  "created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz"

/** Code search: citext names, partial unique indexes, arrays, JSON, composite keys, enumerations, views and generated search vectors. */
export const sourcegraph: Kind = {
  name: "sourcegraph",
  schemas: ["sourcegraph"],
  sql: `
CREATE EXTENSION IF NOT EXISTS citext SCHEMA public;
CREATE TYPE batch_changes_changeset_ui_publication_state AS ENUM ('UNPUBLISHED', 'DRAFT', 'PUBLISHED');
CREATE TABLE users (id serial PRIMARY KEY, username public.citext NOT NULL, display_name text, avatar_url text, ${TIMES}, invite_quota int NOT NULL DEFAULT 100, passwd text, passwd_reset_code text, passwd_reset_time timestamptz, site_admin boolean NOT NULL DEFAULT false, page_views int NOT NULL DEFAULT 0, search_queries int NOT NULL DEFAULT 0, billing_customer_id text, invalidated_sessions_at timestamptz NOT NULL DEFAULT now(), tos_accepted boolean NOT NULL DEFAULT false, completions_quota int, CONSTRAINT users_username_max_length CHECK (char_length(username::text) <= 255));
CREATE UNIQUE INDEX users_username ON users (username) WHERE deleted_at IS NULL;
CREATE TABLE user_emails (user_id int NOT NULL REFERENCES users, email public.citext NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), verification_code text, verified_at timestamptz, last_verification_sent_at timestamptz, is_primary boolean NOT NULL DEFAULT false, UNIQUE (user_id, email));
CREATE TABLE orgs (id serial PRIMARY KEY, name public.citext NOT NULL, ${TIMES}, display_name text, slack_webhook_url text);
CREATE TABLE org_members (id serial PRIMARY KEY, org_id int NOT NULL REFERENCES orgs, user_id int NOT NULL REFERENCES users, created_at timestamptz NOT NULL DEFAULT now(), UNIQUE (org_id, user_id));
CREATE TABLE access_tokens (id bigserial PRIMARY KEY, subject_user_id int NOT NULL REFERENCES users, value_sha256 bytea NOT NULL UNIQUE, note text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), last_used_at timestamptz, deleted_at timestamptz, creator_user_id int NOT NULL REFERENCES users, scopes text[] NOT NULL, internal boolean DEFAULT false);
CREATE TABLE external_services (id bigserial PRIMARY KEY, kind text NOT NULL, display_name text NOT NULL, config text NOT NULL, ${TIMES}, last_sync_at timestamptz, next_sync_at timestamptz, namespace_user_id int REFERENCES users, unrestricted boolean NOT NULL DEFAULT false, cloud_default boolean NOT NULL DEFAULT false, encryption_key_id text NOT NULL DEFAULT '', has_webhooks boolean, token_expires_at timestamptz, code_host_id int);
CREATE TABLE repo (id serial PRIMARY KEY, name public.citext NOT NULL UNIQUE, description text, fork boolean NOT NULL DEFAULT false, ${TIMES}, external_id text, external_service_type text, external_service_id text, archived boolean NOT NULL DEFAULT false, uri public.citext, metadata jsonb NOT NULL DEFAULT '{}', private boolean NOT NULL DEFAULT false, stars int NOT NULL DEFAULT 0, blocked jsonb, topics text[], search tsvector GENERATED ALWAYS AS (to_tsvector('simple', coalesce(description, ''))) STORED, CHECK (metadata IS NOT NULL));
CREATE TABLE external_service_repos (external_service_id bigint NOT NULL REFERENCES external_services, repo_id int NOT NULL REFERENCES repo, clone_url text NOT NULL, user_id int REFERENCES users, org_id int REFERENCES orgs, created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (external_service_id, repo_id));
CREATE TABLE gitserver_repos (repo_id int PRIMARY KEY REFERENCES repo, clone_status text NOT NULL DEFAULT 'not_cloned', shard_id text NOT NULL, last_error text, updated_at timestamptz NOT NULL DEFAULT now(), repo_size_bytes bigint, cloning_progress text);
CREATE TABLE batch_changes (id bigserial PRIMARY KEY, name text NOT NULL, description text, creator_id int REFERENCES users, namespace_user_id int REFERENCES users, namespace_org_id int REFERENCES orgs, created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(), closed_at timestamptz, last_applied_at timestamptz, CONSTRAINT has_one_namespace CHECK ((namespace_user_id IS NULL) <> (namespace_org_id IS NULL)));
CREATE TABLE changesets (id bigserial PRIMARY KEY, repo_id int NOT NULL REFERENCES repo, ${TIMES}, metadata jsonb DEFAULT '{}', external_id text, external_service_type text NOT NULL, external_branch text, external_title text, external_state text, external_review_state text, external_check_state text, diff_stat_added int, diff_stat_deleted int, owned_by_batch_change_id bigint REFERENCES batch_changes, ui_publication_state batch_changes_changeset_ui_publication_state, state text DEFAULT 'queued', failure_message text, num_resets int NOT NULL DEFAULT 0, log_contents text);
CREATE TABLE roles (id serial PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), system boolean NOT NULL DEFAULT false, name public.citext NOT NULL UNIQUE);
CREATE TABLE user_roles (user_id int NOT NULL REFERENCES users, role_id int NOT NULL REFERENCES roles, created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (user_id, role_id));
CREATE TABLE user_credentials (id bigserial PRIMARY KEY, domain text NOT NULL, user_id int NOT NULL REFERENCES users, external_service_type text NOT NULL, external_service_id text NOT NULL, credential bytea NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), ssh_migration_applied boolean NOT NULL DEFAULT false, encryption_key_id text NOT NULL DEFAULT '');
CREATE TABLE user_external_accounts (id serial PRIMARY KEY, user_id int NOT NULL REFERENCES users, service_type text NOT NULL, service_id text NOT NULL, account_id text NOT NULL, auth_data text, account_data text, ${TIMES}, client_id text NOT NULL, expired_at timestamptz, encryption_key_id text NOT NULL DEFAULT '');
CREATE TABLE webhooks (id serial PRIMARY KEY, code_host_kind text NOT NULL, code_host_urn text NOT NULL, secret text, ${TIMES}, encryption_key_id text, uuid uuid NOT NULL DEFAULT gen_random_uuid(), created_by_user_id int REFERENCES users, name text NOT NULL);
CREATE TABLE settings (id serial PRIMARY KEY, org_id int REFERENCES orgs, contents text NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL DEFAULT now(), user_id int REFERENCES users, author_user_id int REFERENCES users);
CREATE TABLE product_licenses (id uuid PRIMARY KEY, product_subscription_id uuid NOT NULL, license_key text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), license_user_count int, license_tags text[], site_id uuid, license_check_token bytea, revoked_at timestamptz, salesforce_sub_id text);
CREATE TABLE phabricator_repos (id serial PRIMARY KEY, callsign public.citext NOT NULL, repo_name public.citext NOT NULL UNIQUE, ${TIMES}, url text NOT NULL DEFAULT '');
CREATE TABLE repo_statistics (total bigint NOT NULL DEFAULT 0, soft_deleted bigint NOT NULL DEFAULT 0, cloned bigint NOT NULL DEFAULT 0);
CREATE VIEW reconciler_changesets AS SELECT c.id, c.repo_id, c.state, c.external_title, c.updated_at FROM changesets c JOIN repo r ON r.id = c.repo_id WHERE r.deleted_at IS NULL;
CREATE VIEW site_config AS SELECT 1 AS site_id, true AS initialized;
INSERT INTO users (username, display_name, site_admin, passwd) VALUES ('Quinn', 'Quinn Slack', true, 'x'), ('beyang', 'Beyang Liu', false, 'x'), ('gone', 'Gone Away', false, 'x');
UPDATE users SET deleted_at = now() WHERE username = 'gone';
INSERT INTO user_emails (user_id, email, is_primary) VALUES (1, 'Quinn@code.example', true), (2, 'beyang@code.example', true);
INSERT INTO orgs (name, display_name) VALUES ('Core', 'Core team'), ('Docs', NULL);
INSERT INTO org_members (org_id, user_id) VALUES (1, 1), (1, 2), (2, 2);
INSERT INTO external_services (kind, display_name, config) VALUES ('GITHUB', 'GitHub', '{"token": "x"}');
INSERT INTO repo (name, description, stars, private, topics, archived, deleted_at) SELECT 'github.com/Code/Repo-' || n, 'About ' || n, n * 10, n % 3 = 0, CASE WHEN n % 2 = 0 THEN '{go,search}' ELSE '{ts}' END::text[], n = 5, CASE WHEN n = 8 THEN now() END FROM generate_series(1, 8) n;
INSERT INTO gitserver_repos (repo_id, clone_status, shard_id) SELECT n, CASE WHEN n % 2 = 0 THEN 'cloned' ELSE 'not_cloned' END, 'gs-' || n % 2 FROM generate_series(1, 7) n;
INSERT INTO external_service_repos (external_service_id, repo_id, clone_url) SELECT 1, n, 'https://x/' || n FROM generate_series(1, 4) n;
INSERT INTO batch_changes (name, creator_id, namespace_user_id) VALUES ('fix-lint', 1, 1), ('bump-go', 2, 2);
INSERT INTO changesets (repo_id, external_service_type, external_title, external_state, owned_by_batch_change_id, ui_publication_state, diff_stat_added) SELECT 1 + n % 7, 'github', 'Change ' || n, CASE WHEN n % 2 = 0 THEN 'OPEN' ELSE 'MERGED' END, 1 + n % 2, 'PUBLISHED', n FROM generate_series(1, 12) n;
INSERT INTO roles (name, system) VALUES ('USER', true), ('OPERATOR', false);
INSERT INTO user_roles (user_id, role_id) VALUES (1, 1), (1, 2), (2, 1);
INSERT INTO product_licenses VALUES ('5c000000-0000-4000-8000-000000000001', '5c000000-0000-4000-8000-000000000002', 'x');
`,
  // Keys of two columns, a row without a key, and a view without an id.
  without: ["external_service_repos", "repo_statistics", "site_config", "user_emails", "user_roles"],
  admin: "1",
  second: "2",
  sees: {
    people: { columns: ["name", "username"], sql: "SELECT id FROM users WHERE deleted_at IS NULL" },
    repos: {
      columns: ["name", "description", "stars", "topics", "archived"],
      where: { private: false },
      sql: "SELECT id FROM repo WHERE NOT private AND deleted_at IS NULL"
    },
    changesets: {
      columns: "*",
      where: { owned_by_batch_change: { creator: "$me" } },
      sql: "SELECT id FROM changesets WHERE owned_by_batch_change_id = 2"
    },
    batch_changes: { columns: "*", where: { creator: "$me" }, sql: "SELECT id FROM batch_changes WHERE creator_id = 2" }
  },
  lookups: [
    lookup("repos", "name=GitHub.com/code/repo-2", "SELECT id FROM repo WHERE id = 2"),
    lookup("repos", "topics=search", "SELECT id FROM repo WHERE 'search' = ANY(topics) AND deleted_at IS NULL"),
    lookup("repos", "stars>=30", "SELECT id FROM repo WHERE stars >= 30 AND deleted_at IS NULL"),
    lookup("repos", "archived=true", "SELECT id FROM repo WHERE archived"),
    lookup("repos", "private=true", "SELECT id FROM repo WHERE private AND deleted_at IS NULL", undefined),
    lookup("people", "username=QUINN", "SELECT 1"),
    lookup("people", "name~liu", "SELECT 2"),
    lookup("people", "roles=OPERATOR", "SELECT 1", undefined),
    lookup("people", "username=gone", "SELECT 1 WHERE false"),
    lookup("batch_changes", "creator=Beyang Liu", "SELECT id FROM batch_changes WHERE creator_id = 2"),
    lookup("changesets", "external_state=open", "SELECT id FROM changesets WHERE external_state = 'OPEN'"),
    lookup(
      "changesets",
      "owned_by_batch_change=fix-lint",
      "SELECT id FROM changesets WHERE owned_by_batch_change_id = 1",
      "SELECT 1 WHERE false"
    ),
    lookup(
      "changesets",
      "diff_stat_added>=7 & ui_publication_state=PUBLISHED",
      "SELECT id FROM changesets WHERE diff_stat_added >= 7"
    ),
    lookup(
      "gitserver_repos",
      "clone_status=cloned",
      "SELECT repo_id FROM gitserver_repos WHERE clone_status = 'cloned'",
      undefined
    ),
    lookup("org_members", "org=core", "SELECT id FROM org_members WHERE org_id = 1", undefined)
  ],
  credentials: [
    "access_tokens.value_sha256",
    "external_services.config",
    "orgs.slack_webhook_url",
    "product_licenses.license_check_token",
    "product_licenses.license_key",
    "settings.contents",
    "user_credentials.credential",
    "user_emails.verification_code",
    "user_external_accounts.auth_data",
    "users.passwd",
    "users.passwd_reset_code",
    "webhooks.secret"
  ],
  drop: { table: "orgs", type: "orgs" },
  rename: { table: "repo", column: "stars", type: "repos", slug: "stars" }
}
