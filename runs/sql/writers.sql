-- The nodes that have written under one checkpoint of the graph itself, by name.
-- Raw because these are LangGraph's tables.   Index: checkpoint_writes_pkey.
SELECT DISTINCT substr(task_path, length('~__pregel_pull, ') + 1) AS node
  FROM checkpoint_writes
 WHERE thread_id = %(thread)s AND checkpoint_ns = '' AND checkpoint_id = %(checkpoint)s
   AND starts_with(task_path, '~__pregel_pull, ')
 ORDER BY node
