-- Whether find_abandoned.sql still holds for one effect, now that its rows are locked.
-- Raw for the same comparison with the database's clock.   Index: ledger_attempt_number.
SELECT EXISTS (
    SELECT FROM ledger_effectattempt a
      JOIN effects e ON e.idempotency_key = a.idempotency_key
      JOIN runs_run r ON r.id = e.run_id
      JOIN runs_lease l ON l.run_id = e.run_id
     WHERE a.idempotency_key = %(key)s
       AND (   (a.outcome = 'open'
                AND a.timeout_at < clock_timestamp()
                AND NOT (l.fence = a.fence AND COALESCE(l.expires_at > clock_timestamp(), false))
                AND (e.idempotency = 'ledger' OR e.status <> 'pending' OR (r.ended_at IS NOT NULL
                     AND NOT EXISTS (SELECT FROM ledger_undoplan u
                                      WHERE u.run_id = r.id AND u.status = 'working'))))
            OR (a.outcome = 'unknown' AND e.status = 'pending' AND r.ended_at IS NOT NULL
                AND NOT EXISTS (SELECT FROM ledger_undoplan u
                                 WHERE u.run_id = r.id AND u.status = 'working')
                AND NOT EXISTS (SELECT FROM ledger_effectattempt o
                                 WHERE o.idempotency_key = a.idempotency_key AND o.outcome = 'open'))))
