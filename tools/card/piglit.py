"""Runs piglit tests on the virtual card and compares them with a real one: see the script `piglit` next to this."""

import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import gzip
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).parent
ROOT = pathlib.Path(next(iter(glob.glob("/usr/lib/*/piglit"))))
GROUPS = ("spec@glsl-1.10@", "spec@glsl-1.20@", "spec@arb_fragment_program", "spec@arb_vertex_program", "shaders@")
PASSES = ("pass", "warn", "skip")


def read_list(name):
    """Lines `test,result` or `test` of a list; what follows a # is a comment."""
    lines = (line.split("#")[0].strip() for line in (HERE / name).read_text().splitlines())
    return [line.partition(",")[0] for line in lines if line]


def read_tests():
    with gzip.open(ROOT / "tests" / "shader.xml.gz") as file:
        for _, test in ElementTree.iterparse(file):
            if test.tag == "Test" and test.get("name").startswith(GROUPS):
                options = {option.get("name"): option.get("value") for option in test}
                yield test.get("name"), json.loads(options["command"].replace("'", '"'))


def run(arguments, number, name, command):
    """The result of a test: what it says, or `crash`, or `timeout`; and how long it took."""
    program, *rest = command
    rest = [str(ROOT / part) if part.startswith(("tests/", "generated_tests/")) else part for part in rest]
    card = ["card"]
    if arguments.capture:
        card = ["capture", "-o", os.path.join(arguments.capture, f"{number:05}.r5cs")]
    line = [arguments.r500, *card, "--chip", "rv530", *(["--no-draw"] if arguments.no_draw else [])]
    line += [str(ROOT / "bin" / program), *rest, "-auto", "-fbo"]
    environment = os.environ | {
        "PIGLIT_PLATFORM": "surfaceless_egl",
        "PIGLIT_SOURCE_DIR": str(ROOT),
        "MESA_SHADER_CACHE_DISABLE": "true",
    }
    start = time.monotonic()
    try:
        done = subprocess.run(line, env=environment, capture_output=True, timeout=arguments.timeout)
    except subprocess.TimeoutExpired:
        return name, "timeout", time.monotonic() - start, ""
    text = done.stdout.decode(errors="replace")
    said = [json.loads(line[8:]) for line in text.splitlines() if line.startswith("PIGLIT: {")]
    results = [entry["result"] for entry in said if "result" in entry]
    crashed = done.returncode < 0 or not results
    result = "crash" if crashed else results[-1]
    return name, result, time.monotonic() - start, done.stderr.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(prog="tools/card/piglit")
    parser.add_argument("--r500", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sample", type=int, help="that many tests at random")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=60, help="seconds")
    parser.add_argument("--capture", metavar="DIRECTORY", help="keep what each test submits")
    parser.add_argument("--no-draw", action="store_true", help="measure without the machine; all results are wrong")
    parser.add_argument("-o", "--output", metavar="FILE", help="a line a test: name, result, the card's result")
    parser.add_argument("patterns", nargs="*", metavar="NAME-PATTERN")
    arguments = parser.parse_args()

    tests = sorted(read_tests())
    if arguments.patterns:
        tests = [test for test in tests if any(fnmatch.fnmatch(test[0], pattern) for pattern in arguments.patterns)]
    if arguments.sample and arguments.sample < len(tests):
        tests = sorted(random.Random(arguments.seed).sample(tests, arguments.sample))
    if arguments.capture:
        os.makedirs(arguments.capture, exist_ok=True)

    card_fails = set(read_list("piglit-rv530-fails.txt"))
    flakes = read_list("piglit-rv530-flakes.txt")
    known = set(read_list("piglit-known.txt"))
    counts, lines, worse, messages = collections.Counter(), [], [], collections.Counter()
    start, spent = time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(run, arguments, number, *test) for number, test in enumerate(tests)]
        for job in concurrent.futures.as_completed(jobs):
            name, result, seconds, errors = job.result()
            spent += seconds
            messages.update(line for line in errors.splitlines() if line.startswith("r500 card: "))
            here, there = result in PASSES, name not in card_fails
            if any(fnmatch.fnmatch(name, flake) for flake in flakes):
                counts["results that vary on the card"] += 1
            elif result in ("skip", "warn"):
                counts[result] += 1
            elif here == there:
                counts["pass as on the card" if here else "fail as on the card"] += 1
            elif here:
                counts["pass, fail on the card"] += 1
            else:
                counts["fail, pass on the card"] += 1
                worse.append((name, result))
            lines.append(f"{name},{result},{'pass' if there else 'fail'}\n")

    for what, count in counts.most_common():
        print(f"{count:6} {what}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(tests):6} tests in {time.monotonic() - start:.0f} s, {spent:.0f} s of programs,", end=" ")
    print(f"{used.ru_utime + used.ru_stime:.1f} s of processors")
    for name, result in sorted(worse):
        print(f"{result}: {name}{' (known)' if name in known else ''}")
    for message, count in messages.most_common(20):
        print(f"{count:6} x {message}")
    if arguments.output:
        pathlib.Path(arguments.output).write_text("".join(sorted(lines)))
    return any(name not in known for name, _ in worse)


sys.exit(main())
