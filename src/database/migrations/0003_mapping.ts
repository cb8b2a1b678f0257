/** Entity types that are read from tables which aren't Max's: how, and the folds that they are searched by. */
import { foldFunctions } from "../sql/foldFunctions.ts"
import type { Migration } from "./Migration.ts"

export const mapping: Migration = {
  id: 3,
  name: "mapping",
  statements: () => [
    "ALTER TABLE builder.entity_type_versions ADD COLUMN mapping jsonb, ADD COLUMN document jsonb",
    "ALTER TABLE builder.columns ADD COLUMN column_values text[]",
    ...foldFunctions(),
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
