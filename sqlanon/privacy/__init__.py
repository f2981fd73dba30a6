"""Requirements on every class of a release.

Each is a folder with declaration, tally, SQL, a query of its own, and kernels.

Methods see a requirement's `tally` or `below`; `measure` is a separately written query over released columns, which
feasibility, verify and audit use. A method never judges itself. `declaration` is data alone: importing it imports no
code of a requirement, so that this file and those of the folders hold nothing.
"""
