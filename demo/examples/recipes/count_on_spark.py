"""Counting on Spark: the counter is broadcast, and ``mapInArrow`` counts batches of spheres.

Needs ``pip install pyspark pyarrow pandas`` and Java 17.
``python -m demo.examples.recipes.count_on_spark``
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import SparkSession

from terrain_physics import TouchCounter

from ..count_in_processes import scene

COLUMNS = ["r", "x", "y", "z"]


def main() -> None:
    triangles, spheres = scene(20_000, 40_000)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else tasks take the system's Python
    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    # One thread in each task: Spark runs as many tasks as there are processors.
    shared = spark.sparkContext.broadcast(TouchCounter(triangles, threads=1))

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            rows = np.column_stack([batch.column(name).to_numpy() for name in COLUMNS])
            counts = pa.array(shared.value.count(rows))
            yield pa.RecordBatch.from_arrays([batch.column("id"), counts], ["id", "count"])

    table = pd.DataFrame(spheres, columns=COLUMNS).assign(id=np.arange(len(spheres)))
    counted = spark.createDataFrame(table).repartition(8).mapInArrow(count, "id long, count long")
    found = counted.toPandas().sort_values("id")
    spark.stop()
    print(f"{len(found)} spheres: {found['count'].sum()} pairs touch")
    if not np.array_equal(found["count"], TouchCounter(triangles).count(spheres)):
        raise SystemExit("the counts differ")
    print("the same for every sphere as in one process")


if __name__ == "__main__":
    main()
