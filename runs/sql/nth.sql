-- The ids of a run's checkpoints from one place on, in the order in which they were saved.
-- Raw because the table is LangGraph's.   Index: checkpoints_thread_id_idx.
SELECT checkpoint_id
  FROM checkpoints
 WHERE thread_id = %(thread)s
 ORDER BY checkpoint_id
OFFSET %(skip)s LIMIT %(most)s
