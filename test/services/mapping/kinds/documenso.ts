import { type Kind, lookup } from "./Kind.ts"

const TIMES = `"createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "updatedAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP`

/** Documents to sign: camelCase columns, tokens of recipients, a table that shares its key, and arrays of an enumeration. */
export const documenso: Kind = {
  name: "documenso",
  schemas: ["documenso"],
  sql: `
CREATE TYPE "Role" AS ENUM ('ADMIN', 'USER');
CREATE TYPE "DocumentStatus" AS ENUM ('DRAFT', 'PENDING', 'COMPLETED', 'REJECTED');
CREATE TYPE "SigningStatus" AS ENUM ('NOT_SIGNED', 'SIGNED', 'REJECTED');
CREATE TABLE "User" (id serial PRIMARY KEY, name text, email text NOT NULL UNIQUE, "emailVerified" timestamp(3), password text, source text, signature text, "avatarImageId" text, disabled boolean NOT NULL DEFAULT false, ${TIMES}, "lastSignedIn" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, roles "Role"[] DEFAULT ARRAY['USER']::"Role"[], "twoFactorSecret" text, "twoFactorEnabled" boolean NOT NULL DEFAULT false, "twoFactorBackupCodes" text, url text);
CREATE TABLE "UserProfile" (id int PRIMARY KEY REFERENCES "User", enabled boolean NOT NULL DEFAULT false, bio text);
CREATE TABLE "PasswordResetToken" (id serial PRIMARY KEY, token text NOT NULL UNIQUE, "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, expiry timestamp(3) NOT NULL, "userId" int NOT NULL REFERENCES "User");
CREATE TABLE "Passkey" (id text PRIMARY KEY, "userId" int NOT NULL REFERENCES "User", name text NOT NULL, ${TIMES}, "lastUsedAt" timestamp(3), "credentialId" bytea NOT NULL, "credentialPublicKey" bytea NOT NULL, counter bigint NOT NULL, "credentialDeviceType" text NOT NULL, transports text[]);
CREATE TABLE "UserSecurityAuditLog" (id serial PRIMARY KEY, "userId" int NOT NULL REFERENCES "User", "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, type text NOT NULL, "userAgent" text, "ipAddress" text);
CREATE TABLE "Organisation" (id text PRIMARY KEY, ${TIMES}, name text NOT NULL, url text NOT NULL UNIQUE, "customerId" text, "ownerUserId" int NOT NULL REFERENCES "User");
CREATE TABLE "Team" (id serial PRIMARY KEY, name text NOT NULL, url text NOT NULL UNIQUE, "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "organisationId" text NOT NULL REFERENCES "Organisation");
CREATE TABLE "TeamMember" (id serial PRIMARY KEY, "teamId" int NOT NULL REFERENCES "Team", role text NOT NULL, "userId" int NOT NULL REFERENCES "User", UNIQUE ("userId", "teamId"));
CREATE TABLE "ApiToken" (id serial PRIMARY KEY, name text NOT NULL, token text NOT NULL UNIQUE, algorithm text NOT NULL DEFAULT 'SHA512', expires timestamp(3), "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "userId" int REFERENCES "User", "teamId" int REFERENCES "Team");
CREATE TABLE "Webhook" (id text PRIMARY KEY, "webhookUrl" text NOT NULL, "eventTriggers" text[], secret text, enabled boolean NOT NULL DEFAULT true, ${TIMES}, "userId" int NOT NULL REFERENCES "User", "teamId" int NOT NULL REFERENCES "Team");
CREATE TABLE "DocumentData" (id text PRIMARY KEY, type text NOT NULL, data text NOT NULL, "initialData" text NOT NULL);
CREATE TABLE "Document" (id serial PRIMARY KEY, "externalId" text, "userId" int NOT NULL REFERENCES "User", "authOptions" jsonb, title text NOT NULL, status "DocumentStatus" NOT NULL DEFAULT 'DRAFT', "documentDataId" text NOT NULL REFERENCES "DocumentData", ${TIMES}, "completedAt" timestamp(3), "deletedAt" timestamp(3), "teamId" int REFERENCES "Team", "templateId" int, source text NOT NULL, "qrToken" text);
CREATE TABLE "Recipient" (id serial PRIMARY KEY, "documentId" int REFERENCES "Document", email varchar(255) NOT NULL, name varchar(255) NOT NULL DEFAULT '', token text NOT NULL, "documentDeletedAt" timestamp(3), expired timestamp(3), "signedAt" timestamp(3), "authOptions" jsonb, "signingOrder" int, "rejectionReason" text, "signingStatus" "SigningStatus" NOT NULL DEFAULT 'NOT_SIGNED');
CREATE TABLE "Field" (id serial PRIMARY KEY, "secondaryId" text NOT NULL, "documentId" int REFERENCES "Document", "recipientId" int NOT NULL REFERENCES "Recipient", type text NOT NULL, page int NOT NULL, "positionX" numeric NOT NULL DEFAULT 0, "customText" text NOT NULL, inserted boolean NOT NULL);
CREATE TABLE "Signature" (id serial PRIMARY KEY, created timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "recipientId" int NOT NULL REFERENCES "Recipient", "fieldId" int NOT NULL UNIQUE REFERENCES "Field", "signatureImageAsBase64" text, "typedSignature" text);
INSERT INTO "User" (name, email, password, "twoFactorSecret") VALUES ('Lu Chen', 'lu@sign.example', 'x', 's'), ('Mo Berg', 'mo@sign.example', 'x', NULL), ('Al Dorn', 'al@sign.example', 'x', NULL);
INSERT INTO "UserProfile" VALUES (1, true, 'Signs'), (2, false, 'Too');
INSERT INTO "Organisation" (id, name, url, "ownerUserId") VALUES ('o1', 'Sign Ltd', 'sign', 1);
INSERT INTO "Team" (name, url, "organisationId") VALUES ('Legal', 'legal', 'o1'), ('Sales', 'sales', 'o1');
INSERT INTO "TeamMember" ("teamId", role, "userId") VALUES (1, 'ADMIN', 1), (2, 'MEMBER', 2);
INSERT INTO "DocumentData" SELECT 'd' || n, 'S3', 'x', 'x' FROM generate_series(1, 12) n;
INSERT INTO "Document" ("userId", title, status, "documentDataId", "createdAt", "deletedAt", "teamId", source) SELECT 1 + n % 3, 'Contract ' || n, (ARRAY['DRAFT', 'PENDING', 'COMPLETED'])[1 + n % 3]::"DocumentStatus", 'd' || n, timestamp '2024-06-01' + n * interval '3 days', CASE WHEN n = 12 THEN now() END, 1 + n % 2, 'DOCUMENT' FROM generate_series(1, 12) n;
INSERT INTO "Recipient" ("documentId", email, name, token, "signingStatus") SELECT 1 + n % 12, 'r' || n || '@mail.example', 'Rec ' || n, 't' || n, (ARRAY['NOT_SIGNED', 'SIGNED'])[1 + n % 2]::"SigningStatus" FROM generate_series(1, 18) n;
INSERT INTO "Field" ("secondaryId", "documentId", "recipientId", type, page, "customText", inserted) SELECT 'f' || n, 1 + n % 12, n, 'SIGNATURE', 1, '', false FROM generate_series(1, 18) n;
`,
  without: [],
  admin: "lu@sign.example",
  second: "mo@sign.example",
  sees: {
    people: { columns: ["name"], sql: `SELECT id FROM "User"` },
    documents: {
      columns: ["name", "status", "user", "created_at"],
      where: { user: "$me" },
      sql: `SELECT id FROM "Document" WHERE "userId" = 2 AND "deletedAt" IS NULL`
    },
    recipients: {
      columns: ["name", "email", "document"],
      where: { document: { user: "$me" } },
      sql: `SELECT r.id FROM "Recipient" r JOIN "Document" d ON d.id = r."documentId" WHERE d."userId" = 2 AND d."deletedAt" IS NULL`
    },
    user_profiles: { columns: "*", where: { user: "$me" }, sql: `SELECT id FROM "UserProfile" WHERE id = 2` }
  },
  lookups: [
    lookup("documents", "status=PENDING", `SELECT id FROM "Document" WHERE status = 'PENDING' AND "deletedAt" IS NULL`),
    lookup("documents", "user=Mo Berg", `SELECT id FROM "Document" WHERE "userId" = 2 AND "deletedAt" IS NULL`),
    lookup(
      "documents",
      "team=Legal",
      `SELECT id FROM "Document" WHERE "teamId" = 1 AND "deletedAt" IS NULL`,
      undefined
    ),
    lookup(
      "documents",
      "created_at>=2024-06-20",
      `SELECT id FROM "Document" WHERE "createdAt" >= '2024-06-20 04:00' AND "deletedAt" IS NULL`
    ),
    lookup(
      "documents",
      "name~contract 1",
      `SELECT id FROM "Document" WHERE title ~ 'Contract 1' AND "deletedAt" IS NULL`
    ),
    lookup("recipients", "document=Contract 5", `SELECT id FROM "Recipient" WHERE "documentId" = 5`),
    lookup("recipients", "email=R4@mail.example", `SELECT id FROM "Recipient" WHERE id = 4`),
    lookup(
      "recipients",
      "signing_status=SIGNED",
      `SELECT id FROM "Recipient" WHERE "signingStatus" = 'SIGNED'`,
      undefined
    ),
    lookup("user_profiles", "user=Lu Chen", `SELECT id FROM "UserProfile" WHERE id = 1`),
    lookup("team_members", "user=Mo Berg", `SELECT id FROM "TeamMember" WHERE "userId" = 2`, undefined),
    lookup("people", "roles=USER", `SELECT id FROM "User"`, undefined)
  ],
  credentials: [
    "ApiToken.token",
    "Document.qrToken",
    "Passkey.credentialId",
    "Passkey.credentialPublicKey",
    "PasswordResetToken.token",
    "Recipient.token",
    "User.password",
    "User.twoFactorBackupCodes",
    "User.twoFactorSecret",
    "Webhook.secret"
  ],
  drop: { table: '"Organisation"', type: "organisations" },
  rename: { table: '"Document"', column: "source", type: "documents", slug: "source" }
}
