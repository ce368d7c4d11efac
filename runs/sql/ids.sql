-- The ids of a run's checkpoints, whichever graph saved them: the newest before one, or the oldest
-- after one, so many; of one attempt, if its fence is given. Ids sort as they were made.
-- Raw because the table is LangGraph's.   Index: checkpoints_thread_id_idx.
SELECT checkpoint_id
  FROM checkpoints
 WHERE thread_id = %(thread)s
   AND (%(before)s::text IS NULL OR checkpoint_id < %(before)s)
   AND (%(after)s::text IS NULL OR checkpoint_id > %(after)s)
   AND (%(fence)s::bigint IS NULL OR (metadata ->> 'fence')::bigint = %(fence)s)
 ORDER BY CASE WHEN %(after)s::text IS NULL THEN checkpoint_id END DESC, checkpoint_id
 LIMIT %(most)s
