-- Add a message unless one with its key is there; no row means that there is.
-- Raw because the ORM cannot say on a conflict whether it added.   Index: ledger_message_once_per_key.
INSERT INTO ledger_message (uid, destination, payload, dedupe, order_key, run_id, status, due_at,
                            tries, claimed_by, error, created_at)
VALUES (%(uid)s, %(destination)s, %(payload)s::jsonb, %(dedupe)s, %(order_key)s, %(run_id)s, 'pending',
        coalesce(%(not_before)s::timestamptz, clock_timestamp()), 0, '', '', clock_timestamp())
ON CONFLICT (destination, dedupe) DO NOTHING
RETURNING due_at <= clock_timestamp()
