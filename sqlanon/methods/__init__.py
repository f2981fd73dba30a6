"""Methods: published algorithms, a folder each, with declaration, code, and kernels of this method alone.

They see codes, positions and spans, never values. A method returns an assignment, row -> class. It is never trusted:
verify measures the release. Module `declaration` has data: to import it imports no code of a method, so that this
file and those of the folders hold nothing.
"""
