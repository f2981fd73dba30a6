"""The registry of operators and functions: the meaning of each over the ranges of a box, defined once.

For a row of the rewritten query and an expression of the analyst there is an *abstract value*
(`sqlanon.query.functions.value.Value`): ends of the values, whether it may be NULL, whether it surely is, and the type
in the source's engine. Each is SQL over the row. A definition (`sqlanon.query.functions.definition.Definition`) makes
the abstract value of a call from those of the arguments, and `sqlanon.query.functions.evaluate` follows an expression
from the leaves up: columns with ranges, exact columns and constants. WHERE, arguments of aggregates and steps of GROUP
BY have other leaves, and the same definitions.

No file outside this folder knows the name of a function. A function without a definition for the given types has no
ends, and is refused by name. Tests take the registry as it is: `tests/contract/test_query_functions.py` evaluates
every definition over boxes of every type on every engine, and compares it with the engine's own value of each value of
the box, alone and in random compositions.
"""
