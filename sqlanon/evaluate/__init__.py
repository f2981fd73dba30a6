"""Comparison of a release with the source: workloads, errors, KL-divergence.

Answers for readers are given by `query`.
"""
