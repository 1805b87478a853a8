"""The example for Dask: the same results as on one machine, and a worker that is killed loses nothing."""

import importlib
import json
import os
import pathlib
import signal
import subprocess

import pytest

distributed = pytest.importorskip("distributed", reason="pip install distributed")

ROOT = pathlib.Path(__file__).parents[2]
BUILT = ROOT / "target" / "debug" / "r500"
R500 = os.environ.get("R500", str(BUILT) if BUILT.exists() else None)
pytestmark = pytest.mark.skipif(R500 is None, reason="no r500 command: cargo build, or set R500")


@pytest.fixture
def cluster_py(monkeypatch):
    monkeypatch.setenv("R500", R500)
    # Workers import functions by module name.
    monkeypatch.syspath_prepend(str(ROOT / "python" / "examples"))
    folders = [str(ROOT / "python" / "examples"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, folders)))
    return importlib.import_module("cluster")


@pytest.fixture
def client():
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        yield client


def without_times(text):
    """Lines of `r500 test --format json` without the time that they took."""
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        assert line.pop("seconds") >= 0
    return sorted(lines, key=lambda line: json.dumps(line, sort_keys=True))


def test_a_killed_worker_loses_nothing(cluster_py, client):
    files = [str(ROOT / "tests" / "corpus" / "cases")]
    alone = subprocess.run([R500, "test", *files, "--format", "json"], capture_output=True, text=True, check=True)
    workers = client.run(os.getpid)
    assert len(workers) == 2
    seen = []

    def kill_one(done, of):
        if not seen:
            os.kill(list(workers.values())[0], signal.SIGKILL)
        seen.append((done, of))

    results = cluster_py.run_on(client, cluster_py.test_tasks(files, 12), kill_one)
    assert (seen[0], seen[-1]) == ((1, 12), (12, 12))
    assert list(workers.values())[0] not in client.run(os.getpid).values()
    assert [status for status, _, _ in results] == [0] * 12
    together = without_times("".join(out for _, out, _ in results))
    assert together == without_times(alone.stdout)
    assert len(together) > 50


def test_pictures_are_those_of_one_machine(cluster_py, client, tmp_path):
    folder = tmp_path / "captures"
    folder.mkdir()
    for name in ["scene_plasma", "discard_simple", "tex_mips"]:
        (folder / f"{name}.json").symlink_to(ROOT / "tests" / "corpus" / "mesa" / f"{name}.json")
    results = cluster_py.run_on(client, cluster_py.render_tasks(folder, tmp_path / "there"))
    assert [status for status, _, _ in results] == [0] * 3
    for command in cluster_py.render_tasks(folder, tmp_path / "here"):
        assert cluster_py.run(command)[0] == 0
    for name in ["scene_plasma", "discard_simple", "tex_mips"]:
        there, here = (tmp_path / where / f"{name}.png" for where in ["there", "here"])
        assert there.read_bytes() == here.read_bytes()


def test_verdicts_of_two_folders(cluster_py, client):
    mesa = ROOT / "tests" / "corpus" / "mesa"
    tasks = cluster_py.diff_tasks(mesa, mesa, 1)[:4]
    for status, out, _ in cluster_py.run_on(client, tasks):
        assert (status, json.loads(out)["run"]["verdict"]) == (0, "equal")
