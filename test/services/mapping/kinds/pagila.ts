import { type Kind, lookup } from "./Kind.ts"

const T = "last_update timestamptz NOT NULL DEFAULT now()"

/** A partitioned table whose key includes its partition's, an enumeration, a domain, arrays, tsvector and views. */
export const pagila: Kind = {
  name: "pagila",
  schemas: ["pagila"],
  sql: `
CREATE TYPE mpaa_rating AS ENUM ('G', 'PG', 'PG-13', 'R', 'NC-17');
CREATE DOMAIN year AS integer CHECK (VALUE >= 1901 AND VALUE <= 2155);
CREATE TABLE actor (actor_id serial PRIMARY KEY, first_name text NOT NULL, last_name text NOT NULL, ${T});
CREATE TABLE category (category_id serial PRIMARY KEY, name text NOT NULL, ${T});
CREATE TABLE language (language_id serial PRIMARY KEY, name char(20) NOT NULL, ${T});
CREATE TABLE film (film_id serial PRIMARY KEY, title text NOT NULL, description text, release_year year, language_id int NOT NULL REFERENCES language, original_language_id int REFERENCES language, rental_duration smallint NOT NULL DEFAULT 3, rental_rate numeric(4,2) NOT NULL DEFAULT 4.99, length smallint, replacement_cost numeric(5,2) NOT NULL DEFAULT 19.99, rating mpaa_rating DEFAULT 'G', ${T}, special_features text[], fulltext tsvector);
CREATE TABLE film_actor (actor_id int REFERENCES actor, film_id int REFERENCES film, ${T}, PRIMARY KEY (actor_id, film_id));
CREATE TABLE film_category (film_id int REFERENCES film, category_id int REFERENCES category, ${T}, PRIMARY KEY (film_id, category_id));
CREATE TABLE country (country_id serial PRIMARY KEY, country text NOT NULL, ${T});
CREATE TABLE city (city_id serial PRIMARY KEY, city text NOT NULL, country_id int NOT NULL REFERENCES country, ${T});
CREATE TABLE address (address_id serial PRIMARY KEY, address text NOT NULL, address2 text, district text NOT NULL, city_id int NOT NULL REFERENCES city, postal_code text, phone text NOT NULL, ${T});
CREATE TABLE store (store_id serial PRIMARY KEY, manager_staff_id int NOT NULL UNIQUE, address_id int NOT NULL REFERENCES address, ${T});
CREATE TABLE staff (staff_id serial PRIMARY KEY, first_name text NOT NULL, last_name text NOT NULL, address_id int NOT NULL REFERENCES address, email text, store_id int NOT NULL REFERENCES store, active boolean NOT NULL DEFAULT true, username text NOT NULL, password text, ${T}, picture bytea);
CREATE TABLE customer (customer_id serial PRIMARY KEY, store_id int NOT NULL REFERENCES store, first_name text NOT NULL, last_name text NOT NULL, email text, address_id int NOT NULL REFERENCES address, activebool boolean NOT NULL DEFAULT true, create_date date NOT NULL DEFAULT CURRENT_DATE, ${T}, active integer);
CREATE TABLE inventory (inventory_id serial PRIMARY KEY, film_id int NOT NULL REFERENCES film, store_id int NOT NULL REFERENCES store, ${T});
CREATE TABLE rental (rental_id serial PRIMARY KEY, rental_date timestamptz NOT NULL, inventory_id int NOT NULL REFERENCES inventory, customer_id int NOT NULL REFERENCES customer, return_date timestamptz, staff_id int NOT NULL REFERENCES staff, ${T});
CREATE TABLE payment (payment_id serial, customer_id int NOT NULL REFERENCES customer, staff_id int NOT NULL REFERENCES staff, rental_id int NOT NULL REFERENCES rental, amount numeric(5,2) NOT NULL, payment_date timestamptz NOT NULL, PRIMARY KEY (payment_date, payment_id)) PARTITION BY RANGE (payment_date);
CREATE TABLE payment_p2022_01 PARTITION OF payment FOR VALUES FROM ('2022-01-01') TO ('2022-02-01');
CREATE TABLE payment_p2022_02 PARTITION OF payment FOR VALUES FROM ('2022-02-01') TO ('2022-03-01');
CREATE VIEW customer_list AS SELECT cu.customer_id AS id, cu.first_name || ' ' || cu.last_name AS name, a.address, a.postal_code AS "zip code", a.phone, city.city, country.country, cu.store_id AS sid FROM customer cu JOIN address a USING (address_id) JOIN city USING (city_id) JOIN country USING (country_id);
CREATE VIEW sales_by_store AS SELECT s.store_id AS store, sum(p.amount) AS total_sales FROM payment p JOIN staff s USING (staff_id) GROUP BY s.store_id;
CREATE MATERIALIZED VIEW rental_by_category AS SELECT c.name AS category, count(*) AS rentals FROM rental JOIN inventory USING (inventory_id) JOIN film_category USING (film_id) JOIN category c USING (category_id) GROUP BY c.name;
INSERT INTO actor (first_name, last_name) SELECT 'ACTOR', 'NO' || n FROM generate_series(1, 6) n;
INSERT INTO category (name) VALUES ('Action'), ('Comedy');
INSERT INTO language (name) VALUES ('English'), ('Italian');
INSERT INTO film (title, language_id, original_language_id, rating, length, special_features, release_year) SELECT 'FILM ' || n, 1, CASE WHEN n % 4 = 0 THEN 2 END, (ARRAY['G', 'PG-13', 'R'])[1 + n % 3]::mpaa_rating, 50 + n * 10, CASE WHEN n % 2 = 0 THEN '{Trailers,Deleted Scenes}'::text[] ELSE '{Trailers}' END, 2006 FROM generate_series(1, 9) n;
INSERT INTO film_actor SELECT 1 + n % 6, n FROM generate_series(1, 9) n;
INSERT INTO film_category SELECT n, 1 + n % 2 FROM generate_series(1, 9) n;
INSERT INTO country (country) VALUES ('Canada'), ('Australia');
INSERT INTO city (city, country_id) VALUES ('Lethbridge', 1), ('Woodridge', 2);
INSERT INTO address (address, district, city_id, phone) SELECT n || ' Drive', 'Alberta', 1 + n % 2, '1403333568' || n FROM generate_series(1, 6) n;
INSERT INTO store (manager_staff_id, address_id) VALUES (1, 1), (2, 2);
INSERT INTO staff (first_name, last_name, address_id, email, store_id, username, password) VALUES ('Mike', 'Hillyer', 3, 'Mike.Hillyer@rent.example', 1, 'Mike', 'x'), ('Jon', 'Stephens', 4, 'Jon.Stephens@rent.example', 2, 'Jon', 'x');
INSERT INTO customer (store_id, first_name, last_name, email, address_id, create_date, active) SELECT 1 + n % 2, 'CUST', 'NO' || n, 'c' || n || '@mail.example', 5, '2022-02-14', 1 FROM generate_series(1, 7) n;
INSERT INTO inventory (film_id, store_id) SELECT n, 1 + n % 2 FROM generate_series(1, 9) n;
INSERT INTO rental (rental_date, inventory_id, customer_id, staff_id, return_date) SELECT timestamptz '2022-01-05' + n * interval '2 days', 1 + n % 9, 1 + n % 7, 1 + n % 2, CASE WHEN n % 3 > 0 THEN timestamptz '2022-01-09' + n * interval '2 days' END FROM generate_series(1, 20) n;
INSERT INTO payment (customer_id, staff_id, rental_id, amount, payment_date) SELECT 1 + n % 7, 1 + n % 2, n, n, timestamptz '2022-01-05' + n * interval '2 days' FROM generate_series(1, 20) n;
REFRESH MATERIALIZED VIEW rental_by_category;
`,
  without: ["film_actor", "film_category", "payment", "rental_by_category", "sales_by_store"],
  admin: "mike.hillyer@rent.example",
  second: "jon.stephens@rent.example",
  sees: {
    people: { columns: ["name", "email"], sql: "SELECT staff_id FROM staff" },
    films: {
      columns: ["name", "rating", "length", "special_features"],
      where: { rating: "R" },
      sql: "SELECT film_id FROM film WHERE rating = 'R'"
    },
    rentals: { columns: "*", where: { staff: "$me" }, sql: "SELECT rental_id FROM rental WHERE staff_id = 2" },
    customers: { columns: ["name", "store"], sql: "SELECT customer_id FROM customer" }
  },
  lookups: [
    lookup("films", "rating=R", "SELECT film_id FROM film WHERE rating = 'R'"),
    lookup("films", "length>=100", "SELECT film_id FROM film WHERE length >= 100"),
    lookup(
      "films",
      "special_features=Deleted Scenes",
      "SELECT film_id FROM film WHERE 'Deleted Scenes' = ANY(special_features)"
    ),
    lookup("films", "actors=ACTOR NO2", "SELECT film_id FROM film_actor WHERE actor_id = 2", undefined),
    lookup("films", "original_language=Italian", "SELECT film_id FROM film WHERE original_language_id = 2", undefined),
    lookup("films", "categories~comedy", "SELECT film_id FROM film_category WHERE category_id = 2", undefined),
    lookup("rentals", "staff=Jon Stephens", "SELECT rental_id FROM rental WHERE staff_id = 2"),
    lookup("rentals", "customer=CUST NO3", "SELECT rental_id FROM rental WHERE customer_id = 3"),
    lookup("rentals", "rental_date<2022-01-20", "SELECT rental_id FROM rental WHERE rental_date < '2022-01-20 05:00Z'"),
    lookup("customers", "email=C2@MAIL.example", "SELECT customer_id FROM customer WHERE customer_id = 2", undefined),
    lookup("customer_lists", "country=Canada", "SELECT id FROM customer_list WHERE country = 'Canada'", undefined)
  ],
  credentials: ["staff.password"],
  drop: { table: "category", type: "categories" },
  rename: { table: "film", column: "length", type: "films", slug: "length" }
}
