-- Effects with a call whose end nobody will report: its time is up and its driver is gone. Of a run
-- that goes on, only those that the ledger alone guards; the others the run's next reservation
-- resolves by itself. Of a run that has ended, all, also calls that ended in nobody knows what; but
-- while its effects are taken back, a worker resolves them, as of a run that goes on.
-- Raw because each branch must use its own partial index.
-- Indexes: ledger_attempt_open, effects_pending, ledger_undoplan_one_at_work.
SELECT e.idempotency_key, e.run_id
  FROM ledger_effectattempt a
  JOIN effects e ON e.idempotency_key = a.idempotency_key
  JOIN runs_run r ON r.id = e.run_id
  JOIN runs_lease l ON l.run_id = e.run_id
 WHERE a.outcome = 'open'
   AND a.timeout_at < clock_timestamp()
   AND NOT (l.fence = a.fence AND COALESCE(l.expires_at > clock_timestamp(), false))
   AND (e.idempotency = 'ledger' OR e.status <> 'pending' OR (r.ended_at IS NOT NULL
            AND NOT EXISTS (SELECT FROM ledger_undoplan u WHERE u.run_id = r.id AND u.status = 'working')))
UNION
SELECT e.idempotency_key, e.run_id
  FROM effects e
  JOIN runs_run r ON r.id = e.run_id
 WHERE e.status = 'pending'
   AND r.ended_at IS NOT NULL
   AND NOT EXISTS (SELECT FROM ledger_undoplan u WHERE u.run_id = r.id AND u.status = 'working')
   AND EXISTS (SELECT FROM ledger_effectattempt a
                WHERE a.idempotency_key = e.idempotency_key AND a.outcome = 'unknown')
   AND NOT EXISTS (SELECT FROM ledger_effectattempt a
                    WHERE a.idempotency_key = e.idempotency_key AND a.outcome = 'open')
 LIMIT %(most)s
