-- Leave so many ids of the audit log free; says which is the first. Raw because it is about a
-- sequence.
SELECT setval(pg_get_serial_sequence('audit_entry', 'id'), last + %(room)s) - %(room)s + 1
  FROM (SELECT coalesce(max(id), 0) AS last FROM audit_entry) newest;
