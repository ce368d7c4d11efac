-- Become the sealer until this transaction ends, unless another is at work; and read the clock.
-- Raw because the ORM has no advisory locks.   No index.
SELECT pg_try_advisory_xact_lock(%(key)s), clock_timestamp();
