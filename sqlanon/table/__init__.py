"""The encoded work table: a snapshot of the source, the domains, and one narrow integer code per value.

Contents: staging, profiling, domains, encoding, the scratch tables of a run. No method, no requirement.
"""
