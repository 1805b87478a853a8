"""The virtual card, and captures that are executed on it."""

from __future__ import annotations

import os
from typing import Any, Iterable, Iterator, Optional, Union

import numpy

from . import _native
from ._records import Event

__all__ = ["Capture", "Card"]


class Card:
    """A virtual card, with its registers and buffers, as the kernel's driver leaves it when it starts.

    ``engine`` runs fragment programs (``fast``, ``jit``, ``reference``: all draw the same bits), ``chip`` is ``rv515``, ``rv530``,
    ``r520`` or ``r580``. A submission that the kernel's radeon driver would refuse is an ``r500.Refused``, unless ``checked`` is false.
    A card belongs to one thread at a time; different cards work at the same time.
    """

    def __init__(self, engine: Optional[str] = None, chip: Optional[str] = None, checked: bool = True) -> None:
        self._native = _native.Card(engine, chip, checked)

    def set_reading(self, name: str, value: str) -> None:
        """Chooses a rule that the documents leave open, as ``--reading NAME=VALUE`` does."""
        self._native.set_reading(name, value)

    def set_time_limit(self, seconds: Optional[float]) -> None:
        """Sets the time that a submission may take; None for any time. At first it is 120 seconds."""
        self._native.set_time_limit(seconds)

    def create_buffer(self, size: int) -> int:
        """Creates a buffer of zeros, in bytes, rounded up to pages of 4096. Returns its name for relocations."""
        return self._native.create_buffer(size)

    def close_buffer(self, name: int) -> None:
        """Closes a buffer: its name is no longer one of the card."""
        self._native.close_buffer(name)

    def buffer_size(self, name: int) -> int:
        """The bytes of a buffer."""
        return self._native.buffer_size(name)

    def set_tiling(self, name: int, flags: int, pitch: int) -> None:
        """Sets the tiling of a buffer, as the request DRM_RADEON_GEM_SET_TILING does."""
        self._native.set_tiling(name, flags, pitch)

    def write(self, name: int, data: Any, offset: int = 0) -> None:
        """Copies bytes, or an array, into a buffer. They must end inside it."""
        if not isinstance(data, bytes):
            data = numpy.ascontiguousarray(data).tobytes()
        self._native.write_buffer(name, offset, data)

    def read(self, name: int, offset: int = 0, size: Optional[int] = None) -> bytes:
        """Copies bytes out of a buffer; all from the offset if there is no size."""
        if size is None:
            size = max(0, self.buffer_size(name) - offset)
        return self._native.read_buffer(name, offset, size)

    def submit(
        self,
        words: "Iterable[int]",
        relocations: "Iterable[tuple[int, int, int, int]]" = (),
        flags: int = 0,
    ) -> None:
        """Executes a submission to its end, as the request DRM_RADEON_CS does: the dwords of the stream, the relocations that they name
        (buffer, read domains, write domain, flags), and the dword of flags. What a real card would not do so is in ``notes()``."""
        self._native.submit(list(words), list(relocations), flags)

    def check(
        self,
        words: "Iterable[int]",
        relocations: "Iterable[tuple[int, int, int, int]]" = (),
        flags: int = 0,
    ) -> None:
        """Checks a submission as the kernel's driver does, and executes nothing; raises ``r500.Refused`` with the reason."""
        self._native.check(list(words), list(relocations), flags)

    def target(self, n: int = 0) -> "numpy.ndarray[Any, Any]":
        """Render target 0 to 3 by the registers of the last draw: (height, width, 4) floats, the first row in memory first."""
        width, height, colors = self._native.target(n)
        return numpy.frombuffer(colors, "<f4").reshape(height, width, 4)

    def notes(self) -> "list[str]":
        """What was not drawn as a real card does it."""
        return self._native.notes()

    def statistics(self) -> str:
        """The numbers of submissions, draws, vertices, primitives, quads and samples so far."""
        return self._native.statistics()


class Capture:
    """A capture (``.r5cs``: a path or bytes), executed on a card event by event. Its buffers may take 2 GiB together.

    >>> for event in r500.Capture("demo.r5cs"):              # doctest: +SKIP
    ...     if event.kind == "frame":
    ...         show(event.picture)
    """

    def __init__(self, source: "Union[bytes, str, os.PathLike[str]]", card: Optional[Card] = None) -> None:
        self.card = card or Card()
        """The card, with what the last event left."""
        self.truncated = False
        """Whether the file ended inside of a record, as that of a program that crashed may; known at the end."""
        path = None if isinstance(source, bytes) else os.fspath(source)
        self._native = _native.Capture(path, source if isinstance(source, bytes) else None)

    def __iter__(self) -> "Iterator[Event]":
        return self

    def __next__(self) -> Event:
        kind, _, (compared, different), truncated = self._native.step(self.card._native)
        if kind == "end":
            self.truncated |= truncated
            raise StopIteration
        picture = None
        if kind == "frame":
            width, height, rgb = self._native.frame()
            picture = numpy.frombuffer(rgb, numpy.uint8).reshape(height, width, 3)
        return Event(kind, self._native.submissions, self._native.frames, compared, different, picture)
