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
# The file of a profile, the groups of it that run, and the platform: without `--platform`, that of the real card's lists.
SHADER_GROUPS = ("spec@glsl-1.10@", "spec@glsl-1.20@", "spec@arb_fragment_program", "spec@arb_vertex_program", "shaders@")
PROFILES = {
    "shader": ("shader", SHADER_GROUPS, "surfaceless_egl"),
    "quick_gl": ("quick_gl", ("",), "gbm"),
    "quick_shader": ("quick_shader", ("",), "gbm"),
}
# Tests of window systems.
WINDOWS = ("glx@", "wgl@")
PASSES = ("pass", "warn", "skip")


def read_list(name):
    """Lines `test,result` or `test` of a list; what follows a # is a comment."""
    path = HERE / name
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines()) if path.exists() else ()
    return [line.partition(",")[0] for line in lines if line]


def option(text):
    """A value of an option of a test in a profile: a list or a truth value, as Python writes it."""
    return json.loads(text.replace("'", '"').replace("True", "true").replace("False", "false"))


def read_tests(profile, platform):
    """The tests of a profile that run on a platform: name and command."""
    file, groups, _ = PROFILES[profile]
    with gzip.open(ROOT / "tests" / f"{file}.xml.gz") as file:
        for _, test in ElementTree.iterparse(file):
            name = test.get("name")
            if test.tag != "Test" or not name.startswith(groups) or name.startswith(WINDOWS):
                continue
            options = {entry.get("name"): entry.get("value") for entry in test}
            if platform not in option(options.get("require_platforms", f"['{platform}']")):
                continue
            if platform in option(options.get("exclude_platforms", "[]")):
                continue
            command = option(options["command"])
            if test.get("type") == "gl_builtin":
                command[1] = f"tests/{command[1]}"
            # Tests that run alone draw to a window, which a platform without a screen does not have; others to a framebuffer object.
            fbo = option(options.get("run_concurrent", "True"))
            if fbo or platform != "surfaceless_egl":
                yield name, [*command, "-auto", *(["-fbo"] if fbo else [])]


def run(arguments, number, name, command):
    """The results of a test and its subtests, as a dictionary by name, and how long it took. The test's result is what it says,
    or `crash`, or `timeout`."""
    program, *rest = command
    # Packages leave out some programs.
    if not (ROOT / "bin" / program).exists():
        return name, {name: "skip"}, 0.0, ""
    rest = [str(ROOT / part) if part.startswith(("tests/", "generated_tests/")) else part for part in rest]
    card = ["card"]
    if arguments.capture:
        card = ["capture", "-o", os.path.join(arguments.capture, f"{number:05}.r5cs")]
    line = [arguments.r500, *card, "--chip", arguments.chip, *(["--no-draw"] if arguments.no_draw else [])]
    line += [part for reading in arguments.reading for part in ("--reading", reading)]
    line += [str(ROOT / "bin" / program), *rest]
    environment = os.environ | {
        "PIGLIT_PLATFORM": arguments.platform,
        # For tests that use EGL's default display.
        "EGL_PLATFORM": arguments.platform.removesuffix("_egl"),
        "PIGLIT_SOURCE_DIR": str(ROOT),
        "MESA_SHADER_CACHE_DISABLE": "true",
        "WAFFLE_GBM_DEVICE": "/dev/dri/card0",
    }
    start = time.monotonic()
    try:
        done = subprocess.run(line, env=environment, capture_output=True, timeout=arguments.timeout)
    except subprocess.TimeoutExpired:
        return name, {name: "timeout"}, time.monotonic() - start, ""
    text = done.stdout.decode(errors="replace")
    said = [json.loads(line[8:]) for line in text.splitlines() if line.startswith("PIGLIT: {")]
    found = [entry["result"] for entry in said if "result" in entry]
    crashed = done.returncode < 0 or not found
    results = {name: "crash" if crashed else found[-1]}
    for entry in said:
        # The lists write a comma in a name as a hyphen.
        results |= {f"{name}@{key.replace(',', '-')}": value for key, value in entry.get("subtest", {}).items()}
    return name, results, time.monotonic() - start, done.stderr.decode(errors="replace")


class Card:
    """A real card's results: the lists of its failures and of the tests that pass and fail in turns."""

    def __init__(self, chip):
        self.fails = set(read_list(f"piglit-{chip}-fails.txt"))
        self.flakes = read_list(f"piglit-{chip}-flakes.txt")
        # The RV515 ran every ninth test, and which ones is not recorded: a test that its list does not name is unknown.
        self.complete = chip != "rv515"

    def compare(self, name, result):
        """The word for a result next to the card's."""
        here, there = result in PASSES, name not in self.fails
        if any(fnmatch.fnmatch(name, flake) for flake in self.flakes):
            return "results that vary on the card"
        if result in ("skip", "warn", "notrun"):
            return result
        if there and not self.complete:
            return "not in the card's list"
        if here == there:
            return "pass as on the card" if here else "fail as on the card"
        return "pass, fail on the card" if here else "fail, pass on the card"


def main():
    parser = argparse.ArgumentParser(prog="tools/card/piglit")
    parser.add_argument("--r500", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--profile", choices=PROFILES, default="shader", help="tests of programs, or of all of OpenGL")
    parser.add_argument("--chip", choices=("rv530", "rv515"), default="rv530", help="the card, here and in the list")
    parser.add_argument("--platform", choices=("gbm", "surfaceless_egl"), help="gbm for quick_gl, surfaceless_egl for shader")
    parser.add_argument("--reading", action="append", default=[], metavar="NAME=VALUE", help="of the card")
    parser.add_argument("--sample", type=int, help="that many tests at random")
    parser.add_argument("--part", metavar="N/M", help="the Nth of M parts of the tests")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=60, help="seconds")
    parser.add_argument("--capture", metavar="DIRECTORY", help="keep what each test submits")
    parser.add_argument("--no-draw", action="store_true", help="measure without the machine; all results are wrong")
    parser.add_argument("-o", "--output", metavar="FILE", help="a line a test and subtest: name, result, comparison")
    parser.add_argument("patterns", nargs="*", metavar="NAME-PATTERN")
    arguments = parser.parse_args()
    arguments.platform = arguments.platform or PROFILES[arguments.profile][2]

    tests = sorted(read_tests(arguments.profile, arguments.platform))
    if arguments.patterns:
        tests = [test for test in tests if any(fnmatch.fnmatchcase(test[0], pattern) for pattern in arguments.patterns)]
    if arguments.sample and arguments.sample < len(tests):
        tests = sorted(random.Random(arguments.seed).sample(tests, arguments.sample))
    if arguments.part:
        part, _, parts = arguments.part.partition("/")
        tests = tests[int(part) - 1 :: int(parts)]
    if arguments.capture:
        os.makedirs(arguments.capture, exist_ok=True)

    card = Card(arguments.chip)
    known = set(read_list("piglit-known.txt"))
    counts, subtests, messages = collections.Counter(), collections.Counter(), collections.Counter()
    lines, worse, worse_subtests = [], [], []
    start, spent = time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(run, arguments, number, *test) for number, test in enumerate(tests)]
        for job in concurrent.futures.as_completed(jobs):
            test, results, seconds, errors = job.result()
            spent += seconds
            messages.update(line for line in errors.splitlines() if line.startswith("r500 card: "))
            for name, result in results.items():
                comparison = card.compare(name, result)
                (counts if name == test else subtests)[comparison] += 1
                if comparison == "fail, pass on the card":
                    (worse if name == test else worse_subtests).append((name, result))
                lines.append(f"{name},{result},{comparison}\n")

    for what, count in counts.most_common():
        print(f"{count:6} {what}")
    for what, count in subtests.most_common():
        print(f"{count:6} subtests: {what}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(tests):6} tests in {time.monotonic() - start:.0f} s, {spent:.0f} s of programs,", end=" ")
    print(f"{used.ru_utime + used.ru_stime:.1f} s of processors")
    for name, result in sorted(worse) + sorted(worse_subtests):
        print(f"{result}: {name}{' (known)' if name in known else ''}")
    for message, count in messages.most_common(20):
        print(f"{count:6} x {message}")
    if arguments.output:
        pathlib.Path(arguments.output).write_text("".join(sorted(lines)))
    return any(name not in known for name, _ in worse)


if __name__ == "__main__":
    sys.exit(main())
