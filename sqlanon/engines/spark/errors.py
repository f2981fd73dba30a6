"""Meanings of Spark's errors and advice, in words without cell values.

Only the error's condition is read, never the text.
"""

from __future__ import annotations

import logging
import re
import warnings
from contextlib import suppress
from typing import Any

from pyspark.errors import PySparkException

from sqlanon.engines.base import DROPPED, NOT_THERE, OUT_OF_RANGE
from sqlanon.errors import DatabaseError

_MEANINGS: tuple[tuple[str, str, str], ...] = (
    (
        r"CAST_|CANNOT_PARSE_|INVALID_FORMAT|FAILED_.*CAST",
        "a value cannot be converted to the type that is asked for; compare the source's values with the policy's",
        "a value cannot be read as the type that it is cast to",
    ),
    (
        r"ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT|NUMERIC_OUT|BINARY_ARITHMETIC|DATETIME_OVERFLOW|COLLECTION_SIZE",
        "a number is too large for its type; cast the column to a wider type in a view",
        OUT_OF_RANGE,
    ),
    (
        r"DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|INTERVAL_DIVIDED",
        "a number is divided by zero; if the source is a view, check that it can still be selected from",
        "a number is divided by zero",
    ),
    (
        r"UNRESOLVED_ROUTINE|ROUTINE_NOT_FOUND",
        "a function is not there; if the source is a view, check that it can still be selected from",
        "there is no such function in Spark",
    ),
    (
        r"TABLE_OR_VIEW_NOT_FOUND",
        f"{DROPPED}; if the source is a view, check that it can still be selected from",
        NOT_THERE,
    ),
    (
        r"UNRESOLVED_|SCHEMA_NOT_FOUND|MISSING_AGGREGATION|AMBIGUOUS|INCOMPATIBLE_VIEW",
        "a table or column is not as expected; if the source is a view, check that it can still be selected from",
        "a name is not there in Spark",
    ),
    (
        r"DATATYPE_MISMATCH|WRONG_NUM_ARGS|INCOMPATIBLE_|UNSUPPORTED_DATATYPE",
        "types do not fit; cast the column in a view of the source",
        "types do not fit, in Spark",
    ),
    (r"PARSE_", "it does not parse in this version of Spark", "Spark cannot parse it"),
    (
        r"TABLE_OR_VIEW_ALREADY_EXISTS|LOCATION_ALREADY_EXISTS|TABLE_OR_VIEW_EXISTS",
        "a table of that name, or its files, are there already; run `sqlanon clean`, and again",
        "a table of that name is there already",
    ),
    (
        r"INSUFFICIENT_PERMISSIONS|PERMISSION_DENIED|UNAUTHORIZED",
        "this user may not do that; ask for the right to read the source and to create schemas, tables and views",
        "this user may not do that",
    ),
    (
        r"FAILED_READ_FILE|FILE_NOT_EXIST|PATH_NOT_FOUND|CANNOT_READ",
        "a file of a table cannot be read; if the table was written anew meanwhile, run again",
        "a file of a table cannot be read",
    ),
    (
        r"OUT_OF_MEMORY|UNABLE_TO_ACQUIRE_MEMORY|CANNOT_GROW_BUFFER|UNABLE_TO_SPILL",
        "Spark has not memory enough; give its driver or executors more",
        "Spark has not memory enough for it",
    ),
    (
        r"INVALID_SCHEMA_OR_RELATION_NAME|INVALID_COLUMN_NAME",
        "names of tables and schemas hold letters, digits and _ only in this catalog",
        "a name is not allowed in this catalog",
    ),
)
"""Conditions of Spark's errors; the advice; the reason for the refusal."""
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]")
_PLAIN = (
    (re.compile(r"(?:analysis error: )?(?:Database|Schema) not found", re.IGNORECASE), "SCHEMA_NOT_FOUND"),
    (
        re.compile(r"(?:analysis error: )?(?:Table|View|Table or view) not found", re.IGNORECASE),
        "TABLE_OR_VIEW_NOT_FOUND",
    ),
)
"""Beginnings of messages of servers without names of conditions, as Sail, and Spark's names of these."""
_LACKING = re.compile(
    r"\b(?:PlanNode|CommandNode|QueryNode)::(\w+)"
    r"|\bdoes not support (?:\w+ )*?(?:expression|plan) (\w+)"
    r"|\bfound (TBLPROPERTIES|EXCEPT|EXTENDED) at "
)
"""Names of calls, and of parts of a statement, in messages of servers that lack them."""
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_APART = re.compile(
    r"ModuleNotFoundError: No module named "
    r"'(sqlanon|numba|llvmlite|numpy|pyarrow|duckdb|cloudpickle)|PYTHON_VERSION_MISMATCH"
)
_GONE_CONDITION = re.compile(r"SESSION_NOT_FOUND|SESSION_CLOSED|SESSION_CHANGED")
_GONE_TEXT = re.compile(
    r"StatusCode\.UNAVAILABLE|stopped SparkContext|SparkContext was shut down|Answer from Java side is empty|Error "
    r"while sending or receiving"
)
_CAUSES = 16
"""Most causes of an exception that are followed."""
GONE = "the session or its server is gone; connect again, and run again"
"""The advice where no statement of a session runs any more."""


def of_spark(error: BaseException) -> bool:
    """Whether an error is Spark's, or of a library that connects this process with Spark."""
    room = type(error).__module__.split(".", 1)[0]
    return room in ("py4j", "grpc", "pyspark", "pyarrow") or isinstance(error, ConnectionError)


def is_gone(error: BaseException) -> bool:
    """Whether the session, or the server that has it, is no more."""
    if isinstance(error, ConnectionError):  # Java has ended, of a session of our own
        return True
    # The text of an error that Spark has a name for may quote a cell.
    name = error.getCondition() if isinstance(error, PySparkException) else None
    return bool(_GONE_CONDITION.search(name) if name else _GONE_TEXT.search(str(error)))


def silence_logs() -> None:
    """Stop pyspark from logging the texts of errors, which may quote cell values, and retries.

    Rows come and go as Arrow's, so that pyspark's messages about pandas concern nobody here.
    """
    for message in (r"\[RETRIES_EXCEEDED\]", "PySpark does not yet fully support pandas"):
        warnings.filterwarnings("ignore", message=message)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.client"):
        logger = logging.getLogger(name)
        logger.disabled = True
        logger.propagate = False


def find_lacking_call(error: BaseException) -> str | None:
    """The call that a server of Spark Connect does not have; None: the error is another one."""
    if not isinstance(error, PySparkException):
        return None
    call = _LACKING.search(str(error))
    if call is not None:
        return str(call[call.lastindex or 0])
    return "of this statement" if type(error).__name__ == "UnsupportedOperationException" else None


def condition(error: BaseException) -> str:
    """Spark's name of the condition, empty where it has none."""
    named_condition = error.getCondition() if isinstance(error, PySparkException) else None
    if named_condition:
        return str(named_condition)
    # An error of Java's that pyspark does not translate: only names that are known are taken of its text.
    for mentioned in _CONDITION.findall(str(error)):
        if any(re.match(pattern, mentioned) for pattern, _, _ in _MEANINGS):
            return str(mentioned)
    message = str(error)
    return next((name for pattern, name in _PLAIN if pattern.match(message)), "")


def _java_class(error: BaseException) -> str:
    """Class of the Java exception at the end of the chain of causes, empty where none is known.

    Unlike the text of the exception, the name of its class has no cell value.
    """
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    name = ""
    with suppress(Exception):  # Java may be gone
        for _ in range(_CAUSES):
            if cause is None:
                break
            name, cause = str(cause.getClass().getSimpleName()), cause.getCause()
    return name


def _find_meaning(error: BaseException) -> tuple[str, str] | None:
    name = condition(error)
    return next(((do, why) for pattern, do, why in _MEANINGS if re.match(pattern, name)), None)


def translate_error(what: str, error: BaseException) -> DatabaseError:
    """The `DatabaseError` for an error of Spark's; ``what``: the name of the statement or of the step."""
    message = str(error)
    if _FULL.search(message):
        return DatabaseError(
            f"Spark refused {what}: a disk of the driver, an executor or the warehouse is full; free space and run "
            "again"
        )
    if _APART.search(message):
        return DatabaseError(
            f"Spark refused {what}: the executors' Python has not what kernels need; install sqlanon[spark] there, in "
            "the Python version of this process, or ship it (spark.archives), and name its Python in PYSPARK_PYTHON "
            "or spark.pyspark.python"
        )
    if is_gone(error):
        return DatabaseError(f"Spark refused {what}: {GONE}")
    call = find_lacking_call(error)
    if call is not None:
        return DatabaseError(f"Spark refused {what}: this server lacks the call {call}")
    meaning = _find_meaning(error)
    name = condition(error)
    shown = (
        meaning[0]
        if meaning
        else "the statement failed; if the source is a view, check that it can still be selected from"
    )
    name = name or _java_class(error)
    return DatabaseError(f"Spark refused {what}: {shown}" + (f" ({name})" if name else ""))


def reason(error: DatabaseError) -> str:
    """See `Engine.reason`."""
    cause = error.__cause__
    if cause is None:
        return str(error)
    meaning = _find_meaning(cause)
    return meaning[1] if meaning else "Spark cannot compute it"
