-- What the audit log says.
SELECT run_id, verb, target_id, at
  FROM audit_entry
 WHERE run_id = ANY(%(runs)s::uuid[])
 ORDER BY id
