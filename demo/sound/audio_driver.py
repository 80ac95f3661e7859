"""Whether SDL looks for a sound card: not before sound is wanted. No pygame."""

import os

_VARIABLE = "SDL_AUDIODRIVER"


class AudioDriver:
    """SDL's driver as this process has it; one that the user chose stays."""

    def __init__(self) -> None:
        self._is_ours = False

    def silence(self) -> None:
        """Let SDL look for no card."""
        if _VARIABLE not in os.environ:
            os.environ[_VARIABLE], self._is_ours = "dummy", True

    def allow(self) -> None:
        """Let SDL look for a card."""
        if self._is_ours:
            os.environ.pop(_VARIABLE, None)
            self._is_ours = False


# A process has one environment.
AUDIO_DRIVER = AudioDriver()
