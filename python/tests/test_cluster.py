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
    """Lines of `r500 test --format json`, in their order, without the time that they took."""
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        assert line.pop("seconds") >= 0
    return lines


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

    results = cluster_py.run_on(client, cluster_py.tasks_of("test", files, 12), kill_one)
    assert (seen[0], seen[-1]) == ((1, 12), (12, 12))
    assert list(workers.values())[0] not in client.run(os.getpid).values()
    assert [status for status, _, _ in results] == [0] * 12
    together = without_times(cluster_py.merged("test", [out for _, out, _ in results]))
    assert together == without_times(alone.stdout)
    assert len(together) > 50


def test_pictures_are_those_of_one_machine(cluster_py, client, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    corpus = ROOT / "tests" / "corpus"
    for file in [corpus / "mesa" / "scene_plasma.json", corpus / "logs" / "tex_grad.log", ROOT / "examples" / "plasma.r5"]:
        (folder / file.name).symlink_to(file)
    command = [str(folder)], 2
    for where, run in [("there", lambda tasks: cluster_py.run_on(client, tasks)), ("here", lambda tasks: [*map(cluster_py.run, tasks)])]:
        results = run(cluster_py.tasks_of("render", *command, str(tmp_path / where)))
        assert [status for status, _, _ in results] == [0] * 2, results
    alone = [R500, "render", str(folder), "-o", str(tmp_path / "alone")]
    subprocess.run(alone, check=True, capture_output=True)
    pictures = {path.relative_to(tmp_path / "alone"): path.read_bytes() for path in (tmp_path / "alone").rglob("*.png")}
    # A log holds several programs, so there are more pictures than files.
    assert len(pictures) >= 3
    for where in ["there", "here"]:
        found = {path.relative_to(tmp_path / where): path.read_bytes() for path in (tmp_path / where).rglob("*.png")}
        assert found == pictures


def test_verdicts_on_folders_of_all_formats(cluster_py, client, tmp_path):
    corpus = ROOT / "tests" / "corpus"
    files = [corpus / "mesa" / "alu_basic.json", corpus / "logs" / "tex_grad.log", ROOT / "examples" / "plasma.r5"]
    for side in ["before", "after"]:
        (tmp_path / side).mkdir()
        for file in files:
            (tmp_path / side / file.name).symlink_to(file)
    # One program differs.
    (tmp_path / "after" / "plasma.r5").unlink()
    (tmp_path / "after" / "plasma.r5").symlink_to(ROOT / "examples" / "march.r5")
    sides = [str(tmp_path / side) for side in ["before", "after"]]
    options = ["--random", "1", "--size", "16x16"]
    results = cluster_py.run_on(client, cluster_py.tasks_of("diff", sides, 3, None, options))
    together = json.loads(cluster_py.merged("diff", [out for _, out, _ in results]))
    alone = subprocess.run([R500, "diff", *sides, "--run", *options, "--format", "json"], capture_output=True, text=True)
    assert alone.returncode == 1, alone.stderr
    assert together == json.loads(alone.stdout)
    verdicts = {pair["name"]: pair["verdict"] for pair in together["programs"]}
    assert len(verdicts) >= 3 and "different" in verdicts.values() and "equal" in verdicts.values()
