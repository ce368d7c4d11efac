-- How many messages wait, how many of these nobody has tried in time, how many were given up, and
-- when the last one was sent.
-- Raw because the ORM cannot ask for the last beside what it counts.   Index: ledger_message_closed.
SELECT
    count(*) FILTER (WHERE status = 'pending') AS waiting,
    count(*) FILTER (
        WHERE status = 'pending' AND due_at < clock_timestamp() - %(late)s AND tries = 0
    ) AS late,
    count(*) FILTER (WHERE status = 'dead') AS dead,
    (
        SELECT closed_at FROM ledger_message
        WHERE status = 'sent'
        ORDER BY closed_at DESC, seq DESC
        LIMIT 1
    ) AS sent_at
FROM ledger_message
WHERE status IN ('pending', 'dead')
