"""Releases: the work of a run.

It reads a source, divides the rows into classes, verifies the written tables, publishes them, and keeps the catalog.

Contents: `run`, `plan`, `preview` and `erase`, which build one list of `stages` and carry it out, print it or
stop in it; the kinds of `versions`; and the reading of finished releases (`audit`). No algorithm. The folders import
one way, by a contract: catalog, verify, prepare, history, then divide and publish, which do not know each other, then
the folders on top of both.
"""
