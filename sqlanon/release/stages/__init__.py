"""A run as a list of stages: small values made from the policy and the state of the release.

Each stage names a release and the action on it. `execute` runs the list, plan prints it, preview stops in it; several
tables have one list after another. `stage` has the stages, `work` their results for one table and the verbs of a kind
of versions, and `options` the options of a run.
"""
