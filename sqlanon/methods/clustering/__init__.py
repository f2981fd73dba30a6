"""Methods that cluster rows, in place of cutting an order: `kmember`, `sequential`.

What they share with those of `sqlanon.papers` is in `blocks`.
"""
