"""Budgets of differentially private statistics: a ledger in the private schema, and a copy of it outside.

Contents: the spending, the remaining budget, and whether a database is the one that spent it. No answers, no noise.
"""
