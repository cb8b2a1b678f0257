/** Mappings of foreign tables to entity types, and the fold functions that produce their search keys. */
import { foldFunctions } from "../sql/foldFunctions.ts"
import type { Migration } from "./Migration.ts"

export const mapping: Migration = {
  id: 3,
  name: "mapping",
  statements: () => [
    "ALTER TABLE builder.entity_type_versions ADD COLUMN mapping jsonb, ADD COLUMN document json",
    "ALTER TABLE builder.columns ADD COLUMN column_values text[]",
    ...foldFunctions(),
    // The definition of a view and of the views that it reads: a change of any of them changes what runs with our rights.
    `CREATE FUNCTION max.view_definition(view oid) RETURNS text LANGUAGE sql STABLE STRICT BEGIN ATOMIC
      WITH RECURSIVE stands (oid) AS (
        SELECT view UNION SELECT c.oid FROM stands s JOIN pg_rewrite w ON w.ev_class = s.oid
          JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass
          JOIN pg_class c ON c.oid = d.refobjid AND c.relkind = 'v')
      SELECT md5(string_agg(format('%s|%s|%s', c.relname, c.relowner, pg_get_viewdef(c.oid)), '|' ORDER BY c.oid))
      FROM stands s JOIN pg_class c ON c.oid = s.oid;
    END`,
    // The dependencies of a mapping: a change is reported as drift.
    `CREATE FUNCTION max.relation_shape(relation oid) RETURNS text LANGUAGE sql STABLE STRICT BEGIN ATOMIC
      SELECT md5(concat_ws('|', c.relkind::text, max.view_definition(CASE WHEN c.relkind = 'v' THEN c.oid END),
        (SELECT string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text, a.attcollation::text), ',' ORDER BY a.attnum)
          FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
        (SELECT string_agg(i.indkey::text, ',' ORDER BY i.indkey::text) FROM pg_index i
          WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL),
        (SELECT string_agg(pg_get_constraintdef(k.oid), ',' ORDER BY k.conname) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('c', 'f')),
        (SELECT string_agg(e.enumlabel, ',' ORDER BY e.enumtypid, e.enumsortorder) FROM pg_enum e
          WHERE e.enumtypid IN (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped))))
      FROM pg_class c WHERE c.oid = relation;
    END`,
    // Both small sigmas are one letter now: a normal form has no place for what follows a letter.
    `DO $$ DECLARE k record; BEGIN
      FOR k IN SELECT DISTINCT v.relation_schema AS s, v.relation_table AS t, c.storage->>'keyColumn' AS c, c.kind = 'list' AS list
        FROM builder.columns c JOIN builder.entity_type_versions v
          ON v.organization_id = c.organization_id AND v.type_key = c.type_key AND v.version = c.version
        WHERE c.storage ? 'keyColumn' AND c.kind IN ('text', 'list')
          AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attname = c.storage->>'keyColumn' AND NOT a.attisdropped
            AND a.attrelid = to_regclass(format('%I.%I', v.relation_schema, v.relation_table)))
      LOOP
        IF k.list THEN
          EXECUTE format('UPDATE %1$I.%2$I SET %3$I = ARRAY(SELECT replace(x.part, U&''\\03c2'', U&''\\03c3'') FROM unnest(%3$I) WITH ORDINALITY AS x(part, n) ORDER BY x.n)
            WHERE array_to_string(%3$I, '''') LIKE U&''%%\\03c2%%''', k.s, k.t, k.c);
        ELSE
          EXECUTE format('UPDATE %1$I.%2$I SET %3$I = replace(%3$I, U&''\\03c2'', U&''\\03c3'') WHERE %3$I LIKE U&''%%\\03c2%%''', k.s, k.t, k.c);
        END IF;
      END LOOP;
    END $$`
  ]
}
