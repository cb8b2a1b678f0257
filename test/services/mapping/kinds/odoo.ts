import { type Kind, lookup } from "./Kind.ts"

const TAIL = "create_uid int, create_date timestamp, write_uid int, write_date timestamp"

/** Business software: translated names in JSON, users whose name is their partner's, and link tables without a primary key. */
export const odoo: Kind = {
  name: "odoo",
  schemas: ["odoo"],
  sql: `
CREATE TABLE res_country (id serial PRIMARY KEY, name jsonb NOT NULL, code varchar(2) NOT NULL, phone_code int, ${TAIL});
CREATE TABLE res_currency (id serial PRIMARY KEY, name varchar NOT NULL, symbol varchar NOT NULL, active boolean, ${TAIL});
CREATE TABLE res_company (id serial PRIMARY KEY, name varchar NOT NULL, partner_id int NOT NULL, currency_id int NOT NULL REFERENCES res_currency, email varchar, phone varchar, ${TAIL});
CREATE TABLE res_partner (id serial PRIMARY KEY, name varchar, company_id int REFERENCES res_company, parent_id int REFERENCES res_partner, user_id int, ref varchar, lang varchar, vat varchar, website varchar, function varchar, type varchar, street varchar, zip varchar, city varchar, country_id int REFERENCES res_country, email varchar, phone varchar, mobile varchar, is_company boolean, active boolean, signup_token varchar, signup_expiration timestamp, ${TAIL});
CREATE TABLE res_users (id serial PRIMARY KEY, company_id int NOT NULL REFERENCES res_company, partner_id int NOT NULL REFERENCES res_partner, active boolean DEFAULT true, login varchar NOT NULL UNIQUE, password varchar, action_id int, signature text, share boolean, totp_secret varchar, notification_type varchar NOT NULL DEFAULT 'email', ${TAIL});
CREATE TABLE res_partner_category (id serial PRIMARY KEY, name jsonb NOT NULL, color int, parent_id int REFERENCES res_partner_category, ${TAIL});
CREATE TABLE res_partner_res_partner_category_rel (category_id int NOT NULL REFERENCES res_partner_category, partner_id int NOT NULL REFERENCES res_partner, PRIMARY KEY (category_id, partner_id));
CREATE TABLE res_partner_bank (id serial PRIMARY KEY, acc_number varchar NOT NULL, sanitized_acc_number varchar, acc_holder_name varchar, partner_id int NOT NULL REFERENCES res_partner, ${TAIL});
CREATE TABLE crm_team (id serial PRIMARY KEY, name jsonb NOT NULL, user_id int REFERENCES res_users, active boolean, ${TAIL});
CREATE TABLE product_template (id serial PRIMARY KEY, name jsonb NOT NULL, list_price numeric, default_code varchar, type varchar NOT NULL DEFAULT 'consu', sale_ok boolean, active boolean, weight numeric, ${TAIL});
CREATE TABLE product_product (id serial PRIMARY KEY, product_tmpl_id int NOT NULL REFERENCES product_template, default_code varchar, barcode varchar, active boolean, ${TAIL});
CREATE TABLE sale_order (id serial PRIMARY KEY, name varchar NOT NULL, partner_id int NOT NULL REFERENCES res_partner, user_id int REFERENCES res_users, team_id int REFERENCES crm_team, company_id int NOT NULL REFERENCES res_company, currency_id int REFERENCES res_currency, state varchar, client_order_ref varchar, date_order timestamp NOT NULL, amount_untaxed numeric, amount_total numeric, access_token varchar, note text, ${TAIL});
CREATE TABLE sale_order_line (id serial PRIMARY KEY, order_id int NOT NULL REFERENCES sale_order, product_id int REFERENCES product_product, name text NOT NULL, product_uom_qty numeric NOT NULL, price_unit numeric NOT NULL, price_subtotal numeric, discount numeric, ${TAIL});
CREATE TABLE account_move (id serial PRIMARY KEY, name varchar, partner_id int REFERENCES res_partner, invoice_user_id int REFERENCES res_users, state varchar NOT NULL, move_type varchar NOT NULL, invoice_date date, invoice_date_due date, amount_total numeric, payment_state varchar, currency_id int REFERENCES res_currency, access_token varchar, inalterable_hash varchar, ${TAIL});
CREATE TABLE hr_department (id serial PRIMARY KEY, name jsonb NOT NULL, parent_id int REFERENCES hr_department, ${TAIL});
CREATE TABLE hr_employee (id serial PRIMARY KEY, name varchar, user_id int REFERENCES res_users, job_title varchar, work_phone varchar, mobile_phone varchar, work_email varchar, department_id int REFERENCES hr_department, parent_id int REFERENCES hr_employee, gender varchar, birthday date, ssnid varchar, identification_id varchar, passport_id varchar, pin varchar, barcode varchar, bank_account_id int REFERENCES res_partner_bank, active boolean DEFAULT true, ${TAIL});
CREATE TABLE ir_attachment (id serial PRIMARY KEY, name varchar NOT NULL, res_model varchar, res_id int, type varchar NOT NULL, url varchar, access_token varchar, checksum varchar(40), mimetype varchar, db_datas bytea, ${TAIL});
CREATE TABLE res_users_apikeys (id serial PRIMARY KEY, name varchar NOT NULL, user_id int NOT NULL REFERENCES res_users, scope varchar, index varchar(8), key varchar, create_date timestamp);
INSERT INTO res_country (name, code) VALUES ('{"en_US": "Belgium"}', 'BE'), ('{"en_US": "France"}', 'FR');
INSERT INTO res_currency (name, symbol) VALUES ('EUR', '€');
INSERT INTO res_company (name, partner_id, currency_id) VALUES ('Mitchell SA', 1, 1);
INSERT INTO res_partner (name, email, city, country_id, phone, is_company) SELECT 'Partner ' || n, 'p' || n || '@erp.example', CASE WHEN n % 2 = 0 THEN 'Namur' ELSE 'Lille' END, 1 + n % 2, '+32 2 555 01 0' || n, n > 4 FROM generate_series(1, 9) n;
INSERT INTO res_users (company_id, partner_id, login, password) VALUES (1, 1, 'admin', 'x'), (1, 2, 'demo', 'x');
INSERT INTO hr_department (name) VALUES ('{"en_US": "Sales"}');
INSERT INTO hr_employee (name, user_id, work_email, work_phone, department_id, parent_id) VALUES ('Mitchell Admin', 1, 'mitchell@erp.example', '+32 2 555 0201', 1, NULL), ('Marc Demo', 2, 'marc@erp.example', '+32 2 555 0202', 1, 1);
INSERT INTO product_template (name, list_price, default_code) SELECT jsonb_build_object('en_US', 'Desk ' || n), n * 50, 'FURN_' || n FROM generate_series(1, 4) n;
INSERT INTO product_product (product_tmpl_id, default_code) SELECT n, 'FURN_' || n FROM generate_series(1, 4) n;
INSERT INTO sale_order (name, partner_id, user_id, company_id, currency_id, state, date_order, amount_total) SELECT 'S0000' || n, 1 + n % 9, 1 + n % 2, 1, 1, CASE WHEN n % 3 = 0 THEN 'draft' ELSE 'sale' END, timestamp '2024-01-10' + n * interval '7 days', n * 100 FROM generate_series(1, 9) n;
INSERT INTO sale_order_line (order_id, product_id, name, product_uom_qty, price_unit) SELECT 1 + n % 9, 1 + n % 4, 'Desk', n, 10 FROM generate_series(1, 20) n;
INSERT INTO account_move (name, partner_id, invoice_user_id, state, move_type, invoice_date, amount_total, payment_state) SELECT 'INV/2024/000' || n, 1 + n % 9, 1 + n % 2, 'posted', 'out_invoice', date '2024-02-01' + n * 7, n * 100, CASE WHEN n % 2 = 0 THEN 'paid' ELSE 'not_paid' END FROM generate_series(1, 9) n;
`,
  without: ["res_partner_res_partner_category_rel"],
  admin: "mitchell@erp.example",
  second: "marc@erp.example",
  sees: {
    people: { columns: ["name", "work_email"], sql: "SELECT id FROM hr_employee" },
    sale_orders: {
      columns: ["name", "partner", "state", "date_order", "amount_total"],
      where: { state: "sale" },
      sql: "SELECT id FROM sale_order WHERE state = 'sale'"
    },
    res_partners: {
      columns: ["name", "city"],
      where: { city: "Namur" },
      sql: "SELECT id FROM res_partner WHERE city = 'Namur'"
    },
    account_moves: {
      columns: "*",
      where: { payment_state: "not_paid" },
      sql: "SELECT id FROM account_move WHERE payment_state = 'not_paid'"
    }
  },
  lookups: [
    lookup("sale_orders", "name=S00004", "SELECT id FROM sale_order WHERE id = 4"),
    lookup("sale_orders", "state=sale", "SELECT id FROM sale_order WHERE state = 'sale'"),
    lookup(
      "sale_orders",
      "partner=Partner 3",
      "SELECT id FROM sale_order WHERE partner_id = 3",
      "SELECT 1 WHERE false"
    ),
    lookup("sale_orders", "date_order>=2024-02", "SELECT id FROM sale_order WHERE date_order >= '2024-02-01'"),
    lookup("sale_orders", "user=demo", "SELECT id FROM sale_order WHERE user_id = 2", undefined),
    lookup("res_partners", "city=namur", "SELECT id FROM res_partner WHERE city = 'Namur'"),
    lookup("res_partners", "phone=+3225550104", "SELECT id FROM res_partner WHERE id = 4", undefined),
    lookup("account_moves", "payment_state=paid", "SELECT id FROM account_move WHERE payment_state = 'paid'"),
    lookup("account_moves", "amount_total>=500", "SELECT id FROM account_move WHERE amount_total >= 500"),
    lookup("people", "parent=Mitchell Admin", "SELECT id FROM hr_employee WHERE parent_id = 1", undefined),
    lookup("product_products", "product_tmpl=3", "SELECT id FROM product_product WHERE product_tmpl_id = 3", undefined)
  ],
  credentials: [
    "account_move.access_token",
    "hr_employee.identification_id",
    "hr_employee.passport_id",
    "hr_employee.pin",
    "hr_employee.ssnid",
    "ir_attachment.access_token",
    "res_partner.signup_token",
    "res_partner_bank.acc_number",
    "res_partner_bank.sanitized_acc_number",
    "res_users.password",
    "res_users.totp_secret",
    "res_users_apikeys.key",
    "sale_order.access_token"
  ],
  heldBack: ["account_move.inalterable_hash"],
  drop: { table: "product_template", type: "product_templates" },
  rename: { table: "sale_order", column: "amount_total", type: "sale_orders", slug: "amount_total" }
}
