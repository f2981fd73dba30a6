"""Metrics of information loss as reports know them: the name, and where the code is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.declared.registry import Registry


@dataclass(frozen=True, slots=True)
class MetricDeclaration:
    """A number over all classes of a release.

    Attributes:
        name: as reports name it.
        about: the measured quantity.
        code: ``module:name`` of a `sqlanon.loss.base.Metric` or of the class of one, or the class itself; where
            ``asked``, of an `AskedMetric`.
        asked: it is measured where a policy's `metrics` names it, and else not.
        sensitive: it is about a sensitive column: measured for each of them.
        bounds: it compares all rows with each other, and says how good any release is at best.
    """

    name: str
    about: str
    code: str | type[Any]
    asked: bool = False
    sensitive: bool = False
    bounds: bool = False


ALL = "all"
"""The word of a policy for every metric that is measured where it is asked for."""


def _declare_builtin(name: str, code: str, about: str) -> MetricDeclaration:
    return MetricDeclaration(name, about, f"sqlanon.loss.box_metrics:{code}")


def _declare_asked(name: str, code: str, about: str, *, sensitive: bool = False) -> MetricDeclaration:
    return MetricDeclaration(name, about, f"sqlanon.loss.{code}", asked=True, sensitive=sensitive)


def list_metrics(words: Sequence[str], *, sensitive: bool) -> tuple[str, ...]:
    """The metrics that a policy's `metrics` asks for.

    Args:
        words: of the policy; `ALL` is every metric that can be measured.
        sensitive: the release has a sensitive column.
    """
    return tuple(
        name
        for name, metric in METRICS.items()
        if metric.asked and (name in words or (ALL in words and (sensitive or not metric.sensitive)))
    )


METRICS: Registry[MetricDeclaration] = Registry(
    "metric",
    (
        _declare_builtin("ncp", "NCP", "Mean of NCP over attributes and rows."),
        _declare_builtin("gcp", "GCP", "NCP weighted, a mean over rows."),
        _declare_builtin("dm", "DISCERNABILITY", "Sum of squared class sizes."),
        _declare_builtin("c_avg", "AVERAGE_CLASS", "Mean class size, in units of k."),
        _declare_builtin("lm", "LM", "Iyengar's loss, weighted, a mean over rows."),
        _declare_builtin("il1", "AVERAGE_EXTENT", "Mean NCP of a class."),
        _declare_builtin("il_inf", "LARGEST_EXTENT", "Largest NCP of a class."),
        _declare_builtin("il_sum", "SUM_OF_EXTENTS", "Sum of the NCP of all classes."),
        _declare_builtin("weighted_max_ncp", "WEIGHTED_MAXIMUM", "Largest rows x NCP of a class."),
        _declare_builtin("avg_ncp", "AVERAGE_NCP", "Mean NCP over classes and attributes."),
        _declare_builtin("weighted_avg_volume", "VOLUME", "Mean over rows of the product of NCP."),
        _declare_asked(
            "am",
            "ambiguity:Ambiguity",
            "AM, the ambiguity metric: mean over rows of the combinations of values that they could be.",
        ),
        _declare_asked(
            "lm_values", "ambiguity:LossOfValues", "LM by distinct values: mean over cells of (|R| - 1) / (|A| - 1)."
        ),
        _declare_asked(
            "level",
            "ambiguity:Level",
            "Mean over cells of the level that is published, as a share of the hierarchy's height.",
        ),
        _declare_asked("mi_loss", "information:MILoss", "Bits about the source's value that a cell lost, on average."),
        _declare_asked(
            "sse",
            "squared_error:SquaredError",
            "SSE / SST: squared distances of numbers from the means of their classes, as a share of those from the "
            "mean of all rows.",
        ),
        MetricDeclaration(
            "least_gcp",
            "GCP that no release of the table has less than, from the narrowest box of k rows around each row.",
            "sqlanon.loss.bounds:LeastGCP",
            asked=True,
            bounds=True,
        ),
        _declare_asked(
            "pmi_loss",
            "information:PMILoss",
            "Bits about the sensitive value that a cell leaves open, on average.",
            sensitive=True,
        ),
        _declare_asked(
            "pmi_lost",
            "information:PMILost",
            "pmi_loss minus the same of the source's own values; may be negative.",
            sensitive=True,
        ),
        _declare_asked(
            "pmi_max",
            "information:PMIMaximum",
            "Bits about the sensitive value that one column gives, at most.",
            sensitive=True,
        ),
        _declare_asked(
            "pmi_l2",
            "information:PMIRoot",
            "Bits about the sensitive value that columns give, as the root of the mean square over them.",
            sensitive=True,
        ),
        _declare_asked(
            "cm",
            "diversity:Classification",
            "Share of rows that are suppressed, or have another sensitive value than the most frequent one of their "
            "class.",
            sensitive=True,
        ),
        _declare_asked(
            "sensitive_entropy",
            "diversity:EntropyOfClasses",
            "Entropy of a class's sensitive values in bits, mean over classes.",
            sensitive=True,
        ),
        _declare_asked(
            "sensitive_entropy_rows",
            "diversity:EntropyOfRows",
            "Entropy of a class's sensitive values in bits, mean over rows.",
            sensitive=True,
        ),
    ),
    "sqlanon.metrics",
)
"""Every metric by name.

Those of the package that are always measured have a field each in `LossReport`; the others are in its ``more`` and
``sensitive``.
"""


class MetricNames(Collection[str]):
    """Values of a policy's `metrics`: names of metrics that are measured when they are asked for, and `ALL`."""

    def __iter__(self) -> Iterator[str]:
        yield from (name for name, metric in METRICS.items() if metric.asked)
        yield ALL

    def __contains__(self, word: object) -> bool:
        return any(word == name for name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
