"""Differentially private statistics: bounded answers of persons, their noise, and what it costs.

What belongs here: the shape of what is measured (`shape`), bounded answers in SQL (`answers`), noise (`draw`), the cost
of mechanisms (`accounting`), and what readers get of noisy numbers (`consistent`, `published`). No ledger, no catalog.
"""
