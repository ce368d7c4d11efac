-- The tasks that have written on one checkpoint, whichever graph saved it: id and path.
-- Raw because the table is LangGraph's.   Index: checkpoint_writes_thread_id_idx.
SELECT DISTINCT task_id, task_path
  FROM checkpoint_writes
 WHERE thread_id = %(thread)s AND checkpoint_id = %(checkpoint)s
