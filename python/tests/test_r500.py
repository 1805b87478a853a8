"""The package against the command, files, and hand-derived values."""

import os
import pathlib
import subprocess
import time

import numpy
import pytest
import r500

ROOT = pathlib.Path(__file__).parents[2]
MESA = ROOT / "tests" / "corpus" / "mesa"

# out[0] = (u, v, 0, 1), as C source.
GRADIENT = b"0x00078101, 0x00000000, 0x00000080, 0x00db0220, 0x00c18003, 0x00490000,"


def test_a_gradient():
    picture = r500.read(GRADIENT).render((64, 32), engine="reference")
    assert picture.shape == (32, 64, 4) and picture.dtype == numpy.float32
    assert picture[0, 0].tolist() == [1 / 128, 1 / 64, 0, 1]
    assert picture[31, 63].tolist() == [127 / 128, 63 / 64, 0, 1]


def command():
    """The r500 command, from the environment or as cargo builds it."""
    built = ROOT / "target" / "debug" / "r500"
    return os.environ.get("R500", str(built) if built.exists() else None)


def drawn_by(program, engine):
    """A picture that this engine drew, not another one instead."""
    drawing = program.prepare(engine=engine)
    deadline = time.monotonic() + 60
    while drawing.engine != engine:
        # The jit engine begins as the fast one, until its machine code is ready.
        assert engine == "jit" and time.monotonic() < deadline, drawing.fallback_reason
        drawing.draw()
    assert drawing.fallback_reason is None
    return drawing.draw()


@pytest.mark.skipif(command() is None, reason="no r500 command: cargo build, or set R500")
@pytest.mark.parametrize("name", ["scene_plasma", "discard_simple", "tex_mips"])
def test_captures_are_drawn_as_by_the_command(name, tmp_path):
    out = tmp_path / "out.f32"
    subprocess.run([command(), "render", MESA / f"{name}.json", "-o", out], check=True)
    program = r500.read(MESA / f"{name}.json")
    for engine in ["reference", "fast", "jit"]:
        assert drawn_by(program, engine).tobytes() == out.read_bytes()


def test_a_drawing_takes_constants_inputs_and_coverage():
    program = r500.read(
        b"OUT LAST src0.rgb = temp[0], src1.rgb = const[0], src1.a = const[0] :"
        b" out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src1.a src1.a ;",
        "product.r5",
    )
    drawing = program.prepare((2, 2))
    values = numpy.arange(16).reshape(2, 2, 4)
    drawing.set_input(0, values)
    drawing.set_coverage([[True, True], [True, False]])
    for factor in [0.5, 2.0, -1.0]:
        drawing.set_constant(0, (factor, 1, 1, 0.25))
        picture = drawing.draw()
        assert picture[1, 0].tolist() == [8 * factor, 9, 10, 0.25]
        assert picture[1, 1].tolist() == [0, 0, 0, 0]
    assert drawing.draw("rgba8")[0, 0].tolist() == [0, 255, 255, 64]
    assert drawing.draw(0x1B00)[0, 0].tolist() == [255, 255, 0, 64]


def test_rows():
    program = r500.read(
        b"OUT LAST src0.rgb = temp[0], src1.rgb = temp[1] :"
        b" out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src0.1 src0.1 ;",
        "product.r5",
    )
    rows = program.run({0: [[2, 3, 4, 0], [5, 6, 7, 0]], 1: [[10, 10, 10, 0], [2, 2, 2, 0]]})
    assert rows.colors[0].tolist() == [[20, 30, 40, 1], [10, 12, 14, 1]]
    assert rows.alive.tolist() == [True, True] and rows.depth is None


def test_trace():
    steps = r500.read(GRADIENT).trace((1, 0), size=(2, 2))
    assert [step.address for step in steps] == [0]
    assert steps[0].text.startswith("OUT")
    # The RGB half writes first, then the alpha half.
    assert [write.register for write in steps[0].writes] == ["out[0]", "out[0]"]
    assert steps[0].writes[-1].value == [0.75, 0.25, 0, 1]


def test_check_and_text():
    # The texel is read without waiting for it.
    program = r500.read(
        b"TEX TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rggg ;"
        b"OUT LAST src0.rgb = temp[1] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;",
        "x.r5",
    )
    findings = program.check()
    assert any("temp[1]" in str(finding) and finding.code for finding in findings), findings
    assert "temp[1]" in program.disassemble()
    assert not r500.read(MESA / "scene_plasma.json").check()


def test_errors_say_what_is_wrong():
    with pytest.raises(r500.Error, match="the format is unknown"):
        r500.read(b"what is this")
    drawing = r500.read(GRADIENT).prepare((4, 4))
    with pytest.raises(r500.Error, match="there is no float constant 256"):
        drawing.set_constant(256, (0, 0, 0, 0))
    with pytest.raises(r500.Error, match="the last dimension must be 4"):
        drawing.set_input(0, [[1, 2, 3]])
    with pytest.raises(r500.Error, match="no engine is called `gpu`"):
        r500.read(GRADIENT).render(engine="gpu")
