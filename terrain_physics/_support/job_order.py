"""The order in which several processes go through the same jobs, with little done twice."""


def job_order(jobs: int, number: int, processes: int) -> list[int]:
    """Return in which order one of several processes does the jobs.

    They go in pairs, one forwards and one backwards from the same place: these two meet once. Two
    that went the same way would go on together from where one has caught up with the other, and
    compile everything twice.
    """
    pair, is_second = divmod(number, 2)
    first = jobs * pair // ((processes + 1) // 2)
    order = [*range(first, jobs), *range(first)]
    return order[::-1] if is_second else order
