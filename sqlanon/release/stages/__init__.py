"""A run as a list of stages.

Stages are small values made from the policy and the state of the release; each names a release and the action on it.

`execute` carries a list out, plan prints it, preview stops in it; several tables are a list after the other. Contents:
the stages (`stage`), their results for one table and the verbs of a kind of versions (`work`), and the options of a
run (`options`).
"""
