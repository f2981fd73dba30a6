"""Settings of a session for statements that read few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FEW = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}


def use(session: SparkSession) -> dict[str, str | None]:
    """Set them; gives what there was."""
    conf = session.conf
    before = {key: conf.get(key, None) for key in _FEW}
    for key, value in _FEW.items():
        conf.set(key, value)
    return before


def restore(session: SparkSession, before: dict[str, str | None]) -> None:
    """Set what there was."""
    conf = session.conf
    for key, kept in before.items():
        if kept is None:
            conf.unset(key)
        else:
            conf.set(key, kept)


__all__ = ["restore", "use"]
