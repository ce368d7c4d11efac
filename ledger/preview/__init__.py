"""What the next step of a run would touch outside, told before somebody presses a button.

    kinds     what may become of one effect, one table: state, words, whether something is sent
    found     the effects that the next step would meet again, and what the rules say of each
    elsewhere the same call in other runs, which an approval would repeat
    holds     what forbids sending anything now
    ahead     all of it for one run: before it goes on, or ends, or a question is approved

1. Told from stored facts only. The code of agents is not loaded, so what a step does for the first
   time is not known beforehand, except for the one call that an approval permits.
2. What would be done about an effect is what `ledger.rules` decides, asked for the next driver and
   with the tool as live workers have declared it. It is a forecast: the reserve decides.
3. The number of queries does not depend on how many effects a run has.
"""
