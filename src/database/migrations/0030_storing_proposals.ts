/**
 * A proposal is counted and stored by one function call: one round trip and one transaction. The function first holds the person
 * until the transaction ends. It is VOLATILE, so that each of its statements has a snapshot of its own: the second one sees every earlier
 * proposal of the person, finds the same one, counts, and inserts what is within the limits.
 */
import type { Migration } from "./Migration.ts"

const PENDING = "('drafted', 'open', 'waiting')"
const RANKED = "ARRAY['none', 'once', 'twice', 'second']"

/** The changes of the person since `seconds` ago, as `m`, without a draft that is being replaced. */
const since = (seconds: number) =>
  `FROM max.changes m WHERE m.organization_id = p_organization AND m.proposer_id = p_proposer
    AND m.change_id IS DISTINCT FROM p_replaces AND m.created_at > this_moment - interval '${seconds} seconds'`
/** Seconds until the oldest of them leaves the window. */
const rest = (seconds: number) =>
  `greatest(1, ceil(${seconds} - extract(epoch FROM this_moment - min(m.created_at))))::int`

const IS_WITHIN = "n.minute < p_minute AND (NOT p_destructive OR n.destroyed < p_destroyed) AND n.day + p_rows <= p_day"

/**
 * Stores a proposal, of a call that is within its limit (`p_calls`; NULL: counted before). `callersKey`: the key is the caller's own, so that the same one is the same change in any state; otherwise
 * the same proposal is a pending one.
 *
 * A pending change whose time is over keeps its key until it is marked, which `ended` does. It also withdraws the same proposal
 * at a lower level than it needs now, so that a repeat never leaves the easier confirmation open.
 *
 * A transaction that only adds a draft doesn't wait for the disk (ADR 18).
 */
const storing = (callersKey: boolean) => `RETURN QUERY WITH
  n AS MATERIALIZED (SELECT minutes.n AS minute, minutes.rest AS minute_rest, hours.n AS destroyed, hours.rest AS destroyed_rest, days.n AS day
    FROM (SELECT count(*)::int AS n, ${rest(60)} AS rest ${since(60)}) minutes,
      (SELECT count(*)::int AS n, ${rest(3600)} AS rest ${since(3600)} AND m.destructive) hours,
      (SELECT coalesce(sum(m.rows), 0)::int AS n ${since(86_400)}
        AND (m.state = 'applied' OR (m.state IN ${PENDING} AND m.expires_at > this_moment))) days),
  ended AS (UPDATE max.changes c SET state = CASE WHEN c.expires_at <= this_moment THEN 'expired' ELSE 'withdrawn' END,
      decided_at = this_moment, decided_by = CASE WHEN c.expires_at <= this_moment THEN c.decided_by ELSE p_proposer END
    FROM n WHERE c.organization_id = p_organization AND c.proposer_id = p_proposer AND c.key = p_key
      AND ((c.state IN ('open', 'waiting') AND c.expires_at <= this_moment)${
        callersKey
          ? ""
          : `
        OR (c.state IN ${PENDING} AND array_position(${RANKED}, c.level) < array_position(${RANKED}, p_level) AND ${IS_WITHIN})`
      })
    RETURNING c.change_id, c.state),
  told AS (INSERT INTO max.change_events (organization_id, change_id, sequence, phase, who, credential_id, channel, outcome)
    SELECT p_organization, e.change_id, (SELECT coalesce(max(v.sequence), 0) + 1 FROM max.change_events v
      WHERE v.organization_id = p_organization AND v.change_id = e.change_id), e.state, p_proposer, p_credential, p_channel, 'ok' FROM ended e),
  same AS MATERIALIZED (SELECT c.change_id FROM max.changes c WHERE c.organization_id = p_organization AND c.proposer_id = p_proposer
      AND c.key = p_key AND c.rows > 0${
        callersKey
          ? ""
          : ` AND c.state IN ${PENDING} AND NOT EXISTS (SELECT FROM ended e WHERE e.change_id = c.change_id)`
      }
    ORDER BY c.created_at DESC LIMIT 1),
  replaced AS (DELETE FROM max.changes d USING n WHERE d.organization_id = p_organization AND d.change_id = p_replaces
      AND d.proposer_id = p_proposer AND d.state = 'drafted' AND NOT EXISTS (SELECT FROM same) AND ${IS_WITHIN} RETURNING 1),
  made AS (INSERT INTO max.changes (organization_id, change_id, state, level, approvers, destructive, rows, proposer_id, actor, scope,
      credential_id, channel, session_id, reference, key, digest, document, undoes, created_at, expires_at)
    SELECT p_organization, p_change, p_state, p_level, p_approvers, p_destructive, p_rows, p_proposer, p_actor, p_scope,
      p_credential, p_channel, p_session, p_reference, p_key, p_digest, p_document, p_undoes, this_moment, this_moment + make_interval(secs => p_seconds)
    FROM n WHERE NOT EXISTS (SELECT FROM same) AND ${IS_WITHIN} AND (p_replaces IS NULL OR EXISTS (SELECT FROM replaced))
    RETURNING change_id, created_at),
  stepped AS (INSERT INTO max.change_steps (organization_id, change_id, step, action_key, action_version, type_key, entity_id, columns)
    SELECT p_organization, made.change_id, s.n, s.action, s.version, s.type, s.entity, ARRAY(SELECT jsonb_array_elements_text(s.columns))
    FROM made, ROWS FROM (jsonb_to_recordset(p_steps) AS (action text, version int, type text, entity text, columns jsonb))
      WITH ORDINALITY s(action, version, type, entity, columns, n)),
  begun AS (INSERT INTO max.change_events (organization_id, change_id, sequence, phase, who, credential_id, channel, ms, outcome, detail)
    SELECT p_organization, made.change_id, e.n, e.phase, p_proposer, p_credential, p_channel, e.ms, e.outcome, coalesce(e.detail, '{}')
    FROM made, ROWS FROM (jsonb_to_recordset(p_events) AS (phase text, ms int, outcome text, detail jsonb))
      WITH ORDINALITY e(phase, ms, outcome, detail, n))
  SELECT NULL::int, n.minute, n.minute_rest, n.destroyed, n.destroyed_rest, n.day, (SELECT same.change_id FROM same), made.created_at,
    (SELECT t.name FROM max.credentials t WHERE t.organization_id = p_organization AND t.credential_id = p_credential AND t.kind = 'token'),
    CASE WHEN p_state <> 'failed' AND NOT EXISTS (SELECT FROM ended) THEN set_config('synchronous_commit', 'off', true) END
  FROM n LEFT JOIN made ON true;`

export const storingProposals: Migration = {
  id: 30,
  name: "storing proposals",
  statements: () => [
    `CREATE FUNCTION max.store_proposal(p_organization bigint, p_change text, p_state text, p_level text, p_approvers text[], p_destructive boolean,
      p_rows int, p_proposer text, p_actor jsonb, p_scope jsonb, p_credential text, p_channel text, p_session text, p_reference text,
      p_key bytea, p_digest bytea, p_document text, p_undoes text, p_seconds int, p_steps jsonb, p_events jsonb,
      p_minute int, p_destroyed int, p_day int, p_replaces text, p_callers_key boolean, p_calls int)
    RETURNS TABLE (calls_rest int, changes int, changes_rest int, destructive int, destructive_rest int, rows int, known text, created timestamptz, token text, committing text)
    LANGUAGE plpgsql VOLATILE AS $$
    #variable_conflict use_column
    DECLARE this_moment timestamptz;
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
      IF p_callers_key THEN
        ${storing(true)}
      ELSE
        ${storing(false)}
      END IF;
    END $$`
  ]
}
