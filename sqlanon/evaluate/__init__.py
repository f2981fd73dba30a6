"""How well a release answers for its source: workloads, errors, KL-divergence.

Comparing is not answering: that is `query`.
"""
