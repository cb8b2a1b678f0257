import { type Kind, lookup } from "./Kind.ts"

/** Columns that every table of this database ends with. */
const TAIL = "rowguid uuid NOT NULL DEFAULT gen_random_uuid(), modifieddate timestamp NOT NULL DEFAULT now()"

/** Several schemas, names without word boundaries, domains, and tables that share the key of another. */
export const adventureworks: Kind = {
  name: "adventureworks",
  schemas: ["person", "humanresources", "production", "purchasing", "sales"],
  sql: `
CREATE DOMAIN person."Name" varchar(50);
CREATE DOMAIN person."Flag" boolean NOT NULL;
CREATE DOMAIN person."Phone" varchar(25);
CREATE DOMAIN person."AccountNumber" varchar(15);
CREATE TABLE person.businessentity (businessentityid serial PRIMARY KEY, ${TAIL});
CREATE TABLE person.person (businessentityid int PRIMARY KEY REFERENCES person.businessentity, persontype char(2) NOT NULL, namestyle boolean NOT NULL DEFAULT false, title varchar(8), firstname person."Name" NOT NULL, middlename person."Name", lastname person."Name" NOT NULL, suffix varchar(10), emailpromotion int NOT NULL DEFAULT 0, additionalcontactinfo xml, demographics xml, ${TAIL});
CREATE TABLE person.emailaddress (businessentityid int NOT NULL REFERENCES person.person, emailaddressid serial, emailaddress varchar(50), ${TAIL}, PRIMARY KEY (businessentityid, emailaddressid));
CREATE TABLE person.phonenumbertype (phonenumbertypeid serial PRIMARY KEY, name person."Name" NOT NULL, modifieddate timestamp NOT NULL DEFAULT now());
CREATE TABLE person.personphone (businessentityid int NOT NULL REFERENCES person.person, phonenumber person."Phone" NOT NULL, phonenumbertypeid int NOT NULL REFERENCES person.phonenumbertype, modifieddate timestamp NOT NULL DEFAULT now(), PRIMARY KEY (businessentityid, phonenumber, phonenumbertypeid));
CREATE TABLE person.password (businessentityid int PRIMARY KEY REFERENCES person.person, passwordhash varchar(128) NOT NULL, passwordsalt varchar(10) NOT NULL, ${TAIL});
CREATE TABLE person.countryregion (countryregioncode varchar(3) PRIMARY KEY, name person."Name" NOT NULL, modifieddate timestamp NOT NULL DEFAULT now());
CREATE TABLE person.address (addressid serial PRIMARY KEY, addressline1 varchar(60) NOT NULL, addressline2 varchar(60), city varchar(30) NOT NULL, postalcode varchar(15) NOT NULL, spatiallocation bytea, ${TAIL});
CREATE TABLE humanresources.department (departmentid serial PRIMARY KEY, name person."Name" NOT NULL, groupname person."Name" NOT NULL, modifieddate timestamp NOT NULL DEFAULT now());
CREATE TABLE humanresources.employee (businessentityid int PRIMARY KEY REFERENCES person.person, nationalidnumber varchar(15) NOT NULL, loginid varchar(256) NOT NULL, jobtitle varchar(50) NOT NULL, birthdate date NOT NULL, maritalstatus char(1) NOT NULL, gender char(1) NOT NULL, hiredate date NOT NULL, salariedflag person."Flag", vacationhours smallint NOT NULL DEFAULT 0, currentflag person."Flag", ${TAIL});
CREATE TABLE humanresources.employeedepartmenthistory (businessentityid int REFERENCES humanresources.employee, departmentid int REFERENCES humanresources.department, startdate date, enddate date, modifieddate timestamp NOT NULL DEFAULT now(), PRIMARY KEY (businessentityid, startdate, departmentid));
CREATE TABLE humanresources.jobcandidate (jobcandidateid serial PRIMARY KEY, businessentityid int REFERENCES humanresources.employee, resume xml, modifieddate timestamp NOT NULL DEFAULT now());
CREATE TABLE production.productcategory (productcategoryid serial PRIMARY KEY, name person."Name" NOT NULL, ${TAIL});
CREATE TABLE production.productsubcategory (productsubcategoryid serial PRIMARY KEY, productcategoryid int NOT NULL REFERENCES production.productcategory, name person."Name" NOT NULL, ${TAIL});
CREATE TABLE production.product (productid serial PRIMARY KEY, name person."Name" NOT NULL, productnumber varchar(25) NOT NULL, makeflag person."Flag", color varchar(15), safetystocklevel smallint NOT NULL, standardcost numeric NOT NULL, listprice numeric NOT NULL, size varchar(5), weight numeric(8,2), daystomanufacture int NOT NULL, productsubcategoryid int REFERENCES production.productsubcategory, sellstartdate timestamp NOT NULL, ${TAIL});
CREATE TABLE purchasing.vendor (businessentityid int PRIMARY KEY REFERENCES person.businessentity, accountnumber person."AccountNumber" NOT NULL, name person."Name" NOT NULL, creditrating smallint NOT NULL, activeflag person."Flag", purchasingwebserviceurl varchar(1024), modifieddate timestamp NOT NULL DEFAULT now());
CREATE TABLE sales.salesterritory (territoryid serial PRIMARY KEY, name person."Name" NOT NULL, countryregioncode varchar(3) NOT NULL REFERENCES person.countryregion, "group" varchar(50) NOT NULL, salesytd numeric NOT NULL DEFAULT 0, ${TAIL});
CREATE TABLE sales.salesperson (businessentityid int PRIMARY KEY REFERENCES humanresources.employee, territoryid int REFERENCES sales.salesterritory, salesquota numeric, bonus numeric NOT NULL DEFAULT 0, commissionpct numeric NOT NULL DEFAULT 0, salesytd numeric NOT NULL DEFAULT 0, ${TAIL});
CREATE TABLE sales.store (businessentityid int PRIMARY KEY REFERENCES person.businessentity, name person."Name" NOT NULL, salespersonid int REFERENCES sales.salesperson, demographics xml, ${TAIL});
CREATE TABLE sales.customer (customerid serial PRIMARY KEY, personid int REFERENCES person.person, storeid int REFERENCES sales.store, territoryid int REFERENCES sales.salesterritory, ${TAIL});
CREATE TABLE sales.creditcard (creditcardid serial PRIMARY KEY, cardtype varchar(50) NOT NULL, cardnumber varchar(25) NOT NULL, expmonth smallint NOT NULL, expyear smallint NOT NULL, modifieddate timestamp NOT NULL DEFAULT now());
CREATE TABLE sales.salesorderheader (salesorderid serial PRIMARY KEY, revisionnumber smallint NOT NULL DEFAULT 0, orderdate timestamp NOT NULL, duedate timestamp NOT NULL, shipdate timestamp, status smallint NOT NULL DEFAULT 1, purchaseordernumber varchar(25), accountnumber person."AccountNumber", customerid int NOT NULL REFERENCES sales.customer, salespersonid int REFERENCES sales.salesperson, territoryid int REFERENCES sales.salesterritory, creditcardid int REFERENCES sales.creditcard, creditcardapprovalcode varchar(15), subtotal numeric NOT NULL DEFAULT 0, taxamt numeric NOT NULL DEFAULT 0, freight numeric NOT NULL DEFAULT 0, totaldue numeric, comment varchar(128), ${TAIL});
CREATE TABLE sales.salesorderdetail (salesorderid int NOT NULL REFERENCES sales.salesorderheader, salesorderdetailid serial, orderqty smallint NOT NULL, productid int NOT NULL REFERENCES production.product, unitprice numeric NOT NULL, ${TAIL}, PRIMARY KEY (salesorderid, salesorderdetailid));
CREATE TABLE sales.personcreditcard (businessentityid int REFERENCES person.person, creditcardid int REFERENCES sales.creditcard, modifieddate timestamp NOT NULL DEFAULT now(), PRIMARY KEY (businessentityid, creditcardid));
INSERT INTO person.businessentity (businessentityid) SELECT generate_series(1, 20);
INSERT INTO person.person (businessentityid, persontype, firstname, lastname) SELECT n, CASE WHEN n < 6 THEN 'EM' ELSE 'IN' END, 'First' || n, 'Last' || n FROM generate_series(1, 10) n;
INSERT INTO person.emailaddress (businessentityid, emailaddress) SELECT n, 'p' || n || '@works.example' FROM generate_series(1, 10) n;
INSERT INTO person.password (businessentityid, passwordhash, passwordsalt) SELECT n, 'x', 'y' FROM generate_series(1, 10) n;
INSERT INTO person.countryregion VALUES ('US', 'United States'), ('DE', 'Germany');
INSERT INTO humanresources.department (name, groupname) VALUES ('Engineering', 'Research'), ('Sales', 'Sales and Marketing');
INSERT INTO humanresources.employee (businessentityid, nationalidnumber, loginid, jobtitle, birthdate, maritalstatus, gender, hiredate, salariedflag, currentflag) SELECT n, '29584728' || n, 'works\\user' || n, CASE WHEN n = 1 THEN 'Chief Executive Officer' ELSE 'Sales Representative' END, '1980-01-01', 'S', 'F', date '2010-01-01' + n * 100, true, true FROM generate_series(1, 5) n;
INSERT INTO production.productcategory (name) VALUES ('Bikes'), ('Parts');
INSERT INTO production.productsubcategory (productcategoryid, name) VALUES (1, 'Road Bikes'), (2, 'Brakes');
INSERT INTO production.product (name, productnumber, makeflag, color, safetystocklevel, standardcost, listprice, daystomanufacture, productsubcategoryid, sellstartdate) SELECT 'Item ' || n, 'BK-' || n, true, CASE WHEN n % 2 = 0 THEN 'Red' ELSE 'Black' END, 100, n * 10, n * 20, 1, 1 + n % 2, '2011-05-31' FROM generate_series(1, 8) n;
INSERT INTO purchasing.vendor SELECT n, 'VENDOR000' || n, 'Vendor ' || n, 1, true FROM generate_series(16, 18) n;
INSERT INTO sales.salesterritory (name, countryregioncode, "group") VALUES ('Northwest', 'US', 'North America'), ('Germany', 'DE', 'Europe');
INSERT INTO sales.salesperson (businessentityid, territoryid, salesquota) VALUES (2, 1, 250000), (3, 2, 300000), (4, 1, NULL);
INSERT INTO sales.store (businessentityid, name, salespersonid) VALUES (11, 'Bike World', 2), (12, 'Cycle Shop', 3);
INSERT INTO sales.customer (personid, storeid, territoryid) SELECT CASE WHEN n > 4 THEN n END, CASE WHEN n <= 4 THEN 11 + n % 2 END, 1 + n % 2 FROM generate_series(1, 8) n;
INSERT INTO sales.creditcard (cardtype, cardnumber, expmonth, expyear) VALUES ('Vista', '11111111111111', 4, 2030);
INSERT INTO sales.salesorderheader (orderdate, duedate, customerid, salespersonid, territoryid, creditcardid, subtotal, totaldue) SELECT timestamp '2013-01-01' + n * interval '15 days', timestamp '2013-01-13' + n * interval '15 days', 1 + n % 8, 2 + n % 3, 1 + n % 2, 1, n * 100, n * 110 FROM generate_series(1, 18) n;
INSERT INTO sales.salesorderdetail (salesorderid, orderqty, productid, unitprice) SELECT n, 1, 1 + n % 8, 5 FROM generate_series(1, 18) n;
INSERT INTO sales.personcreditcard VALUES (6, 1);
`,
  without: [
    "humanresources.employeedepartmenthistory",
    "person.emailaddress",
    "person.personphone",
    "sales.personcreditcard",
    "sales.salesorderdetail"
  ],
  admin: "1",
  second: "2",
  sees: {
    people: { columns: ["name", "persontype"], sql: "SELECT businessentityid FROM person.person" },
    employees: { columns: ["name", "jobtitle", "person"], sql: "SELECT businessentityid FROM humanresources.employee" },
    salespersons: { columns: ["name", "employee"], sql: "SELECT businessentityid FROM sales.salesperson" },
    stores: {
      columns: "*",
      where: { salesperson: { employee: { person: "$me" } } },
      sql: "SELECT businessentityid FROM sales.store WHERE salespersonid = 2"
    },
    salesorderheaders: {
      columns: ["name", "salesperson", "orderdate", "totaldue"],
      where: { salesperson: { employee: { person: "$me" } } },
      sql: "SELECT salesorderid FROM sales.salesorderheader WHERE salespersonid = 2"
    }
  },
  lookups: [
    lookup("people", "name=first3 last3", "SELECT businessentityid FROM person.person WHERE lastname = 'Last3'"),
    lookup("people", "persontype=EM", "SELECT businessentityid FROM person.person WHERE persontype = 'EM'"),
    lookup(
      "employees",
      "person=First2 Last2",
      "SELECT businessentityid FROM humanresources.employee WHERE businessentityid = 2"
    ),
    lookup(
      "employees",
      "hiredate>=2011",
      "SELECT businessentityid FROM humanresources.employee WHERE hiredate >= '2011-01-01'",
      undefined
    ),
    lookup(
      "salesorderheaders",
      "salesperson=2",
      "SELECT salesorderid FROM sales.salesorderheader WHERE salespersonid = 2"
    ),
    lookup(
      "salesorderheaders",
      "orderdate>=2013-06",
      "SELECT salesorderid FROM sales.salesorderheader WHERE orderdate >= '2013-06-01'"
    ),
    lookup(
      "salesorderheaders",
      "totaldue>=1000",
      "SELECT salesorderid FROM sales.salesorderheader WHERE totaldue >= 1000"
    ),
    lookup(
      "salesorderheaders",
      "territory=Germany",
      "SELECT salesorderid FROM sales.salesorderheader WHERE territoryid = 2",
      undefined
    ),
    lookup(
      "stores",
      "salesperson=3",
      "SELECT businessentityid FROM sales.store WHERE salespersonid = 3",
      "SELECT 1 WHERE false"
    ),
    lookup("customers", "store=Bike World", "SELECT customerid FROM sales.customer WHERE storeid = 11", undefined),
    lookup(
      "products",
      "productsubcategory=Brakes & color=Black",
      "SELECT productid FROM production.product WHERE productsubcategoryid = 2 AND color = 'Black'",
      undefined
    )
  ],
  credentials: [
    "humanresources.employee.nationalidnumber",
    "person.password.passwordhash",
    "person.password.passwordsalt",
    "sales.creditcard.cardnumber"
  ],
  drop: { table: "production.productsubcategory", type: "productsubcategories" },
  rename: { table: "production.product", column: "color", type: "products", slug: "color" }
}
