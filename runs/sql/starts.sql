-- From which checkpoint each of some tasks ran, if it has written anything: task and checkpoint.
-- Raw because the table is LangGraph's.   Index: checkpoint_writes_thread_id_idx.
SELECT DISTINCT task_id, checkpoint_id
  FROM checkpoint_writes
 WHERE thread_id = %(thread)s AND task_id = ANY(%(tasks)s)
