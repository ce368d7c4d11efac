-- Lock a run and its lease for its present driver; no row: the lease was taken over or has expired.
-- Raw because the lease must be checked against the clock after the locks are held.
-- Index: both primary keys.
SELECT r.wakes
  FROM runs_run r
  JOIN runs_lease l ON l.run_id = r.id
 WHERE r.id = %(run_id)s AND l.fence = %(fence)s AND l.expires_at > clock_timestamp()
   FOR NO KEY UPDATE OF r, l
