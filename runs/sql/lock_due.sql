-- Lock a run and its lease if there is something to do and nobody drives it; at once or not at all.
-- No row: somebody holds the lease, or the run rests (ended; or waiting, parked or due later with
-- nothing new). Raw because the condition is the definition of "due" and reads the database's clock
-- after the locks.   Index: both primary keys.
SELECT r.agent, r.agent_version,
       CASE WHEN r.due_at <= clock_timestamp() THEN l.fence ELSE r.granted_fence END AS granted_fence,
       CASE WHEN r.due_at > clock_timestamp() THEN r.due_at END AS due_at,
       r.wakes, r.cancel_asked_at IS NOT NULL AS cancel_asked, r.ask_again, r.asked
  FROM runs_run r
  JOIN runs_lease l ON l.run_id = r.id
 WHERE r.id = %(run_id)s
   AND r.status IN ('queued', 'running', 'waiting', 'parked')
   AND (l.expires_at IS NULL OR l.expires_at < clock_timestamp())
   AND (r.status = 'running'
        OR r.wakes > r.seen_wakes
        OR r.due_at <= clock_timestamp()
        OR (r.status = 'queued' AND r.due_at IS NULL)
        OR (r.status = 'waiting' AND (r.wait_until IS NULL OR r.wait_until <= clock_timestamp())))
   FOR NO KEY UPDATE OF r, l
