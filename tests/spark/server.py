"""A server of Spark Connect with a catalog in a folder, as a process of its own.

It is killed, or ends with its standard input.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.spark.small import JAVA, settings


def main(folder: str, port: str) -> None:
    """Serve, and say when."""
    from pyspark.sql import SparkSession

    place = Path(folder)
    own = settings(place, int(port)) | {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={place / 'catalog'};create=true",
        "spark.driver.extraJavaOptions": f"{JAVA} -Dderby.stream.error.file={place / 'derby.log'}",
    }
    builder = SparkSession.builder.master("local[2]").appName("server")
    for key, value in own.items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    print("ready", flush=True)
    sys.stdin.read()
    made.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
