"""Sessions of Spark: of a URL (a server, or a session of our own with a catalog in a folder), or the caller's."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from sqlanon.engines.base import PRIVATE_SCHEMA
from sqlanon.engines.spark.errors import condition, silence_logs
from sqlanon.errors import DatabaseError, LockedError, PolicyError
from sqlanon.private_folder import PrivateFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_JAVA = 17
_CONNECT = (
    "cannot connect to a Spark Connect server: check host and port of the URL (sc://host:15002), and that the server "
    "runs Spark 4.0 or newer (start-connect-server.sh)"
)
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.storeAssignmentPolicy": "ANSI",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    # A side of a join that is small enough in each task is hashed, where both sides would be sorted.
    "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "64m",
    # Java does not compile a method of more bytes, as the loop of a statement over many columns may be: it is split.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # Of a batch that is sent to workers Spark adds up the bytes after each row, unless they are not bounded: there are
    # at most 10,000 rows in a batch.
    "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
    # Spark 4.3 makes an invalid plan of a UNION of constants in an order.
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases",
}
"""Settings that our statements need."""
_TRIES, _TRIES_FIRST, _PAUSE = 8, 4, 10_000
"""Tries for a silent server, in a session and to open a session, and the longest pause, in milliseconds.

That is most of a minute in all, and a few seconds.
"""
_COMPILED_LATE = {
    "InvocationThreshold": 100_000,
    "MinInvocationThreshold": 12_000,
    "CompileThreshold": 300_000,
    "BackEdgeThreshold": 800_000,
}
"""Numbers of calls, and of turns of loops, after which Java optimizes code fully in a session of our own.

They are 20 times the defaults. Each statement has new code, which Java compiles quickly first; to optimize code that
runs for a second takes longer than it saves.
"""
_CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""File with the most memory of a container, in bytes."""
_CODE = "500m"
"""Room for compiled code. A release of many columns fills Java's default, and the next one is compiled anew then."""
_SHARED = (
    "whoever can read the files of this catalog's warehouse can read the source, and what sqlanon writes next to the "
    "release: snapshots, link tables, the secrets of hashes. Spark does not keep readers of a view from the files "
    f"beneath it. Give only sqlanon's user the right to the folder of schema {PRIVATE_SCHEMA} where that can be done, "
    "and confirm: --accept-shared on the command line, accept_shared=true in the URL, or as an argument of "
    "sqlanon.connect"
)
_FORGETS = (
    "this Spark session's catalog is in memory: releases would be gone with the session. Use one that persists (a Hive "
    "metastore, spark+local:///DIR), or confirm: --temporary on the command line, temporary=true in the URL, or as an "
    "argument of sqlanon.connect"
)


def explain_missing_java() -> str | None:
    """Why Spark cannot start here; None where Java is there."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    advice = (
        f"Spark needs Java {_JAVA} or newer on this machine; install it (apt-get install openjdk-17-jre-headless), or "
        "set JAVA_HOME"
    )
    if program is None or not Path(program).exists():
        return advice
    try:
        stderr = subprocess.run(  # noqa: S603 - the machine's Java
            [program, "-version"], capture_output=True, text=True, check=False, timeout=60
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return advice
    match = re.search(r'version "(\d+)', stderr)
    return None if match and int(match[1]) >= _JAVA else advice


def split_confirmations(url: str) -> tuple[str, set[str]]:
    """A URL without the confirmations, and their names.

    >>> split_confirmations("sc://host:15002/;user_id=a;accept_shared=true")
    ('sc://host:15002/;user_id=a', {'accept_shared'})
    """
    confirmed = {name for name in ("accept_shared", "temporary") if re.search(rf"[;?&]{name}=true(?=[;&]|$)", url)}
    for name in confirmed:
        url = re.sub(rf";{name}=true|(?<=\?){name}=true&?|&{name}=true", "", url)
    return url.removesuffix("?"), confirmed


def open_local(url: str, *, threads: int | None) -> tuple[SparkSession, bool, bool]:
    """The session of ``spark+local:///DIR?cores=2``.

    The other results are whether this user alone can read the files, and whether it was started now.

    With ``:memory:`` in place of the folder the catalog is gone with the session.

    Args:
        url: the URL; DIR is made, for this user only, where it is missing.
        threads: cores, unless the URL says how many; None: two.

    Raises:
        PolicyError: the URL cannot be read.
        DatabaseError: no Java, or the folder cannot be used.
        LockedError: another process has the catalog open.
    """
    match = re.fullmatch(r"spark\+local:(?://)?(/?)([^?]*)(?:\?(.*))?", url, re.IGNORECASE | re.DOTALL)
    options = parse_qs(match[3] or "") if match else {}
    cores = options.pop("cores", [str(threads or 2)])[0]
    if not match or not match[2] or options or not cores.isdigit() or not int(cores):
        raise PolicyError(f"connection: {url} cannot be read; write spark+local:///DIR?cores=2")
    if missing := explain_missing_java():
        raise DatabaseError(missing)
    where = unquote(match[2])
    return _start_session(None if where == ":memory:" else Path(where).absolute(), int(cores))


def _start_session(folder: Path | None, cores: int) -> tuple[SparkSession, bool, bool]:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    silence_logs()
    running = SparkSession.getActiveSession()
    settings: dict[str, str] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(2 * cores),
        # Of as many equal parts each core gets the same number; Spark would join some of them.
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.catalogImplementation": "in-memory",
        # a run has some hundreds; each that is made anew is compiled anew
        "spark.sql.codegen.cache.maxEntries": "1000",
        # Rows that are sorted or grouped are kept where Java does not copy them whenever it collects garbage.
        "spark.memory.offHeap.enabled": "true",
        "spark.memory.offHeap.size": str(_find_memory() // 4),
        # State that Spark keeps for an interface that is off.
        "spark.sql.ui.retainedExecutions": "20",
        "spark.ui.retainedJobs": "50",
        "spark.ui.retainedStages": "50",
        "spark.ui.retainedTasks": "500",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.level=OFF -XX:+UseParallelGC "
        f"-XX:ReservedCodeCacheSize={_CODE} {_delay_compiling()}",
    }
    if folder is not None:
        if not re.fullmatch(r"[\w./-]+", str(folder)):
            raise PolicyError(
                f"connection: {folder} has a character that options of Java cannot hold; name a folder of letters, "
                "digits, _ . - and /"
            )
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            private = folder.stat().st_mode & 0o077 == 0
        except OSError as error:
            raise DatabaseError(f"cannot use the folder {folder}: {error.strerror}") from error
        settings |= {
            "spark.sql.catalogImplementation": "hive",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'catalog'};create=true",
            "spark.driver.extraJavaOptions": f"{settings['spark.driver.extraJavaOptions']} "
            f"-Dderby.stream.error.file={folder / 'derby.log'}",
        }
    else:
        private = True
        settings["spark.sql.warehouse.dir"] = _make_temporary_folder()
    if running is not None:
        warehouse = settings["spark.sql.warehouse.dir"]
        if folder is not None and str(running.conf.get("spark.sql.warehouse.dir")).removeprefix("file:") != warehouse:
            raise DatabaseError(
                "this process has another Spark session, and can have one; pass it to sqlanon.connect, or stop it"
            )
        return running, private, False
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings |= {"spark.master": f"local[{cores}]", "spark.app.name": "sqlanon"}
    builder: Any = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        _start_java(settings)
        session: SparkSession = builder.getOrCreate()
    except PySparkException as error:
        raise DatabaseError(
            f"Spark cannot start ({condition(error)}); check Java (java -version), memory, and the settings that "
            "SPARK_CONF_DIR names"
        ) from error
    session.sparkContext.setLogLevel("OFF")
    try:
        session.sql("SHOW SCHEMAS").collect()
    except Exception as error:
        session.stop()
        if "Another instance of Derby" in str(error):
            raise LockedError(
                f"{folder}: another process has this catalog open; Derby lets one at a time, wait until it is done"
            ) from error
        raise DatabaseError(
            f"the catalog in {folder} cannot be opened ({condition(error) or type(error).__name__}); name a new folder"
        ) from error
    return session, private, True


def _start_java(settings: dict[str, str]) -> None:
    """Start Java in this process if it does not run yet.

    Its stderr is discarded: Java and workers may quote values there.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    context: Any = SparkContext
    if context._gateway is None:  # noqa: SLF001 - pyspark's own builder cannot be asked where Java writes
        conf = SparkConf().setAll(list(settings.items()))
        context._ensure_initialized(gateway=launch_gateway(conf, {"stderr": subprocess.DEVNULL}))  # noqa: SLF001


def _delay_compiling() -> str:
    return " ".join(f"-XX:Tier4{name}={value}" for name, value in _COMPILED_LATE.items())


def _find_memory() -> int:
    """Bytes of memory of the machine, or of the container where that has less."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(_CONTAINER.read_text(encoding="ascii")))
    except (OSError, ValueError):  # there is none, or it has no limit
        return machine


def _make_temporary_folder() -> str:
    """A folder of this user's that goes when the process ends."""
    folder = PrivateFolder(Path(tempfile.gettempdir()) / "spark-warehouse")
    atexit.register(folder.remove)
    return str(folder.path)


def open_remote(url: str) -> SparkSession:
    """A new session of the Spark Connect server that ``sc://host:port`` names.

    Raises:
        DatabaseError: it cannot be reached, or is too old.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    silence_logs()
    try:
        builder: Any = SparkSession.builder.remote(url)
        session: SparkSession = builder.create()
        limit_retries(session, _TRIES_FIRST)
        version = session.version
    except PySparkException as error:
        raise DatabaseError(_CONNECT) from error
    except (ImportError, ValueError) as error:
        raise DatabaseError("Spark Connect needs more packages: pip install 'sqlanon[spark]'") from error
    except Exception as error:  # grpc's own, of which pyspark translates a part
        raise DatabaseError(_CONNECT) from error
    check_version(version)
    limit_retries(session, _TRIES)
    return session


def limit_retries(session: SparkSession, tries: int) -> None:
    """Number of retries of a Spark Connect session when a server does not answer.

    Spark's default waits for ten minutes.
    """
    from pyspark.sql.connect.client.retries import DefaultPolicy

    client: Any = session.client
    client.set_retry_policies([DefaultPolicy(max_retries=tries, max_backoff=_PAUSE)])


def check_version(version: str) -> None:
    """Refuse a Spark that is too old.

    Raises:
        DatabaseError: the text gives this version and the oldest supported version.
    """
    major = version.split(".", 1)[0]
    if not major.isdigit() or int(major) < 4:
        raise DatabaseError(f"this is Spark {version}; sqlanon needs Spark 4.0 or newer")


def is_connect(of: SparkSession | DataFrame) -> bool:
    """Whether a session, or rows of it, is of Spark Connect."""
    return type(of).__module__.startswith("pyspark.sql.connect")


def own_settings(session: SparkSession) -> SparkSession:
    """A session of the same catalog with the settings that statements of ours need; the caller's keeps its own.

    A session of Spark Connect is changed, as it has no sisters; its temporary views and settings are its own there
    already.
    """
    own_session = session if is_connect(session) else session.newSession()
    for key, value in SETTINGS.items():
        own_session.conf.set(key, value)
    return own_session


def persists(session: SparkSession, catalog: str) -> bool:
    """Whether the tables of a catalog outlast the session: those of Spark's own do not, unless it is Hive's."""
    if catalog != "spark_catalog" or session.conf.get("spark.sql.catalog.spark_catalog", None):
        return True
    return bool(session.conf.get("spark.sql.catalogImplementation", "in-memory") == "hive")


def explain_unwritable(session: SparkSession, *, accept_shared: bool, temporary: bool) -> str | None:
    """Why nothing may be written in a session's catalog: it forgets, or others can read its files; None: it may."""
    if not temporary and not persists(session, session.catalog.currentCatalog()):
        return _FORGETS
    return None if accept_shared else _SHARED
