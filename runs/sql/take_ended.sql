-- Take the lease of a run that has ended, for what is done about it afterwards: raise the fence,
-- close the former attempt as lost, open a new one. No row: it has not ended, or somebody holds it.
-- Raw because the ORM cannot return values from an update; skipping what is locked, so that the
-- conditions hold at the moment of the lock.   Index: both primary keys, runs_attempt_one_open.
WITH due AS MATERIALIZED (
    SELECT r.id, r.agent, l.renewed_at, l.expires_at
      FROM runs_run r
      JOIN runs_lease l ON l.run_id = r.id
     WHERE r.id = %(run_id)s AND r.ended_at IS NOT NULL
       AND (l.expires_at IS NULL OR l.expires_at < clock_timestamp())
       FOR NO KEY UPDATE OF r, l SKIP LOCKED
), lease AS (
    UPDATE runs_lease l
       SET holder = %(holder)s, fence = l.fence + 1,
           expires_at = clock_timestamp() + %(ttl)s::interval, renewed_at = clock_timestamp()
      FROM due
     WHERE l.run_id = due.id
    RETURNING l.run_id, l.fence
), lost AS (
    UPDATE runs_attempt a
       SET outcome = 'lost', ended_at = clock_timestamp(),
           seen_at = due.renewed_at, expired_at = due.expires_at
      FROM due
     WHERE a.run_id = due.id AND a.outcome = 'open'
    RETURNING a.fence
), opened AS (
    INSERT INTO runs_attempt (run_id, fence, holder, cause, outcome, detail, head, error_class, error, started_at)
    SELECT run_id, fence, %(holder)s,
           CASE WHEN (SELECT count(*) FROM lost) > 0 THEN 'taken over' ELSE %(cause)s END,
           'open', '', '', '', '', clock_timestamp()
      FROM lease
)
SELECT lease.fence, due.agent FROM lease, due
