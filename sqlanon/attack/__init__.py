"""Attacks on a release that the owner runs.

They measure the expected success of an attacker with values of the source (docs/attack.md).

Here belong figures of an attacker's success, counted from the published view and the source, without regard to
how the release was made. Every decision compares integers. Nothing is written but scratch tables, and no cell value
leaves the database but as a code.
"""

from sqlanon.attack.attack import attack
from sqlanon.attack.counts import attack_counts, find_counts
