"""From an analyst's text to a checked tree: which SQL is allowed, names bound, subqueries inlined, joins described."""
