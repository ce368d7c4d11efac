-- What changes whenever a list would: the newest audit entry, the rows written to every table that
-- does not beat, sign-ins ended, and what comes with time alone (leases that ran out, workers that
-- fell silent, deadlines near and past, who stands in for somebody, who looks at a request, the hour
-- of the chart). And what changes with every beat of a lease.
SELECT concat_ws(
    '.',
    (SELECT max(id) FROM audit_entry),
    (
        SELECT sum(
            pg_stat_get_tuples_inserted(oid)
            + pg_stat_get_tuples_updated(oid)
            + pg_stat_get_tuples_deleted(oid)
        )
        FROM pg_class
        WHERE relkind = 'r'
        AND relnamespace = current_schema()::regnamespace
        AND relname <> ALL(%(beating)s)
    ),
    pg_stat_get_tuples_deleted('django_session'::regclass),
    (SELECT count(*) FROM runs_lease WHERE expires_at < clock_timestamp()),
    (SELECT count(*) FROM runs_worker WHERE seen_at > clock_timestamp() - %(alive_for)s),
    (SELECT count(*) FROM runs_pulse WHERE at > clock_timestamp() - %(late_after)s),
    (
        SELECT count(*) || '/' || count(*) FILTER (WHERE clock_timestamp() >= deadline)
        FROM approvals_request
        WHERE status = 'pending'
        AND clock_timestamp() > deadline - (deadline - created_at) / 4
    ),
    (SELECT count(*) FROM approvals_delegation WHERE starts_at <= clock_timestamp()),
    (SELECT count(*) FROM approvals_delegation WHERE ends_at <= clock_timestamp()),
    (SELECT count(*) FROM approvals_claim WHERE expires_at > clock_timestamp()),
    date_trunc('hour', clock_timestamp())
),
(SELECT concat_ws('.', max(renewed_at), max(progress_at)) FROM runs_lease WHERE expires_at IS NOT NULL)
