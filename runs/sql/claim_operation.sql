-- Claim the operation that has waited longest, for a while; no row means that nothing is to be done
-- or others are at it.
-- Raw because the claim and its choice must be one statement: what others hold is skipped.
-- Index: runs_operation_working.
UPDATE runs_operation
   SET claim = %(claim)s, claimed_by = %(holder)s,
       claimed_until = clock_timestamp() + %(ttl)s
 WHERE id = (
       SELECT id
         FROM runs_operation
        WHERE status = 'working'
          AND (claimed_until IS NULL OR claimed_until < clock_timestamp())
        ORDER BY created_at
        LIMIT 1
          FOR NO KEY UPDATE SKIP LOCKED)
RETURNING id
