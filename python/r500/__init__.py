"""Read, check and draw fragment programs of the Radeon X1000 series ("R500").

The functions have the names of the Rust library and of the C library. What is wrong is an ``r500.Error``.
"""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy

from . import _native
from ._native import Error, version

__all__ = ["Compilation", "Drawing", "Error", "Finding", "HostTest", "Program", "Rows", "Shader", "Step", "Write", "read", "read_all", "version"]

Source = Union[bytes, str, "os.PathLike[str]"]


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


class Write(NamedTuple):
    """A write: ``temp[0]``, ``out[0]``, ``depth``, ``predicate`` or ``alu``; channels as letters; all values afterwards."""

    register: str
    channels: str
    value: list


class Step(NamedTuple):
    """An instruction that ran for a pixel."""

    address: int
    text: str
    active: bool
    killed: bool
    writes: list


class Rows(NamedTuple):
    """Results of rows: colours of each target that the program can write, depth or None, and which rows were not killed."""

    colors: dict
    depth: Optional[numpy.ndarray]
    alive: numpy.ndarray


class Shader(NamedTuple):
    """A program as a shader of another GPU."""

    code: Union[str, bytes]
    """Text, or the bytes of SPIR-V."""
    interface: dict
    """What to bind: the layout of the uniform buffer, varyings, textures, targets; and what makes small differences of hosts large."""
    uniforms: numpy.ndarray
    """The uniform buffer, (vectors, 4) floats, for the constants and inputs of the program, and for a picture of one pixel."""

    @classmethod
    def _of(cls, fields: tuple) -> "Shader":
        code, interface, uniforms = fields
        return cls(code, json.loads(interface), numpy.frombuffer(uniforms, "<f4").reshape(-1, 4))


class HostTest:
    """The self-test of hosts for exact shaders in a language.

    Draw ``shader`` over a picture of ``size``, (width, height), with 8 bits a channel (RGBA, not sRGB), with ``texels`` as the only level of its
    texture, and pass the picture to ``compare``.
    """

    def __init__(self, language: str) -> None:
        self._native = _native.host_test(language)
        self.shader = Shader._of(self._native.shader())
        self.size = self._native.size

    @property
    def texels(self) -> numpy.ndarray:
        """The texels, (height, width, 4) floats, row 0 first."""
        width, height = self.size
        return numpy.frombuffer(self._native.texels(), "<f4").reshape(height, width, 4)

    @property
    def expected(self) -> numpy.ndarray:
        """The picture of an exact host, (height, width, 4) bytes, row 0 first. NaN may have other bits."""
        width, height = self.size
        return numpy.frombuffer(self._native.expected(), numpy.uint8).reshape(height, width, 4)

    def compare(self, picture: Any) -> "list[str]":
        """The operations that differ in a picture, (height, width, 4) bytes, row 0 first: none if exact shaders are exact on this host."""
        return self._native.compare(numpy.ascontiguousarray(picture, numpy.uint8).tobytes())


def read_all(source: Source, name: Optional[str] = None) -> "list[Program]":
    """Reads all programs of a file (a path) or of bytes, in any format of the ``r500`` command."""
    if not isinstance(source, bytes):
        path = os.fspath(source)
        source, name = _native.read_file(path), name or path
    return [Program(native) for native in _native.read(source, name)]


def read(source: Source, name: Optional[str] = None) -> "Program":
    """Reads the first program of a file (a path) or of bytes."""
    programs = read_all(source, name)
    if not programs:
        raise Error("there is no program")
    return programs[0]


class Program:
    """A program with all that its file says about it."""

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The name in the file; may be empty."""
        return self._native.name

    @property
    def size(self) -> Optional[tuple]:
        """Width and height, if the file gives them."""
        return self._native.size

    @property
    def compilation(self) -> Optional[Compilation]:
        """How the driver's compilation ended; None if the program is not from a driver's log."""
        fields = self._native.compilation
        return None if fields is None else Compilation(*fields)

    def check(self) -> "list[Finding]":
        """The checker's findings; none for a clean program."""
        return [Finding(*finding) for finding in self._native.check()]

    def disassemble(self) -> str:
        """The program in the assembly language."""
        return self._native.disassemble()

    def prepare(self, size: Optional[tuple] = None, engine: str = "jit") -> "Drawing":
        """Compiles the program for pictures of a size (the file's, else 256x256)."""
        return Drawing(self._native.prepare(self._size(size), engine))

    def render(self, size: Optional[tuple] = None, engine: str = "jit") -> numpy.ndarray:
        """Draws target A: (height, width, 4) floats as the program wrote them, the lowest row first; 0 where nothing is."""
        return self.prepare(size, engine).draw()

    def run(self, rows: "Mapping[int, Any]", engine: str = "jit") -> Rows:
        """Runs the program once for each row: a mapping from temporaries to arrays of (rows, 4) values."""
        inputs = [(temp, _floats(values, "rows")) for temp, values in rows.items()]
        colors, depth, alive = self._native.run([(t, v.tobytes()) for t, v in inputs], engine)
        return Rows(
            {n: numpy.frombuffer(c, "<f4").reshape(-1, 4) for n, c in colors},
            None if depth is None else numpy.frombuffer(depth, "<f4"),
            numpy.frombuffer(alive, numpy.bool_),
        )

    def shader(self, language: str, exact: bool = False, planes: bool = False) -> Shader:
        """The program as a shader: ``wgsl``, ``glsl`` (4.50), ``glsl-es-310``, ``glsl-es-300`` or ``spirv``.

        ``exact`` ones have the bits of the reference engine on hosts that pass the :class:`HostTest`, others use the host's functions and samplers.
        With ``planes`` inputs are computed from planes in the uniform buffer, else they are varyings.
        """
        return Shader._of(self._native.shader(language, exact, planes))

    def texels(self, unit: int) -> "list[numpy.ndarray]":
        """The levels of a unit's texture as exact shaders must load them: (layers, height, width, 4) floats each, the finest first."""
        levels = self._native.texels(unit)
        return [numpy.frombuffer(texels, "<f4").reshape(*size[::-1], 4) for size, texels in levels]

    def trace(self, pixel: tuple, size: Optional[tuple] = None) -> "list[Step]":
        """What each instruction did to a pixel (column, row from the bottom)."""
        steps = self._native.trace(self._size(size), tuple(pixel))
        return [Step(*step[:4], [Write(*write) for write in step[4]]) for step in steps]

    def _size(self, size: Optional[tuple]) -> tuple:
        return tuple(size) if size is not None else self.size or (256, 256)


class Drawing:
    """A compiled program, for any number of pictures. Constants, inputs and coverage change between them at no other cost."""

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def size(self) -> tuple:
        """Width and height."""
        return self._native.size

    @property
    def engine(self) -> str:
        """Which engine draws; it may change once machine code is ready."""
        return self._native.engine

    @property
    def fallback_reason(self) -> Optional[str]:
        """Why another engine draws than the requested one; None if the requested one does."""
        return self._native.fallback_reason

    def set_constant(self, n: int, value: "Sequence[float]") -> None:
        """Sets float constant n, 0 to 255."""
        red, green, blue, alpha = value
        self._native.set_constant(n, (red, green, blue, alpha))

    def set_int_constant(self, n: int, iterations: int, first: int = 0, step: int = 0) -> None:
        """Sets integer constant n, 0 to 31."""
        self._native.set_int_constant(n, iterations, first, step)

    def set_bool_constant(self, n: int, value: bool) -> None:
        """Sets boolean constant n, 0 to 31."""
        self._native.set_bool_constant(n, value)

    def set_input(self, temp: int, values: Any) -> None:
        """Sets what a temporary starts with: (height, width, 4) values, the lowest row first."""
        self._native.set_input(temp, _floats(values, "values").tobytes())

    def set_coverage(self, mask: Any = None) -> None:
        """Sets which pixels are covered: (height, width) truth values, the lowest row first; all for None."""
        if mask is not None:
            mask = numpy.ascontiguousarray(mask, numpy.bool_).tobytes()
        self._native.set_coverage(mask)

    def draw(self, format: Union[str, int] = "float", target: int = 0) -> numpy.ndarray:
        """Draws a target, A (0) to D (3), the lowest row first; pixels that are killed or not covered are 0.

        ``float`` and ``rgba8`` give (height, width, 4) floats and bytes; a number is a format as US_OUT_FMT, which gives
        (height, width, bytes of a pixel) bytes as the card stores them.
        """
        code = {"float": 0x3915, "rgba8": 0x3900, "bgra8": 0x1B00}.get(format, format)
        if not isinstance(code, int):
            raise Error(f"no format is called {format!r}: there are float, rgba8 and bgra8, and numbers")
        width, height = self.size
        pixels = numpy.frombuffer(self._native.draw(code, target), numpy.uint8)
        if format == "float":
            pixels = pixels.view("<f4")
        return pixels.reshape(height, width, -1)


def _floats(values: Any, what: str) -> numpy.ndarray:
    array = numpy.ascontiguousarray(values, "<f4")
    if array.ndim < 2 or array.shape[-1] != 4:
        raise Error(f"{what}: the last dimension must be 4 (red, green, blue, alpha), the shape is {array.shape}")
    return array
