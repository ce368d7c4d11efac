"""The tools of all agents: what each changes, how it is kept from happening twice, how it fares.

    known      what is known of one tool, as plain data
    findings   tools that declare nothing, found in the loaded graphs
    boxes      what each worker says when it starts, and what all that live say together
    usage      what the ledger has of each tool over a time
    listing    all of it, and what is wrong
    pages      the page

Code of agents is loaded by workers only; the page shows what they have said.
"""
