-- Give the lease back: the run comes to rest, the lease is free, the attempt is closed.
-- Raw: three updates in one round trip.   Index: runs_lease_pkey, runs_run_pkey, runs_attempt_once_per_fence.
WITH lease AS (
    UPDATE runs_lease SET expires_at = NULL, holder = ''
     WHERE run_id = %(run_id)s AND fence = %(fence)s
    RETURNING run_id
), run AS (
    UPDATE runs_run
       SET status = %(status)s, seen_wakes = %(seen_wakes)s,
           park_reason = %(park)s, park_detail = %(park_detail)s,
           due_at = COALESCE(%(due_at)s::timestamptz, clock_timestamp() + %(due_in)s::float8 * interval '1 second'),
           wait_until = %(wait_until)s::timestamptz, asked = asked OR %(asked)s,
           output = %(output)s::jsonb, error_class = %(run_error_class)s, error = %(run_error)s,
           ended_at = CASE WHEN %(ended)s THEN clock_timestamp() END, updated_at = clock_timestamp()
     WHERE id = %(run_id)s AND EXISTS (SELECT FROM lease)
)
UPDATE runs_attempt
   SET outcome = %(outcome)s, detail = %(detail)s, head = %(head)s, error_class = %(error_class)s,
       error = %(error)s, failure = %(failure)s::jsonb, ended_at = clock_timestamp()
 WHERE run_id = %(run_id)s AND fence = %(fence)s AND EXISTS (SELECT FROM lease)
