"""Releases: one run reads a source, divides its rows into classes, verifies what is written, publishes it, and keeps the catalog.

What belongs here: the walk of one run (`run`, `run_tables`, `plan`, `preview`), and what reads a release back (`audit`). No algorithm. The folders
import one way, by a contract: catalog, verify, prepare, history, then divide and publish, which do not know each other, then what is on top of both.
"""
