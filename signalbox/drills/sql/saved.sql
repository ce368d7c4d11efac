-- Checkpoints in the order in which they were written: xmin is the number of the transaction that
-- wrote the row. One that writes under a fence gets its number before the lease can be taken over,
-- and whoever takes over writes in later ones.
SELECT thread_id AS run_id, checkpoint_id, parent_checkpoint_id AS parent,
       (metadata ->> 'fence')::bigint AS fence
  FROM checkpoints
 WHERE thread_id = ANY(%(runs)s::text[]) AND checkpoint_ns = ''
 ORDER BY xmin::text::bigint
