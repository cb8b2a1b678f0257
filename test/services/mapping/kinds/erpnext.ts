import { type Kind, lookup } from "./Kind.ts"

const HEAD =
  "name varchar(140) PRIMARY KEY, creation timestamp(6), modified timestamp(6), modified_by varchar(140), owner varchar(140), docstatus smallint NOT NULL DEFAULT 0, idx bigint NOT NULL DEFAULT 0"
const TAIL = "_user_tags text, _comments text, _assign text, _liked_by text"
const CHILD = `${HEAD}, parent varchar(140), parentfield varchar(140), parenttype varchar(140)`

/** Business software on Frappe: tables with spaces and capitals, keys that are names, flags that are numbers, and no foreign keys. */
export const erpnext: Kind = {
  name: "erpnext",
  schemas: ["erpnext"],
  sql: `
CREATE TABLE "tabUser" (${HEAD}, enabled smallint NOT NULL DEFAULT 1, email varchar(140), first_name varchar(140), last_name varchar(140), full_name varchar(140), username varchar(140) UNIQUE, language varchar(140), time_zone varchar(140), user_image text, phone varchar(140), mobile_no varchar(140) UNIQUE, location varchar(140), bio text, reset_password_key varchar(140), last_reset_password_key_generated_on timestamp(6), last_password_reset_date date, redirect_url text, logout_all_sessions smallint NOT NULL DEFAULT 1, simultaneous_sessions bigint NOT NULL DEFAULT 2, restrict_ip text, login_after bigint NOT NULL DEFAULT 0, user_type varchar(140) DEFAULT 'System User', last_ip varchar(140), api_key varchar(140) UNIQUE, api_secret text, ${TAIL});
CREATE TABLE "tabEmployee" (${HEAD}, employee varchar(140), first_name varchar(140), last_name varchar(140), employee_name varchar(140), gender varchar(140), date_of_birth date, salutation varchar(140), date_of_joining date, status varchar(140) DEFAULT 'Active', user_id varchar(140), create_user_permission smallint NOT NULL DEFAULT 1, company varchar(140), department varchar(140), employee_number varchar(140), designation varchar(140), reports_to varchar(140), branch varchar(140), cell_number varchar(140), personal_email varchar(140), company_email varchar(140), prefered_email varchar(140), attendance_device_id varchar(140) UNIQUE, holiday_list varchar(140), ctc numeric(21,9) NOT NULL DEFAULT 0, salary_currency varchar(140), salary_mode varchar(140), bank_name varchar(140), bank_ac_no varchar(140), iban varchar(140), marital_status varchar(140), blood_group varchar(140), passport_number varchar(140), valid_upto date, place_of_issue varchar(140), bio text, relieving_date date, lft bigint NOT NULL DEFAULT 0, rgt bigint NOT NULL DEFAULT 0, ${TAIL});
CREATE TABLE "tabCustomer" (${HEAD}, naming_series varchar(140), customer_name varchar(140), customer_type varchar(140) DEFAULT 'Company', customer_group varchar(140), territory varchar(140), gender varchar(140), account_manager varchar(140), default_currency varchar(140), tax_id varchar(140), mobile_no varchar(140), email_id varchar(140), primary_address text, disabled smallint NOT NULL DEFAULT 0, is_frozen smallint NOT NULL DEFAULT 0, ${TAIL});
CREATE TABLE "tabItem" (${HEAD}, item_code varchar(140) UNIQUE, item_name varchar(140), item_group varchar(140), stock_uom varchar(140), disabled smallint NOT NULL DEFAULT 0, is_stock_item smallint NOT NULL DEFAULT 1, valuation_rate numeric(21,9) NOT NULL DEFAULT 0, standard_rate numeric(21,9) NOT NULL DEFAULT 0, brand varchar(140), description text, has_serial_no smallint NOT NULL DEFAULT 0, serial_no_series varchar(140), country_of_origin varchar(140), customs_tariff_number varchar(140), ${TAIL});
CREATE TABLE "tabSales Order" (${HEAD}, title varchar(140) DEFAULT '{customer_name}', naming_series varchar(140), customer varchar(140), customer_name varchar(140), order_type varchar(140), transaction_date date, delivery_date date, po_no varchar(140), company varchar(140), currency varchar(140), conversion_rate numeric(21,9) NOT NULL DEFAULT 0, total_qty numeric(21,9) NOT NULL DEFAULT 0, base_total numeric(21,9) NOT NULL DEFAULT 0, grand_total numeric(21,9) NOT NULL DEFAULT 0, in_words varchar(240), advance_paid numeric(21,9) NOT NULL DEFAULT 0, terms text, status varchar(140) DEFAULT 'Draft', delivery_status varchar(140), per_delivered numeric(21,9) NOT NULL DEFAULT 0, billing_status varchar(140), sales_partner varchar(140), is_internal_customer smallint NOT NULL DEFAULT 0, "from" varchar(140), ${TAIL});
CREATE TABLE "tabSales Order Item" (${CHILD}, item_code varchar(140), item_name varchar(140), delivery_date date, description text, qty numeric(21,9) NOT NULL DEFAULT 0, uom varchar(140), rate numeric(21,9) NOT NULL DEFAULT 0, amount numeric(21,9) NOT NULL DEFAULT 0, warehouse varchar(140), delivered_qty numeric(21,9) NOT NULL DEFAULT 0);
CREATE TABLE "tabHas Role" (${CHILD}, role varchar(140));
CREATE TABLE "tabBank Account" (${HEAD}, account_name varchar(140), account varchar(140), bank varchar(140), iban varchar(30), branch_code varchar(140), bank_account_no varchar(30), party_type varchar(140), party varchar(140), is_company_account smallint NOT NULL DEFAULT 0, ${TAIL});
CREATE TABLE "tabEmail Account" (${HEAD}, email_id varchar(140), email_account_name varchar(140) UNIQUE, domain varchar(140), service varchar(140), auth_method varchar(140) DEFAULT 'Basic', password text, awaiting_password smallint NOT NULL DEFAULT 0, smtp_server varchar(140), smtp_port varchar(140), signature text, ${TAIL});
CREATE TABLE "tabOAuth Bearer Token" (${HEAD}, client varchar(140), "user" varchar(140), scopes text, access_token varchar(140) UNIQUE, refresh_token varchar(140), expiration_time timestamp(6), expires_in bigint NOT NULL DEFAULT 0, status varchar(140), ${TAIL});
CREATE TABLE "tabWebhook" (${HEAD}, webhook_doctype varchar(140), webhook_docevent varchar(140), enabled smallint NOT NULL DEFAULT 1, condition text, request_url text, request_method varchar(140), enable_security smallint NOT NULL DEFAULT 0, webhook_secret text, webhook_json text, ${TAIL});
CREATE TABLE "tabSingles" (doctype varchar(255) DEFAULT NULL, field varchar(255) DEFAULT NULL, value text);
CREATE TABLE "tabSeries" (name varchar(100), current int NOT NULL DEFAULT 0, PRIMARY KEY (name));
CREATE TABLE "tabDefaultValue" (${CHILD}, defvalue text, defkey varchar(140));
CREATE TABLE "tabSessions" ("user" varchar(255) DEFAULT NULL, sid varchar(255) DEFAULT NULL, sessiondata text, ipaddress varchar(16) DEFAULT NULL, lastupdate timestamp(6) DEFAULT NULL, status varchar(20) DEFAULT NULL);
CREATE TABLE "__Auth" (doctype varchar(140) NOT NULL, name varchar(255) NOT NULL, fieldname varchar(140) NOT NULL, password text NOT NULL, encrypted smallint NOT NULL DEFAULT 0, PRIMARY KEY (doctype, name, fieldname));
CREATE TABLE __global_search (doctype varchar(100), name varchar(140), title varchar(140), content text, route varchar(140), published int NOT NULL DEFAULT 0, UNIQUE (doctype, name));
INSERT INTO "tabUser" (name, email, first_name, full_name, api_key, api_secret) VALUES ('ada@erp.example', 'ada@erp.example', 'Ada', 'Ada Boss', 'k', 's'), ('ben@erp.example', 'ben@erp.example', 'Ben', 'Ben Clerk', NULL, NULL);
INSERT INTO "tabEmployee" (name, first_name, employee_name, user_id, company_email, department, cell_number, reports_to, iban) VALUES ('HR-EMP-00001', 'Ada', 'Ada Boss', 'ada@erp.example', 'ada@erp.example', 'Sales - X', '+49 30 5550101', NULL, 'x'), ('HR-EMP-00002', 'Ben', 'Ben Clerk', 'ben@erp.example', 'ben@erp.example', 'Sales - X', '+49 30 5550102', 'HR-EMP-00001', 'x');
INSERT INTO "tabCustomer" (name, customer_name, territory, account_manager, email_id) SELECT 'CUST-' || n, 'Grant ' || n, CASE WHEN n % 2 = 0 THEN 'Germany' ELSE 'India' END, CASE WHEN n % 3 = 0 THEN 'ben@erp.example' ELSE 'ada@erp.example' END, 'c' || n || '@grant.example' FROM generate_series(1, 8) n;
INSERT INTO "tabItem" (name, item_code, item_name, item_group, standard_rate) SELECT 'SKU' || n, 'SKU' || n, 'Chair ' || n, 'Products', n * 12.5 FROM generate_series(1, 5) n;
INSERT INTO "tabSales Order" (name, title, customer, customer_name, transaction_date, currency, grand_total, status, owner, "from") SELECT 'SAL-ORD-2024-0000' || n, 'Grant ' || 1 + n % 8, 'CUST-' || 1 + n % 8, 'Grant ' || 1 + n % 8, date '2024-03-01' + n * 9, 'EUR', n * 100.5, (ARRAY['Draft', 'To Deliver', 'Completed'])[1 + n % 3], CASE WHEN n % 2 = 0 THEN 'ben@erp.example' ELSE 'ada@erp.example' END, 'Shop' FROM generate_series(1, 9) n;
INSERT INTO "tabSales Order Item" (name, parent, parentfield, parenttype, item_code, qty, amount) SELECT 'row' || n, 'SAL-ORD-2024-0000' || 1 + n % 9, 'items', 'Sales Order', 'SKU' || 1 + n % 5, n, n * 10 FROM generate_series(1, 14) n;
INSERT INTO "tabSingles" VALUES ('System Settings', 'country', 'Germany'), ('Social Login', 'client_secret', 'x');
INSERT INTO "__Auth" VALUES ('User', 'ada@erp.example', 'password', 'x', 0);
`,
  // The key of these is several columns, or none.
  without: ["__Auth", "__global_search", "tabSessions", "tabSingles"],
  admin: "ada@erp.example",
  second: "ben@erp.example",
  sees: {
    people: { columns: ["name", "department", "company_email"], sql: `SELECT name FROM "tabEmployee"` },
    customers: {
      columns: ["name", "territory", "email_id"],
      where: { territory: "Germany" },
      sql: `SELECT name FROM "tabCustomer" WHERE territory = 'Germany'`
    },
    sales_orders: {
      columns: ["name", "customer", "status", "transaction_date", "grand_total", "from"],
      where: { owner: "ben@erp.example" },
      sql: `SELECT name FROM "tabSales Order" WHERE owner = 'ben@erp.example'`
    },
    items: { columns: "*", sql: `SELECT name FROM "tabItem"` }
  },
  lookups: [
    lookup("sales_orders", "status=completed", `SELECT name FROM "tabSales Order" WHERE status = 'Completed'`),
    lookup("sales_orders", "customer=CUST-3", `SELECT name FROM "tabSales Order" WHERE customer = 'CUST-3'`),
    lookup("sales_orders", "grand_total>=500", `SELECT name FROM "tabSales Order" WHERE grand_total >= 500`),
    lookup(
      "sales_orders",
      "transaction_date<2024-04",
      `SELECT name FROM "tabSales Order" WHERE transaction_date < '2024-04-01'`
    ),
    lookup("sales_orders", "name~grant 4", `SELECT name FROM "tabSales Order" WHERE title = 'Grant 4'`),
    lookup("sales_orders", "from=shop & status=Draft", `SELECT name FROM "tabSales Order" WHERE status = 'Draft'`),
    lookup("customers", "territory=germany", `SELECT name FROM "tabCustomer" WHERE territory = 'Germany'`),
    lookup("customers", "email_id=C4@grant.example", `SELECT name FROM "tabCustomer" WHERE name = 'CUST-4'`),
    lookup(
      "customers",
      "account_manager=ben@erp.example",
      `SELECT name FROM "tabCustomer" WHERE account_manager = 'ben@erp.example'`,
      undefined
    ),
    lookup("items", "standard_rate>=30", `SELECT name FROM "tabItem" WHERE standard_rate >= 30`),
    lookup(
      "sales_order_items",
      "item_code=SKU2",
      `SELECT name FROM "tabSales Order Item" WHERE item_code = 'SKU2'`,
      undefined
    ),
    lookup("people", "user=Ben Clerk", `SELECT name FROM "tabEmployee" WHERE user_id = 'ben@erp.example'`, undefined),
    lookup("people", "cell_number=030 5550101", `SELECT name FROM "tabEmployee" WHERE name = 'none'`, undefined),
    lookup("people", "company_email=ada@erp.example", `SELECT name FROM "tabEmployee" WHERE name = 'HR-EMP-00001'`)
  ],
  credentials: [
    "__Auth.password",
    "tabBank Account.bank_account_no",
    "tabBank Account.iban",
    "tabEmail Account.password",
    "tabEmployee.bank_ac_no",
    "tabEmployee.iban",
    "tabEmployee.passport_number",
    "tabOAuth Bearer Token.access_token",
    "tabOAuth Bearer Token.refresh_token",
    "tabSessions.sessiondata",
    "tabSessions.sid",
    "tabSingles.value",
    "tabUser.api_key",
    "tabUser.api_secret",
    "tabUser.reset_password_key",
    "tabWebhook.webhook_secret"
  ],
  drop: { table: `"tabItem"`, type: "items" },
  rename: { table: `"tabSales Order"`, column: "grand_total", type: "sales_orders", slug: "grand_total" }
}
