"""Budgets of differentially private statistics: a ledger in the private schema, and a copy of it outside.

What belongs here: what was spent, what is left, and whether a database is the one that spent it. No answers, no noise.
"""
