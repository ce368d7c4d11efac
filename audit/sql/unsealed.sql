-- Committed entries above an id that no seal names yet, oldest first.
-- Raw because the bound must be given for both tables: otherwise the planner may read all seals.
-- Indexes: audit_entry_pkey, audit_seal_entry_id_key.
SELECT e.id, e.digest, e.at
  FROM audit_entry e
 WHERE e.id > %(above)s
   AND NOT EXISTS (SELECT FROM audit_seal s WHERE s.entry_id = e.id AND s.entry_id > %(above)s)
 ORDER BY e.id
 LIMIT %(limit)s;
