"""Information loss: how much a release gives away of the source's detail. Many metrics, one scan of the class boxes.

Every metric contributes SQL aggregates over the classes and finishes them in Python; `sqlanon.loss.extents` gives the widest
class of each column in the column's own units.
"""

from __future__ import annotations

from sqlanon.declared import METRICS
from sqlanon.loss.counted import classification, reconstruction_error, stars
from sqlanon.loss.extents import Extent, extents
from sqlanon.loss.metrics import Attribute, Metric, measure

__all__ = [
    "METRICS",
    "Attribute",
    "Extent",
    "Metric",
    "classification",
    "extents",
    "measure",
    "reconstruction_error",
    "stars",
]
