"""Comparison of a release with its source: workloads, errors, KL-divergence.

Answers for readers are given by `query`.
"""
