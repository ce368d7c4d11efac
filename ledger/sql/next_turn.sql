-- Seconds until the first resting destination with a message that is due may be served; else NULL.
-- Raw because the ORM has no difference to the clock.   Index: ledger_message_due; few rows rest.
SELECT extract(epoch FROM min(p.next_at) - clock_timestamp())
  FROM ledger_pace p
 WHERE p.next_at > clock_timestamp()
   AND EXISTS (
       SELECT FROM ledger_message m
        WHERE m.destination = p.destination
          AND m.status = 'pending'
          AND m.due_at <= clock_timestamp()
          AND (m.claimed_until IS NULL OR m.claimed_until < clock_timestamp()))
