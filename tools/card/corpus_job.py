#!/usr/bin/env python3
"""Writes the job of a draw as a capture of the corpus: corpus_job.py OLD.json DRAW.json VERSION OUT.json [--named]

Inputs of the draw are values of pixels; they are linear, and become planes. `check` is that of the old capture. --named is for a
draw with the uniforms of `corpus.py --tag`: the constants that hold them get their names, and the values of the old capture. What
else is needed to draw is left out."""
import json
import struct
import sys

old, draw = (json.load(open(path)) for path in sys.argv[1:3])
version, out = sys.argv[3:5]
named = "--named" in sys.argv[5:]
width, height = draw["size"]


def plane(values, channel):
    at = lambda x, y: values[y * width + x][channel]
    du = round((at(width - 1, 0) - at(0, 0)) * width / (width - 1), 4)
    dv = round((at(0, height - 1) - at(0, 0)) * height / (height - 1), 4)
    c = round(at(0, 0) - du * 0.5 / width - dv * 0.5 / height, 4)
    for x in (0, width // 2, width - 1):
        for y in (0, height // 3, height - 1):
            error = abs(c + du * (x + 0.5) / width + dv * (y + 0.5) / height - at(x, y))
            assert error < 2e-3 * max(1, abs(at(x, y))), "an input is not linear"
    return {"plane_uv": [c, du, dv]}


def rows(items):
    return "[\n" + ",\n".join("  " + json.dumps(item) for item in items) + "\n ]"


inputs = [{"temp": i["temp"], "components": [plane(i["values"], channel) for channel in range(4)]} for i in draw["inputs"]]
constants = draw["constants"]
while constants and set(constants[-1]) == {"00000000"}:
    constants.pop()
uniforms, tag = [], 7001
bits = lambda number: struct.pack(">f", number).hex()
for uniform in old["uniforms"] if named else []:
    for component, value in enumerate(uniform["value"]):
        for n, constant in enumerate(constants):
            for channel in (c for c in range(4) if constant[c] == bits(tag)):
                name = uniform["name"] + "." + "xyzw"[component] if len(uniform["value"]) > 1 else uniform["name"]
                uniforms.append({"name": name, "constant": n, "channel": channel, "channels": 1})
                constant[channel] = bits(value)
        tag += 2
job = {"name": old["name"], "origin": f"mesa r300 {version}, RV530", "size": draw["size"], "check": old.get("check", {}),
       "us": draw["us"], "constants": constants, "inputs": inputs, "bound_textures": draw.get("bound_textures", []),
       "program": draw["program"]}
if named:
    job = {key: job[key] for key in ("name", "origin", "size", "us", "constants", "program")} | {"uniforms": uniforms}
with open(out, "w") as file:
    lists = ("program", "constants", "inputs", "bound_textures", "uniforms")
    fields = (f" {json.dumps(key)}: {rows(value) if key in lists else json.dumps(value)}" for key, value in job.items())
    file.write("{\n" + ",\n".join(fields) + "\n}\n")
