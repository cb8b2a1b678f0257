import { type Kind, lookup } from "./Kind.ts"

const CONTACT =
  "contact_name varchar(30), contact_title varchar(30), address varchar(60), city varchar(15), region varchar(15), postal_code varchar(10), country varchar(15), phone varchar(24), fax varchar(24)"

export const northwind: Kind = {
  name: "northwind",
  schemas: ["northwind"],
  sql: `
CREATE TABLE categories (category_id smallint PRIMARY KEY, category_name varchar(15) NOT NULL, description text, picture bytea);
CREATE TABLE customers (customer_id varchar(5) PRIMARY KEY, company_name varchar(40) NOT NULL, ${CONTACT});
CREATE TABLE customer_demographics (customer_type_id varchar(5) PRIMARY KEY, customer_desc text);
CREATE TABLE customer_customer_demo (customer_id varchar(5) REFERENCES customers, customer_type_id varchar(5) REFERENCES customer_demographics, PRIMARY KEY (customer_id, customer_type_id));
CREATE TABLE employees (employee_id smallint PRIMARY KEY, last_name varchar(20) NOT NULL, first_name varchar(10) NOT NULL, title varchar(30), title_of_courtesy varchar(25), birth_date date, hire_date date, address varchar(60), city varchar(15), region varchar(15), postal_code varchar(10), country varchar(15), home_phone varchar(24), extension varchar(4), photo bytea, notes text, reports_to smallint REFERENCES employees, photo_path varchar(255));
CREATE TABLE suppliers (supplier_id smallint PRIMARY KEY, company_name varchar(40) NOT NULL, ${CONTACT}, homepage text);
CREATE TABLE products (product_id smallint PRIMARY KEY, product_name varchar(40) NOT NULL, supplier_id smallint REFERENCES suppliers, category_id smallint REFERENCES categories, quantity_per_unit varchar(20), unit_price real, units_in_stock smallint, units_on_order smallint, reorder_level smallint, discontinued integer NOT NULL);
CREATE TABLE region (region_id smallint PRIMARY KEY, region_description varchar(60) NOT NULL);
CREATE TABLE shippers (shipper_id smallint PRIMARY KEY, company_name varchar(40) NOT NULL, phone varchar(24));
CREATE TABLE orders (order_id smallint PRIMARY KEY, customer_id varchar(5) REFERENCES customers, employee_id smallint REFERENCES employees, order_date date, required_date date, shipped_date date, ship_via smallint REFERENCES shippers, freight real, ship_name varchar(40), ship_address varchar(60), ship_city varchar(15), ship_region varchar(15), ship_postal_code varchar(10), ship_country varchar(15));
CREATE TABLE territories (territory_id varchar(20) PRIMARY KEY, territory_description varchar(60) NOT NULL, region_id smallint NOT NULL REFERENCES region);
CREATE TABLE employee_territories (employee_id smallint REFERENCES employees, territory_id varchar(20) REFERENCES territories, PRIMARY KEY (employee_id, territory_id));
CREATE TABLE order_details (order_id smallint REFERENCES orders, product_id smallint REFERENCES products, unit_price real NOT NULL, quantity smallint NOT NULL, discount real NOT NULL, PRIMARY KEY (order_id, product_id));
CREATE TABLE us_states (state_id smallint PRIMARY KEY, state_name varchar(100), state_abbr varchar(2), state_region varchar(50));
INSERT INTO categories VALUES (1, 'Beverages', 'Soft drinks'), (2, 'Seafood', 'Fish');
INSERT INTO customers SELECT 'C' || n, 'Company ' || n, 'Contact ' || n, 'Owner', n || ' High St', CASE WHEN n % 2 = 0 THEN 'Berlin' ELSE 'Oslo' END, NULL, '1000' || n, CASE WHEN n % 2 = 0 THEN 'Germany' ELSE 'Norway' END, '(030) 555-010' || n, NULL FROM generate_series(1, 8) n;
INSERT INTO customer_demographics VALUES ('T1', 'Restaurants');
INSERT INTO customer_customer_demo VALUES ('C1', 'T1'), ('C4', 'T1');
INSERT INTO employees VALUES (2, 'Fuller', 'Andrew', 'Vice President', 'Dr.', '1952-02-19', '1992-08-14', NULL, 'Tacoma', 'WA', '98401', 'USA', '(206) 555-9482', '3457', NULL, NULL, NULL, NULL), (1, 'Davolio', 'Nancy', 'Sales Representative', 'Ms.', '1968-12-08', '1992-05-01', NULL, 'Seattle', 'WA', '98122', 'USA', '(206) 555-9857', '5467', NULL, NULL, 2, NULL), (5, 'Buchanan', 'Steven', 'Sales Manager', 'Mr.', '1955-03-04', '1993-10-17', NULL, 'London', NULL, 'SW1 8JR', 'UK', '(71) 555-4848', '3453', NULL, NULL, 2, NULL);
INSERT INTO suppliers VALUES (1, 'Exotic Liquids', 'Charlotte Cooper', 'Buyer', NULL, 'London', NULL, NULL, 'UK', '(171) 555-2222', NULL, NULL);
INSERT INTO products SELECT n, 'Product ' || n, 1, 1 + n % 2, '10 boxes', n * 2.5, n * 10, 0, 5, 0 FROM generate_series(1, 6) n;
INSERT INTO region VALUES (1, 'Eastern'), (2, 'Western');
INSERT INTO shippers VALUES (1, 'Speedy Express', '(503) 555-9831'), (2, 'United Package', '(503) 555-3199');
INSERT INTO orders SELECT 10247 + n, 'C' || 1 + n % 8, (ARRAY[1, 5, 1, 2])[1 + n % 4], date '1996-07-01' + n * 9, NULL, CASE WHEN n % 3 = 0 THEN NULL ELSE date '1996-07-05' + n * 9 END, 1 + n % 2, n * 1.5, 'Company', NULL, NULL, NULL, NULL, NULL FROM generate_series(1, 24) n;
INSERT INTO territories VALUES ('01581', 'Westboro', 1), ('98004', 'Bellevue', 2);
INSERT INTO employee_territories VALUES (1, '01581'), (5, '98004'), (5, '01581');
INSERT INTO order_details SELECT 10247 + n, 1 + n % 6, 12, 3, 0 FROM generate_series(1, 24) n;
INSERT INTO us_states VALUES (1, 'Alabama', 'AL', 'south');
`,
  without: ["customer_customer_demo", "employee_territories", "order_details"],
  admin: "(206) 555-9482",
  second: "(206) 555-9857",
  sees: {
    people: { columns: ["name", "title"], sql: "SELECT employee_id FROM employees" },
    orders: { columns: "*", where: { employee: "$me" }, sql: "SELECT order_id FROM orders WHERE employee_id = 1" },
    customers: {
      columns: ["name", "city"],
      where: { country: "Germany" },
      sql: "SELECT customer_id FROM customers WHERE country = 'Germany'"
    },
    products: { columns: "*", sql: "SELECT product_id FROM products" }
  },
  lookups: [
    lookup("orders", "employee=Nancy Davolio", "SELECT order_id FROM orders WHERE employee_id = 1"),
    lookup("orders", "employee~buchanan", "SELECT order_id FROM orders WHERE employee_id = 5"),
    lookup(
      "orders",
      "customer=Company 3",
      "SELECT order_id FROM orders WHERE customer_id = 'C3'",
      "SELECT 1 WHERE false"
    ),
    lookup("orders", "customer=Company 2", "SELECT order_id FROM orders WHERE customer_id = 'C2'"),
    lookup("orders", "order_date>=1996-10", "SELECT order_id FROM orders WHERE order_date >= '1996-10-01'"),
    lookup(
      "orders",
      "freight>=30 & ship_via=Speedy Express",
      "SELECT order_id FROM orders WHERE freight >= 30 AND ship_via = 1",
      undefined
    ),
    lookup("customers", "city=berlin", "SELECT customer_id FROM customers WHERE city = 'Berlin'"),
    lookup("customers", "phone=030 5550104", "SELECT customer_id FROM customers WHERE customer_id = 'C4'", undefined),
    lookup(
      "people",
      "territories~westboro",
      "SELECT employee_id FROM employee_territories WHERE territory_id = '01581'",
      undefined
    ),
    lookup("people", "reports_to=Andrew Fuller", "SELECT employee_id FROM employees WHERE reports_to = 2", undefined),
    lookup("products", "unit_price>=10", "SELECT product_id FROM products WHERE unit_price >= 10"),
    lookup("orders", "products=Product 2", "SELECT order_id FROM order_details WHERE product_id = 2")
  ],
  credentials: [],
  drop: { table: "shippers", type: "shippers" },
  rename: { table: "orders", column: "freight", type: "orders", slug: "freight" }
}
