-- Changes whenever something that belongs to one run does: a row is written, or its time comes. Of
-- the rows of each table the transactions that wrote them are hashed and summed up: that changes with
-- each, in whatever order they commit, and with each row that goes. The plain numbers of two changes
-- could cancel out. A queued run waits for room, so for the leases of others.
-- Raw because the ORM knows no xmin.   Index: those of the foreign keys, runs_lease_held.
WITH request AS (
    SELECT id, status, deadline, hashtextextended(xmin::text, 0) AS tx
    FROM approvals_request WHERE run_id = %(run)s
),

effect AS (
    SELECT idempotency_key, hashtextextended(xmin::text, 0) AS tx
    FROM effects WHERE run_id = %(run)s
),

mishap AS (
    SELECT id, hashtextextended(xmin::text, 0) AS tx
    FROM approvals_mishap WHERE request_id IN (SELECT id FROM request)
)

SELECT concat_ws(
    '.',
    (SELECT concat_ws('.', xmin, due_at <= clock_timestamp()) FROM runs_run WHERE id = %(run)s),
    (
        SELECT concat_ws('.', xmin, expires_at < clock_timestamp())
        FROM runs_lease WHERE run_id = %(run)s
    ),
    (
        SELECT concat_ws('.', count(*), max(holder))
        FROM runs_lease
        WHERE expires_at >= clock_timestamp()
        AND (SELECT status FROM runs_run WHERE id = %(run)s) = 'queued'
    ),
    (SELECT concat_ws('/', count(*), max(id)) FROM audit_entry WHERE run_id = %(run)s),
    (
        SELECT concat_ws('/', count(*), max(checkpoint_id))
        FROM checkpoints WHERE thread_id = %(run)s::text
    ),
    (SELECT count(*) FROM checkpoint_writes WHERE thread_id = %(run)s::text),
    (SELECT sum(hashtextextended(xmin::text, 0)) FROM runs_attempt WHERE run_id = %(run)s),
    (SELECT sum(hashtextextended(xmin::text, 0)) FROM runs_intervention WHERE run_id = %(run)s),
    (SELECT sum(hashtextextended(xmin::text, 0)) FROM runs_erasure WHERE run_id = %(run)s),
    (SELECT sum(hashtextextended(xmin::text, 0)) FROM runs_operationitem WHERE run_id = %(run)s),
    (SELECT sum(tx) FROM effect),
    (
        SELECT sum(hashtextextended(xmin::text, 0))
        FROM ledger_effectattempt WHERE idempotency_key IN (SELECT idempotency_key FROM effect)
    ),
    (
        SELECT sum(hashtextextended(xmin::text, 0))
        FROM ledger_hookevent WHERE idempotency_key IN (SELECT idempotency_key FROM effect)
    ),
    (
        SELECT sum(hashtextextended(xmin::text, 0))
        FROM ledger_look WHERE idempotency_key IN (SELECT idempotency_key FROM effect)
    ),
    (SELECT sum(hashtextextended(xmin::text, 0)) FROM ledger_incident WHERE run_id = %(run)s),
    (SELECT sum(hashtextextended(xmin::text, 0)) FROM ledger_drift WHERE run_id = %(run)s),
    (SELECT sum(hashtextextended(xmin::text, 0)) FROM ledger_message WHERE run_id = %(run)s),
    (SELECT sum(hashtextextended(xmin::text, 0)) FROM ledger_undoplan WHERE run_id = %(run)s),
    (
        SELECT concat_ws(
            '/',
            sum(tx),
            count(*) FILTER (WHERE status = 'pending' AND clock_timestamp() >= deadline)
        )
        FROM request
    ),
    (
        SELECT concat_ws(
            '/',
            sum(hashtextextended(xmin::text, 0)),
            count(*) FILTER (WHERE expires_at > clock_timestamp())
        )
        FROM approvals_claim WHERE request_id IN (SELECT id FROM request)
    ),
    (
        SELECT sum(hashtextextended(xmin::text, 0))
        FROM approvals_vote WHERE request_id IN (SELECT id FROM request)
    ),
    (
        SELECT sum(hashtextextended(xmin::text, 0))
        FROM approvals_decision WHERE request_id IN (SELECT id FROM request)
    ),
    (
        SELECT sum(hashtextextended(xmin::text, 0))
        FROM approvals_firing WHERE request_id IN (SELECT id FROM request)
    ),
    (SELECT sum(tx) FROM mishap),
    (
        SELECT sum(hashtextextended(xmin::text, 0))
        FROM approvals_withdrawal WHERE mishap_id IN (SELECT id FROM mishap)
    )
)
