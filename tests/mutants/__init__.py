"""How much the tests notice: small changes of the code, each of which some test should refuse.

Run by hand, see `__main__`.
"""
