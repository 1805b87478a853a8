"""The package against the command, files, and hand-derived values."""

import inspect
import os
import pathlib
import re
import signal
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


def test_the_outcome_of_a_compilation():
    log = (
        "r300: Initial fragment program\nFRAG\nDCL OUT[0], COLOR\n  0: MUL OUT[0], IN[0], IN[0]\n  1: END\n"
        "r300compiler error: Too many constants. Max: 256, Got: 313\nr300 FP: Compiler Error:\n"
        "Too many constants. Max: 256, Got: 313\nUsing a dummy shader instead.\n"
    )
    program = r500.read_all(log.encode(), "fp.log")[0]
    compilation = program.compilation
    assert compilation.outcome == "failed"
    assert compilation.reason == "Too many constants. Max: 256, Got: 313"
    assert (compilation.resource, compilation.most, compilation.needed, compilation.excess) == ("constants", 256, 313, 57)
    assert "vectors" in compilation.help and compilation.process == ""
    assert r500.read(GRADIENT).compilation is None


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


def test_files_follow_the_rules_for_files(tmp_path):
    with pytest.raises(r500.Error, match="a device, not a regular file"):
        r500.read("/dev/zero")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(r500.Error, match="a pipe, not a regular file"):
        r500.read(pipe)
    with pytest.raises(r500.Error, match="a folder, not a regular file"):
        r500.read(tmp_path)
    hole = tmp_path / "hole"
    with open(hole, "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(r500.Error, match="this is the limit"):
        r500.read(hole)
    with pytest.raises(FileNotFoundError):
        r500.read(tmp_path / "missing.json")
    # Only the guard opens files.
    source = inspect.getsource(r500)
    assert not re.search(r"\bopen\(|read_bytes|read_text|fromfile", source)


def test_pictures_that_do_not_fit_are_errors():
    program = r500.read(b"OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n", "plain.r5")
    with pytest.raises(r500.Error, match="the limit is"):
        program.render(size=(1 << 20, 1 << 20))
    with pytest.raises(r500.Error):
        program.render(size=((1 << 32) - 1, (1 << 32) - 1))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("engine", ["jit", "fast", "reference"])
def test_a_child_process_draws(engine):
    program = r500.read(MESA / "scene_plasma.json")
    drawing = program.prepare((256, 256), engine=engine)
    # Many pictures, so that the jit engine's thread compiles.
    for _ in range(1 if engine == "reference" else 20):
        expected = drawing.draw("rgba8").tobytes()
    child = os.fork()
    if child == 0:
        # A child that hangs is ended by the alarm.
        signal.alarm(60)
        same = drawing.draw("rgba8").tobytes() == expected
        same = same and program.prepare((256, 256), engine=engine).draw("rgba8").tobytes() == expected
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert drawing.draw("rgba8").tobytes() == expected


def test_a_picture_without_pixels_is_an_error():
    for size in [(0, 0), (0, 8), (8, 0)]:
        with pytest.raises(r500.Error, match=f"a picture of {size[0]}x{size[1]} has no pixels"):
            r500.read(GRADIENT).prepare(size)


def test_the_constant_named_time_keeps_its_value():
    source = (
        b"UNIFORM time = const[0].r ; const[0] = (0.75, 0, 0, 0) ; OUT LAST src0.rgb = const[0] :"
        b" out[0].rgb = MAX src0.rrr src0.rrr, out[0].a = MAX src0.1 src0.1 ;"
    )
    assert r500.read(source, "time.r5").render((2, 2))[0, 0].tolist() == [0.75, 0.75, 0.75, 1]
    assert r500.read(b"TIME 2 ; " + source, "time.r5").render((2, 2))[0, 0].tolist() == [2, 2, 2, 1]


def test_a_program_becomes_a_shader():
    program = r500.read(MESA / "tex_mips.json")
    for language, start in [("wgsl", "diagnostic("), ("glsl", "#version 450"), ("glsl-es-310", "#version 310 es")]:
        assert program.shader(language).code.startswith(start)
    shader = program.shader("spirv", exact=True, planes=True)
    assert shader.code[:4] == b"\x03\x02\x23\x07"
    # The buffer ends with the numbers that the host must not know.
    assert shader.uniforms[-1].tolist() == [0, 0, 1, -1]
    texture = shader.interface["textures"][0]
    levels = program.texels(texture["unit"])
    assert [level.shape for level in levels] == [(1, side, side, 4) for side in (64, 32, 16, 8, 4, 2, 1)]
    assert texture["texels"] == {"size": [64, 64, 1], "levels": 7}
    with pytest.raises(r500.Error, match="hlsl"):
        program.shader("hlsl")
    with pytest.raises(r500.Error, match="unit 9"):
        program.texels(9)


def test_a_host_is_tested():
    test = r500.HostTest("wgsl")
    assert test.texels.shape == test.expected.shape == (test.size[1], test.size[0], 4)
    assert test.compare(test.expected) == []
    wrong = test.expected.copy()
    wrong[0] ^= 1
    assert len(test.compare(wrong)) == 1
    with pytest.raises(r500.Error, match="pixels"):
        test.compare(wrong[1:])


def test_a_batch_draws_what_single_calls_do():
    source = b"OUT LAST src0.rgb = const[3], src1.rgb = const[4] : out[0].rgb = MAD src0.rgb src1.rgb src0.000 ;"
    drawing = r500.read(source, name="a.r5").prepare((5, 4))
    constants = numpy.random.default_rng(1).random((6, 2, 4), dtype=numpy.float32)
    for format in ("float", "rgba8"):
        single = []
        for first, second in constants:
            drawing.set_constant(3, first)
            drawing.set_constant(4, second)
            single.append(drawing.draw(format).copy())
        batch = drawing.draw_batch(constants, first=3, format=format)
        assert batch.shape == (6, 4, 5, 4)
        assert numpy.array_equal(batch, numpy.stack(single))
    assert drawing.draw_batch(constants[:0], first=3).shape[:3] == (0, 4, 5)
    for wrong in (constants[0], constants[:, :0], constants[..., :3]):
        with pytest.raises(r500.Error):
            drawing.draw_batch(wrong, first=3)
    with pytest.raises(r500.Error, match="25[56]"):
        drawing.draw_batch(constants, first=255)
