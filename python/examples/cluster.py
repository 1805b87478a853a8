"""Large jobs of the r500 command on a Dask cluster: parts of a job are tasks, and a task whose worker dies runs again.

    pip install distributed
    python python/examples/cluster.py test tests/corpus/cases --parts 16
    python python/examples/cluster.py render tests/corpus/mesa --out pictures
    python python/examples/cluster.py diff before after -- --random 100
    python python/examples/cluster.py diff before.log after.log -- --prove
    python python/examples/cluster.py test tests/corpus --scheduler tcp://host:8786

Without --scheduler a cluster of --workers processes is started on this machine. Workers on other machines need the r500
command (in PATH, or named by R500) and the files under the same paths. What is after `--` are further options of the command. The parts are
those of its --shard, so all formats that it reads are read; the result is what `r500 ... --format json` prints on one machine, in the same order,
whichever worker was first. --here runs all tasks in this process.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys

R500 = os.environ.get("R500", "r500")


def tasks_of(job, files, parts, out=None, options=()):
    """The parts of a job. Each finds the same order of tests, pictures or pairs, and takes its own."""
    command = [R500, job, *files, *options, "--format", "json"]
    if job == "render":
        command += ["-o", out]
    if job == "diff" and not {"--run", "--prove"} & set(options):
        command += ["--run"]
    return [[*command, "--shard", f"{k + 1}/{parts}"] for k in range(parts)]


def interleaved(lists):
    """Part k of n has items k, k + n, and so on: returns all of them in their order."""
    missing = object()
    rounds = itertools.zip_longest(*lists, fillvalue=missing)
    return [item for round in rounds for item in round if item is not missing]


def merged(job, outputs):
    """The output of one machine, of the outputs of the parts."""
    if job == "diff":
        answers = [json.loads(output) for output in outputs if output]
        if not answers:
            return ""
        # Vertex programs are not divided: each part has compared all.
        programs = interleaved([answer.get("programs", []) for answer in answers])
        return json.dumps({**answers[0], **({"programs": programs} if "programs" in answers[0] else {})}, indent=2, ensure_ascii=False) + "\n"
    lines = interleaved([output.splitlines() for output in outputs])
    return "".join(line + "\n" for line in lines)


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
    where.add_argument("--parts", type=int, default=64, metavar="N", help="tasks to make of it")
    jobs = parser.add_subparsers(dest="job", required=True)
    test = jobs.add_parser("test", parents=[where], help="run what carries expectations")
    test.add_argument("files", nargs="+")
    render = jobs.add_parser("render", parents=[where], help="draw the programs of a folder")
    render.add_argument("files", nargs=1, metavar="folder")
    render.add_argument("--out", required=True, metavar="FOLDER")
    diff = jobs.add_parser("diff", parents=[where], help="compare the programs of two folders or logs")
    diff.add_argument("files", nargs=2, metavar=("before", "after"))
    own = sys.argv[1:]
    split = own.index("--") if "--" in own else len(own)
    args = parser.parse_args(own[:split])
    tasks = tasks_of(args.job, args.files, args.parts, getattr(args, "out", None), own[split + 1 :])

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

    print(merged(args.job, [out for _, out, _ in results]), end="")
    for command, (_, _, err) in zip(tasks, results):
        if err:
            print(f"{' '.join(command)}\n{err}", end="", file=sys.stderr)
    # A difference or a failed test counts more than a pair without a verdict.
    statuses = {status for status, _, _ in results}
    sys.exit(1 if 1 in statuses else max(statuses))


if __name__ == "__main__":
    main()
