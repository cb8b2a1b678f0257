import { type Kind, lookup } from "./Kind.ts"

const HEAD =
  "id text PRIMARY KEY, created_at timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP"

/** Surveys by Prisma: quoted names in two cases, text ids, JSON, and link tables with columns of their own. */
export const formbricks: Kind = {
  name: "formbricks",
  schemas: ["formbricks"],
  sql: `
CREATE TYPE "SurveyStatus" AS ENUM ('draft', 'scheduled', 'inProgress', 'paused', 'completed');
CREATE TYPE "OrganizationRole" AS ENUM ('owner', 'manager', 'member', 'billing');
CREATE TYPE "EnvironmentType" AS ENUM ('production', 'development');
CREATE TABLE "Organization" (${HEAD}, name text NOT NULL, billing jsonb NOT NULL DEFAULT '{}', "isAIEnabled" boolean NOT NULL DEFAULT false);
CREATE TABLE "User" (${HEAD}, name text NOT NULL, email text NOT NULL UNIQUE, email_verified timestamp(3), "twoFactorSecret" text, "twoFactorEnabled" boolean NOT NULL DEFAULT false, "backupCodes" text, password text, "identityProvider" text NOT NULL DEFAULT 'email', "identityProviderAccountId" text, "groupId" text, role text, objective text, "notificationSettings" jsonb NOT NULL DEFAULT '{}', locale text NOT NULL DEFAULT 'en-US', "lastLoginAt" timestamp(3), "isActive" boolean NOT NULL DEFAULT true);
CREATE TABLE "Membership" ("userId" text NOT NULL REFERENCES "User", "organizationId" text NOT NULL REFERENCES "Organization", accepted boolean NOT NULL DEFAULT false, role "OrganizationRole" NOT NULL DEFAULT 'member', PRIMARY KEY ("userId", "organizationId"));
CREATE TABLE "Project" (${HEAD}, name text NOT NULL, "organizationId" text NOT NULL REFERENCES "Organization", styling jsonb NOT NULL DEFAULT '{}', "recontactDays" integer NOT NULL DEFAULT 7, "linkSurveyBranding" boolean NOT NULL DEFAULT true);
CREATE TABLE "Environment" (${HEAD}, type "EnvironmentType" NOT NULL, "projectId" text NOT NULL REFERENCES "Project", "appSetupCompleted" boolean NOT NULL DEFAULT false);
CREATE TABLE "Survey" (${HEAD}, name text NOT NULL, type text NOT NULL DEFAULT 'app', "environmentId" text NOT NULL REFERENCES "Environment", "createdBy" text REFERENCES "User", status "SurveyStatus" NOT NULL DEFAULT 'draft', questions jsonb NOT NULL DEFAULT '[]', "displayPercentage" numeric, "autoClose" integer, pin text, "singleUse" jsonb);
CREATE TABLE "Contact" (${HEAD}, "userId" text, "environmentId" text NOT NULL REFERENCES "Environment");
CREATE TABLE "ContactAttributeKey" (${HEAD}, name text, key text NOT NULL, description text, "isUnique" boolean NOT NULL DEFAULT false, "environmentId" text NOT NULL REFERENCES "Environment");
CREATE TABLE "ContactAttribute" (${HEAD}, value text NOT NULL, "attributeKeyId" text NOT NULL REFERENCES "ContactAttributeKey", "contactId" text NOT NULL REFERENCES "Contact");
CREATE TABLE "Display" (${HEAD}, "surveyId" text NOT NULL REFERENCES "Survey", "contactId" text REFERENCES "Contact");
CREATE TABLE "Response" (${HEAD}, finished boolean NOT NULL DEFAULT false, "surveyId" text NOT NULL REFERENCES "Survey", "contactId" text REFERENCES "Contact", data jsonb NOT NULL DEFAULT '{}', language text, "singleUseId" text, "displayId" text UNIQUE REFERENCES "Display");
CREATE TABLE "Tag" (${HEAD}, name text NOT NULL, "environmentId" text NOT NULL REFERENCES "Environment");
CREATE TABLE "TagsOnResponses" ("responseId" text NOT NULL REFERENCES "Response", "tagId" text NOT NULL REFERENCES "Tag", PRIMARY KEY ("responseId", "tagId"));
CREATE TABLE "ApiKey" (id text PRIMARY KEY, "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "createdBy" text, "lastUsedAt" timestamp(3), label text NOT NULL, "hashedKey" text NOT NULL UNIQUE, "organizationId" text NOT NULL REFERENCES "Organization");
CREATE TABLE "Account" (${HEAD}, "userId" text NOT NULL REFERENCES "User", type text NOT NULL, provider text NOT NULL, "providerAccountId" text NOT NULL, access_token text, refresh_token text, expires_at integer, token_type text, scope text, id_token text, session_state text);
CREATE TABLE "Webhook" (${HEAD}, name text, url text NOT NULL, source text NOT NULL DEFAULT 'user', "environmentId" text NOT NULL REFERENCES "Environment", triggers text[]);
CREATE TABLE "Invite" (id text PRIMARY KEY, email text NOT NULL, name text, "organizationId" text NOT NULL REFERENCES "Organization", "creatorId" text NOT NULL REFERENCES "User", "acceptorId" text REFERENCES "User", "expiresAt" timestamp(3) NOT NULL, role "OrganizationRole" NOT NULL DEFAULT 'member');
CREATE TABLE _prisma_migrations (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, migration_name varchar(255) NOT NULL);
INSERT INTO "Organization" (id, name) VALUES ('org1', 'Acme');
INSERT INTO "User" (id, name, email, role) VALUES ('cu1', 'Ola Admin', 'ola@forms.example', 'pm'), ('cu2', 'Per Clerk', 'per@forms.example', 'dev');
INSERT INTO "Membership" VALUES ('cu1', 'org1', true, 'owner'), ('cu2', 'org1', true, 'member');
INSERT INTO "Project" (id, name, "organizationId") VALUES ('pr1', 'Web', 'org1'), ('pr2', 'App', 'org1');
INSERT INTO "Environment" (id, type, "projectId") VALUES ('en1', 'production', 'pr1'), ('en2', 'development', 'pr1'), ('en3', 'production', 'pr2');
INSERT INTO "Survey" (id, created_at, name, "environmentId", "createdBy", status) SELECT 'su' || n, timestamp '2024-02-01' + n * interval '5 days', 'Survey ' || n, 'en' || 1 + n % 3, 'cu' || 1 + n % 2, (ARRAY['draft', 'inProgress', 'completed'])[1 + n % 3]::"SurveyStatus" FROM generate_series(1, 10) n;
INSERT INTO "Contact" (id, "userId", "environmentId") SELECT 'co' || n, 'visitor-' || n, 'en1' FROM generate_series(1, 5) n;
INSERT INTO "Response" (id, created_at, finished, "surveyId", "contactId", language) SELECT 're' || n, timestamp '2024-04-01' + n * interval '1 day', n % 2 = 0, 'su' || 1 + n % 10, 'co' || 1 + n % 5, 'en' FROM generate_series(1, 20) n;
INSERT INTO "Tag" (id, name, "environmentId") VALUES ('ta1', 'urgent', 'en1'), ('ta2', 'spam', 'en1');
INSERT INTO "TagsOnResponses" SELECT 're' || n, 'ta' || 1 + n % 2 FROM generate_series(1, 8) n;
`,
  without: ["Membership", "TagsOnResponses", "_prisma_migrations"],
  admin: "ola@forms.example",
  second: "per@forms.example",
  sees: {
    people: { columns: ["name", "email"], sql: `SELECT id FROM "User"` },
    surveys: { columns: "*", where: { created_by: "$me" }, sql: `SELECT id FROM "Survey" WHERE "createdBy" = 'cu2'` },
    responses: {
      columns: ["name", "survey", "finished"],
      where: { survey: { created_by: "$me" } },
      sql: `SELECT r.id FROM "Response" r JOIN "Survey" s ON s.id = "surveyId" WHERE "createdBy" = 'cu2'`
    },
    tags: { columns: ["name"], sql: `SELECT id FROM "Tag"` }
  },
  lookups: [
    lookup("surveys", "status=inProgress", `SELECT id FROM "Survey" WHERE status = 'inProgress'`),
    lookup("surveys", "created_by=Per Clerk", `SELECT id FROM "Survey" WHERE "createdBy" = 'cu2'`),
    lookup("surveys", "created_by=Ola Admin", `SELECT id FROM "Survey" WHERE "createdBy" = 'cu1'`),
    lookup("surveys", "created_at>=2024-03", `SELECT id FROM "Survey" WHERE created_at >= '2024-03-01'`),
    lookup("surveys", "name~survey 1", `SELECT id FROM "Survey" WHERE name ~ 'Survey 1'`),
    lookup("responses", "survey=Survey 4", `SELECT id FROM "Response" WHERE "surveyId" = 'su4'`),
    lookup("responses", "finished=true", `SELECT id FROM "Response" WHERE finished`),
    lookup("responses", "tags=spam", `SELECT "responseId" FROM "TagsOnResponses" WHERE "tagId" = 'ta2'`, undefined),
    lookup("people", "email=PER@forms.example", `SELECT id FROM "User" WHERE id = 'cu2'`),
    lookup("people", "organizations=Acme", `SELECT "userId" FROM "Membership"`, undefined),
    lookup("environments", "project=Web", `SELECT id FROM "Environment" WHERE "projectId" = 'pr1'`, undefined)
  ],
  credentials: [
    "Account.access_token",
    "Account.id_token",
    "Account.refresh_token",
    "ApiKey.hashedKey",
    "Survey.pin",
    "User.backupCodes",
    "User.password",
    "User.twoFactorSecret"
  ],
  heldBack: ["ContactAttributeKey.key"],
  drop: { table: '"Tag"', type: "tags" },
  rename: { table: '"Survey"', column: "autoClose", type: "surveys", slug: "auto_close" }
}
