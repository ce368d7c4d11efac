-- What the ledger says was done.
SELECT e.run_id, e.idempotency_key AS key, e.uid, e.status, e.args, e.provider_ref, e.permit,
       e.settled_by, e.created_at,
       (SELECT jsonb_agg(i.kind) FROM ledger_incident i
         WHERE i.effect_id = e.idempotency_key) AS incidents
  FROM effects e
 WHERE e.run_id = ANY(%(runs)s::uuid[])
 ORDER BY e.created_at
