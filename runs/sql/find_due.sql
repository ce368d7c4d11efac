-- Runs that have something to do and that nobody drives: the sweeper's catch-all rule. It is the
-- condition of lock_due.sql, written as one branch per index.
-- Raw because each branch must use its own partial index; the clock is that of the statement, which
-- an index can be searched for (clock_timestamp may not be).
-- Indexes: runs_run_active, runs_run_woken, runs_run_due, runs_run_waiting.
WITH due AS (
    SELECT id, created_at, updated_at FROM runs_run
     WHERE status = 'running' OR (status = 'queued' AND due_at IS NULL)
    UNION
    SELECT id, created_at, updated_at FROM runs_run
     WHERE wakes > seen_wakes AND status IN ('queued', 'running', 'waiting', 'parked')
    UNION
    SELECT id, created_at, updated_at FROM runs_run
     WHERE due_at <= statement_timestamp() AND status IN ('queued', 'running', 'waiting', 'parked')
    UNION
    SELECT id, created_at, updated_at FROM runs_run
     WHERE status = 'waiting' AND wait_until <= statement_timestamp()
    UNION
    SELECT id, created_at, updated_at FROM runs_run
     WHERE status = 'waiting' AND wait_until IS NULL
)
SELECT due.id, due.updated_at
  FROM due
  JOIN runs_lease l ON l.run_id = due.id
 WHERE l.expires_at IS NULL OR l.expires_at < statement_timestamp()
 ORDER BY due.created_at
 LIMIT %(most)s
