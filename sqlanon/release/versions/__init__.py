"""Kinds of versions: how the next version comes from the source and the versions before it.

Each kind is a file, behind `sqlanon.release.stages.work.Version`.
"""
