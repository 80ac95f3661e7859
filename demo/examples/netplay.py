"""Two players over a network, by rollback: two processes, two windows, one world to the last bit.

Each side plays on at once with the keys that it knows, and takes it that the other's are held as
before. When true ones come that are others, it goes back to that frame and plays it again with
them: `Rewind`. Only keys are sent, by UDP, each again and again until the other side has it, and
now and then a hash of a frame of which all keys are known. Packets arrive late and some never:
that is drawn from the seed.

WASD or arrows, Space, E to dig, Q to build a crate, Esc; a player plays by itself until a key is
pressed. Windows need the extra ``demo``. ``--headless`` runs without; ``--speed 10`` ten times as
fast as it would. ``--picture OUT.png`` draws what the first player sees at the end.
"""

import argparse
import heapq
import math
import multiprocessing
import os
import random
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terrain_physics import FixedStep, Rewind

from ._drawing import import_pygame, save_frame
from ._netplay_match import STEP, Match, autopilot, held_keys

LOSS, LATEST = 0.1, 0.2  # the share of packets that never arrive; seconds that others take at most
CHECKED = 10  # a hash is compared every so many frames
AHEAD = 40  # frames that a side plays beyond the last keys that it knows of the other
SILENCE = 120.0  # seconds without a packet after which the other is gone; a first start compiles
FAREWELLS = 60  # packets to send after the end, as some are lost
SIZE = (640, 400)
_HEADER = struct.Struct("!IIiII8s")  # as in `Packet`, before the keys

Address = tuple[str, int]


class DesyncError(Exception):
    """Both sides have the same keys, and other worlds."""


@dataclass
class Packet:
    """What one side tells the other: all keys that it may not have yet, and a hash."""

    first: int  # the frame of the first of these keys
    known: int  # the number of frames of which the sender has the other's keys
    lead: int  # frames that the sender is ahead of the last keys that it has
    confirmed: int  # the number of frames of which the sender has all keys, and has played
    hashed: int  # a frame of these, and the hash of the world as it began
    digest: bytes
    keys: bytes

    def to_bytes(self) -> bytes:
        numbers = self.first, self.known, self.lead, self.confirmed, self.hashed, self.digest
        return _HEADER.pack(*numbers) + self.keys

    @classmethod
    def of_bytes(cls, data: bytes) -> "Packet":
        first, known, lead, confirmed, hashed, digest = _HEADER.unpack_from(data)
        return cls(first, known, lead, confirmed, hashed, digest, data[_HEADER.size :])


class Wire:
    """A socket whose packets come late, in any order, or never."""

    def __init__(self, own: socket.socket, other: Address, seed: str) -> None:
        self._own, self._other, self._random = own, other, random.Random(seed)  # noqa: S311
        self._under_way: list[tuple[float, int, bytes]] = []
        self.sent = self.lost = 0
        own.settimeout(0.0)

    def send(self, data: bytes, now: float) -> None:
        """Send a packet on its way, which takes a while."""
        self.sent += 1
        if self._random.random() < LOSS:
            self.lost += 1
        else:
            late = now + self._random.uniform(0.0, LATEST)
            heapq.heappush(self._under_way, (late, self.sent, data))

    def received(self, now: float) -> list[bytes]:
        """Let own packets arrive that are due; return those of the other that have arrived."""
        while self._under_way and self._under_way[0][0] <= now:
            self._own.sendto(heapq.heappop(self._under_way)[2], self._other)
        packets: list[bytes] = []
        while True:
            try:
                data, sender = self._own.recvfrom(2048)
            except BlockingIOError:
                return packets
            except ConnectionError:  # the other is gone, or not there yet
                continue
            if sender == self._other and len(data) >= _HEADER.size:
                packets.append(data)


class Session:
    """One side of a match: its world, the keys of both, and what it has agreed on."""

    def __init__(self, side: int) -> None:
        self.side, self.match = side, Match()
        self.frame = 0  # the next one to be played
        self.rewind = Rewind(self.match.world, frames=AHEAD + 24)
        self.keys = bytearray(), bytearray()  # of each side, as far as they are known
        self.acknowledged = self.their_lead = self.their_confirmed = 0
        self.agreed = -1  # the last frame whose hash is the same on both sides
        self.compared = self.went_back = self.played_again = self.farthest = 0
        self._used = bytearray()  # the other's keys that each frame was played with
        self._hashes: dict[int, bytes] = {}  # of frames as they began; may still change
        self._theirs: dict[int, bytes] = {}  # their hashes, not compared yet

    @property
    def confirmed(self) -> int:
        """The number of frames that are final: all of their keys are known."""
        return min(self.frame, len(self.keys[1 - self.side]))

    @property
    def lead(self) -> int:
        """Frames that this side has played beyond the other's keys that it has."""
        return self.frame - len(self.keys[1 - self.side])

    def advance(self, held: int) -> None:
        """Play the next frame with these own keys."""
        self.keys[self.side].append(held)
        self.rewind.save(self.frame)
        self._step(self.frame)
        self.frame += 1
        self._note_hash(self.frame)

    def hear(self, packets: list[bytes]) -> None:
        """Take over what the other side tells; play again what was played with other keys."""
        theirs = self.keys[1 - self.side]
        known = len(theirs)
        for packet in map(Packet.of_bytes, packets):
            if packet.first <= len(theirs):
                theirs += packet.keys[len(theirs) - packet.first :]
            self.acknowledged = max(self.acknowledged, packet.known)
            self.their_confirmed = max(self.their_confirmed, packet.confirmed)
            self.their_lead = packet.lead
            self._theirs[packet.hashed] = packet.digest
        played = range(known, min(len(theirs), self.frame))
        wrong = next((frame for frame in played if theirs[frame] != self._used[frame]), None)
        if wrong is not None:
            self.rewind.replay(wrong, self.frame, self._step)
            self._note_hash(self.frame)
            self.went_back += 1
            self.played_again += self.frame - wrong
            self.farthest = max(self.farthest, self.frame - wrong)
        self._compare()

    def packet(self) -> bytes:
        """Return what is to be sent now."""
        hashed = self.confirmed - self.confirmed % CHECKED
        digest = self._hashes.get(hashed, bytes(8))
        own = bytes(self.keys[self.side][self.acknowledged :])
        told = self.acknowledged, len(self.keys[1 - self.side]), self.lead, self.confirmed
        return Packet(*told, hashed, digest, own).to_bytes()

    def _step(self, frame: int) -> None:
        """Play a frame: with the other's keys as they are known now, or as they were last."""
        self._note_hash(frame)
        theirs = self.keys[1 - self.side]
        guess = theirs[min(frame, len(theirs) - 1)] if theirs else 0
        self._used[frame:] = bytes([guess])
        own = self.keys[self.side][frame]
        self.match.step(frame, (own, guess) if self.side == 0 else (guess, own))

    def _note_hash(self, frame: int) -> None:
        if frame % CHECKED == 0:
            self._hashes[frame] = bytes.fromhex(self.match.world.state_hash())

    def _compare(self) -> None:
        """Compare the other's hashes with own ones of frames that are final."""
        for frame in [frame for frame in self._theirs if frame <= self.confirmed]:
            digest = self._theirs.pop(frame)
            if digest == bytes(8) or frame <= self.agreed or frame not in self._hashes:
                continue  # none yet; or compared before
            if self._hashes[frame] != digest:
                raise DesyncError(f"frame {frame} has another hash on side {self.side}")
            self.agreed, self.compared = frame, self.compared + 1
            for older in [known for known in self._hashes if known < frame]:
                del self._hashes[older]


@dataclass
class Options:
    """What the command line asks for."""

    seconds: float = 60.0
    speed: float = 1.0
    seed: int = 1
    headless: bool = False
    picture: Path | None = None


class Window:
    """A player's window: keys in, pictures out."""

    def __init__(self, side: int) -> None:
        os.environ.setdefault("SDL_VIDEO_WINDOW_POS", f"{40 + side * (SIZE[0] + 20)},80")
        self._pygame: Any = import_pygame()
        from ..renderers import open_renderer

        self._pygame.init()
        self._renderer = open_renderer("auto", SIZE, visible=True)
        self._pygame.display.set_caption(f"netplay: {('west', 'east')[side]}")
        self.is_steered = self.is_closed = False

    def keys(self) -> int:
        """Return the keys that are held now."""
        for event in self._pygame.event.get():
            is_key = event.type == self._pygame.KEYDOWN
            if event.type == self._pygame.QUIT or (is_key and event.key == self._pygame.K_ESCAPE):
                self.is_closed = True
            self.is_steered |= is_key
        return held_keys(self._pygame)

    def show(self, session: Session) -> None:
        """Draw the world as this side sees it."""
        text = f"frame {session.frame}, {session.lead} ahead, went back {session.went_back} times"
        self._renderer.draw(session.match.draw(session.side, text))
        self._renderer.present()


def play(side: int, own: socket.socket, other: Address, options: Options) -> str:
    """Play a match to its end; return what there is to tell."""
    session, last = Session(side), round(options.seconds / STEP)
    wire = Wire(own, other, f"{options.seed} {side}")
    window = None if options.headless else Window(side)
    clock, begun = FixedStep(STEP), time.perf_counter()
    heard_at = before = now = 0.0
    left, waits = FAREWELLS, 0  # packets to send after the end; steps not to wait in
    while left > 0:
        before, now = now, (time.perf_counter() - begun) * options.speed
        packets = wire.received(now)
        heard_at = now if packets else heard_at
        session.hear(packets)
        for _ in clock.steps(now - before):
            held = autopilot(options.seed, side, session.frame)
            if window is not None:
                pressed = window.keys()
                held = pressed if window.is_steered else held
            waits = max(waits - 1, -1)
            if waits < 0 and session.lead > session.their_lead + 2:
                waits = 10  # this clock is ahead of the other: let one step out, then see
            elif session.frame < last and session.lead < AHEAD:
                session.advance(held)
            wire.send(session.packet(), now)
            left -= min(session.confirmed, session.their_confirmed) == last
        if now - heard_at > SILENCE * max(options.speed, 1.0):
            if session.confirmed == last:
                break  # the other has ended, and its last packets were lost
            raise TimeoutError(f"side {side} has not heard of the other for {SILENCE:g} s")
        if window is not None:
            window.show(session)
            if window.is_closed:
                break
        time.sleep(0.0005)
    wire.received(math.inf)  # what is under way arrives
    if options.picture and side == 0:
        save_frame(session.match.draw(side, f"frame {session.frame}"), options.picture)
    return _told(session, wire, now)


def _told(session: Session, wire: Wire, seconds: float) -> str:
    mean = session.played_again / max(session.went_back, 1)
    return (
        f"{('west', 'east')[session.side]}: {session.frame:,} frames in {seconds:.0f} s, "
        f"{wire.sent:,} packets of which {wire.lost:,} were lost, went back "
        f"{session.went_back:,} times, {mean:.1f} frames on average, {session.farthest} at most; "
        f"{session.compared:,} hashes compared, all equal; "
        f"{sum(session.match.world.extra)} crates built"
    )


def _play_to(pipe: Any, *given: Any) -> None:
    """Play in a process of its own, and tell by a pipe what came of it."""
    try:
        pipe.send((play(*given), ""))
    except (DesyncError, TimeoutError, ValueError) as error:
        pipe.send(("", f"{type(error).__name__}: {error}"))


def run(options: Options) -> list[str]:
    """Play with both sides, each in a process; return what they tell."""
    context = multiprocessing.get_context("spawn")
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ends, children = [], []
    for side, own in enumerate(sockets):
        end, theirs = context.Pipe(duplex=False)
        given = theirs, side, own, sockets[1 - side].getsockname(), options
        children.append(context.Process(target=_play_to, args=given, daemon=True))
        children[-1].start()
        theirs.close()
        ends.append(end)
    told: list[str] = []
    for end in ends:
        with suppress(EOFError):  # it has ended without a word, and says why on stderr
            told.append("\n".join(filter(None, end.recv())))
    for child in children:
        child.join()
    if len(told) < 2 or any("hashes compared" not in line for line in told):
        raise SystemExit("\n".join(told) or "a side has ended")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headless", action="store_true", help="without windows")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the match; default: 60")
    parser.add_argument("--speed", type=float, default=1.0, help="times as fast; default: 1")
    parser.add_argument("--seed", type=int, default=1, help="of the players and the network")
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the end")
    print(*run(Options(**vars(parser.parse_args()))), sep="\n")


if __name__ == "__main__":
    main()
