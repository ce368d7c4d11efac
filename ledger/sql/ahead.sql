-- The effects that a run's next step would meet again: those of tasks that have not ended, and those
-- of which nobody knows how a call ended, which are resolved before anything new. First what needs a
-- person, then what is pending, refused, done. `found` counts all of them.
-- A task has ended once LangGraph keeps an output of it: what is no output (a question, an answer, an
-- error) has a negative idx. A step is `{node}@{task}`, or that and `/{tool call}`.
-- Raw because checkpoint_writes is LangGraph's.   Index: effects_by_run, checkpoint_writes_thread_id_idx.
WITH mine AS (
    SELECT idempotency_key, status, created_at,
           substring(step FROM '@([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/|$)') AS task
      FROM effects
     WHERE run_id = %(run_id)s
), ended AS (
    SELECT DISTINCT task_id FROM checkpoint_writes
     WHERE thread_id = %(thread)s AND idx >= 0
)
SELECT idempotency_key, count(*) OVER () AS found
  FROM mine
 WHERE status = 'in_doubt'
    OR (task IS NOT NULL AND task NOT IN (SELECT task_id FROM ended))
    OR (status = 'pending'
        AND EXISTS (SELECT FROM ledger_effectattempt a
                     WHERE a.idempotency_key = mine.idempotency_key
                       AND a.outcome IN ('open', 'unknown')))
 ORDER BY array_position(ARRAY['in_doubt', 'pending', 'failed'], status::text) NULLS LAST,
          created_at DESC, idempotency_key
 LIMIT %(most)s
