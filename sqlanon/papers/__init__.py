"""Methods that are there to compare with the papers.

They are extensions, added by entry points like those of other distributions.

Each is a folder with declaration, method and kernels. Nothing of sqlanon imports them, and what they use of it is what
any extension may use: see docs/extending.md.
"""
