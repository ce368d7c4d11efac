-- Claim the message that is due longest, for a while; no row means that nothing is due. A message
-- waits while an earlier one with its order key is pending, claimed or not, and while its
-- destination rests.
-- Raw because the claim and its choice must be one statement: what others hold is skipped.
-- Indexes: ledger_message_due, ledger_message_in_order.
UPDATE ledger_message
   SET claim = %(claim)s, claimed_by = %(holder)s, tries = tries + 1,
       claimed_until = clock_timestamp() + %(ttl)s
 WHERE seq = (
       SELECT m.seq
         FROM ledger_message m
        WHERE m.status = 'pending'
          AND m.due_at <= clock_timestamp()
          AND (m.claimed_until IS NULL OR m.claimed_until < clock_timestamp())
          AND (m.order_key = '' OR NOT EXISTS (
              SELECT FROM ledger_message e
               WHERE e.status = 'pending' AND e.order_key <> ''
                 AND e.destination = m.destination AND e.order_key = m.order_key
                 AND e.seq < m.seq))
          AND NOT EXISTS (
              SELECT FROM ledger_pace p
               WHERE p.destination = m.destination AND p.next_at > clock_timestamp())
        ORDER BY m.due_at, m.seq
        LIMIT 1
          FOR UPDATE OF m SKIP LOCKED)
RETURNING seq
