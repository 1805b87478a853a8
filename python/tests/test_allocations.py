"""10,000 draws: into an array without an allocation, and into new arrays without growth."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent

# Constants change with each picture. Machine code is ready before the counting begins. The reference engine is left out: it allocates
# for each group of pixels.
SCRIPT = """
import ctypes, resource, sys
import numpy, r500

count = ctypes.CDLL(None).r500_test_allocations
count.restype = ctypes.c_ulong
WARM, DRAWS = 3_000, 10_000

def measure(engine, draw):
    program = r500.read(
        b"TEXTURE tex[0] = checker(64, 64, 16) linear wrap ;"
        b"TEX TEX_SEM_ACQUIRE temp[2].rgba = LD tex[0].rgba temp[0].rggg ;"
        b"OUT TEX_SEM_WAIT LAST src0.rgb = temp[2], src1.rgb = const[1], src1.a = const[1] :"
        b" out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src1.a src1.a ;"
    )
    drawing = program.prepare((64, 64), engine=engine)
    out = drawing.draw()
    for n in range(WARM):
        drawing.set_constant(1, (1.0 + n, 2.0, 3.0, 4.0))
        draw(drawing, out)
    assert drawing.engine == engine, drawing.fallback_reason
    before, blocks = count(), sys.getallocatedblocks()
    for n in range(DRAWS):
        drawing.set_constant(1, (1.0 + n, 2.0, 3.0, 4.0))
        last = draw(drawing, out)
    calls, growth = count() - before, sys.getallocatedblocks() - blocks
    # The checker's first texel is white or black: times the constant's red.
    assert last[0, 0, 3] == 4.0 and last[0, 0, 0] in (0.0, DRAWS)
    return calls, growth

into = lambda drawing, out: drawing.draw(out=out)
new = lambda drawing, out: drawing.draw()
for engine in ["fast", "jit"]:
    print(engine, *measure(engine, into), *measure(engine, new))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="the allocator is counted with glibc and a C compiler"
)
def test_ten_thousand_draws_allocate_nothing(tmp_path):
    library = tmp_path / "libcount.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "count_allocations.c"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "RAYON_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    for line in run.stdout.splitlines()[:-1]:
        engine, into, into_blocks, new, new_blocks = line.split()
        # Python's own small objects come from its pool, whose arenas are a few calls.
        assert int(into) <= 20, f"{engine}: {into} allocations in 10,000 draws"
        assert int(new) <= 3 * 10_000, f"{engine}: {new} allocations in 10,000 draws"
        assert abs(int(into_blocks)) <= 50 and abs(int(new_blocks)) <= 50, f"{engine}: {into_blocks}, {new_blocks} objects are left"
