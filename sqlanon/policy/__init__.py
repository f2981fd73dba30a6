"""User input: policy files and arguments, checked and frozen into specs.

Here belong the file format, checks, hierarchies and orders, the proposal of ``sqlanon init`` and the generated
reference. The room reads files but no database, and imports nothing of sqlanon but the specs and errors. Questions
about the data (does a column exist, is k feasible) are decided where the data is.
"""

from sqlanon.policy.arguments import release
from sqlanon.policy.choices import Choice, choose_noise, choose_policy
from sqlanon.policy.column_counts import ColumnProfileLike
from sqlanon.policy.hierarchies import read_hierarchy, read_order
from sqlanon.policy.load import load, loads
from sqlanon.policy.person_column import RelatedCounts, VaryingAttributes, keys_to_try
from sqlanon.policy.proposal import Proposal
from sqlanon.policy.propose import group_alike, propose
from sqlanon.policy.reference import reference, schema
from sqlanon.policy.release_block import freeze_embedded
from sqlanon.policy.roles import is_shown
from sqlanon.policy.workload import load_workload
