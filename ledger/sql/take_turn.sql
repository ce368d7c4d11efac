-- Take the turn of a destination that is served at a pace; no row means that it is not yet time.
-- Raw because looking and taking must be one statement.   Index: the primary key.
INSERT INTO ledger_pace (destination, next_at)
VALUES (%(destination)s, clock_timestamp() + %(apart)s)
ON CONFLICT (destination) DO UPDATE SET next_at = clock_timestamp() + %(apart)s
 WHERE ledger_pace.next_at <= clock_timestamp()
RETURNING next_at
