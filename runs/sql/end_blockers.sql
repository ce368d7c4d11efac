-- End the backends that keep others waiting for a lease that has expired: a writer frozen inside a
-- transaction would otherwise make the run unreachable for ever. Only roots of the chain are ended,
-- never somebody who merely waits as well; only if they wait for their client, so never a statement
-- at work; and never who holds a whole table, as a migration does.   Raw: server functions.
WITH RECURSIVE chain (pid) AS (
    SELECT unnest(pg_blocking_pids(%(waiting)s))
    UNION
    SELECT unnest(pg_blocking_pids(chain.pid)) FROM chain
)
SELECT pid, pg_terminate_backend(pid) AS ended
  FROM chain JOIN pg_stat_activity USING (pid)
 WHERE cardinality(pg_blocking_pids(pid)) = 0
   AND wait_event_type = 'Client'
   AND NOT EXISTS (
       SELECT FROM pg_locks
        WHERE pg_locks.pid = chain.pid AND locktype = 'relation' AND granted
          AND mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
   )
   AND EXISTS (SELECT FROM runs_lease WHERE run_id = %(run_id)s AND expires_at < clock_timestamp())
