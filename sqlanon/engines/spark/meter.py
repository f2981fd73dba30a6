"""Counts the statements of a session of Spark, and the bytes of the tasks that they started.

Spark's own stores of states have, for each stage of a job, the bytes that tasks wrote into files and for other tasks
(shuffled), and for each query the size of the files that its scans read: of whole files, whatever the columns are. They
are read in this process, for the jobs with the session's tag; over Spark Connect there is no way to them, so that bytes
are None.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlanon.usage import Usage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PAUSE, _STEP = 2.0, 0.002
"""Seconds that are waited, at most and at a time, for Spark to note what ended."""
_FILES = "SQLPlanMetric(size of files read,"
_SIZE = re.compile(r"\b(\d+) -> (?:total[^\n]*\n)?([\d.,]+) (B|KiB|MiB|GiB|TiB|PiB)\b")
_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}


class JobMeter:
    """Counters of a session."""

    def __init__(self, session: SparkSession, *, remote: bool) -> None:
        """Begin.

        Args:
            session: of this engine alone.
            remote: it is one of Spark Connect.
        """
        self._session = session
        self._statements = self._read = self._written = self._shuffled = 0
        self._stores: tuple[Any, Any] | None = None
        self._stages: set[int] = set()
        self._job = self._query = 0
        self._tag = ""
        self._tracker: Any = None
        self._java: Any = None
        if not remote:
            with suppress(Exception):  # other builds of Spark may lack calls that are not part of the interface
                java = session._jsparkSession  # noqa: SLF001 - the driver has no other way to it
                self._tag = str(java.sessionJobTag())
                self._java = session.sparkContext._jvm  # noqa: SLF001 - as above
                self._tracker = session.sparkContext._jsc.statusTracker()  # noqa: SLF001 - as above
                self._stores = self._context().statusStore(), java.sharedState().statusStore()
                self._job, self._query = self._count_jobs(), self._count_queries()

    def sql(self, text: str) -> DataFrame:
        """Send a statement."""
        self._statements += 1
        return self._session.sql(text)

    def usage(self, *, count: bool = True) -> Usage:
        """Statements and bytes so far. It never fails.

        ``count``: False while statements run; their bytes are counted the next time.
        """
        if count and self._stores is not None:
            try:
                self._add_jobs(*self._stores)
            except Exception:  # noqa: BLE001 - a session that has ended, or a job that the stores have forgotten
                self._stores = None
        if self._stores is None:
            return Usage(self._statements, None, None, None)
        return Usage(self._statements, self._read, self._written, self._shuffled)

    def _context(self) -> Any:  # noqa: ANN401 - an object of Java
        return self._session.sparkContext._jsc.sc()  # noqa: SLF001 - the driver has no other way to it

    def _count_jobs(self) -> int:
        return int(self._context().dagScheduler().nextJobId())

    def _count_queries(self) -> int:
        """The number after that of the last query of all sessions."""
        assert self._stores is not None
        queries = self._stores[1].executionsList()
        return int(queries.last().executionId()) + 1 if queries.nonEmpty() else 0

    def _add_jobs(self, stages: Any, queries: Any) -> None:  # noqa: ANN401 - objects of Java
        """Add the jobs since the last time; nothing of this session runs now."""
        end = self._count_jobs()
        if end == self._job:
            return
        self._wait_for(end - 1)
        jobs = set()
        for number in range(self._job, end):
            job = stages.job(number)
            if self._tag in _split(job.jobTags()):
                jobs.add(str(number))
                for stage in _split(job.stageIds()):
                    self._add_stage(stages, int(stage))
        last = self._count_queries()
        for number in range(self._query, last):
            query = queries.execution(number)
            if query.isDefined() and jobs & set(_split(query.get().jobs().keys())):
                names = query.get().metrics().addString(self._java.scala.collection.mutable.StringBuilder(), "|")
                self._read += _sum_files(queries, number, names)
        self._job, self._query = end, last

    def _wait_for(self, job: int) -> None:
        """Wait until the end of a job is noted: other listeners, such as a log of events, take longer."""
        until = time.monotonic() + _PAUSE
        while (noted := self._tracker.getJobInfo(job)) is None or noted.status().toString() == "RUNNING":
            if time.monotonic() > until:  # it takes longer: jobs that are not noted yet are missing
                return
            time.sleep(_STEP)

    def _add_stage(self, stages: Any, number: int) -> None:  # noqa: ANN401 - an object of Java
        if number in self._stages:  # of an earlier job, which this job used again
            return
        self._stages.add(number)
        # `lastStageAttempt` would fail for a stage that was planned, and never begun: pyspark asks long what failed.
        attempts = stages.stageData(number, False, self._java.java.util.ArrayList(), False, None)
        if attempts.isEmpty():
            return
        stage = attempts.last()
        self._written += stage.outputBytes()
        self._shuffled += stage.shuffleWriteBytes()


def _split(sequence: Any) -> list[str]:  # noqa: ANN401 - an object of Scala
    return str(sequence.mkString(",")).split(",")


def _sum_files(queries: Any, number: int, names: Any) -> int:  # noqa: ANN401 - objects of Scala
    """Bytes of the files that the scans of a query read, from the texts in which Spark keeps its metrics.

    Args:
        queries: Spark's store.
        number: of the query.
        names: Scala's string builder with the names and numbers of the query's metrics. They are searched where they
            are: to send so long a text takes 40 milliseconds, as the network waits for more of it.
    """
    scans, start = set(), names.indexOf(_FILES)
    while start >= 0:
        start += len(_FILES)
        scans.add(names.substring(start, names.indexOf(",", start)))
        start = names.indexOf(_FILES, start)
    sizes = _SIZE.findall(queries.executionMetrics(number).mkString("|")) if scans else []
    return sum(round(float(size.replace(",", "")) * _UNITS[unit]) for scan, size, unit in sizes if scan in scans)
