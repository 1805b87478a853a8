"""One report of the virtual card in Markdown: see the script `report` next to this."""

import argparse
import collections
import datetime
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
COLUMNS = ("pass as on the card", "fail as on the card", "pass, fail on the card", "fail, pass on the card",
           "results that vary on the card", "skip")
# The lists of the RV515 have a ninth of the tests, and which ones is not recorded.
UNKNOWN = "not in the card's list"


def reasons():
    """Tests that fail here and pass on the card, with the comment that stands before them."""
    found, reason, fresh = {}, "", True
    for line in (HERE / "piglit-known.txt").read_text().splitlines():
        line = line.strip()
        if line.startswith("#"):
            reason = line[1:].strip() if fresh else f"{reason} {line[1:].strip()}"
            fresh = False
        else:
            fresh = True
            if line:
                found[line.partition(",")[0]] = reason
    return found


def run(step, command, log, environment=None):
    """Runs a command with its output in a file. Returns its exit status and how long it took."""
    print(f"\r{step:78}", end="", file=sys.stderr, flush=True)
    begin = time.monotonic()
    with open(log, "w") as output:
        status = subprocess.run(command, env=os.environ | (environment or {}), stdout=output, stderr=output).returncode
    return status, time.monotonic() - begin


def once(work, name, make):
    """The text of a file in the folder of the work. `make(part)` writes it under another name first, so that it is complete."""
    path = work / name
    if not path.exists():
        part = work / f".{name}.part"
        make(part)
        part.rename(path)
    return path.read_text()


def suite(arguments, work, name, chip, environment):
    """A row of the table for a suite of piglit, and its tests that fail here and pass on the card."""
    lines, seconds = [], 0.0
    parts = 1 if arguments.sample else arguments.parts
    sample = f"-sample{arguments.sample}" if arguments.sample else f"-of{parts}"
    for part in range(1, parts + 1):
        file = f"{name}-{chip}{sample}-{part}"

        def make(to):
            command = [HERE / "piglit", "--profile", name, "--chip", chip, "--jobs", str(arguments.jobs), "-o", to]
            command += ["--sample", str(arguments.sample)] if arguments.sample else ["--part", f"{part}/{parts}"]
            status, spent = run(f"{name} as {chip}, part {part} of {parts}", command, work / f"{file}.log", environment)
            if not to.exists():
                sys.exit(f"\n{name} as {chip} did not run (exit status {status}): {work / file}.log")
            to.write_text(f"{spent:.1f}\n" + to.read_text())

        first, *rest = once(work, f"{file}.txt", make).splitlines()
        seconds += float(first)
        lines += [split(line) for line in rest]
    return lines, seconds


def split(line):
    """Name, result and comparison of a line; comparisons may have a comma."""
    for comparison in (*COLUMNS, UNKNOWN):
        if line.endswith(f",{comparison}"):
            return [*line.removesuffix(f",{comparison}").rsplit(",", 1), comparison]
    return line.rsplit(",", 2)


def glmark2(work, chip, scenes, environment):
    """How many of glmark2's scenes have llvmpipe's frames within the tolerance, and the ones that do not."""
    good, bad = 0, []
    for scene in scenes:

        def make(to):
            log = work / f"frames-{chip}-{scene}.log"
            status, _ = run(f"frames of {scene} as {chip}", [HERE / "glmark2", "--chip", chip, scene], log, environment)
            to.write_text(f"{status}\n")

        if once(work, f"frames-{chip}-{scene}.txt", make).strip() == "0":
            good += 1
        else:
            bad.append(scene)
    return good, bad


def report(arguments, work, mesa, out):
    """Writes the tables for one Mesa. Returns whether something is wrong that has no reason."""
    work.mkdir(parents=True, exist_ok=True)
    environment = {"MESA": str(mesa)} if mesa else {}
    known, wrong, failing = reasons(), False, collections.defaultdict(list)
    chips = ("rv530", "rv515") if arguments.chip == "both" else (arguments.chip,)
    suites = [name for name in arguments.suite or ["quick_gl", "quick_shader"] if name != "none"]
    if suites:
        print(f"| suite | as | tests | {' | '.join(COLUMNS)} | others | minutes |", file=out)
        print(f"| --- | --- | {' | '.join(['---:'] * (len(COLUMNS) + 3))} |", file=out)
    for name in suites:
        for chip in chips:
            lines, seconds = suite(arguments, work, name, chip, environment)
            tests = {test for test, _, _ in lines}
            # The name of a subtest is that of its test, an @, and its own.
            whole = [line for line in lines if line[0].rpartition("@")[0] not in tests]
            counts = collections.Counter(comparison for _, _, comparison in whole)
            others = len(whole) - sum(counts[column] for column in COLUMNS)
            row = [len(whole), *(counts[column] for column in COLUMNS), others]
            print(f"| {name} | {chip.upper()} | {' | '.join(map(str, row))} | {seconds / 60:.0f} |", file=out)
            for test, result, comparison in whole:
                if comparison == COLUMNS[3]:
                    failing[test, result].append(chip.upper())
    if suites and arguments.sample:
        print(f"\nOf each suite {arguments.sample} tests at random.", file=out)
    if failing:
        print("\n| passes on the card, not here | as | result | reason |\n| --- | --- | --- | --- |", file=out)
        for (test, result), chips_of in sorted(failing.items()):
            reason = known.get(test)
            wrong |= reason is None
            print(f"| `{test}` | {', '.join(chips_of)} | {result} | {reason or '**none yet**'} |", file=out)
    scenes = arguments.scenes.split() if arguments.scenes else SCENES
    if not arguments.no_glmark2:
        print("\n| glmark2 as | scenes with llvmpipe's frames | others |\n| --- | --- | --- |", file=out)
        for chip in chips:
            good, bad = glmark2(work, chip, scenes, environment)
            wrong |= bool(bad)
            print(f"| {chip.upper()} | {good} of {len(scenes)} | {', '.join(bad) or '-'} |", file=out)
    if not arguments.no_versus:

        def make(to):
            log = work / "versus.log"
            run("frame times", [HERE / "versus", "--rounds", str(arguments.rounds), *scenes], log, environment)
            text = log.read_text()
            to.write_text(text[text.index("| scene") :] if "| scene" in text else "frame times: see versus.log\n")

        print(f"\n{once(work, 'versus.txt', make).strip()}", file=out)
    return wrong


SCENES = ("buffer build bump clear conditionals desktop effect2d function ideas jellyfish loop pulsar refract shading shadow"
          " texture").split()


def mesa_version(mesa):
    """The version of the system's Mesa, or of one in a folder, as its driver has it."""
    drivers = sorted(pathlib.Path(mesa or "/").glob("usr/lib/*/dri/r300_dri.so"))
    libraries = sorted(pathlib.Path(mesa or "/").glob("usr/lib/*/libgallium*.so"))
    for file in libraries + drivers:
        found = re.search(rb" Mesa (\d+\.\d+\.\d+)", file.read_bytes())
        if found:
            return f"Mesa {found[1].decode()}"
    return "a Mesa of unknown version"


def main():
    parser = argparse.ArgumentParser(prog="tools/card/report")
    parser.add_argument("--default-work", help=argparse.SUPPRESS)
    parser.add_argument("--sample", type=int, help="that many tests of each suite")
    parser.add_argument("--chip", choices=("rv530", "rv515", "both"), default="both")
    parser.add_argument("--suite", action="append", choices=("quick_gl", "quick_shader", "none"), help="may be repeated")
    parser.add_argument("--parts", type=int, default=20, help="of each suite")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--scenes", help="of glmark2, in one argument")
    parser.add_argument("--rounds", type=int, default=2, help="of frame times")
    parser.add_argument("--no-glmark2", action="store_true", help="without frames of glmark2")
    parser.add_argument("--no-versus", action="store_true", help="without frame times")
    parser.add_argument("--mesa", type=pathlib.Path, help="another Mesa, besides the system's")
    parser.add_argument("--work", type=pathlib.Path, help="results so far")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    arguments = parser.parse_args()
    work = arguments.work or pathlib.Path(arguments.default_work)
    out = arguments.output.open("w") if arguments.output else sys.stdout
    print(f"{datetime.date.today()}, {arguments.jobs} tests at a time on {os.cpu_count()} processors.", file=out)
    wrong = False
    for mesa in (None, arguments.mesa.resolve()) if arguments.mesa else (None,):
        print(f"\n### {mesa_version(mesa)}\n", file=out)
        wrong |= report(arguments, work / (mesa.name if mesa else "system"), mesa, out)
    print(f"\r{'':78}\r", end="", file=sys.stderr)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
