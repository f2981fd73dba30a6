"""How the next version of a release comes from its source and the versions before it.

One file a kind, behind `sqlanon.release.stages.version.Version`.
"""
