-- Become the only one who changes the policies, once everybody who decides by them now is done.
-- Raw because the ORM has no advisory locks.   No index.
SELECT pg_advisory_xact_lock(%(key)s);
