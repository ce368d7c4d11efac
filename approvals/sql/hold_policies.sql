-- Keep the policies in force as they are until this transaction ends; many may do so at once.
-- Raw because the ORM has no advisory locks.   No index.
SELECT pg_advisory_xact_lock_shared(%(key)s);
