"""Programs as shaders of other GPUs."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Union

import numpy

from . import _native

__all__ = ["HostTest", "Shader"]


class Shader(NamedTuple):
    """A program as a shader of another GPU."""

    code: Union[str, bytes]
    """Text, or the bytes of SPIR-V."""
    interface: "dict[str, Any]"
    """What to bind: the layout of the uniform buffer, varyings, textures, targets; and what makes small differences of hosts large."""
    uniforms: "numpy.ndarray[Any, Any]"
    """The uniform buffer, (vectors, 4) floats, for the constants and inputs of the program, and for a picture of one pixel."""

    @classmethod
    def _of(cls, fields: "tuple[Union[str, bytes], str, bytes]") -> "Shader":
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
    def texels(self) -> "numpy.ndarray[Any, Any]":
        """The texels, (height, width, 4) floats, row 0 first."""
        width, height = self.size
        return numpy.frombuffer(self._native.texels(), "<f4").reshape(height, width, 4)

    @property
    def expected(self) -> "numpy.ndarray[Any, Any]":
        """The picture of an exact host, (height, width, 4) bytes, row 0 first. NaN may have other bits."""
        width, height = self.size
        return numpy.frombuffer(self._native.expected(), numpy.uint8).reshape(height, width, 4)

    def compare(self, picture: Any) -> "list[str]":
        """The operations that differ in a picture, (height, width, 4) bytes, row 0 first: none if exact shaders are exact on this host."""
        return self._native.compare(numpy.ascontiguousarray(picture, numpy.uint8).tobytes())
