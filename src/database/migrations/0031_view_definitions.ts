/**
 * A view's definition is compared without the positions in the text that made it. Postgres 15 and 16 store these, so that
 * the same view, made again from a text with another comment or line break, counted as redefined.
 */
import type { Migration } from "./Migration.ts"

export const viewDefinitions: Migration = {
  id: 31,
  name: "view definitions",
  statements: () => [
    // Relations that are as they were mapped get their new identity; all others stay as they are.
    `DO $$
    DECLARE
      held text[] := ARRAY(SELECT DISTINCT x.key || ' ' || x.value FROM builder.entity_type_versions v, jsonb_each_text(v.mapping->'reads') x
        WHERE x.value = max.relation_identity(to_regclass(x.key)));
    BEGIN
      EXECUTE replace(pg_get_functiondef('max.relation_parts(oid)'::regprocedure), 'md5(w.ev_action::text)',
        'md5(regexp_replace(w.ev_action::text, '':(location|stmt_location|stmt_len) -?[0-9]+'', '''', ''g''))');
      UPDATE builder.entity_type_versions v SET mapping = v.mapping || jsonb_build_object('reads', (
          SELECT jsonb_object_agg(x.key, CASE WHEN x.key || ' ' || x.value = ANY(held) THEN max.relation_identity(to_regclass(x.key)) ELSE x.value END)
          FROM jsonb_each_text(v.mapping->'reads') x))
        WHERE EXISTS (SELECT FROM jsonb_each_text(v.mapping->'reads') x WHERE x.key || ' ' || x.value = ANY(held));
    END $$`
  ]
}
