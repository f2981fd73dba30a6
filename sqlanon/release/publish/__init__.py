"""Publishes a version: writes and verifies tables, shows them by views, and keeps, returns or drops versions.

`publish` runs all steps for one run, `new` and `content` write the tables of a version, and a delivery (`in_views`,
`second_file`, `in_lake`, `send`) shows them at one kind of place. `reconcile` repairs interrupted steps, `rollback`,
`unpublish` and `retention` change earlier versions.
"""
