"""Answers about directed graphs with lengths, by the plainest algorithms. Standard library only."""

import heapq
import math

Edges = list[dict[int, float]]
"""For each node the nodes that its edges lead to, with their lengths."""


def reversed_edges(edges: Edges) -> Edges:
    """Return the graph with all its edges turned round."""
    turned: Edges = [{} for _ in edges]
    for node, ends in enumerate(edges):
        for end, length in ends.items():
            turned[end][node] = length
    return turned


def distances(edges: Edges, starts: list[int]) -> list[float]:
    """Return the length of the shortest way from any of the starts to each node: Dijkstra's."""
    found = [math.inf] * len(edges)
    queue = [(0.0, start) for start in starts]
    while queue:
        far, node = heapq.heappop(queue)
        if far >= found[node]:
            continue
        found[node] = far
        for end, length in edges[node].items():
            heapq.heappush(queue, (far + length, end))
    return found


def parts(edges: Edges) -> list[int]:
    """Return the strongly connected part of each node, numbered from 1 by its first node."""
    ahead = [reachable(edges, node) for node in range(len(edges))]
    numbers = [0] * len(edges)
    count = 0
    for node in range(len(edges)):
        if numbers[node]:
            continue
        count += 1
        for other in ahead[node]:
            if node in ahead[other]:
                numbers[other] = count
    return numbers


def reachable(edges: Edges, start: int) -> set[int]:
    """Return all nodes that one leads to, itself among them."""
    found, waiting = {start}, [start]
    while waiting:
        for end in edges[waiting.pop()]:
            if end not in found:
                found.add(end)
                waiting.append(end)
    return found
