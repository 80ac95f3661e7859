"""The rest of the code, which is compiled while the game runs: other scenes, views, queries."""

from .helper import Helper

_WORDS = "compiling the rest, once"


class Background:
    """Another process at work, which leaves the processor to the game first."""

    def __init__(self, name: str, kind: str) -> None:
        self.share, self.words = 0.0, _WORDS
        self._is_told = False
        self._helper = Helper("rest", name, kind, self._hear, gives_way=True)

    def _hear(self, line: str) -> None:
        share, tab, words = line.partition("\t")
        if tab:
            self.share, self.words = float(share), f"{_WORDS}: {words}"

    @property
    def is_working(self) -> bool:
        """Whether there is more to compile."""
        return self._helper.is_working

    def news(self) -> str:
        """Return what the user is to be told, once: why it failed."""
        if self.is_working or self._is_told:
            return ""
        self._is_told = True
        if failure := self._helper.failure:
            return f"code is compiled when it is needed, since another process failed: {failure}"
        return ""

    def end(self) -> None:
        """Stop it."""
        self._helper.end()
