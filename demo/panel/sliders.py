"""The sliders of the panel: rules of the scene, and how fast its time passes."""

import math
from collections.abc import Iterator

from ..scenery.inputs import RESOLVERS, Rules
from .widgets import Slider


class Sliders:
    """Gravity, slope limit, step height, resolver and time scale, from top to bottom."""

    def __init__(self, rules: Rules) -> None:
        self.gravity = Slider("gravity", 0.0, 30.0, rules.gravity, "{:.1f} m/s\u00b2".format)
        self.slope = Slider(
            "slope limit", 0.0, 90.0, math.degrees(rules.slope_limit), "{:.0f}\u00b0".format
        )
        self.step = Slider("step height", 0.0, 1.0, rules.step_offset, "{:.2f} m".format)
        self.resolver = Slider(
            "resolver",
            0.0,
            len(RESOLVERS) - 1.0,
            float(RESOLVERS.index(rules.resolver)),
            lambda value: RESOLVERS[int(value)],
            RESOLVERS,
        )
        self.time = Slider("time scale", 0.0, 2.0, 1.0, "{:.2f}".format)
        self.dragged: Slider | None = None
        self._first = rules

    def __iter__(self) -> Iterator[Slider]:
        return iter((self.gravity, self.slope, self.step, self.resolver, self.time))

    def rules(self) -> Rules:
        """Return what the sliders say; untouched ones keep the scene's exact numbers."""
        first = self._first
        slope = self.slope.value
        return Rules(
            gravity=self.gravity.value,
            slope_limit=(
                first.slope_limit
                if slope == math.degrees(first.slope_limit)
                else math.radians(slope)
            ),
            step_offset=self.step.value,
            resolver=RESOLVERS[int(self.resolver.value)],
        )

    def press(self, place: tuple[int, int]) -> bool:
        """Begin to drag the slider there; tell whether there is one."""
        for slider in self:
            if slider.rect is not None and slider.rect.inflate(8, 8).collidepoint(place):
                self.dragged = slider
                slider.drag(place[0])
                return True
        return False

    def look(self) -> tuple[float, ...]:
        """Return what is seen of them."""
        return tuple(slider.value for slider in self)
