import { type Kind, lookup } from "./Kind.ts"

const uuid = (n: number) => `0a000000-0000-4000-8000-00000000000${n}`
const ID = "id uuid PRIMARY KEY DEFAULT gen_random_uuid()"
const TIMES = "created_at timestamp(6) NOT NULL DEFAULT now(), updated_at timestamp(6) NOT NULL DEFAULT now()"
const OWN = "organization_id uuid NOT NULL REFERENCES organizations"

/** Billing for several organizations: each table has their key, and the users belong to none. */
export const lago: Kind = {
  name: "lago",
  schemas: ["lago"],
  sql: `
CREATE TYPE customer_type AS ENUM ('company', 'individual');
CREATE TABLE organizations (${ID}, name varchar NOT NULL, email varchar, api_key varchar, hmac_key varchar NOT NULL DEFAULT 'h', webhook_url varchar, vat_rate float NOT NULL DEFAULT 0, country varchar, default_currency varchar NOT NULL DEFAULT 'USD', document_number_prefix varchar, timezone varchar NOT NULL DEFAULT 'UTC', ${TIMES});
CREATE TABLE users (${ID}, email varchar, password_digest varchar, ${TIMES});
CREATE TABLE memberships (${ID}, ${OWN}, user_id uuid NOT NULL REFERENCES users, status int NOT NULL DEFAULT 0, revoked_at timestamp(6), role int NOT NULL DEFAULT 0, ${TIMES});
CREATE TABLE api_keys (${ID}, ${OWN}, value varchar NOT NULL, name varchar, expires_at timestamp(6), last_used_at timestamp(6), permissions jsonb NOT NULL DEFAULT '{}', ${TIMES});
CREATE TABLE customers (${ID}, ${OWN}, external_id varchar NOT NULL, name varchar, email varchar, phone varchar, country varchar, currency varchar, customer_type customer_type, legal_name varchar, tax_identification_number varchar, payment_provider varchar, sequential_id bigint, slug varchar, deleted_at timestamp(6), metadata jsonb, ${TIMES});
CREATE TABLE plans (${ID}, ${OWN}, name varchar NOT NULL, code varchar NOT NULL, interval int NOT NULL, amount_cents bigint NOT NULL, amount_currency varchar NOT NULL, pay_in_advance boolean NOT NULL DEFAULT false, trial_period float, parent_id uuid REFERENCES plans, deleted_at timestamp(6), ${TIMES});
CREATE TABLE billable_metrics (${ID}, ${OWN}, name varchar NOT NULL, code varchar NOT NULL, aggregation_type int NOT NULL, field_name varchar, ${TIMES});
CREATE TABLE charges (${ID}, ${OWN}, plan_id uuid REFERENCES plans, billable_metric_id uuid REFERENCES billable_metrics, amount_currency varchar, charge_model int NOT NULL DEFAULT 0, properties jsonb NOT NULL DEFAULT '{}', ${TIMES});
CREATE TABLE subscriptions (${ID}, ${OWN}, customer_id uuid NOT NULL REFERENCES customers, plan_id uuid NOT NULL REFERENCES plans, status int NOT NULL, external_id varchar NOT NULL, name varchar, started_at timestamp(6), terminated_at timestamp(6), ${TIMES});
CREATE TABLE invoices (${ID}, ${OWN}, customer_id uuid REFERENCES customers, number varchar NOT NULL DEFAULT '', issuing_date date, payment_status int NOT NULL DEFAULT 0, invoice_type int NOT NULL DEFAULT 0, currency varchar, total_amount_cents bigint NOT NULL DEFAULT 0, fees_amount_cents bigint NOT NULL DEFAULT 0, file varchar, status int NOT NULL DEFAULT 1, payment_due_date date, ${TIMES});
CREATE TABLE fees (${ID}, ${OWN}, invoice_id uuid REFERENCES invoices, charge_id uuid REFERENCES charges, subscription_id uuid REFERENCES subscriptions, amount_cents bigint NOT NULL, amount_currency varchar NOT NULL, units numeric NOT NULL DEFAULT 0, description varchar, ${TIMES});
CREATE TABLE webhook_endpoints (${ID}, ${OWN}, webhook_url varchar NOT NULL, signature_algo int NOT NULL DEFAULT 0, ${TIMES});
CREATE TABLE payment_providers (${ID}, ${OWN}, type varchar NOT NULL, secrets varchar, settings jsonb, code varchar NOT NULL, name varchar NOT NULL, ${TIMES});
CREATE TABLE schema_migrations (version varchar PRIMARY KEY);
INSERT INTO organizations (id, name) VALUES ('${uuid(1)}', 'Hooli'), ('${uuid(2)}', 'Rival');
INSERT INTO users (id, email, password_digest) VALUES ('${uuid(1)}', 'gavin@hooli.example', 'x'), ('${uuid(2)}', 'bea@hooli.example', 'x');
INSERT INTO customers (id, organization_id, external_id, name, email, country, currency, customer_type, deleted_at) SELECT ('0a000000-0000-4000-8000-00000000000' || n)::uuid, CASE WHEN n < 7 THEN '${uuid(1)}'::uuid ELSE '${uuid(2)}' END, 'ext-' || n, 'Acme ' || n, 'billing' || n || '@acme.example', CASE WHEN n % 2 = 0 THEN 'FR' ELSE 'US' END, 'EUR', 'company', CASE WHEN n = 6 THEN now() END FROM generate_series(1, 9) n;
INSERT INTO plans (id, organization_id, name, code, interval, amount_cents, amount_currency) VALUES ('${uuid(1)}', '${uuid(1)}', 'Starter', 'starter', 1, 1000, 'EUR'), ('${uuid(2)}', '${uuid(1)}', 'Pro', 'pro', 1, 9000, 'EUR'), ('${uuid(3)}', '${uuid(2)}', 'Starter', 'starter', 1, 1000, 'EUR');
INSERT INTO subscriptions (id, organization_id, customer_id, plan_id, status, external_id, name) SELECT ('0a000000-0000-4000-8000-00000000000' || n)::uuid, c.organization_id, c.id, CASE WHEN n < 7 THEN ('0a000000-0000-4000-8000-00000000000' || 1 + n % 2)::uuid ELSE '${uuid(3)}' END, 1, 'sub-' || n, 'Sub ' || n FROM customers c JOIN generate_series(1, 9) n ON c.external_id = 'ext-' || n;
INSERT INTO invoices (id, organization_id, customer_id, number, issuing_date, currency, total_amount_cents, payment_status) SELECT gen_random_uuid(), c.organization_id, c.id, 'HOO-' || n, date '2024-01-01' + n * 10, 'EUR', n * 1000, n % 3 FROM generate_series(1, 18) n JOIN customers c ON c.external_id = 'ext-' || 1 + n % 9;
INSERT INTO api_keys (organization_id, value) VALUES ('${uuid(1)}', 'v');
`,
  without: ["schema_migrations"],
  // The users and the organizations have no key of an organization: all of them are shown, or a view chooses.
  edits: { "lago.users": { exclusive: true }, "lago.organizations": { organization: "id" } },
  key: uuid(1),
  admin: "gavin@hooli.example",
  second: "bea@hooli.example",
  sees: {
    people: { columns: ["name"], sql: "SELECT id FROM users" },
    customers: {
      columns: ["name", "country", "currency"],
      where: { country: "FR" },
      sql: `SELECT id FROM customers WHERE country = 'FR' AND organization_id = '${uuid(1)}' AND deleted_at IS NULL`
    },
    invoices: {
      columns: "*",
      where: { customer: { country: "FR" } },
      sql: `SELECT i.id FROM invoices i JOIN customers c ON c.id = i.customer_id WHERE c.country = 'FR' AND c.deleted_at IS NULL`
    },
    plans: { columns: "*", sql: "SELECT id FROM plans" }
  },
  lookups: [
    lookup("customers", "", `SELECT id FROM customers WHERE organization_id = '${uuid(1)}' AND deleted_at IS NULL`),
    lookup(
      "customers",
      "country=FR",
      `SELECT id FROM customers WHERE country = 'FR' AND organization_id = '${uuid(1)}' AND deleted_at IS NULL`
    ),
    lookup(
      "customers",
      "email=billing2@acme.example",
      "SELECT id FROM customers WHERE external_id = 'ext-2'",
      undefined
    ),
    lookup("customers", "name=Acme 8", "SELECT id FROM customers WHERE false"),
    lookup("invoices", "number=HOO-3", "SELECT id FROM invoices WHERE number = 'HOO-3'"),
    lookup(
      "invoices",
      "issuing_date>=2024-04",
      `SELECT id FROM invoices WHERE issuing_date >= '2024-04-01' AND organization_id = '${uuid(1)}'`
    ),
    lookup(
      "invoices",
      "customer=Acme 2",
      "SELECT i.id FROM invoices i JOIN customers c ON c.id = i.customer_id WHERE c.external_id = 'ext-2'"
    ),
    lookup(
      "invoices",
      "total_amount_cents>=9000",
      `SELECT id FROM invoices WHERE total_amount_cents >= 9000 AND organization_id = '${uuid(1)}'`
    ),
    lookup("plans", "name=Starter", `SELECT id FROM plans WHERE name = 'Starter' AND organization_id = '${uuid(1)}'`),
    lookup("subscriptions", "plan=Pro", "SELECT id FROM subscriptions WHERE plan_id = '" + uuid(2) + "'", undefined),
    lookup("subscriptions", "external_id=sub-9", "SELECT id FROM subscriptions WHERE false", undefined)
  ],
  credentials: [
    "api_keys.value",
    "organizations.api_key",
    "organizations.hmac_key",
    "payment_providers.secrets",
    "users.password_digest"
  ],
  drop: { table: "plans", type: "plans" },
  rename: { table: "customers", column: "currency", type: "customers", slug: "currency" }
}
