-- Changes whenever pages may have: in all of it, in what belongs to no run, in what is asked of
-- people, with every beat of a lease, and with those runs that may have stalled. Written rows are counted by table, and besides, what comes
-- with time alone (leases that ran out, workers that fell silent, deadlines near and past, runs that
-- are due and for how long, who stands in for somebody, who looks at a request, the hour of the
-- chart). PostgreSQL counts rows late, so the newest audit entries are looked at, too.
-- Index: audit_entry_pkey, approvals_request_open, runs_run_active.
WITH written AS (
    SELECT
        relname,
        pg_stat_get_tuples_inserted(oid)
        + pg_stat_get_tuples_updated(oid)
        + pg_stat_get_tuples_deleted(oid) AS rows
    FROM pg_class
    WHERE relkind = 'r'
    AND relnamespace = current_schema()::regnamespace
    AND relname <> ALL(%(beating)s)
),

told AS (SELECT id, run_id, target_kind FROM audit_entry ORDER BY id DESC LIMIT 200),

newest AS (
    SELECT
        max(id) AS any_kind,
        max(id) FILTER (WHERE run_id IS NULL) AS apart,
        max(id) FILTER (WHERE target_kind = 'request') AS asked
    FROM told
),

counted AS (
    SELECT
        sum(rows) AS everything,
        sum(rows) FILTER (WHERE relname <> ALL(%(of_runs)s)) AS apart,
        sum(rows) FILTER (WHERE relname = ANY(%(asked)s)) AS asked
    FROM written
),

waiting AS (
    SELECT
        count(*) AS near,
        count(*) FILTER (WHERE clock_timestamp() >= deadline) AS past
    FROM approvals_request
    WHERE status = 'pending'
    AND clock_timestamp() > deadline - (deadline - created_at) / 4
),

ending AS (
    SELECT count(*) AS runs
    FROM approvals_request
    INNER JOIN runs_run ON runs_run.id = approvals_request.run_id
    WHERE approvals_request.status = 'pending'
    AND (runs_run.cancel_asked_at IS NOT NULL OR runs_run.ended_at IS NOT NULL)
),

house AS (
    SELECT concat_ws(
        '.',
        pg_stat_get_tuples_deleted('django_session'::regclass),
        (SELECT count(*) FROM runs_worker WHERE seen_at > clock_timestamp() - %(alive_for)s),
        (SELECT count(*) FROM runs_pulse WHERE at > clock_timestamp() - %(late_after)s),
        (SELECT count(*) FROM approvals_delegation WHERE starts_at <= clock_timestamp()),
        (SELECT count(*) FROM approvals_delegation WHERE ends_at <= clock_timestamp()),
        date_trunc('hour', clock_timestamp())
    ) AS now
),

due AS (
    SELECT
        count(*) AS runs,
        count(*) FILTER (WHERE updated_at < clock_timestamp() - %(long)s) AS late
    FROM runs_run
    WHERE status = 'queued' AND (due_at IS NULL OR due_at <= clock_timestamp())
),

looks AS (SELECT count(*) AS now FROM approvals_claim WHERE expires_at > clock_timestamp())

SELECT
    concat_ws(
        '.',
        newest.any_kind,
        counted.everything,
        (SELECT count(*) FROM runs_lease WHERE expires_at < clock_timestamp()),
        waiting.near,
        waiting.past,
        due.runs,
        due.late,
        looks.now,
        house.now
    ) AS everything,
    concat_ws('.', newest.apart, counted.apart, house.now) AS apart,
    concat_ws(
        '.',
        newest.apart,
        newest.asked,
        counted.apart,
        counted.asked,
        waiting.near,
        waiting.past,
        ending.runs,
        looks.now,
        house.now
    ) AS asked,
    (
        SELECT concat_ws('.', max(renewed_at), max(progress_at))
        FROM runs_lease
        WHERE expires_at IS NOT NULL
    ) AS beats,
    (
        SELECT md5(string_agg(concat_ws(' ', run_id, fence, progress_at), ' ' ORDER BY run_id))
        FROM runs_lease
        WHERE expires_at IS NOT NULL
        AND (progress_at < clock_timestamp() - %(stall_after)s) IS NOT FALSE
    ) AS still
FROM newest, counted, waiting, ending, house, due, looks
