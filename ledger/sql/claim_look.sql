-- Claim the effect that is to be asked about longest, of tools that this process knows; no row means
-- that there is none. Until the claim is over nobody else asks.
-- Raw because the claim and its choice must be one statement: what others hold is skipped.
-- Index: effects_to_look.
UPDATE effects
   SET look_at = clock_timestamp() + %(ttl)s
 WHERE idempotency_key = (
       SELECT idempotency_key
         FROM effects
        WHERE status IN ('sent', 'in_doubt')
          AND look_at <= clock_timestamp()
          AND tool = ANY(%(tools)s)
        ORDER BY look_at
        LIMIT 1
          FOR NO KEY UPDATE SKIP LOCKED)
RETURNING idempotency_key
