/**
 * Organizations that move between databases. The row is each database's own and isn't replicated: at the source it says where
 * the organization went, at the target where it comes from.
 */
import type { Migration } from "./Migration.ts"

export const moves: Migration = {
  id: 41,
  name: "moves",
  statements: () => [
    `CREATE TABLE max.moves (organization_id bigint PRIMARY KEY, slug text NOT NULL, incoming boolean NOT NULL, place text NOT NULL,
      closed boolean NOT NULL, run bigint NOT NULL, started_at timestamptz NOT NULL DEFAULT now(), moved_at timestamptz, cleaned_at timestamptz)`,
    // Of a closed organization, only the command that cleans up deletes rows; it names the organization in its transaction.
    `CREATE FUNCTION max.refuse_moved() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$ BEGIN
      IF TG_OP = 'DELETE' AND OLD.organization_id::text = current_setting('max.cleaning', true) THEN RETURN OLD; END IF;
      RAISE EXCEPTION 'the organization is being moved' USING ERRCODE = 'MX002';
    END $$`
  ]
}
