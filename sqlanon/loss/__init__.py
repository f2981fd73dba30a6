"""Information loss: how much a release gives away of the source's detail. Many metrics, one scan of the class boxes.

A metric that every run measures contributes SQL aggregates over the classes and finishes them in Python (`base`,
`measure`). Others are measured where a policy asks for them, of counts that a run else does not need (`facts`).
`measure_extents` gives the widest class of each column in the column's own units.
"""

from __future__ import annotations

from sqlanon.declared import METRICS
from sqlanon.loss.base import AskedMetric, Attribute, Metric
from sqlanon.loss.extents import Extent, measure_extents
from sqlanon.loss.facts import Facts, OfValue
from sqlanon.loss.joint import Joint, joint_counts
from sqlanon.loss.measure import measure, measure_asked
from sqlanon.loss.row_losses import count_stars, measure_classification, reconstruction_error
