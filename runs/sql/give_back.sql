-- Give the lease back and close the attempt; the run row is changed by the caller in the same transaction.
-- Raw: two updates in one round trip.   Index: runs_lease_pkey, runs_attempt_once_per_fence.
WITH lease AS (
    UPDATE runs_lease SET expires_at = NULL, holder = ''
     WHERE run_id = %(run_id)s AND fence = %(fence)s
    RETURNING run_id
)
UPDATE runs_attempt
   SET outcome = %(outcome)s, detail = %(detail)s, head = %(head)s, error_class = %(error_class)s,
       error = %(error)s, failure = %(failure)s::jsonb, ended_at = clock_timestamp()
 WHERE run_id = %(run_id)s AND fence = %(fence)s AND EXISTS (SELECT FROM lease)
