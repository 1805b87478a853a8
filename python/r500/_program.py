"""Programs and drawings."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

import numpy

from . import _native
from ._native import Error
from ._records import Compilation, Finding, Rows, Step, Uniform, Verdict, Write
from ._shader import Shader

__all__ = ["Drawing", "Optimized", "Program", "diff", "read", "read_all"]

Source = Union[bytes, str, "os.PathLike[str]"]
Size = "tuple[int, int]"
Array = "numpy.ndarray[Any, Any]"

_FORMATS = {"float": 0x3915, "rgba8": 0x3900, "bgra8": 0x1B00}


def read_all(source: Source, name: Optional[str] = None) -> "list[Program]":
    """Reads all programs of a file (a path) or of bytes, in any format of the ``r500`` command."""
    if isinstance(source, bytes):
        data = source
    else:
        path = os.fspath(source)
        data, name = _native.read_file(path), name or path
    return [Program(native) for native in _native.read(data, name)]


def read(source: Source, name: Optional[str] = None) -> "Program":
    """Reads the first program of a file (a path) or of bytes."""
    programs = read_all(source, name)
    if not programs:
        raise Error("there is no program")
    return programs[0]


def diff(a: "Program", b: "Program") -> Verdict:
    """Compares two programs in every bit that they write, for the same values of constants, inputs and textures, register by
    register: draws pictures with the values of both and with random ones, then tries a proof."""
    return Verdict(*_native.diff(a._native, b._native))


class Program:
    """A program with all that its file says about it. It can be pickled, and read by any number of threads."""

    def __init__(self, native: _native.Program) -> None:
        self._native = native

    def __reduce__(self) -> "tuple[Callable[..., Program], tuple[bytes, bool]]":
        return _restore, self._native.dump()

    @property
    def name(self) -> str:
        """The name in the file; may be empty."""
        return self._native.name

    @property
    def size(self) -> "Optional[tuple[int, int]]":
        """Width and height, if the file gives them."""
        return self._native.size

    @property
    def compilation(self) -> Optional[Compilation]:
        """How the driver's compilation ended; None if the program is not from a driver's log."""
        fields = self._native.compilation
        return None if fields is None else Compilation(*fields)

    @property
    def uniforms(self) -> "list[Uniform]":
        """The named constants."""
        return [Uniform(*fields) for fields in self._native.uniforms]

    def check(self) -> "list[Finding]":
        """The checker's findings; none for a clean program."""
        return [Finding(*finding) for finding in self._native.check()]

    def stats(self) -> "dict[str, int]":
        """The numbers of ``r500 stats``: instructions, cycles, temporaries and so on, by name."""
        return dict(self._native.stats())

    def optimize(self) -> "Optimized":
        """A program that computes the same bits and costs less, or the same program, and the evidence."""
        native, evidence = self._native.optimize()
        return Optimized(Program(native), evidence)

    def disassemble(self) -> str:
        """The program in the assembly language."""
        return self._native.disassemble()

    def prepare(self, size: "Optional[Sequence[int]]" = None, engine: str = "jit") -> "Drawing":
        """Compiles the program for pictures of a size (the file's, else 256x256)."""
        return Drawing(self._native.prepare(self._size(size), engine))

    def render(self, size: "Optional[Sequence[int]]" = None, engine: str = "jit") -> "numpy.ndarray[Any, Any]":
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

    def texels(self, unit: int) -> "list[numpy.ndarray[Any, Any]]":
        """The levels of a unit's texture as exact shaders must load them: (layers, height, width, 4) floats each, the finest first."""
        levels = self._native.texels(unit)
        return [numpy.frombuffer(texels, "<f4").reshape(*size[::-1], 4) for size, texels in levels]

    def trace(self, pixel: "Sequence[int]", size: "Optional[Sequence[int]]" = None) -> "list[Step]":
        """What each instruction did to a pixel (column, row from the bottom)."""
        x, y = pixel
        steps = self._native.trace(self._size(size), (x, y))
        return [Step(*step[:4], [Write(*write) for write in step[4]]) for step in steps]

    def _size(self, size: "Optional[Sequence[int]]") -> "tuple[int, int]":
        if size is None:
            return self.size or (256, 256)
        width, height = size
        return width, height


class Optimized(NamedTuple):
    """What the optimiser made. ``evidence`` is ``unchanged``; ``proved``, where both programs are equal for all values; else how many
    pictures with the values of the file and with random ones are equal. A result that differs in a bit is dropped, and the text
    says so."""

    program: Program
    evidence: str


def _restore(json: bytes, is_source: bool) -> Program:
    return Program(_native.restore(json, is_source))


class Drawing:
    """A compiled program, for any number of pictures. Constants, inputs, textures and coverage change between them at no other cost.
    It belongs to one thread at a time; different drawings draw at the same time."""

    def __init__(self, native: _native.Drawing) -> None:
        self._native = native
        # The bytes that pictures are drawn into, and the same as an array.
        self._bytes = bytearray()
        self._array: "numpy.ndarray[Any, Any]" = numpy.zeros(0, numpy.uint8)

    @property
    def size(self) -> "tuple[int, int]":
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

    def set_constant(self, which: Union[int, str], value: Any) -> None:
        """Sets float constant 0 to 255, four numbers, or a uniform by name, as many numbers as it has: ``set_constant("time", 1.5)``."""
        if isinstance(which, str):
            self._native.set_uniform(which, numpy.ravel(numpy.asarray(value, "<f4")).tolist())
            return
        red, green, blue, alpha = value
        self._native.set_constant(which, (red, green, blue, alpha))

    def set_int_constant(self, n: int, iterations: int, first: int = 0, step: int = 0) -> None:
        """Sets integer constant n, 0 to 31."""
        self._native.set_int_constant(n, iterations, first, step)

    def set_bool_constant(self, n: int, value: bool) -> None:
        """Sets boolean constant n, 0 to 31."""
        self._native.set_bool_constant(n, value)

    def set_input(self, temp: int, values: Any) -> None:
        """Sets what a temporary starts with: (height, width, 4) values, the lowest row first."""
        self._native.set_input(temp, _floats(values, "values").tobytes())

    def set_texture(self, unit: int, texture: Any, options: str = "") -> None:
        """Sets the texture of a unit, 0 to 15, or removes it (None).

        ``texture`` is an array of (height, width, 4) values, bytes or floats, the row at v = 0 first; or the bytes of a file (PNG, DDS,
        KTX2); or the description of one without a file, such as ``"checker,size=64x64"``. ``options`` are those of the command's
        ``--texture``, such as ``"wrap=mirror,min=linear"``.
        """
        if texture is None:
            self._native.clear_texture(unit)
            return
        given = f",{options}" if options else ""
        if isinstance(texture, str):
            self._native.set_texture(unit, texture + given, None)
        elif isinstance(texture, bytes):
            self._native.set_texture(unit, "bytes" + given, texture)
        else:
            spec, data = _texels(texture)
            self._native.set_texture(unit, spec + given, data)

    def set_coverage(self, mask: Any = None) -> None:
        """Sets which pixels are covered: (height, width) truth values, the lowest row first; all for None."""
        if mask is not None:
            mask = numpy.ascontiguousarray(mask, numpy.bool_).tobytes()
        self._native.set_coverage(mask)

    def set_limits(
        self,
        instructions: Optional[int] = None,
        memory: Optional[int] = None,
        seconds: Optional[float] = None,
    ) -> None:
        """Sets what a picture may take: instructions of a group of pixels, bytes, seconds. What is None stays as it is."""
        self._native.set_limits(instructions, memory, seconds)

    def draw(
        self,
        format: Union[str, int] = "float",
        target: int = 0,
        out: "Optional[numpy.ndarray[Any, Any]]" = None,
    ) -> "numpy.ndarray[Any, Any]":
        """Draws a target, A (0) to D (3), the lowest row first; pixels that are killed or not covered are 0.

        ``float`` and ``rgba8`` give (height, width, 4) floats and bytes; a number is a format as US_OUT_FMT, which gives
        (height, width, bytes of a pixel) bytes as the card stores them. ``out`` is the array to draw into, such as that of the picture
        before: pictures of one size then take no memory (engines ``jit`` and ``fast``).
        """
        code = self._code(format)
        if out is not None:
            self._draw_into(code, target, out, numpy.dtype("<f4" if format == "float" else numpy.uint8))
            return out
        width, height = self.size
        pixels = numpy.frombuffer(self._native.draw(code, target), numpy.uint8)
        if format == "float":
            return pixels.view("<f4").reshape(height, width, -1)
        return pixels.reshape(height, width, -1)

    def draw_batch(
        self, constants: Any, first: int = 0, format: Union[str, int] = "float", target: int = 0
    ) -> "numpy.ndarray[Any, Any]":
        """Draws one picture after the other in one call, each with its own constants: (pictures, height, width, ...) as of ``draw``.

        ``constants`` are (pictures, constants, 4) floats; those of a picture are set from number ``first`` on before it is drawn.
        """
        code = self._code(format)
        values = _floats(constants, "constants")
        if values.ndim != 3:
            raise Error(f"constants: the shape must be (pictures, constants, 4), it is {values.shape}")
        width, height = self.size
        pictures, count, _ = values.shape
        if count == 0:
            raise Error("constants: there are none; `draw` draws with those that are set")
        drawn = self._native.draw_batch(first, values.tobytes(), count, code, target)
        pixels = numpy.frombuffer(drawn, "<f4" if format == "float" else numpy.uint8)
        return pixels.reshape(pictures, height, width, pixels.size // max(1, pictures * height * width))

    @staticmethod
    def _code(format: Union[str, int]) -> int:
        code = _FORMATS.get(format) if isinstance(format, str) else format
        if not isinstance(code, int):
            raise Error(f"no format is called {format!r}: there are float, rgba8 and bgra8, and numbers")
        return code

    def _draw_into(
        self, code: int, target: int, out: "numpy.ndarray[Any, Any]", dtype: "numpy.dtype[Any]"
    ) -> None:
        width, height = self.size
        if out.dtype != dtype or out.ndim != 3 or out.shape[:2] != (height, width):
            wants = f"({height}, {width}, …) {dtype}"
            raise Error(f"out: the picture is an array of {wants}, it is one of {out.shape} {out.dtype}")
        if self._array.dtype != dtype or self._array.shape != out.shape:
            self._bytes = bytearray(out.nbytes)
            self._array = numpy.frombuffer(self._bytes, dtype).reshape(out.shape)
        self._native.draw_into(self._bytes, code, target)
        numpy.copyto(out, self._array)


def _floats(values: Any, what: str) -> "numpy.ndarray[Any, Any]":
    array = numpy.ascontiguousarray(values, "<f4")
    if array.ndim < 2 or array.shape[-1] != 4:
        raise Error(f"{what}: the last dimension must be 4 (red, green, blue, alpha), the shape is {array.shape}")
    return array


def _texels(values: Any) -> "tuple[str, bytes]":
    """The description and the bytes of a texture from an array."""
    array = numpy.asarray(values)
    if array.ndim != 3 or array.shape[-1] != 4:
        raise Error(f"texture: the shape must be (height, width, 4), it is {array.shape}")
    height, width, _ = array.shape
    is_bytes = array.dtype == numpy.uint8
    array = numpy.ascontiguousarray(array, numpy.uint8 if is_bytes else "<f4")
    format = "8_8_8_8" if is_bytes else "32f_32f_32f_32f"
    return f"raw:array,size={width}x{height},format={format}", array.tobytes()
