"""What functions return: named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy

__all__ = ["Compilation", "Event", "Finding", "Rows", "Step", "Uniform", "Verdict", "Write"]


class Finding(NamedTuple):
    """A finding of the checker."""

    severity: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.severity}[{self.code}]: {self.message}"


class Compilation(NamedTuple):
    """How a driver's compilation ended, from its log: ``compiled``, ``failed`` (the program is the driver's dummy or has no
    instructions) or ``dummy`` (the driver's, for a shader without instructions). What does not apply is None."""

    outcome: str
    reason: Optional[str]
    """The driver's words."""
    resource: Optional[str]
    """What ran out: temporaries, constants, instructions, flow-control, operations."""
    most: Optional[int]
    """The limit."""
    needed: Optional[int]
    """What the shader needs, where the driver prints it."""
    excess: Optional[int]
    """By how much that is too many."""
    help: Optional[str]
    process: str
    """What names the process in a log of several; may be empty."""


class Uniform(NamedTuple):
    """A named constant: ``channels`` numbers of ``const[constant]``, the first in ``channel`` (0 red to 3 alpha). A uniform with
    more numbers than a constant holds is several of these, with the same name."""

    name: str
    constant: int
    channel: int
    channels: int


class Write(NamedTuple):
    """A write: ``temp[0]``, ``out[0]``, ``depth``, ``predicate`` or ``alu``; channels as letters; all values afterwards."""

    register: str
    channels: str
    value: "list[float]"


class Step(NamedTuple):
    """An instruction that ran for a pixel."""

    address: int
    text: str
    active: bool
    killed: bool
    writes: "list[Write]"


class Rows(NamedTuple):
    """Results of rows: colours of each target that the program can write, depth or None, and which rows were not killed."""

    colors: "dict[int, numpy.ndarray[Any, Any]]"
    depth: "Optional[numpy.ndarray[Any, Any]]"
    alive: "numpy.ndarray[Any, Any]"


class Verdict(NamedTuple):
    """Whether two programs store the same bits. ``kind`` is ``proved``, ``proved-if-covered``, ``equal-in-runs`` (nothing differs in
    pictures that were drawn, and there is no proof), ``different``, or ``not-compared``; ``text`` says for which values, which pixel
    differs, why there is no proof."""

    kind: str
    text: str

    @property
    def is_proved(self) -> bool:
        """Whether both are proved equal for all that ``text`` names, with pixels that are not covered."""
        return self.kind == "proved"


class Event(NamedTuple):
    """A step of a capture: a ``submission`` was executed, buffers were compared (``comparison``), a ``frame`` went to the screen."""

    kind: str
    submissions: int
    """Submissions so far."""
    frames: int
    """Frames so far."""
    compared: int
    """Of a comparison: buffers that were compared."""
    different: int
    """Of a comparison: those with other bytes than when the capture was made."""
    picture: "Optional[numpy.ndarray[Any, Any]]"
    """Of a frame: (height, width, 3) bytes of red, green and blue, the top row first."""
