"""Methods for comparisons with the papers.

They are extensions, added by entry points like those of other distributions.

Each is a folder with declaration, method and kernels. Nothing of sqlanon imports them, and they use only the interfaces
for extensions: see docs/extending.md.
"""
