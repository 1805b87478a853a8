"""Programs as values: pickled, compared, optimised; uniforms and textures of drawings; types."""

import concurrent.futures
import multiprocessing
import pathlib
import pickle
import subprocess
import sys

import numpy
import pytest
import r500

ROOT = pathlib.Path(__file__).parents[2]
MESA = ROOT / "tests" / "corpus" / "mesa"
FETCH = (
    b"TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rggg ;"
    b"OUT TEX_SEM_WAIT LAST src0.rgb = temp[1], src0.a = temp[1] :"
    b" out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;"
)
TIMED = (
    b'UNIFORM "time" = const[2].g ;\nUNIFORM "tint" = const[0].rgb ;\n'
    b"OUT LAST src0.rgb = const[0], src1.a = const[0], src1.rgb = const[2] :"
    b" out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src1.g src1.g ;"
)


def same(a, b):
    return (a.name, a.size, a.uniforms, a.compilation, a.disassemble(), a.check()) == (
        b.name,
        b.size,
        b.uniforms,
        b.compilation,
        b.disassemble(),
        b.check(),
    )


def test_pickled_programs_are_the_same():
    files = sorted(MESA.glob("*.json"))
    programs = [r500.read(file) for file in files]
    # A source, whose inputs are known; and those of a log, with their compilations.
    programs += [r500.read(TIMED, "timed.r5"), r500.read(FETCH, "fetch.r5")]
    log = next(iter(sorted((ROOT / "tests" / "corpus" / "logs").glob("*.log*"))), None)
    programs += r500.read_all(log) if log else []
    assert len(programs) > 50
    for program in programs:
        assert same(program, pickle.loads(pickle.dumps(program))), program.name
    plasma = r500.read(MESA / "scene_plasma.json")
    again = pickle.loads(pickle.dumps(plasma))
    assert again.render((32, 32)).tobytes() == plasma.render((32, 32)).tobytes()
    textured = r500.read(MESA / "tex_mips.json")
    assert pickle.loads(pickle.dumps(textured)).render().tobytes() == textured.render().tobytes()


def total(program):
    return float(program.render((16, 16)).sum())


def test_programs_go_to_other_processes():
    programs = [r500.read(MESA / f"{name}.json") for name in ["scene_plasma", "discard_simple"]]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        assert list(pool.map(total, programs)) == [total(program) for program in programs]


def test_threads_draw_at_the_same_time():
    program = r500.read(MESA / "scene_plasma.json")
    wanted = program.render((64, 64), "reference").tobytes()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        pictures = pool.map(lambda engine: program.render((64, 64), engine).tobytes(), ["fast", "jit"] * 8)
        assert all(picture == wanted for picture in pictures)


def test_uniforms_by_name():
    program = r500.read(TIMED, "timed.r5")
    assert [tuple(uniform) for uniform in program.uniforms] == [("time", 2, 1, 1), ("tint", 0, 0, 3)]
    drawing = program.prepare((1, 1))
    drawing.set_constant("time", 1.5)
    drawing.set_constant("tint", (0.25, 0.5, 0.75))
    assert drawing.draw()[0, 0].tolist() == [0.25, 0.5, 0.75, 1.5]
    with pytest.raises(r500.Error, match="no uniform `speed`: it has time, tint"):
        drawing.set_constant("speed", 1)
    with pytest.raises(r500.Error, match="`tint` has 3 numbers, not 4"):
        drawing.set_constant("tint", (1, 2, 3, 4))


def test_textures_from_arrays():
    drawing = r500.read(FETCH, "fetch.r5").prepare((2, 2))
    texels = numpy.arange(16, dtype=numpy.uint8).reshape(2, 2, 4) * 10
    drawing.set_texture(0, texels, "mag=nearest,min=nearest")
    picture = drawing.draw()
    # Pixel centres are texel centres: a byte is its 255th part.
    assert numpy.array_equal(numpy.rint(picture * 255), texels)
    floats = numpy.linspace(-2, 5, 16, dtype=numpy.float32).reshape(2, 2, 4)
    drawing.set_texture(0, floats, "mag=nearest,min=nearest")
    assert drawing.draw().tobytes() == floats.tobytes()
    drawing.set_texture(0, "checker,size=2x2")
    assert drawing.draw().any()
    with pytest.raises(r500.Error, match="the shape must be"):
        drawing.set_texture(0, [[1, 2], [3, 4]])
    with pytest.raises(r500.Error, match="there is no texture option"):
        drawing.set_texture(0, texels, "shine=1")


def test_the_optimiser_and_its_evidence():
    program = r500.read(
        b"src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;"
        b"OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;",
        "copy.r5",
    )
    shorter, evidence = program.optimize()
    assert evidence == "proved"
    assert program.stats()["instructions"] == 2 and shorter.stats()["instructions"] == 1
    assert r500.diff(program, shorter).is_proved
    assert shorter.optimize().evidence == "unchanged"


def test_verdicts_say_what_they_cover():
    program = r500.read(TIMED, "a.r5")
    other = r500.read(TIMED.replace(b"MAX src1.g src1.g", b"MAX src1.b src1.b"), "b.r5")
    verdict = r500.diff(program, other)
    assert verdict.kind == "different" and verdict.text.startswith("pixel ") and not verdict.is_proved
    looped = b"FULL_FC_EN ;\nint[0] = (3, 0, 0) ;\n" + (
        b": temp[1].r = MAX src0.000 src0.000 ;\nREP int[0] ;\n"
        b"src0.rgb = temp[1] : temp[1].r = MAD src0.r00 src0.100 src0.100 ;\nENDREP ;\n"
        b"OUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rrr src0.rrr, out[0].a = MAX src0.1 src0.1 ;"
    )
    loop = r500.read(looped, "loop.r5")
    assert "int[0] = (3, 0, 0)" in r500.diff(loop, loop).text


def test_a_limit_ends_a_picture():
    drawing = r500.read(MESA / "scene_plasma.json").prepare((4096, 4096), "reference")
    drawing.set_limits(seconds=0.001)
    with pytest.raises(r500.Error):
        drawing.draw()


def test_the_stub_is_that_of_the_native_module():
    mypy = pytest.importorskip("mypy", reason="pip install mypy")
    assert mypy
    check = [sys.executable, "-m", "mypy.stubtest", "r500._native"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-p", "r500"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
