-- Runs with their leases.
SELECT r.id AS run_id, r.status, r.park_reason, r.error_class, r.error, r.output,
       l.fence, l.holder, l.expires_at
  FROM runs_run r
  JOIN runs_lease l ON l.run_id = r.id
 WHERE r.id = ANY(%(runs)s::uuid[])
