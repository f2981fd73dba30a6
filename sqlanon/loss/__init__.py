"""Information loss: how much a release gives away of the source's detail. Many metrics, one scan of the class boxes.

Every metric contributes SQL aggregates over the box table (class, n, ncp_<code>, lm_<code>) and finishes them in Python.
"""

from __future__ import annotations

from sqlanon.loss.metrics import METRICS, Attribute, Metric, measure, reconstruction_error

__all__ = ["METRICS", "Attribute", "Metric", "measure", "reconstruction_error"]
