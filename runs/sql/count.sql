-- How many checkpoints a run has, whichever graph saved them, and how many up to one of them.
-- Raw because the table is LangGraph's.   Index: checkpoints_thread_id_idx.
SELECT count(*), count(*) FILTER (WHERE checkpoint_id <= %(upto)s)
  FROM checkpoints
 WHERE thread_id = %(thread)s
