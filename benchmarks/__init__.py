"""Measurements of sqlanon: speed, scale, start-up, information loss. Each module is one command that writes one JSON.

Here belong generators of tables, clocks, meters of memory and independent evaluators. Nothing here is shipped in the
wheel, and nothing in `sqlanon` imports it. Every figure in ``docs/`` comes from ``results/``.
"""
