-- Leave a destination alone for a while, or longer if that was asked for before.
-- Raw because of two that ask at once the longer one has to win.   Index: the primary key.
INSERT INTO ledger_pace (destination, next_at)
VALUES (%(destination)s, clock_timestamp() + %(wait)s)
ON CONFLICT (destination) DO UPDATE
   SET next_at = greatest(ledger_pace.next_at, clock_timestamp() + %(wait)s)
RETURNING next_at
