-- What a driver must know before it reads the head; `held` is false if its lease is gone.
-- Raw because it compares with the database's clock in the same statement.   Index: both primary keys.
SELECT l.fence = %(fence)s AND l.expires_at > clock_timestamp() AS held,
       r.wakes, r.cancel_asked_at IS NOT NULL AS cancel_asked, r.ask_again, r.asked,
       l.progress_at IS NOT NULL AS saved
  FROM runs_run r
  JOIN runs_lease l ON l.run_id = r.id
 WHERE r.id = %(run_id)s
