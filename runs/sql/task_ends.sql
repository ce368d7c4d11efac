-- The tasks that have written on some checkpoints of one run: when the last of it was saved, whether that was
-- a result, a question or an error.
-- Raw because the table is LangGraph's; `signalbox_at` is ours.   Index: checkpoint_writes_pkey.
SELECT checkpoint_ns, checkpoint_id, task_id, min(task_path) AS path,
       max(signalbox_at) FILTER (WHERE channel NOT IN ('__interrupt__', '__resume__', '__error__')) AS done_at,
       bool_or(channel NOT IN ('__interrupt__', '__resume__', '__error__')) AS done,
       bool_or(channel = '__interrupt__') AS asked,
       bool_or(channel = '__error__') AS raised,
       count(*) FILTER (WHERE channel = '__pregel_tasks') AS sends
  FROM checkpoint_writes
 WHERE thread_id = %(thread)s
   AND (checkpoint_ns, checkpoint_id) IN (SELECT * FROM unnest(%(namespaces)s::text[], %(checkpoints)s::text[]))
 GROUP BY checkpoint_ns, checkpoint_id, task_id
 ORDER BY checkpoint_id, path, task_id
 LIMIT %(most)s
