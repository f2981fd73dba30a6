"""What tests of benchmarks share."""

from pathlib import Path

import pytest

from examples.sources import DataMissingError, data_folder


@pytest.fixture
def data() -> Path:
    """The public data, or a skip that says where it was looked for."""
    try:
        return data_folder()
    except DataMissingError as missing:
        pytest.skip(str(missing))
