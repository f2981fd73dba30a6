"""Methods: published algorithms, a folder each, with declaration, code, and the kernels that nobody else uses.

They see codes, positions and spans, never values. A method returns an assignment, row -> class. It is never trusted:
verify measures what was released. What `declaration` has is data: to import it imports no code of a method, so that
this file and those of the folders hold nothing.
"""
