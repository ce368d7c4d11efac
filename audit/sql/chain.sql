-- Every seal in order, with its entry or NULLs where the entry is gone.
-- Raw because the ORM joins a foreign key that may not be null so that a missing row hides its seal.
-- Indexes: audit_seal_pkey, audit_entry_pkey.
SELECT s.seq, s.entry_id, s.hash, s.sealed_at,
       e.id, e.at, e.verb, e.actor_kind, e.actor_id, e.actor_label, e.entry, e.target_kind,
       e.target_id, e.run_id, e.allowed, e.reason, e.data, e.digest
  FROM audit_seal s
  LEFT JOIN audit_entry e ON e.id = s.entry_id
 ORDER BY s.seq;
