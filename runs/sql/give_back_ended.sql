-- Give the lease of an ended run back; the run stays as it is.
-- Raw: two updates in one round trip.   Index: runs_lease_pkey, runs_attempt_once_per_fence.
WITH lease AS (
    UPDATE runs_lease SET expires_at = NULL, holder = ''
     WHERE run_id = %(run_id)s AND fence = %(fence)s
    RETURNING run_id
)
UPDATE runs_attempt
   SET outcome = 'finished', ended_at = clock_timestamp()
 WHERE run_id = %(run_id)s AND fence = %(fence)s AND outcome = 'open' AND EXISTS (SELECT FROM lease)
