/** Which columns a proposal holds back, by the column names of well-known public schemas. */
import { describe, expect, it } from "vitest"
import { sensitivityOf } from "../../../src/services/mapping/sensitive.ts"
import type { ColumnFacts, RelationFacts, Samples } from "../../../src/services/mapping/tableFacts.ts"

/** `table: column column:type …`; text unless a type is named. */
type Schema = Readonly<Record<string, string>>

const CREDENTIALS: Schema = {
  Password: "PasswordHash PasswordSalt",
  CreditCard: "CardNumber",
  Employee: "NationalIDNumber",
  staff: "password",
  users:
    "encrypted_password reset_password_token confirmation_token unlock_token encrypted_otp_secret otp_backup_codes static_object_token feed_token incoming_email_token otp_secret_expires password_digest passwd userPwd passwordhash hashedPassword twoFactorSecret twoFactorBackupCodes two_factor_recovery_code identityProviderAccountKey remember_token api_token mfa_secret totp_secret pin:integer ssn ssn_last SSN:integer",
  personal_access_tokens: "token_digest token",
  oauth_applications: "secret uid_secret client_secret",
  oauth_access_tokens: "token refresh_token previous_refresh_token",
  ci_runners: "token token_encrypted runners_token",
  clusters: "encrypted_password encrypted_token ca_hmac",
  web_hooks: "encrypted_token encrypted_url_variables webhook_secret hmac_key",
  Account: "access_token refresh_token id_token password accessToken refreshToken idToken",
  Session: "sessionToken token csrfToken",
  VerificationToken: "token verification_code",
  ApiToken: "token hashedKey",
  api_keys: "key value hashed_key lookup_key_hash",
  organizations: "hmac_key api_key webhook_signing_key billing_iban document_private_key encryptedStripeKey",
  payment_provider: "secret_key secrets live_api_key",
  customers:
    "iban bank_account_number routing_number sort_code credit_card_number cc_number card_pan cvv passport_number national_id nationalId identity_card_number driver_license_number social_security_number national_insurance_number nino cardnumber nationalid creditcardno bankaccount credit_card_nr",
  team: "inviteToken customer_password",
  website: "share_token",
  editor: "password ha1_hash bcrypt_password",
  devices: "private_key ssh_key push_token device_token accessKey secretAccessKey connectionPassword",
  integrations:
    "bearer_token jwt signing_secret webhookSecret oauth_token_secret apiSecret consumer_secret clientSecret",
  accounts: "salt pwd_hash passphrase security_answer security_question recovery_code mnemonic seed_phrase nonce",
  data: "pem encrypted_data ciphertext",
  refresh_tokens: "parent value_sha256",
  sso_states: "auth_code code_verifier auth_data upload_signature slack_webhook_url",
  connections: "config configuration dsn connection_string database_url",
  site_settings: "value contents",
  ir_config_parameter: "value",
  sessions: "id session_id sid sess payload session_data",
  staff_banks: "bank_ac_no bank_acct_number"
}

const HARMLESS: Schema = {
  Customers: "CustomerID CompanyName ContactName ContactTitle Address City Region PostalCode Country Phone Fax",
  Employees:
    "LastName FirstName Title TitleOfCourtesy HomePhone Extension Notes PhotoPath ReportsTo:integer HireDate:date Salary:numeric",
  Orders: "ShipName ShipAddress ShipCity ShipRegion ShipPostalCode ShipCountry Freight:numeric ShipVia:integer",
  Products:
    "ProductName QuantityPerUnit UnitPrice:numeric UnitsInStock:integer Discontinued:integer ReorderLevel:integer",
  Suppliers: "HomePage ContactName CompanyName SupplierID:integer",
  Album: "Title ArtistId:integer",
  Track: "Name Composer Milliseconds:integer Bytes:integer UnitPrice:numeric MediaTypeId:integer",
  Invoice: "BillingAddress BillingCity BillingState BillingCountry BillingPostalCode Total:numeric",
  film: "title description release_year:integer rental_duration:integer rental_rate:numeric rating special_features:list fulltext",
  address: "address address2 district postal_code phone city_id:integer",
  rental: "rental_id:integer inventory_id:integer staff_id:integer",
  customer: "first_name last_name email activebool:boolean active:integer store_id:integer",
  Person:
    "PersonType NameStyle MiddleName Suffix EmailPromotion:integer AdditionalContactInfo Demographics rowguid:uuid PhoneNumber",
  SalesOrderHeader:
    "RevisionNumber:integer SalesOrderNumber PurchaseOrderNumber AccountNumber CreditCardID:integer CurrencyRateID:integer SubTotal:numeric TaxAmt:numeric Comment Status:integer",
  CreditCardInfo: "CardType ExpMonth:integer ExpYear:integer",
  Product:
    "ProductNumber Color SafetyStockLevel:integer StandardCost:numeric Size SizeUnitMeasureCode Weight:numeric ProductLine Class Style",
  Document:
    "DocumentNode Title FolderFlag:boolean FileName FileExtension Revision ChangeNumber:integer DocumentSummary",
  artist:
    "gid:uuid name sort_name begin_date_year:integer type:integer area:integer gender:integer comment edits_pending:integer",
  release: "barcode packaging:integer language:integer script:integer quality:integer",
  recording: "length:integer video:boolean artist_credit:integer",
  work_key: "position:integer work:integer label",
  url: "url edits_pending:integer",
  isrc: "isrc source:integer",
  invoices:
    "number currency payment_status invoice_type file net_payment_term:integer fees_amount_cents:integer timezone self_billed:boolean",
  subscriptions: "external_id name billing_time previous_subscription_id:uuid ending_at:timestamp",
  plans: "code name description amount_currency interval bill_charges_monthly:boolean trial_period:numeric",
  billable_metrics: "field_name aggregation_type expression rounding_function",
  coupons: "code coupon_type frequency reusable:boolean",
  taxes: "code rate:numeric name tax_identification_number",
  nodes: "latitude:integer longitude:integer changeset_id:integer visible:boolean tile:integer version:integer",
  node_tags: "k v",
  changesets: "min_lat:integer num_changes:integer",
  website_event:
    "url_path url_query referrer_path referrer_domain page_title event_name hostname browser os device screen language",
  event_data: "event_key string_value number_value:numeric data_type:integer",
  session_data: "data_key string_value",
  Survey: "name type status welcomeCard questions hiddenFields displayOption recontactDays:integer autoClose:integer",
  Response: "finished:boolean data meta userAttributes variables language singleUseId",
  Environment: "type appSetupCompleted:boolean widgetSetupCompleted:boolean",
  Recipient: "email name role readStatus signingStatus sendStatus signingOrder:integer rejectionReason",
  Field: "type page:integer positionX:numeric customText inserted:boolean",
  Envelope: "title visibility source templateType publicTitle publicDescription",
  DocumentMeta: "subject message timezone dateFormat redirectUrl signingOrder language distributionMethod",
  projects:
    "name path description visibility_level:integer star_count:integer import_type import_url repository_storage ci_config_path build_timeout:integer",
  issues:
    "title description weight:integer confidential:boolean due_date:date relative_position:integer external_key state_id:integer",
  merge_requests:
    "target_branch source_branch merge_status merge_error merge_commit_sha squash_commit_sha rebase_jid merge_params",
  ci_builds:
    "status name options commands ref tag:boolean stage coverage:numeric failure_reason:integer scheduled_at:timestamp",
  labels: "title color description template:boolean",
  members: "access_level:integer source_type notification_level:integer invite_email expires_at:date state:integer",
  namespaces: "name path type avatar visibility_level:integer shared_runners_enabled:boolean",
  events: "action:integer target_type fingerprint",
  notes: "note noteable_type line_code commit_id position type system:boolean",
  keys: "title type fingerprint last_used_at:timestamp",
  audit_events: "entity_path author_name target_details ip_address",
  token_usage: "max_tokens:integer token_count:integer token_type model tokens_per_minute:integer",
  people_office:
    "secretary_name secretary_phone secretary passed:boolean pass_rate:numeric passenger passenger_name bypass",
  orders_key:
    "order_key:integer sort_order:integer keyword keywords keyboard monkey turkey key_account_manager primary_contact",
  music: "hashtags hashtag keynote key_signature",
  shipping: "tracking_number tracking_code carrier_code pin_code_area shipping_label package_weight:numeric",
  company: "vat_number tax_id duns legal_name website industry employees:integer founded:date",
  password_policies:
    "password_length:integer password_policy password_expires_at:timestamp password_changed_on:date token_name token_description",
  assets: "serial_number asset_tag imei mac_address:uuid model manufacturer purchase_order_number",
  lead: "source campaign score:integer next_step last_contact:date probability:numeric stage reason_lost",
  building: "salt_storage:boolean floor:integer room bank holiday_calendar nationality language",
  bank_holidays: "name date:date region",
  training_sessions: "id session_id room trainer",
  settings: "name description user_id:integer",
  flow: "code_challenge redirect_url signature value config_version",
  product_options: "option_name option_value value"
}

const TYPES: Readonly<Record<string, ColumnFacts["type"]>> = { uuid: "other" }

const columnsOf = (schema: Schema) =>
  Object.entries(schema).flatMap(([table, texts]) => {
    const columns = texts.split(" ").map((text) => {
      const [name, type = "text"] = text.split(":")
      return {
        name: name!,
        type: TYPES[type] ?? (type as ColumnFacts["type"]),
        idType: type === "uuid" ? ("uuid" as const) : type === "integer" ? ("bigint" as const) : ("text" as const)
      } as ColumnFacts
    })
    const relation = { name: `public.${table}`, table, columns, foreignKeys: [] } as unknown as RelationFacts
    return columns.map((column) => ({ column, relation }))
  })

const heldBack = (schema: Schema, samples: Samples = new Map()) =>
  columnsOf(schema).flatMap(({ column, relation }) =>
    sensitivityOf(relation, column, samples) === undefined ? [] : [`${relation.table}.${column.name}`]
  )

describe("a proposal", () => {
  it("holds back every column that is named like a credential or regulated data", () => {
    const held = heldBack(CREDENTIALS)
    const shown = columnsOf(CREDENTIALS)
      .map(({ column, relation }) => `${relation.table}.${column.name}`)
      .filter((name) => !held.includes(name))
    // The time at which a secret expires isn't one, and neither is a part of it.
    expect(shown).toEqual(["users.otp_secret_expires"])
  })

  it("shows harmless columns, at least 97 of 100", () => {
    const held = heldBack(HARMLESS)
    expect(held).toEqual(["shipping.pin_code_area"])
    expect(held.length / columnsOf(HARMLESS).length).toBeLessThan(0.03)
  })

  it("holds back columns whose common values look like credentials or regulated data, whatever their names", () => {
    const of = (...values: ReadonlyArray<string>) =>
      heldBack({ t: "c" }, new Map([["public.t", new Map([["c", values]])]])).length === 1
    expect(of("$2b$12$abcdefghijklmnopqrstuv")).toBe(true)
    expect(of("x", "-----BEGIN RSA PRIVATE KEY-----")).toBe(true)
    expect(of("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x")).toBe(true)
    expect(of("078-05-1120", "219-09-9999", "457-55-5462")).toBe(true)
    expect(of("4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009")).toBe(true)
    expect(of("DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "FR1420041010050500013M02606")).toBe(true)
    expect(of("4111 1111 1111 1112", "5500-0000-0000-0005", "340000000000001")).toBe(false)
    expect(of("+1 512 555 0142", "2026-03-01", "DE89370400440532013001")).toBe(false)
    expect(of("Ada", "Grace", "$5 off")).toBe(false)
    expect(of('{"url": "https://x", "apiToken": "t"}')).toBe(true)
    expect(of("postgres://app:hunter2@db/app")).toBe(true)
    expect(of('{"tokens": 12}', "https://example.com/a:b@c", '{"secret": ""}')).toBe(false)
  })

  it("holds back the values of a table whose rows are named like credentials", () => {
    const of = (...names: ReadonlyArray<string>) =>
      heldBack({ singles: "field value" }, new Map([["public.singles", new Map([["field", names]])]]))
    expect(of("country", "client_secret")).toEqual(["singles.value"])
    expect(of("country", "language")).toEqual([])
  })

  it("shows references to tables of credentials", () => {
    const [{ column, relation }] = columnsOf({ logins: "token_id" }) as [ReturnType<typeof columnsOf>[number]]
    const referring = {
      ...relation,
      foreignKeys: [{ columns: ["token_id"], target: "public.tokens", targetColumns: ["id"] }]
    }
    expect(sensitivityOf(relation, column, new Map())).toBe("a credential")
    expect(sensitivityOf(referring, column, new Map())).toBe(undefined)
  })
})
