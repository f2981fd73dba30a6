"""Methods to compare with those of the papers.

They are extensions, added by entry points as those of other distributions are.

Each is a folder with declaration, method and kernels. Nothing of sqlanon imports them, and what they use of it is what
any extension may use: see docs/extending.md.
"""
