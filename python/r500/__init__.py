"""Read, check, draw and compare fragment programs of the Radeon X1000 series ("R500"); draw on a virtual card.

The functions have the names of the Rust library and of the C library. What is wrong is an ``r500.Error``.
"""

from ._card import Capture, Card
from ._native import Error, Refused, version
from ._program import Drawing, Optimized, Program, diff, read, read_all
from ._records import Compilation, Event, Finding, Rows, Step, Uniform, Verdict, Write
from ._shader import HostTest, Shader

__all__ = [
    "Capture",
    "Card",
    "Compilation",
    "Drawing",
    "Error",
    "Event",
    "Finding",
    "HostTest",
    "Optimized",
    "Program",
    "Refused",
    "Rows",
    "Shader",
    "Step",
    "Uniform",
    "Verdict",
    "Write",
    "diff",
    "read",
    "read_all",
    "version",
]
