"""Kill drills: the proof that runs survive their workers, and that effects happen once.

A drill plays one dangerous moment, several times, for each way in which a second performance is
prevented: real workers and a real provider on scratch services, real SIGKILL and SIGSTOP at a named
point, recovery by nothing but what runs in production. Then a checker that shares no code with
Signalbox compares what the provider performed with what the database says.

    catalogue   which drills there are       graphs   the agents that they drive
    plays       what happens in each of them arming   how a process dies at a named point
    scene       services, workers, people    trial    one run of one play, and its hands
    watch       what the database shows now  clerks   processes of people who decide
    evidence    what both stores hold of it  checker  what must hold afterwards
    report      how it is told

1. Nothing that can be configured is touched: services, database and provider are made for the drill
   and thrown away.
2. A play never sleeps in the hope that something has happened: it waits for a condition.
3. An armed point that was not reached is a violation: a drill that killed nobody proves nothing.
4. An effect that nobody can know of is settled as a person would, by looking at the provider.
"""

from __future__ import annotations
