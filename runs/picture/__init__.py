"""The picture of an agent's graph, and where a run stands in it.

1. Agents' code never runs in a web process. A worker that has loaded a graph stores its shape, as
   plain data, for its version (`keeping`); pages draw what is stored (`kept`).
2. A shape is nodes and edges only (`shape`); where they are drawn is computed (`layout`), and what
   a run has done of it is laid over (`standing`).
"""
