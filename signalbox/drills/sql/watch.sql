-- What the drill looks at while it waits, for all runs under way: state, lease, attempts, questions,
-- effects in doubt. Raw, on a connection of its own: what is watched must not be asked through the
-- code that is tried.   Index: primary keys, effects_in_doubt.
SELECT r.id, r.status, r.park_reason,
       COALESCE(l.expires_at > clock_timestamp(), false) AS live,
       (SELECT jsonb_agg(jsonb_build_array(a.fence, a.holder) ORDER BY a.fence)
          FROM runs_attempt a WHERE a.run_id = r.id) AS attempts,
       (SELECT jsonb_agg(jsonb_build_object(
                   'id', q.id, 'text', q.payload ->> 'question', 'digest', q.digest,
                   'deadline', extract(epoch FROM q.deadline)) ORDER BY q.id)
          FROM approvals_request q WHERE q.run_id = r.id AND q.status = 'pending') AS questions,
       (SELECT jsonb_agg(jsonb_build_object(
                   'uid', e.uid, 'order', e.args ->> 'order_id', 'holder', c.holder,
                   'late', c.timeout_at + interval '1 second' < clock_timestamp()))
          FROM effects e
          JOIN ledger_effectattempt c
            ON c.idempotency_key = e.idempotency_key AND c.number = e.attempts
         WHERE e.run_id = r.id AND e.status = 'in_doubt') AS doubts
  FROM runs_run r
  JOIN runs_lease l ON l.run_id = r.id
 WHERE r.id = ANY(%(runs)s)
