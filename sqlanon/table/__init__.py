"""The encoded work table: a snapshot of the source, its domains, and one narrow integer code per value.

What belongs here: staging, profiling, domains, encoding, the scratch tables of a run. No method, no requirement.
"""
