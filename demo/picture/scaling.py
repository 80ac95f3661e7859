"""Shares of its size that a picture is drawn at, before it is enlarged."""

LEAST_SCALE = 0.5
LEAST_PIXELS = 16
"""No picture is narrower or lower."""


def checked_scale(share: float) -> float:
    """Return a share that a picture can be drawn at."""
    if not LEAST_SCALE <= share <= 1.0:
        raise ValueError(f"scale must be from {LEAST_SCALE} to 1, got {share!r}")
    return share


def scaled(size: tuple[int, int], scale: float) -> tuple[int, int]:
    """Return the size that is drawn, of a picture of a size."""
    width, height = (max(round(scale * pixels), LEAST_PIXELS) for pixels in size)
    return width, height
