-- Take the lease of a run that lock_due.sql has locked, and return its new fence: raise the fence,
-- set the run running, close the former attempt as lost (with its last heartbeat and when its lease
-- ran out) and open a new one.
-- Raw because the ORM cannot return values from an update.   Index: both primary keys, runs_attempt_one_open.
WITH before AS (
    SELECT renewed_at, expires_at FROM runs_lease WHERE run_id = %(run_id)s
), lease AS (
    UPDATE runs_lease
       SET holder = %(holder)s, fence = fence + 1,
           expires_at = clock_timestamp() + %(ttl)s::interval, renewed_at = clock_timestamp()
     WHERE run_id = %(run_id)s
    RETURNING run_id, fence, progress_at
), lost AS (
    UPDATE runs_attempt
       SET outcome = 'lost', ended_at = clock_timestamp(),
           seen_at = before.renewed_at, expired_at = before.expires_at
      FROM before
     WHERE run_id = %(run_id)s AND outcome = 'open'
    RETURNING fence
), opened AS (
    INSERT INTO runs_attempt (run_id, fence, holder, cause, outcome, detail, head, error_class, error, started_at)
    SELECT run_id, fence, %(holder)s,
           CASE WHEN (SELECT count(*) FROM lost) > 0 THEN 'taken over' ELSE %(cause)s END,
           'open', '', '', '', '', clock_timestamp()
      FROM lease
), run AS (
    UPDATE runs_run
       SET status = 'running', park_reason = '', park_detail = '', due_at = NULL, wait_until = NULL,
           granted_fence = %(granted_fence)s, updated_at = clock_timestamp(),
           first_started_at = COALESCE(first_started_at, clock_timestamp())
     WHERE id = %(run_id)s
    RETURNING input
)
SELECT lease.fence, lease.progress_at IS NOT NULL AS saved, (SELECT max(fence) FROM lost) AS lost_fence,
       CASE WHEN lease.progress_at IS NULL THEN (SELECT input FROM run) END AS input
  FROM lease
