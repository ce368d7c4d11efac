-- Calls of the provider, as the ledger marked them.
SELECT e.run_id, e.idempotency_key AS key, e.idempotency AS guard, c.number, c.fence, c.outcome, c.started_at, c.ended_at
  FROM ledger_effectattempt c
  JOIN effects e ON e.idempotency_key = c.idempotency_key
 WHERE e.run_id = ANY(%(runs)s::uuid[])
 ORDER BY c.started_at
