"""A cluster of two processes, for all tests here, and small ranges."""

import pytest


@pytest.fixture(scope="session")
def two_workers():
    """Return a client of a cluster of two processes of one thread each."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
