-- Committed entries above an id that no seal names yet, oldest first.
-- Raw because the work must stay linear: a join, which the ORM writes, becomes quadratic when the
-- tables grew much since the planner last counted them.
-- Indexes: audit_entry_pkey, audit_seal_entry_id_key.
SELECT e.id, e.digest, e.at
  FROM audit_entry e
 WHERE e.id = ANY (ARRAY(
       SELECT id FROM audit_entry WHERE id > %(above)s
       EXCEPT
       SELECT entry_id FROM audit_seal WHERE entry_id > %(above)s
        ORDER BY id
        LIMIT %(limit)s))
 ORDER BY e.id;
