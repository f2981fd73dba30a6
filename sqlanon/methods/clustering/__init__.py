"""Methods that cluster rows in place of cutting an order: `kmember`, `sequential`.

Code shared with the methods of `sqlanon.papers` is in `blocks`.
"""
