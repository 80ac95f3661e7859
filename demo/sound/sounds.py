"""What is heard of the player: footsteps and landings, as the ground is made."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pygame

from ..scenery.bodies import Floats
from ..scenery.player import RUN, Player
from ..scenery.scene import Scene
from .audio_driver import AUDIO_DRIVER
from .timbres import RATE, VARIANTS, footstep, landing

_SLOWEST = 0.3  # the volume of the slowest step
_SOFT, _HARD = 2.5, 14.0  # m/s, of a landing that is not heard yet, and of the loudest
_BUFFER = 512  # samples; a step is heard 12 ms late


class Noise(NamedTuple):
    """One sound, and how loud it is."""

    make: Callable[[str, int], Floats]
    material: str
    variant: int
    volume: float  # 0 to 1


def noise_of(scene: Scene) -> Noise | None:
    """Return what the player's last step is heard by, if it is heard at all."""
    player = scene.player
    if player is None:
        return None
    if player.body.result.just_landed:
        return _landing(player)
    if player.foot_down:
        share = min(1.0, player.body.speed / RUN)
        volume = _SLOWEST + (1.0 - _SLOWEST) * share
        return Noise(footstep, _material(player), player.footsteps % VARIANTS, volume)
    return None


def _landing(player: Player) -> Noise | None:
    speed = player.body.mover.ground_report().landing_speed
    if speed <= _SOFT:
        return None
    volume = min(1.0, (speed - _SOFT) / (_HARD - _SOFT))
    return Noise(landing, _material(player), player.footsteps % VARIANTS, volume)


def _material(player: Player) -> str:
    """Return the name of what the player stands on; "" if it has none."""
    return player.body.mover.ground_report().material_name or ""


class Sounds:
    """Plays what is heard; the sound card is opened when that is wanted for the first time."""

    def __init__(self) -> None:
        self.on = False
        self._made = cache(_made)

    def toggle(self) -> str:
        """Turn sound on or off; return what came of it, in words."""
        if self.on:
            self.on = False
            pygame.mixer.stop()
            return "sound: off"
        AUDIO_DRIVER.allow()
        try:
            pygame.mixer.init(RATE, -16, 1, _BUFFER, allowedchanges=0)
        except (pygame.error, NotImplementedError) as error:  # no card, or no mixer in this pygame
            AUDIO_DRIVER.silence()
            return f"sound: off, as no sound card can be opened ({error})"
        self.on = True
        return "sound: on"

    def hear(self, scene: Scene) -> None:
        """Play what the last step of a scene is heard by."""
        noise = noise_of(scene) if self.on else None
        if noise is None:
            return
        sound = self._made(noise.make, noise.material, noise.variant)
        sound.set_volume(noise.volume)
        sound.play()


def _made(make: Callable[[str, int], Floats], material: str, variant: int) -> "pygame.mixer.Sound":
    samples = np.rint(32767.0 * make(material, variant)).astype(np.int16)
    return pygame.mixer.Sound(buffer=samples.tobytes())
