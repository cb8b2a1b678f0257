import { type Kind, lookup } from "./Kind.ts"

const uuid = (n: number | string) => `5b000000-0000-4000-8000-00000000000${n}`
const TIMES = "created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now()"

/** A product on a hosted platform: its own tables beside the platform's schemas, row security, generated columns, enumerations, domains and partitions. */
export const supabase: Kind = {
  name: "supabase",
  schemas: ["supabase", "auth", "storage"],
  sql: `
CREATE TYPE auth.aal_level AS ENUM ('aal1', 'aal2', 'aal3');
CREATE TYPE auth.factor_type AS ENUM ('totp', 'webauthn', 'phone');
CREATE TYPE auth.one_time_token_type AS ENUM ('confirmation_token', 'reauthentication_token', 'recovery_token');
CREATE DOMAIN supabase.handle AS text CHECK (VALUE ~ '^[a-z0-9_]+$');
CREATE DOMAIN supabase.positive_amount AS numeric(12,2) CHECK (VALUE >= 0);
CREATE TYPE supabase.order_status AS ENUM ('open', 'paid', 'shipped');
CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS 'SELECT nullif(current_setting(''request.jwt.claim.sub'', true), '''')::uuid';
CREATE TABLE auth.users (instance_id uuid, id uuid PRIMARY KEY, aud varchar(255), role varchar(255), email varchar(255), encrypted_password varchar(255), email_confirmed_at timestamptz, invited_at timestamptz, confirmation_token varchar(255), confirmation_sent_at timestamptz, recovery_token varchar(255), recovery_sent_at timestamptz, email_change_token_new varchar(255), email_change varchar(255), last_sign_in_at timestamptz, raw_app_meta_data jsonb, raw_user_meta_data jsonb, is_super_admin boolean, ${TIMES}, phone text UNIQUE, phone_confirmed_at timestamptz, phone_change text DEFAULT '', phone_change_token varchar(255), confirmed_at timestamptz GENERATED ALWAYS AS (LEAST(email_confirmed_at, phone_confirmed_at)) STORED, email_change_token_current varchar(255), banned_until timestamptz, reauthentication_token varchar(255), is_sso_user boolean NOT NULL DEFAULT false, deleted_at timestamptz, is_anonymous boolean NOT NULL DEFAULT false);
CREATE UNIQUE INDEX users_email_partial_key ON auth.users (email) WHERE NOT is_sso_user;
CREATE TABLE auth.identities (provider_id text NOT NULL, user_id uuid NOT NULL REFERENCES auth.users ON DELETE CASCADE, identity_data jsonb NOT NULL, provider text NOT NULL, last_sign_in_at timestamptz, ${TIMES}, email text GENERATED ALWAYS AS (lower(identity_data ->> 'email')) STORED, id uuid PRIMARY KEY DEFAULT gen_random_uuid(), UNIQUE (provider_id, provider));
CREATE TABLE auth.sessions (id uuid PRIMARY KEY, user_id uuid NOT NULL REFERENCES auth.users, ${TIMES}, factor_id uuid, aal auth.aal_level, not_after timestamptz, user_agent text, ip inet, tag text);
CREATE TABLE auth.refresh_tokens (instance_id uuid, id bigserial PRIMARY KEY, token varchar(255) UNIQUE, user_id varchar(255), revoked boolean, ${TIMES}, parent varchar(255), session_id uuid REFERENCES auth.sessions);
CREATE TABLE auth.mfa_factors (id uuid PRIMARY KEY, user_id uuid NOT NULL REFERENCES auth.users, friendly_name text, factor_type auth.factor_type NOT NULL, status text NOT NULL, ${TIMES}, secret text, phone text, web_authn_credential jsonb);
CREATE TABLE auth.one_time_tokens (id uuid PRIMARY KEY, user_id uuid NOT NULL REFERENCES auth.users, token_type auth.one_time_token_type NOT NULL, token_hash text NOT NULL, relates_to text NOT NULL, created_at timestamp NOT NULL DEFAULT now());
CREATE TABLE auth.flow_state (id uuid PRIMARY KEY, user_id uuid, auth_code text NOT NULL, code_challenge text NOT NULL, provider_type text NOT NULL, provider_access_token text, provider_refresh_token text, ${TIMES}, authentication_method text NOT NULL);
CREATE TABLE auth.saml_relay_states (id uuid PRIMARY KEY, request_id text NOT NULL, for_email text, redirect_to text, ${TIMES});
CREATE TABLE auth.schema_migrations (version varchar(255) PRIMARY KEY);
CREATE TABLE storage.buckets (id text PRIMARY KEY, name text NOT NULL, owner uuid, ${TIMES}, public boolean DEFAULT false, file_size_limit bigint, allowed_mime_types text[], owner_id text);
CREATE TABLE storage.objects (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), bucket_id text REFERENCES storage.buckets, name text, owner uuid, ${TIMES}, last_accessed_at timestamptz DEFAULT now(), metadata jsonb, path_tokens text[] GENERATED ALWAYS AS (string_to_array(name, '/')) STORED, version text, owner_id text, UNIQUE (bucket_id, name));
CREATE TABLE storage.s3_multipart_uploads (id text PRIMARY KEY, in_progress_size bigint NOT NULL DEFAULT 0, upload_signature text NOT NULL, bucket_id text NOT NULL REFERENCES storage.buckets, key text NOT NULL COLLATE "C", version text NOT NULL, owner_id text, created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE supabase.profiles (id uuid PRIMARY KEY REFERENCES auth.users ON DELETE CASCADE, handle supabase.handle UNIQUE, full_name text, avatar_url text, website text, locale char(2), updated_at timestamptz);
CREATE TABLE supabase.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, profile_id uuid NOT NULL REFERENCES supabase.profiles, status supabase.order_status NOT NULL DEFAULT 'open', net supabase.positive_amount NOT NULL, tax supabase.positive_amount NOT NULL DEFAULT 0, gross numeric(12,2) GENERATED ALWAYS AS (net + tax) STORED, placed_on date NOT NULL, labels text[] NOT NULL DEFAULT '{}');
CREATE TABLE supabase.page_views (id bigint GENERATED ALWAYS AS IDENTITY, profile_id uuid REFERENCES supabase.profiles, path text NOT NULL, viewed_on date NOT NULL, PRIMARY KEY (id, viewed_on)) PARTITION BY RANGE (viewed_on);
CREATE TABLE supabase.page_views_1 PARTITION OF supabase.page_views FOR VALUES FROM ('2024-01-01') TO ('2024-07-01');
CREATE TABLE supabase.page_views_2 PARTITION OF supabase.page_views FOR VALUES FROM ('2024-07-01') TO ('2025-01-01');
CREATE TABLE supabase.shipments (id uuid NOT NULL, region text NOT NULL, "trackingNumber" text, carrier text, weight real, PRIMARY KEY (id)) PARTITION BY HASH (id);
CREATE TABLE supabase.shipments_0 PARTITION OF supabase.shipments FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE supabase.shipments_1 PARTITION OF supabase.shipments FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE supabase.private_notes (id uuid PRIMARY KEY, profile_id uuid NOT NULL REFERENCES supabase.profiles, body text);
CREATE VIEW supabase.open_orders AS SELECT o.id, o.profile_id, o.gross, o.placed_on FROM supabase.orders o WHERE o.status = 'open';
ALTER TABLE supabase.profiles ENABLE ROW LEVEL SECURITY;
CREATE POLICY "Public profiles are viewable by everyone" ON supabase.profiles FOR SELECT USING (true);
CREATE POLICY "Users can update own profile" ON supabase.profiles FOR UPDATE USING (auth.uid() = id);
ALTER TABLE supabase.private_notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY "Own notes" ON supabase.private_notes FOR ALL USING (auth.uid() = profile_id);
INSERT INTO auth.users (id, email, phone, encrypted_password, email_confirmed_at) SELECT ('5b000000-0000-4000-8000-00000000000' || n)::uuid, 'u' || n || '@app.example', '+1512555010' || n, 'x', now() FROM generate_series(1, 5) n;
INSERT INTO auth.identities (provider_id, user_id, identity_data, provider) SELECT 'p' || n, ('5b000000-0000-4000-8000-00000000000' || n)::uuid, jsonb_build_object('email', 'U' || n || '@app.example'), CASE WHEN n % 2 = 0 THEN 'google' ELSE 'email' END FROM generate_series(1, 5) n;
INSERT INTO storage.buckets (id, name, public) VALUES ('avatars', 'avatars', true), ('invoices', 'invoices', false);
INSERT INTO storage.objects (bucket_id, name) VALUES ('avatars', 'u1/face.png'), ('invoices', 'u2/2024/1.pdf'), ('invoices', 'u1/2.pdf');
INSERT INTO supabase.profiles (id, handle, full_name, locale) SELECT ('5b000000-0000-4000-8000-00000000000' || n)::uuid, 'user_' || n, 'User ' || n, CASE WHEN n % 2 = 0 THEN 'de' ELSE 'en' END FROM generate_series(1, 5) n;
INSERT INTO supabase.orders (profile_id, status, net, tax, placed_on, labels) SELECT ('5b000000-0000-4000-8000-00000000000' || 1 + n % 5)::uuid, (ARRAY['open', 'paid', 'shipped'])[1 + n % 3]::supabase.order_status, n * 10, n, date '2024-02-01' + n * 11, CASE WHEN n % 4 = 0 THEN '{gift,rush}' ELSE '{}' END::text[] FROM generate_series(1, 15) n;
INSERT INTO supabase.page_views (profile_id, path, viewed_on) SELECT ('5b000000-0000-4000-8000-00000000000' || 1 + n % 5)::uuid, '/p' || n % 3, date '2024-03-01' + n * 20 FROM generate_series(1, 10) n;
INSERT INTO supabase.shipments SELECT ('5b000000-0000-4000-8000-00000000000' || n)::uuid, CASE WHEN n % 2 = 0 THEN 'EU' ELSE 'US' END, 'TN-' || n, 'DHL', n FROM generate_series(1, 8) n;
INSERT INTO supabase.private_notes VALUES ('${uuid(1)}', '${uuid(1)}', 'Mine');
`,
  // Partitions with a key of two columns, and rows that only their owners may read.
  without: ["auth.schema_migrations", "supabase.page_views", "supabase.private_notes"],
  admin: "u1@app.example",
  second: "u2@app.example",
  sees: {
    people: { columns: ["email"], where: { id: "$me" }, sql: `SELECT '${uuid(2)}'` },
    profiles: { columns: ["name", "handle", "locale"], sql: "SELECT id FROM profiles" },
    orders: {
      columns: "*",
      where: { profile: { user: "$me" } },
      sql: `SELECT id FROM orders WHERE profile_id = '${uuid(2)}'`
    },
    objects: {
      columns: ["name", "bucket"],
      where: { bucket: { public: true } },
      sql: "SELECT id FROM storage.objects WHERE bucket_id = 'avatars'"
    }
  },
  lookups: [
    lookup("orders", "status=open", "SELECT id FROM orders WHERE status = 'open'"),
    lookup("orders", "gross>=77", "SELECT id FROM orders WHERE gross >= 77"),
    lookup("orders", "profile=User 2", `SELECT id FROM orders WHERE profile_id = '${uuid(2)}'`),
    lookup("orders", "profile=User 3", `SELECT id FROM orders WHERE profile_id = '${uuid(3)}'`, "SELECT 1 WHERE false"),
    lookup("orders", "labels=gift", "SELECT id FROM orders WHERE 'gift' = ANY(labels)"),
    lookup(
      "orders",
      "placed_on>=2024-05 & tax<12",
      "SELECT id FROM orders WHERE placed_on >= '2024-05-01' AND tax < 12"
    ),
    lookup("profiles", "handle=USER_4", "SELECT id FROM profiles WHERE handle = 'user_4'"),
    lookup("profiles", "locale=de", "SELECT id FROM profiles WHERE locale = 'de'"),
    lookup("people", "email=U2@app.example", `SELECT '${uuid(2)}'`),
    lookup("people", "phone=512 555 0103", `SELECT '${uuid(3)}'`, undefined),
    lookup("identities", "email=u4@app.example", `SELECT id FROM auth.identities WHERE provider_id = 'p4'`, undefined),
    lookup("objects", "bucket=avatars", "SELECT id FROM storage.objects WHERE bucket_id = 'avatars'", undefined),
    lookup("objects", "name~2.pdf", "SELECT id FROM storage.objects WHERE name ~ '2.pdf'"),
    lookup("open_orders", "gross>=77", "SELECT id FROM orders WHERE gross >= 77 AND status = 'open'", undefined),
    lookup("shipments", "tracking_number=tn-5 & region=US", `SELECT '${uuid(5)}'`, undefined)
  ],
  credentials: [
    "auth.flow_state.auth_code",
    "auth.flow_state.provider_access_token",
    "auth.flow_state.provider_refresh_token",
    "auth.mfa_factors.secret",
    "auth.mfa_factors.web_authn_credential",
    "auth.one_time_tokens.token_hash",
    "auth.refresh_tokens.parent",
    "auth.refresh_tokens.token",
    "auth.users.confirmation_token",
    "auth.users.email_change_token_current",
    "auth.users.email_change_token_new",
    "auth.users.encrypted_password",
    "auth.users.phone_change_token",
    "auth.users.reauthentication_token",
    "auth.users.recovery_token",
    "storage.s3_multipart_uploads.upload_signature"
  ],
  heldBack: ["storage.objects.path_tokens"],
  drop: { table: "storage.buckets", type: "buckets" },
  rename: { table: "supabase.profiles", column: "handle", type: "profiles", slug: "handle" }
}
