-- The checkpoint on which a task of a run has written.
-- Raw: a table that LangGraph owns.   Index: checkpoint_writes_pkey.
SELECT checkpoint_id
  FROM checkpoint_writes
 WHERE thread_id = %(thread)s AND task_id = %(task)s
 ORDER BY checkpoint_id
 LIMIT 1
