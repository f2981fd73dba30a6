"""The demonstration: a synthetic hospital, its warehouse and policy in one directory, released twice.

`hospital` draws the patients, `layout` keeps the directory, `tour` does and measures. Nothing here prints.
"""
