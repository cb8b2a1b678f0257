/**
 * Adds the folded name to the index of each reference, so that a name search restricted by a reference reads only the
 * index. Writes wait while the indexes are created; reads wait briefly when the replaced ones are dropped.
 */
import type { Migration } from "./Migration.ts"

/** Managed tables with a name, and their references: of system types and of organizations' types. */
const REFERENCES = `SELECT DISTINCT t.oid AS t, r.attname AS c FROM builder.columns c
  JOIN builder.entity_type_versions v ON v.organization_id = c.organization_id AND v.type_key = c.type_key AND v.version = c.version
  JOIN pg_class t ON t.oid = to_regclass(format('%I.%I', v.relation_schema, v.relation_table))
  JOIN pg_attribute r ON r.attrelid = t.oid AND r.attname = c.storage->>'column' AND NOT r.attisdropped
  WHERE v.relation_schema = 'data' AND v.mapping IS NULL AND c.storage->>'_tag' = 'One'`

export const namesByReference: Migration = {
  id: 13,
  name: "names by reference",
  statements: () => [
    `DO $$ DECLARE it record; BEGIN
      FOR it IN ${REFERENCES} LOOP
        EXECUTE format('CREATE INDEX ON %s (organization_id, %I, id) INCLUDE (name_k)', it.t::regclass, it.c);
      END LOOP;
      FOR it IN SELECT i.indexrelid FROM (${REFERENCES}) n JOIN pg_index i ON i.indrelid = n.t
        WHERE i.indnatts = 3 AND NOT i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL
          AND (SELECT array_agg(a.attname ORDER BY k.place) FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (number, place)
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number) = ARRAY['organization_id', n.c, 'id']::name[]
      LOOP
        EXECUTE format('DROP INDEX %s', it.indexrelid::regclass);
      END LOOP;
    END $$`
  ]
}
