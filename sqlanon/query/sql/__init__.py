"""SQL trees and questions about them: trees from texts, types, forms of quantiles, the order of text."""

import logging

_ZONES = "timezone handling differences"
"""The parser warns of parts of times with a zone; all sessions here are in UTC, where they are the same."""

logging.getLogger("sqlglot").addFilter(lambda record: _ZONES not in record.getMessage())
