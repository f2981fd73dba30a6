"""The one place that names the version; the wheel and ``sqlanon --version`` read it."""

__version__ = "0.2.0"
