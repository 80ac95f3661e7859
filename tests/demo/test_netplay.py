"""The example of a network game: both sides agree, and tell when they do not."""

import random
import socket
from typing import Any

import pytest

from demo.examples import netplay
from demo.examples._netplay_match import BUILD, DIG, JUMP, LEFT, UP, Match, autopilot
from demo.examples.netplay import AHEAD, CHECKED, DesyncError, Packet, Session, Wire
from tests.helpers.examples import rest_is_full, times
from tests.helpers.extras import library


def both(frames: int, seed: int, worst: int = 12) -> tuple[Session, Session]:
    """Play so many frames with both sides in this process, by packets that come late or never."""
    sides, drawn = (Session(0), Session(1)), random.Random(seed)  # noqa: S311
    under_way: list[tuple[int, int, bytes]] = []
    for tick in range(3 * frames + 200):
        for session in sides:
            due = [data for when, to, data in under_way if when <= tick and to == session.side]
            under_way = [each for each in under_way if each[0] > tick or each[1] != session.side]
            drawn.shuffle(due)
            session.hear(due)
            if session.frame < frames and session.lead < AHEAD and drawn.random() < 0.9:
                session.advance(autopilot(seed, session.side, session.frame))
            if drawn.random() > 0.1:
                late = tick + drawn.randint(0, worst)
                under_way.append((late, 1 - session.side, session.packet()))
        if min(min(each.confirmed, each.their_confirmed) for each in sides) == frames:
            break
    return sides


@pytest.mark.parametrize("worst", rest_is_full((12, 0, 60)))
def test_both_sides_see_the_same_match(worst: int) -> None:
    frames = times(600) // CHECKED * CHECKED
    west, east = both(frames, 3, worst)
    assert west.confirmed == east.confirmed == frames
    assert west.match.world.state_hash() == east.match.world.state_hash()
    assert min(west.compared, east.compared) >= frames // CHECKED - 1 - worst // 4
    if worst:
        assert min(west.went_back, east.went_back) > 0
        assert max(west.farthest, east.farthest) > 3


def test_the_match_has_all_that_a_rollback_must_take_back() -> None:
    match = Match()
    land: Any = match.ground.parts[0]
    before = match.world.state(), match.world.state_hash(), land.version
    for frame in range(120):
        match.step(frame, (LEFT | DIG | BUILD, UP | JUMP | BUILD))
    assert len(match.ground.parts) > 6  # crates
    assert sum(match.world.extra) == len(match.ground.parts) - 4
    assert land.changes_since(before[2])  # craters
    match.world.restore(before[0])
    assert match.world.state_hash() == before[1]
    assert len(match.ground.parts) == 4


def test_another_world_with_the_same_keys_is_told() -> None:
    west, east = Session(0), Session(1)
    east.match.crowd["chaser 3"].position = (30, 2, 30)
    with pytest.raises(DesyncError, match="frame"):
        _play_at_once(west, east)


def _play_at_once(west: Session, east: Session) -> None:
    """Play with a network that takes no time."""
    for frame in range(60):
        for session, other in ((west, east), (east, west)):
            session.advance(autopilot(1, session.side, frame))
            other.hear([session.packet()])


def test_packets_come_late_in_any_order_or_never() -> None:
    ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for end in ends:
        end.bind(("127.0.0.1", 0))
    wires = [Wire(end, ends[1 - k].getsockname(), f"seed {k}") for k, end in enumerate(ends)]
    packets = [Packet(k, 0, -3, 0, 0, bytes(8), b"keys").to_bytes() for k in range(400)]
    for k, data in enumerate(packets):
        wires[0].send(data, 0.001 * k)
    came: list[bytes] = []
    for tick in range(700):
        wires[0].received(0.001 * tick)
        came += wires[1].received(0.001 * tick)
    for end in ends:
        end.close()
    assert 0 < wires[0].lost < 100
    assert len(came) == 400 - wires[0].lost
    assert set(came) <= set(packets)
    assert came != sorted(came, key=packets.index)
    assert [Packet.of_bytes(data).lead for data in came[:3]] == [-3] * 3


def test_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame = library("pygame", "demo")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window: Any = netplay.Window(1)
    session, event = Session(1), pygame.event.Event
    monkeypatch.setattr(pygame.event, "get", lambda: [event(pygame.KEYDOWN, key=pygame.K_w)])
    assert window.keys() == 0  # held keys are asked of the keyboard
    assert window.is_steered
    assert not window.is_closed
    session.advance(UP)
    window.show(session)
    monkeypatch.setattr(pygame.event, "get", lambda: [event(pygame.KEYDOWN, key=pygame.K_ESCAPE)])
    window.keys()
    assert window.is_closed
    pygame.quit()
