"""Differentially private statistics: bounded answers of persons, noise, and the cost of mechanisms.

The package has the shape of the measurements (`shape`), bounded answers in SQL (`answers`), noise (`draw`), the cost
of mechanisms (`accounting`), and the noisy numbers for readers (`consistent`, `published`). No ledger, no catalog.
"""
