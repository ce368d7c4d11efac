-- Lock a run and its lease for its present driver; no row: the lease was taken over or has expired.
-- Raw because the clock must be read after the locks are held: a WHERE beside FOR UPDATE is not
-- checked again after a wait for somebody who has only locked the row.
-- Index: both primary keys.
WITH locked AS MATERIALIZED (
    SELECT r.wakes, l.expires_at
      FROM runs_run r
      JOIN runs_lease l ON l.run_id = r.id
     WHERE r.id = %(run_id)s AND l.fence = %(fence)s
       FOR NO KEY UPDATE OF r, l
)
SELECT wakes FROM locked WHERE expires_at > clock_timestamp()
