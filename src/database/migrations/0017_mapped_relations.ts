/**
 * What a read of a mapped relation can run, and with whose authority: every object below it must belong to a trusted
 * role, and row security must hide no row. The identity of a relation is a hash that mapped types are held against.
 *
 * Planning a statement checks the identities first. `max.held` is declared IMMUTABLE, and its arguments are constants in the
 * first CTE of the statement, so that Postgres evaluates it while it plans, and before it plans anything else:
 * - Postgres has locked the relations of the statement and of its views by then, and keeps the locks until the transaction
 *   ends. The comparison reads the catalogs in a new snapshot, which sees all that was committed before the locks.
 * - Nothing of the relation has run. Parse analysis and the expansion of views and of row security run no function;
 *   planning does, for constant expressions, indexes, checks and statistics.
 * - A plan that is kept is used again only while none of its relations, functions, types and schemas has changed:
 *   otherwise Postgres plans again, and compares again.
 */
import type { Migration } from "./Migration.ts"

/** Its statements are planned once for a connection, to read the catalogs by their indexes. */
const FUNCTION =
  "SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off"

/** The owner of each object, by the catalog that holds it. A dependency leads to any of them but relations. */
const OWNERS = [
  ["pg_proc", "proowner"],
  ["pg_operator", "oprowner"],
  ["pg_type", "typowner"],
  ["pg_collation", "collowner"],
  ["pg_foreign_server", "srvowner"],
  ["pg_foreign_data_wrapper", "fdwowner"],
  ["pg_opclass", "opcowner"],
  ["pg_opfamily", "opfowner"]
] as const

const OWNED = OWNERS.map(([catalog]) => `'${catalog}'::regclass`).join(", ")

export const mappedRelations: Migration = {
  id: 17,
  name: "mapped relations",
  statements: () => [
    "CREATE TYPE max.relation_part AS (class oid, part oid, reader oid, named boolean, owner oid)",
    // An owner counts by itself: memberships in a trusted role, and of one, are not followed.
    `CREATE FUNCTION max.trusts(role oid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN
      RETURN EXISTS (SELECT FROM pg_roles r WHERE r.oid = role AND (r.rolsuper OR r.rolname = 'pg_database_owner'
        OR r.oid = (SELECT c.relowner FROM pg_class c WHERE c.oid = 'max.migrations'::regclass)
        OR r.oid = (SELECT d.datdba FROM pg_database d WHERE d.datname = current_database())));
    END $$`,
    // The role that lookups run as; the installation's owner where the roles couldn't be created.
    `CREATE FUNCTION max.reading_role() RETURNS oid LANGUAGE plpgsql STABLE AS $$ BEGIN
      RETURN coalesce((SELECT r.oid FROM pg_roles r
          WHERE r.rolname = 'max_read_' || left(encode(sha256(convert_to(current_database()::text, 'UTF8')), 'hex'), 8)),
        (SELECT c.relowner FROM pg_class c WHERE c.oid = 'max.migrations'::regclass));
    END $$`,
    // Whether each of the rows that a role reads is visible without running a policy's expression. 0 is the reading role.
    `CREATE FUNCTION max.rows_open(relation oid, reader oid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
    DECLARE actual oid := CASE WHEN reader = 0 THEN max.reading_role() ELSE reader END;
    BEGIN
      RETURN (SELECT NOT c.relrowsecurity
        OR EXISTS (SELECT FROM pg_roles r WHERE r.oid = actual AND (r.rolsuper OR r.rolbypassrls))
        OR (NOT c.relforcerowsecurity AND pg_has_role(actual, c.relowner, 'USAGE'))
        OR (SELECT count(*) = 1 AND bool_and(p.polpermissive AND pg_get_expr(p.polqual, p.polrelid) IS NOT DISTINCT FROM 'true')
          FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd IN ('r', '*')
            AND EXISTS (SELECT FROM unnest(p.polroles) m(member) WHERE CASE WHEN m.member = 0 THEN true ELSE pg_has_role(actual, m.member, 'USAGE') END))
        FROM pg_class c WHERE c.oid = relation);
    END $$`,
    // The objects that a read of the relation uses, and the identity of the relation. \`named\` for the relations that the
    // read names, itself or by its views; the others are its schema, partitions, children, and what indexes, checks, generated
    // columns, statistics, types and views refer to. \`reader\`: the role that reads it, 0 for the reading role. Every
    // statement reads a few rows of a catalog by an index.
    `CREATE FUNCTION max.relation_parts(relation oid, OUT parts max.relation_part[], OUT identity text)
    LANGUAGE plpgsql STABLE STRICT ${FUNCTION} AS $$
    DECLARE
      todo max.relation_part[] := ARRAY[ROW('pg_class'::regclass, relation, 0, true, NULL)::max.relation_part];
      p max.relation_part;
      c record;
      used oid[];
      rule oid;
      definition text;
      more max.relation_part[];
      trusted oid[] := '{}';
      readable boolean := true;
      description text := '';
    BEGIN
      WHILE cardinality(todo) > 0 LOOP
        p := todo[1];
        todo := todo[2:];
        CONTINUE WHEN EXISTS (SELECT FROM unnest(parts) x WHERE x.class = p.class AND x.part = p.part AND x.reader = p.reader AND x.named >= p.named);
        used := ARRAY[p.part];
        IF p.class = 'pg_class'::regclass THEN
          SELECT r.relkind, r.relowner, r.relnamespace, r.reloptions, r.relrowsecurity, r.relhasindex, r.relhasrules, r.relchecks, r.relhassubclass
            INTO c FROM pg_class r WHERE r.oid = p.part;
          p.owner := c.relowner;
          definition := NULL;
          IF parts IS NULL THEN
            parts := ARRAY[ROW('pg_namespace'::regclass, c.relnamespace, 0, false, (SELECT n.nspowner FROM pg_namespace n WHERE n.oid = c.relnamespace))::max.relation_part];
            readable := max.trusts(parts[1].owner);
          END IF;
          IF c.relkind IN ('v', 'm') THEN
            SELECT w.oid, md5(w.ev_action::text) INTO rule, definition FROM pg_rewrite w WHERE w.ev_class = p.part AND w.ev_type = '1';
          END IF;
          IF c.relkind = 'v' THEN
            todo := todo || ARRAY(SELECT DISTINCT ROW(d.refclassid, d.refobjid, CASE WHEN EXISTS (SELECT FROM pg_options_to_table(c.reloptions) o
                WHERE o.option_name = 'security_invoker' AND o.option_value::boolean) THEN p.reader ELSE c.relowner END, p.named, NULL)::max.relation_part
              FROM pg_depend d WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = rule AND d.refobjid <> p.part);
          ELSE
            IF c.relrowsecurity THEN readable := readable AND max.rows_open(p.part, p.reader); END IF;
            IF c.relhasindex THEN used := used || ARRAY(SELECT i.indexrelid FROM pg_index i WHERE i.indrelid = p.part); END IF;
            IF c.relhassubclass THEN
              todo := todo || ARRAY(SELECT ROW('pg_class'::regclass, i.inhrelid, p.reader, false, NULL)::max.relation_part FROM pg_inherits i WHERE i.inhparent = p.part);
            END IF;
            IF c.relchecks > 0 THEN
              todo := todo || ARRAY(SELECT ROW('pg_constraint'::regclass, k.oid, p.reader, false, c.relowner)::max.relation_part
                FROM pg_constraint k WHERE k.conrelid = p.part AND k.contype = 'c');
            END IF;
            todo := todo || ARRAY(
              SELECT ROW('pg_attrdef'::regclass, d.oid, p.reader, false, c.relowner)::max.relation_part FROM pg_attrdef d
                WHERE d.adrelid = p.part AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated <> '')
              UNION ALL
              SELECT ROW('pg_statistic_ext'::regclass, s.oid, p.reader, false, c.relowner)::max.relation_part FROM pg_statistic_ext s WHERE s.stxrelid = p.part);
          END IF;
          IF p.named THEN description := description || format('%s %s %s %s %s|', p.part, c.relkind, c.relowner, c.reloptions, definition); END IF;
        ELSIF p.owner IS NULL THEN
          p.owner := CASE p.class ${OWNERS.map(([catalog, owner]) => `WHEN '${catalog}'::regclass THEN (SELECT x.${owner} FROM ${catalog} x WHERE x.oid = p.part)`).join(" ")} END;
          CONTINUE WHEN p.owner IS NULL;
          IF p.class = 'pg_type'::regclass THEN
            todo := todo || ARRAY(
              SELECT ROW('pg_constraint'::regclass, k.oid, p.reader, false, p.owner)::max.relation_part FROM pg_constraint k WHERE k.contypid = p.part
              UNION ALL
              SELECT ROW('pg_cast'::regclass, k.oid, p.reader, false, p.owner)::max.relation_part FROM pg_cast k WHERE k.castsource = p.part AND k.castfunc <> 0);
          END IF;
        END IF;
        parts := parts || p;
        IF p.owner <> ALL(trusted) THEN
          readable := readable AND max.trusts(p.owner);
          trusted := trusted || p.owner;
        END IF;
        todo := todo || ARRAY(SELECT DISTINCT ROW(d.refclassid, d.refobjid, CASE p.class WHEN 'pg_proc'::regclass THEN 0 ELSE p.reader END, false, NULL)::max.relation_part
          FROM pg_depend d WHERE d.classid = p.class AND d.objid = ANY(used) AND d.deptype IN ('n', 'a', 'i')
            AND (d.refclassid <> 'pg_class'::regclass OR p.class = 'pg_proc'::regclass
              OR (p.class = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_class r WHERE r.oid = d.refobjid AND r.relkind = 'c')))
            AND d.refclassid NOT IN ('pg_namespace'::regclass, 'pg_constraint'::regclass));
      END LOOP;
      IF readable THEN identity := md5(description); END IF;
    END $$`,
    // NULL while an owner isn't trusted or row security hides rows. Otherwise a hash of the relations that a read names:
    // their oids, kinds, owners, options and definitions.
    `CREATE FUNCTION max.relation_identity(relation oid) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$ BEGIN
      RETURN (max.relation_parts(relation)).identity;
    END $$`,
    // The parts of a relation that keep it from being read, and the statement that mends each.
    `CREATE FUNCTION max.relation_faults(relation oid) RETURNS TABLE (fault text, mend text)
    LANGUAGE plpgsql STABLE STRICT ${FUNCTION} AS $$
    DECLARE parts max.relation_part[] := (max.relation_parts(relation)).parts;
    BEGIN
      RETURN QUERY SELECT DISTINCT format('its owner could make the %s %s of %I run anything with Max''s rights.', i.type, i.identity, pg_get_userbyid(o.owner)),
        format('ALTER %s %s OWNER TO %I;', upper(i.type), i.identity, pg_get_userbyid((SELECT c.relowner FROM pg_class c WHERE c.oid = 'max.migrations'::regclass)))
      FROM unnest(parts) o
      CROSS JOIN LATERAL pg_identify_object(o.class, o.part, 0) i
      WHERE NOT max.trusts(o.owner) AND o.class NOT IN ('pg_constraint'::regclass, 'pg_attrdef'::regclass, 'pg_statistic_ext'::regclass, 'pg_cast'::regclass) AND NOT EXISTS (SELECT FROM pg_type t WHERE o.class = 'pg_type'::regclass AND t.oid = o.part AND t.typcategory = 'A')
      UNION
      SELECT format('row security on %s would hide rows without notice, or run a policy''s expression with Max''s rights.', c.oid::regclass),
        CASE WHEN EXISTS (SELECT FROM pg_policy y WHERE y.polrelid = c.oid AND y.polcmd IN ('r', '*'))
          THEN format('CREATE VIEW %I.%I AS SELECT * FROM %s; and map this view: its owner reads all rows of the table.', n.nspname, c.relname || '_all', c.oid::regclass)
          ELSE format('CREATE POLICY max_read ON %s FOR SELECT TO %I USING (true);', c.oid::regclass,
            pg_get_userbyid(CASE WHEN p.reader = 0 THEN max.reading_role() ELSE p.reader END)) END
      FROM unnest(parts) p JOIN pg_class c ON c.oid = p.part JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE p.class = 'pg_class'::regclass AND c.relkind IN ('r', 'p') AND NOT max.rows_open(c.oid, p.reader)
      ORDER BY 1;
    END $$`,
    // Changes with every change of these relations, and of the other objects, that could change \`relation_parts\`: the versions
    // of their rows, and the objects that depend on the relations. NULL with row security, which also depends on roles.
    `CREATE FUNCTION max.relation_state(relations oid[], classes oid[], objects oid[]) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
    DECLARE state text := (SELECT CASE WHEN NOT bool_or(c.relrowsecurity) THEN string_agg(concat_ws(' ', c.oid, c.xmin, n.xmin,
          (SELECT w.xmin FROM pg_rewrite w WHERE w.ev_class = c.oid AND w.ev_type = '1'),
          (SELECT string_agg(concat(d.classid, d.objid), ' ') FROM pg_depend d WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)), ',') END
        FROM unnest(relations) r JOIN pg_class c ON c.oid = r JOIN pg_namespace n ON n.oid = c.relnamespace);
    BEGIN
      FOR number IN 1..cardinality(objects) LOOP
        state := state || ',' || coalesce(CASE classes[number] ${OWNERS.map(
          ([catalog]) =>
            `WHEN '${catalog}'::regclass THEN (SELECT concat_ws(' ', x.oid, x.xmin${catalog === "pg_type" ? ", (SELECT string_agg(k.oid::text, ' ') FROM pg_constraint k WHERE k.contypid = x.oid), (SELECT string_agg(k.oid::text, ' ') FROM pg_cast k WHERE k.castsource = x.oid)" : ""}) FROM ${catalog} x WHERE x.oid = objects[number])`
        ).join(" ")} ELSE '' END, 'gone');
      END LOOP;
      RETURN md5(state);
    END $$`,
    // Each name has a list of the identities that are accepted. A connection keeps what it found, with its state, in a setting:
    // most comparisons read four rows. Volatile: each statement in it takes a new snapshot.
    `CREATE FUNCTION max.compare_relations(names text[], accepted text[]) RETURNS boolean LANGUAGE plpgsql VOLATILE STRICT ${FUNCTION} AS $$
    DECLARE
      relation oid;
      kept text[];
      current record;
    BEGIN
      FOR number IN 1..cardinality(names) LOOP
        relation := to_regclass(names[number]);
        kept := string_to_array(current_setting('max.relation_' || relation, true), '|');
        CONTINUE WHEN kept[1] = ANY(string_to_array(accepted[number], ' ')) AND kept[5] = max.relation_state(kept[2]::oid[], kept[3]::oid[], kept[4]::oid[]);
        SELECT p.identity, concat_ws('|', p.identity, o.relations, o.classes, o.objects, max.relation_state(o.relations, o.classes, o.objects)) AS keep INTO current
          FROM max.relation_parts(relation) p CROSS JOIN LATERAL (SELECT
            array_agg(DISTINCT x.part) FILTER (WHERE x.class = 'pg_class'::regclass) AS relations,
            coalesce(array_agg(x.class) FILTER (WHERE x.class IN (${OWNED})), '{}') AS classes,
            coalesce(array_agg(x.part) FILTER (WHERE x.class IN (${OWNED})), '{}') AS objects
            FROM unnest(p.parts) x) o;
        IF coalesce(current.identity <> ALL(string_to_array(accepted[number], ' ')), true) THEN
          RAISE EXCEPTION 'a mapped relation is not the one that was mapped' USING ERRCODE = 'MX001';
        END IF;
        PERFORM set_config('max.relation_' || relation, current.keep, false);
      END LOOP;
      RETURN true;
    END $$`,
    // True, or an error: Postgres evaluates it while it plans.
    `CREATE FUNCTION max.held(names text[], accepted text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN
      RETURN max.compare_relations(names, accepted);
    END $$`,
    // What is mapped already has the identity that it has now; views only if they weren't redefined.
    `UPDATE builder.entity_type_versions v SET mapping = v.mapping || jsonb_build_object('reads', (
        SELECT jsonb_object_agg(n.name, max.relation_identity(to_regclass(n.name))) FROM (
          SELECT format('"%s"."%s"', replace(v.relation_schema, '"', '""'), replace(v.relation_table, '"', '""')) AS name
          UNION SELECT format('"%s"."%s"', replace(c.storage->'link'->>'schema', '"', '""'), replace(c.storage->'link'->>'table', '"', '""'))
            FROM builder.columns c WHERE c.organization_id = v.organization_id AND c.type_key = v.type_key AND c.version = v.version
              AND c.storage->>'mapped' = 'true') n))
      WHERE v.mapping IS NOT NULL AND (v.mapping->>'definition' IS NULL OR v.mapping->>'definition'
        = max.view_definition(to_regclass(format('%I.%I', v.relation_schema, v.relation_table))))`
  ]
}
