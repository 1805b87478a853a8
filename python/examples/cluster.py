"""Large jobs of the r500 command on a Dask cluster: parts of a job are tasks, and a task whose worker dies runs again.

    pip install distributed
    python python/examples/cluster.py test tests/corpus/cases --parts 16
    python python/examples/cluster.py render tests/corpus/mesa --out pictures
    python python/examples/cluster.py diff before after --random 100
    python python/examples/cluster.py test tests/corpus --scheduler tcp://host:8786

Without --scheduler a cluster of --workers processes is started on this machine. Workers on other machines need the r500
command (in PATH, or named by R500) and the files under the same paths. Results are printed as JSON lines in the order of the
tasks, whichever worker was first: the same as with --here, which runs all tasks in this process.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

R500 = os.environ.get("R500", "r500")


def test_tasks(files, parts):
    """Parts of `r500 test`; every part finds the same order of tests, and takes its own."""
    return [[R500, "test", *files, "--format", "json", "--shard", f"{k + 1}/{parts}"] for k in range(parts)]


def programs_below(folder):
    return sorted(path.relative_to(folder) for path in pathlib.Path(folder).rglob("*.json"))


def render_tasks(folder, out):
    """A picture for each capture of a folder. A task that runs twice writes the same file twice."""
    tasks = []
    for name in programs_below(folder):
        target = (pathlib.Path(out) / name).with_suffix(".png")
        target.parent.mkdir(parents=True, exist_ok=True)
        tasks.append([R500, "render", str(pathlib.Path(folder) / name), "-o", str(target), "--format", "json"])
    return tasks


def diff_tasks(before, after, random):
    """A comparison for each program that both folders have."""
    both = sorted(set(programs_below(before)) & set(programs_below(after)))
    return [
        [R500, "diff", str(pathlib.Path(before) / name), str(pathlib.Path(after) / name)]
        + ["--run", "--random", str(random), "--format", "json"]
        for name in both
    ]


def run(command):
    """A task: runs the command, and returns its exit status and its two texts."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def run_on(client, tasks, progress=lambda done, of: None):
    """Runs tasks on a cluster, and returns their results in the order of the tasks.

    Dask runs a task again if its worker is lost. A task that takes its worker with it every time, five times at most
    here, fails with `distributed.KilledWorker`.
    """
    import distributed

    # The tasks are not pure: each run of a command must execute, even if its arguments are equal.
    futures = client.map(run, tasks, pure=False)
    for done, _ in enumerate(distributed.as_completed(futures), start=1):
        progress(done, len(futures))
    return client.gather(futures)


def show_progress(done, of):
    print(f"\r{done} of {of}", end="" if done < of else "\n", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a running cluster (default: start one here)")
    where.add_argument("--workers", type=int, default=os.cpu_count(), metavar="N", help="of the cluster that is started")
    where.add_argument("--here", action="store_true", help="without a cluster, one task after the other")
    jobs = parser.add_subparsers(dest="job", required=True)
    test = jobs.add_parser("test", parents=[where], help="run what carries expectations")
    test.add_argument("files", nargs="+")
    test.add_argument("--parts", type=int, default=64, metavar="N", help="tasks to make of it")
    render = jobs.add_parser("render", parents=[where], help="draw the captures of a folder")
    render.add_argument("folder")
    render.add_argument("--out", required=True, metavar="FOLDER")
    diff = jobs.add_parser("diff", parents=[where], help="compare the programs of two folders")
    diff.add_argument("before")
    diff.add_argument("after")
    diff.add_argument("--random", type=int, default=24, metavar="N")
    args = parser.parse_args()

    if args.job == "test":
        tasks = test_tasks(args.files, args.parts)
    elif args.job == "render":
        tasks = render_tasks(args.folder, args.out)
    else:
        tasks = diff_tasks(args.before, args.after, args.random)
    if not tasks:
        sys.exit("nothing to do: no .json in the folder, or none in both")

    if args.here:
        results = []
        for command in tasks:
            results.append(run(command))
            show_progress(len(results), len(tasks))
    else:
        import dask
        import distributed

        dask.config.set({"distributed.scheduler.allowed-failures": 5})
        if args.scheduler:
            client = distributed.Client(args.scheduler)
        else:
            client = distributed.Client(n_workers=args.workers, threads_per_worker=1, dashboard_address=None)
        with client:
            results = run_on(client, tasks, show_progress)

    for command, (_, out, err) in zip(tasks, results):
        # `test` prints a line per test; the output of the other commands becomes one line.
        if args.job != "test" and out:
            out = json.dumps(json.loads(out)) + "\n"
        print(out, end="")
        if err:
            print(f"{' '.join(command)}\n{err}", end="", file=sys.stderr)
    sys.exit(max(status for status, _, _ in results))


if __name__ == "__main__":
    main()
