-- The ids of a run's checkpoints, whichever graph saved them: the newest before one, or the oldest
-- after one, so many. Two UUIDs of one run sort as they were made.
-- Raw because the table is LangGraph's.   Index: checkpoints_thread_id_idx.
SELECT checkpoint_id
  FROM checkpoints
 WHERE thread_id = %(thread)s
   AND (%(before)s::text IS NULL OR checkpoint_id < %(before)s)
   AND (%(after)s::text IS NULL OR checkpoint_id > %(after)s)
 ORDER BY CASE WHEN %(after)s::text IS NULL THEN checkpoint_id END DESC, checkpoint_id
 LIMIT %(most)s
