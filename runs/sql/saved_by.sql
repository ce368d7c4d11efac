-- What each attempt of a run has saved: how many checkpoints in all, how many of the graph itself, and
-- the last of these. Raw because the table is LangGraph's.   Index: checkpoints_thread_id_idx.
SELECT COALESCE((metadata ->> 'fence')::bigint, 0) AS fence,
       count(*),
       count(*) FILTER (WHERE checkpoint_ns = ''),
       COALESCE(max(checkpoint_id) FILTER (WHERE checkpoint_ns = ''), '')
  FROM checkpoints
 WHERE thread_id = %(thread)s
 GROUP BY 1
 ORDER BY 1
