"""Settings of a Spark that tests start.

A small heap, few tasks, no compiled code, and a server of Spark Connect in it.
"""

from __future__ import annotations

from pathlib import Path

JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j2.level=OFF"


def settings(folder: Path, port: int) -> dict[str, str]:
    """Of a session with its files in a folder, and its server at a port."""
    return {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        # Code for a few rows takes longer to compile than to do without.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
