-- Entries by their ids, in order. Raw for the reasons that `seals.sql` gives, and without a join:
-- see `unsealed.sql`.   Index: audit_entry_pkey.
SELECT id, digest,
       coalesce(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'), at::text),
       verb, actor_kind, actor_id, actor_label, entry, target_kind, target_id, run_id::text,
       allowed, reason, data
  FROM audit_entry
 WHERE id = ANY (%(ids)s)
 ORDER BY id;
