"""What the timeline of a run is told about its effects: moments for the table, spans for the chart.

An effect's story does not end with its calls: what providers tell later, what they answer when they
are asked, and what a person says are part of it.
"""
