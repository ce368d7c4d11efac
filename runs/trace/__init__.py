"""What a run did, step by step: its checkpoints, what changed between two of them, its attempts
side by side, a replay, and everything of it in one file.

1. Nothing here runs an agent's code or builds its objects: what is told is what was stored.
2. Every value goes through `showing`, which hides what this reader does not see, before anything is
   made of it: a tree, a difference, a size, a file. So nothing hidden shows in what differs.
3. Lists never load a state. A page loads a fixed number of states, whatever the length of the run.
4. What is too big or too deep for a page is said to be, and offered as a file, masked alike.

`listing` lists checkpoints, `states` reads one, `showing` masks and fits it to a page, `comparing`
sets two side by side, `attempts` does that with two attempts, `replay` steps through the run,
`export` writes the whole story; `pages` and `downloads` answer requests.
"""

from __future__ import annotations
