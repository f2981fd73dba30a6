"""A run as a list of stages.

Stages are small values made from the policy and the state of the release; each says what is done to which release.

`execute` carries a list out, plan prints it, preview stops in it; several tables are a list after the other. What
belongs here: the stages (`stage`), what they find of one table (`work`), and what a kind of versions must do in them
(`version`).
"""
