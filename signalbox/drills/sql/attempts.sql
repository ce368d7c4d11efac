-- Who drove, in the order of fences.
SELECT run_id, fence, holder, outcome, started_at, ended_at
  FROM runs_attempt
 WHERE run_id = ANY(%(runs)s::uuid[])
 ORDER BY fence
