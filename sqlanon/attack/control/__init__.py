"""Attacks with a control group: how much more is learnt of persons in a release than of persons that it never held.

A release is made in scratch tables of a part of the source's persons. Every attack is made on persons of that part and
on the others. An attack that succeeds on both alike shows knowledge of the population, not a leak (Giomi, Boenisch,
Wehmeyer and Tasnádi 2023).

Here belongs a file for each attack, an entry of `registry`, on integers alone.
"""
