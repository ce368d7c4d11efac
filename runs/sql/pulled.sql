-- Whether a task that asks was started for its node (NULL: it asks nothing), not by a Send: then
-- LangChain's tools node runs all calls of the last message in threads of this one task.
-- Raw because these are LangGraph's tables.   Index: checkpoint_writes_pkey.
SELECT bool_or(task_path LIKE '~\_\_pregel\_pull,%%')
  FROM checkpoint_writes
 WHERE thread_id = %(thread)s AND checkpoint_ns = %(ns)s AND checkpoint_id = %(checkpoint)s
   AND task_id = %(task)s AND channel = '__interrupt__'
