-- Note progress for the present driver of a run; no row: its lease is gone.
-- Raw because the lease is checked against the database's clock in the same statement.
-- Index: runs_lease_pkey.
UPDATE runs_lease
   SET progress_at = clock_timestamp(), progress_note = %(note)s
 WHERE run_id = %(run_id)s AND fence = %(fence)s AND expires_at > clock_timestamp()
