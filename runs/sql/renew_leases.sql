-- Renew exactly the (run, fence) pairs that a live drive has registered and return those renewed;
-- a pair that is missing from the answer is lost. Never steals a lease back: the fence must match.
-- Raw because the ORM cannot return values from an update.   Index: runs_lease_pkey,
-- runs_attempt_once_per_fence.
UPDATE runs_lease l
   SET expires_at = clock_timestamp() + %(ttl)s::interval, renewed_at = clock_timestamp()
  FROM unnest(%(runs)s::uuid[], %(fences)s::bigint[]) AS held (run_id, fence),
       runs_run r, runs_attempt a
 WHERE l.run_id = held.run_id AND l.fence = held.fence AND r.id = held.run_id
   AND a.run_id = held.run_id AND a.fence = held.fence
   AND l.expires_at > clock_timestamp()
RETURNING l.run_id, r.cancel_asked_at IS NOT NULL AS cancel_asked,
          extract(epoch FROM clock_timestamp() - GREATEST(l.progress_at, a.started_at))::float8 AS quiet
