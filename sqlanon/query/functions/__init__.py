"""The registry of operators and functions: what each means over the ranges of a box, defined once.

For a row of the rewritten query and an expression of the analyst there is an *abstract value*
(`sqlanon.query.functions.value.Value`): ends between which its values lie, whether it may be NULL, whether it surely
is, and its type in the source's engine. Each is SQL over the row. A definition
(`sqlanon.query.functions.definition.Definition`) makes the abstract value of a call of those of its arguments, and
`sqlanon.query.functions.evaluate` follows an expression from its leaves up: columns with ranges, exact columns and
constants. WHERE, arguments of aggregates and steps of GROUP BY have leaves of their own, and the same definitions.

No file outside this folder knows the name of a function. What has no definition for the types that it is given has no
ends, and is refused by its name. Tests take the registry as it is: `tests/contract/test_query_functions.py` evaluates
every definition over boxes of every type on every engine, and compares it with the engine's own value of each value of
the box, alone and in random compositions.
"""
