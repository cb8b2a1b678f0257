/**
 * `max.changes` has one row for a proposal: with the action of each step, the types, and the phases of proposing with their
 * milliseconds. `max.change_steps` has what was applied, `max.change_events` what happened after proposing.
 *
 * `max.store_proposal` counts and stores a proposal: one round trip and one transaction. It first holds the person until the
 * transaction ends. It is VOLATILE, so that each of its statements sees every earlier proposal of the person, and its statements are
 * short: a proposal that nothing precedes reads two indexes and inserts.
 */
import type { Migration } from "./Migration.ts"

const PENDING = "('drafted', 'open', 'waiting')"
const RANKED = "ARRAY['none', 'once', 'twice', 'second']"

const within = (seconds: number) => `m.created_at > this_moment - interval '${seconds} seconds'`
/** Seconds until the oldest change of a window leaves it. */
const rest = (seconds: number, counted: string) =>
  `greatest(1, ceil(${seconds} - extract(epoch FROM this_moment - min(m.created_at) FILTER (WHERE ${counted}))))::int`
const MINUTE = within(60)
const DESTROYED = `m.destructive AND ${within(3600)}`

/**
 * Stores a proposal, of a call that is within its limit (`p_calls`; NULL: counted before). `p_callers_key`: the key is the caller's
 * own, so that the same one is the same change in any state; otherwise the same proposal is a pending one.
 *
 * A pending change whose time is over keeps its key until it is marked, which the first UPDATE does. It also withdraws the same
 * proposal at a lower level than it needs now, so that a repeat never leaves the easier confirmation open.
 *
 * A transaction that only adds a draft doesn't wait for the disk (ADR 18).
 */
export const proposalsInOneRow: Migration = {
  id: 47,
  name: "proposals in one row",
  statements: () => [
    `ALTER TABLE max.changes ADD COLUMN actions text[] NOT NULL DEFAULT '{}', ADD COLUMN types text[] NOT NULL DEFAULT '{}', ADD COLUMN begun jsonb`,
    `UPDATE max.changes c SET actions = s.actions, types = s.types FROM (
       SELECT organization_id, change_id, array_agg(action_key ORDER BY step) AS actions, coalesce(array_agg(DISTINCT type_key) FILTER (WHERE type_key IS NOT NULL), '{}') AS types
       FROM max.change_steps GROUP BY organization_id, change_id) s
     WHERE s.organization_id = c.organization_id AND s.change_id = c.change_id`,
    `DELETE FROM max.change_steps WHERE applied_at IS NULL`,
    `ALTER TABLE max.change_steps ALTER COLUMN applied_at SET NOT NULL`,
    `DROP INDEX max.change_events_organization_id_at_idx`,
    `DROP INDEX max.changes_organization_id_session_id_created_at_idx`,
    `CREATE INDEX ON max.changes (organization_id, session_id, created_at) WHERE session_id IS NOT NULL`,
    `DROP FUNCTION IF EXISTS max.store_proposal`,
    `CREATE FUNCTION max.store_proposal(p_organization bigint, p_change text, p_state text, p_level text, p_approvers text[], p_destructive boolean,
      p_rows int, p_proposer text, p_actor jsonb, p_scope jsonb, p_credential text, p_channel text, p_session text, p_reference text,
      p_key bytea, p_digest bytea, p_document text, p_undoes text, p_seconds int, p_actions text[], p_types text[], p_begun jsonb,
      p_minute int, p_destroyed int, p_day int, p_replaces text, p_callers_key boolean, p_calls int)
    RETURNS TABLE (calls_rest int, changes int, changes_rest int, destructive int, destructive_rest int, rows int, known text, created timestamptz, token text, committing text)
    LANGUAGE plpgsql VOLATILE AS $$
    #variable_conflict use_column
    DECLARE
      this_moment timestamptz;
      is_within boolean;
      pending text;
      pending_rows int;
      ended text;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('max changes ' || p_proposer, p_organization));
      this_moment := clock_timestamp();
      IF p_calls IS NOT NULL THEN
        INSERT INTO max.calls AS c (organization_id, who, minute, calls, granted)
          VALUES (p_organization, 'change ' || p_proposer, floor(extract(epoch FROM this_moment) / 60)::bigint, 1, 1)
          ON CONFLICT (organization_id, who) DO UPDATE SET minute = greatest(c.minute, excluded.minute),
            calls = 1 + CASE WHEN c.minute < excluded.minute THEN 0 ELSE c.calls END, granted = 1
          WHERE c.minute < excluded.minute OR c.calls < p_calls;
        IF NOT FOUND THEN
          PERFORM set_config('synchronous_commit', 'off', true);
          RETURN QUERY SELECT 60 - floor(extract(epoch FROM this_moment))::int % 60, 0, 0, 0, 0, 0, NULL::text, NULL::timestamptz, NULL::text, NULL::text;
          RETURN;
        END IF;
      END IF;

      SELECT count(*) FILTER (WHERE ${MINUTE})::int, ${rest(60, MINUTE)}, count(*) FILTER (WHERE ${DESTROYED})::int, ${rest(3600, DESTROYED)},
          coalesce(sum(m.rows) FILTER (WHERE m.state = 'applied' OR (m.state IN ${PENDING} AND m.expires_at > this_moment)), 0)::int
        INTO changes, changes_rest, destructive, destructive_rest, rows
        FROM max.changes m WHERE m.organization_id = p_organization AND m.proposer_id = p_proposer
          AND m.change_id IS DISTINCT FROM p_replaces AND ${within(86_400)};
      is_within := changes < p_minute AND (NOT p_destructive OR destructive < p_destroyed) AND rows + p_rows <= p_day;

      SELECT c.change_id, c.rows INTO pending, pending_rows FROM max.changes c
        WHERE c.organization_id = p_organization AND c.proposer_id = p_proposer AND c.key = p_key AND c.state IN ${PENDING};
      IF pending IS NOT NULL THEN
        UPDATE max.changes c SET state = CASE WHEN c.expires_at <= this_moment THEN 'expired' ELSE 'withdrawn' END,
            decided_at = this_moment, decided_by = CASE WHEN c.expires_at <= this_moment THEN c.decided_by ELSE p_proposer END
          WHERE c.organization_id = p_organization AND c.change_id = pending
            AND ((c.state IN ('open', 'waiting') AND c.expires_at <= this_moment) OR (NOT p_callers_key AND is_within AND c.state IN ${PENDING}
              AND array_position(${RANKED}, c.level) < array_position(${RANKED}, p_level)))
          RETURNING c.state INTO ended;
        IF ended IS NOT NULL THEN
          INSERT INTO max.change_events (organization_id, change_id, sequence, phase, who, credential_id, channel, outcome)
            SELECT p_organization, pending, coalesce(max(v.sequence), 0) + 1, ended, p_proposer, p_credential, p_channel, 'ok'
            FROM max.change_events v WHERE v.organization_id = p_organization AND v.change_id = pending;
        ELSIF pending_rows > 0 THEN
          known := pending;
        END IF;
      END IF;
      IF p_callers_key THEN
        SELECT c.change_id INTO known FROM max.changes c WHERE c.organization_id = p_organization AND c.proposer_id = p_proposer
          AND c.key = p_key AND c.rows > 0 ORDER BY c.created_at DESC LIMIT 1;
      END IF;

      IF known IS NULL AND is_within THEN
        IF p_replaces IS NOT NULL THEN
          DELETE FROM max.changes d WHERE d.organization_id = p_organization AND d.change_id = p_replaces
            AND d.proposer_id = p_proposer AND d.state = 'drafted';
        END IF;
        IF p_replaces IS NULL OR FOUND THEN
          created := this_moment;
          INSERT INTO max.changes (organization_id, change_id, state, level, approvers, destructive, rows, proposer_id, actor, scope,
              credential_id, channel, session_id, reference, key, digest, document, undoes, actions, types, begun, created_at, expires_at)
            VALUES (p_organization, p_change, p_state, p_level, p_approvers, p_destructive, p_rows, p_proposer, p_actor, p_scope,
              p_credential, p_channel, p_session, p_reference, p_key, p_digest, p_document, p_undoes, p_actions, p_types, p_begun, this_moment, this_moment + make_interval(secs => p_seconds));
        END IF;
      END IF;

      IF p_credential IS NOT NULL THEN
        SELECT t.name INTO token FROM max.credentials t
          WHERE t.organization_id = p_organization AND t.credential_id = p_credential AND t.kind = 'token';
      END IF;
      IF p_state <> 'failed' AND ended IS NULL THEN
        committing := set_config('synchronous_commit', 'off', true);
      END IF;
      RETURN NEXT;
    END $$`
  ]
}
