"""A cluster of two processes, for all tests here, and small ranges."""

from pathlib import Path

import pytest

from tests.helpers.extras import library


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests, which import Dask, where they are not asked for."""
    is_test = collection_path.name.startswith("test_")
    return True if is_test and "not cluster" in config.getoption("markexpr") else None


@pytest.fixture(scope="session")
def two_workers():
    """Return a client of a cluster of two processes of one thread each."""
    distributed = library("distributed", "dask")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
