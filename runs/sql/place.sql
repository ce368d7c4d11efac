-- Where one checkpoint stands in its chain: namespace, time, the one before and the one after.
-- Raw because the table is LangGraph's.   Index: checkpoints_thread_id_idx, checkpoints_pkey.
SELECT c.checkpoint_ns, (c.checkpoint ->> 'ts')::timestamptz,
       COALESCE(c.parent_checkpoint_id, ''),
       COALESCE((SELECT min(n.checkpoint_id) FROM checkpoints n
                  WHERE n.thread_id = c.thread_id AND n.checkpoint_ns = c.checkpoint_ns
                    AND n.checkpoint_id > c.checkpoint_id
                    AND n.parent_checkpoint_id = c.checkpoint_id), '')
  FROM checkpoints c
 WHERE c.thread_id = %(thread)s AND c.checkpoint_id = %(checkpoint)s
