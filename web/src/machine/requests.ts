// Generated from crates/r500-web by `BLESS=1 cargo test -p r500-web`; do not edit.

/**
 * A part of the source, in UTF-16 units, as pages count text.
 */
export type Range = {
/**
 * The first unit.
 */
from: number,
/**
 * The unit after the last.
 */
to: number, };

/**
 * A replacement of a part of the source, in UTF-16 units.
 */
export type TextEdit = {
/**
 * The new text.
 */
text: string,
/**
 * The first unit.
 */
from: number,
/**
 * The unit after the last.
 */
to: number, };

/**
 * The analysis of a source.
 */
export type Analysis = {
/**
 * Whether the program can run.
 */
ok: boolean,
/**
 * The program's name; may be empty.
 */
name: string,
/**
 * Width and height of the picture, if the source gives them.
 */
size: [number, number] | null,
/**
 * Seconds.
 */
time: number,
/**
 * Constant and channel that are set to the time.
 */
clock: [number, number] | null,
/**
 * Whether pictures at other times may be others: the program takes the time, or has textures that change.
 */
moves: boolean,
/**
 * Targets that the program may write.
 */
targets: [boolean, boolean, boolean, boolean],
/**
 * Whether the program may write depth.
 */
depth: boolean,
/**
 * Diagnostics, by place.
 */
diagnostics: Array<Diagnostic>,
/**
 * The address of the first instruction.
 */
offset: number,
/**
 * The instructions.
 */
instructions: Array<Instruction>,
/**
 * Constants that the source defines or names.
 */
constants: Array<Constant>,
/**
 * Integer constants that the source defines or the program reads.
 */
ints: Array<IntConstant>,
/**
 * Textures.
 */
textures: Array<TextureInfo>,
/**
 * Uniforms that the page sets: `time`, `resolution`, `mouse`, `frame`.
 */
builtin: Array<string>,
/**
 * Whether the source has `EXPECT` directives.
 */
expects: boolean,
/**
 * Statistics of the program; none if it cannot run.
 */
stats: Array<Statistic>,
/**
 * Notes about the program's control flow.
 */
notes: Array<string>,
/**
 * The draws of a scene; the instructions above are those of the first one.
 */
draws: Array<DrawProgram>, };

/**
 * A diagnostic.
 */
export type Diagnostic = {
/**
 * `error`, `warning` or `note`.
 */
severity: "error" | "warning" | "note",
/**
 * Its code.
 */
code: string,
/**
 * The message.
 */
message: string,
/**
 * The reason, and possible remedies.
 */
help: Array<string>,
/**
 * The fixes.
 */
fixes: Array<Fix>,
/**
 * The first unit.
 */
from: number,
/**
 * The unit after the last.
 */
to: number, };

/**
 * A fix: a change of the source.
 */
export type Fix = {
/**
 * What it does, in the imperative.
 */
title: string,
/**
 * The change.
 */
edits: Array<TextEdit>,
/**
 * Whether it fixes the problem, and does not only suppress the diagnostic.
 */
resolves: boolean, };

/**
 * An instruction.
 */
export type Instruction = {
/**
 * Its place, if it is in the source itself.
 */
range: Range | null,
/**
 * Its number, from 0.
 */
index: number,
/**
 * `alu`, `out`, `tex` or `fc`.
 */
kind: "alu" | "out" | "tex" | "fc",
/**
 * Its dwords.
 */
words: [number, number, number, number, number, number],
/**
 * The instruction as text.
 */
text: string, };

/**
 * A constant.
 */
export type Constant = {
/**
 * Its number.
 */
number: number,
/**
 * Its value, as bits.
 */
value: [number, number, number, number],
/**
 * Its name, if all channels have one name.
 */
name: string | null,
/**
 * The comment after its value.
 */
comment: string | null,
/**
 * Whether its name or comment says that it is a colour.
 */
color: boolean,
/**
 * Whether the program reads it without a definition in the source.
 */
made_up: boolean,
/**
 * Names of its channels.
 */
uniforms: Array<Uniform>, };

/**
 * An integer constant.
 */
export type IntConstant = {
/**
 * Its number.
 */
number: number,
/**
 * Iterations of a loop, first value and step of aL.
 */
value: [number, number, number],
/**
 * Whether the program reads it without a definition in the source.
 */
made_up: boolean, };

/**
 * A name for channels of a constant.
 */
export type Uniform = {
/**
 * The name.
 */
name: string,
/**
 * The first channel.
 */
channel: number,
/**
 * Their number.
 */
channels: number,
/**
 * Whether the name says that it is a colour.
 */
color: boolean,
/**
 * Whether the page sets it.
 */
builtin: boolean, };

/**
 * A texture.
 */
export type TextureInfo = {
/**
 * Its unit.
 */
unit: number,
/**
 * Width, height and layers of the finest level.
 */
size: [number, number, number],
/**
 * Number of levels.
 */
levels: number,
/**
 * The file that holds it.
 */
file: string | null,
/**
 * Whether the program reads it without a texture in the source.
 */
made_up: boolean,
/**
 * Where its texels come from, if they change.
 */
live: LiveUnit | null, };

/**
 * A statistic of a program.
 */
export type Statistic = {
/**
 * Its short title.
 */
title: string,
/**
 * What it is.
 */
meaning: string,
/**
 * The number.
 */
value: number,
/**
 * Whether less is better.
 */
cost: boolean, };

/**
 * The fragment program of a draw of a scene.
 */
export type DrawProgram = {
/**
 * The address of the first instruction.
 */
offset: number,
/**
 * Statistics of the program.
 */
stats: Array<Statistic>,
/**
 * The instructions; those of a shader in GLSL have its places.
 */
instructions: Array<Instruction>, };

/**
 * A file with programs.
 */
export type Opened = {
/**
 * What the file is written in.
 */
format: string,
/**
 * The names of its programs; none if another module compiles it.
 */
names: Array<string>,
/**
 * The number of the program that was read.
 */
picked: number,
/**
 * The program as a source.
 */
text: string, };

/**
 * An instruction, bit by bit.
 */
export type Encoding = { index: number,
/**
 * The instruction as text.
 */
text: string, words: Array<EncodingWord>, };

/**
 * A dword.
 */
export type EncodingWord = { bits: number,
/**
 * Its register; none if this type of instruction does not read it.
 */
register: string | null, meaning: string,
/**
 * Set bits that no field names.
 */
unnamed: number,
/**
 * From the highest bit.
 */
fields: Array<EncodingField>, };

/**
 * A field.
 */
export type EncodingField = { name: string, hi: number, lo: number, code: number,
/**
 * The code as text.
 */
reading: string,
/**
 * The meaning of the field.
 */
meaning: string,
/**
 * The meaning of the code.
 */
now: string,
/**
 * `flag`, `number`, `signed` or `choice`.
 */
kind: "flag" | "number" | "signed" | "choice", reserved: boolean, values: Array<EncodingValue>, };

/**
 * A value that the documents name.
 */
export type EncodingValue = { code: number, name: string, meaning: string, };

/**
 * Bytes in this module's memory, until the next request.
 */
export type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A display transform.
 */
export type Look = {
/**
 * Channels to show, red in bit 0. One alone is shown as grey; without alpha the picture is opaque.
 */
channels: number,
/**
 * The values that become 0 and 1.
 */
range: [number, number], };

/**
 * The pointer over the picture.
 */
export type Mouse = {
/**
 * Column, from 0 at the left to 1.
 */
x: number,
/**
 * Row, from 0 at the bottom to 1.
 */
y: number,
/**
 * Whether a button is pressed.
 */
pressed: boolean, };

/**
 * A picture to be drawn.
 */
export type Drawing = {
/**
 * Width and height of the whole picture.
 */
size: [number, number],
/**
 * Seconds, for the constant that is set to the time.
 */
time: number,
/**
 * Constants with other values than in the source: number, and value as bits.
 */
constants: Array<[number, [number, number, number, number]]>,
/**
 * The lowest row and the number of rows of each band.
 */
bands: Array<[number, number]>,
/**
 * Target to show: 0 to 3, or 4 for depth.
 */
target: number,
/**
 * How its values are displayed.
 */
look: Look,
/**
 * The pointer, for the constant that is set to it; if absent, the constant keeps the value of the source.
 */
mouse: Mouse | null,
/**
 * Number of pictures drawn before, for the constant that is set to it.
 */
frame: number,
/**
 * Instructions that a group of pixels may execute.
 */
limit: number,
/**
 * Texels of textures that change; their bytes are attached in this order.
 */
live: Array<LiveTexels>, };

/**
 * A program that was loaded.
 */
export type Loaded = {
/**
 * Width and height that the source gives.
 */
size: [number, number] | null,
/**
 * Targets that the program may write, and always the first.
 */
targets: [boolean, boolean, boolean, boolean],
/**
 * Whether the program may write depth.
 */
depth: boolean,
/**
 * Whether a constant is set to the time.
 */
moves: boolean,
/**
 * Textures that change.
 */
live: Array<LiveUnit>, };

/**
 * A picture that was drawn.
 */
export type Drawn = { bands: Array<Band>,
/**
 * The engine that drew it.
 */
engine: string,
/**
 * Why machine code was not used.
 */
instead: string | null, instructions: number, killed: number, };

/**
 * A band of rows.
 */
export type Band = {
/**
 * The lowest row, counted from the bottom of the picture.
 */
y: number,
/**
 * Their number.
 */
rows: number,
/**
 * Pixels of 8 bits a channel, the upper row first; or raw values, the lowest row first.
 */
bytes: Bytes, };

/**
 * Texels of a texture that changes.
 */
export type LiveTexels = {
/**
 * Its unit.
 */
unit: number,
/**
 * Width and height.
 */
size: [number, number],
/**
 * Bytes attached, row 0 first: floats of what the program wrote, else a byte for each channel. If 0, all are 0.
 */
length: number, };

/**
 * A texture that changes.
 */
export type LiveUnit = {
/**
 * Its unit.
 */
unit: number,
/**
 * What it has.
 */
source: "previous" | "keyboard" | "camera" | "video",
/**
 * The output, of `previous`.
 */
target: number, };

/**
 * A program as a shader.
 */
export type GpuShader = {
/**
 * The text in WGSL, whose fragment shader is `main`.
 */
code: string,
/**
 * The size of the uniform buffer in bytes, which is at binding 0; none if there is no buffer.
 */
uniforms: number | null,
/**
 * The targets that are written.
 */
colors: Array<number>,
/**
 * Whether the depth is written.
 */
depth: boolean, textures: Array<GpuTexture>,
/**
 * The instructions that make small errors of a fast shader visible, and why.
 */
amplifiers: Array<string>,
/**
 * The maximum number of instructions that a pixel executes.
 */
instructions: number, };

/**
 * A texture of a shader.
 */
export type GpuTexture = { binding: number,
/**
 * The dimension of the view: `2d`, `3d`, `cube`, `2d-array`.
 */
view: string, levels: Array<GpuLevel>,
/**
 * The binding of its sampler; none in exact shaders.
 */
sampler_binding: number | null, sampler: GpuSampler | null, };

/**
 * A level of a texture.
 */
export type GpuLevel = {
/**
 * Width, height and layers.
 */
size: [number, number, number],
/**
 * Four floats a texel.
 */
texels: Bytes, };

/**
 * A sampler, in the words of WebGPU.
 */
export type GpuSampler = {
/**
 * Along U, V, W.
 */
address: [GPUAddressMode, GPUAddressMode, GPUAddressMode], mag: GPUFilterMode, min: GPUFilterMode, mip: GPUMipmapFilterMode,
/**
 * The least and the greatest level of detail.
 */
lod: [number, number], anisotropy: number, };

/**
 * The shader that tests whether a device draws exact shaders exactly.
 */
export type GpuTest = { shader: GpuShader,
/**
 * Width and height of its picture, with 8 bits a channel.
 */
size: [number, number],
/**
 * The uniform buffer.
 */
values: Bytes, };

/**
 * An `EXPECT` directive, and whether the picture meets it.
 */
export type Judged = {
/**
 * Whether the picture meets it.
 */
passes: boolean,
/**
 * The first pixel that does not, and its value.
 */
text: string,
/**
 * The first unit.
 */
from: number,
/**
 * The unit after the last.
 */
to: number, };

/**
 * How two programs are compared.
 */
export type CompareOptions = {
/**
 * Width and height of both pictures.
 */
size: [number, number],
/**
 * Seconds.
 */
time: number,
/**
 * The maximum difference that counts as equal, as `r500 diff --tolerance`; if absent, bits are compared.
 */
tolerance: number | null,
/**
 * Instructions that a group of pixels may execute.
 */
limit: number, };

/**
 * The result of a comparison.
 */
export type Compared = {
/**
 * Pixels compared.
 */
pixels: number,
/**
 * Pixels that differ.
 */
differing: number,
/**
 * Why there is no verdict: a result depends on what corresponds to nothing in the other program, or on what only the other carries.
 */
undecided: string | null,
/**
 * The first pixel that differs, row by row from the bottom.
 */
first: [number, number] | null,
/**
 * The differences at that pixel.
 */
text: Array<string>,
/**
 * The instruction of each program where the runs diverge.
 */
parting: [Parting | null, Parting | null],
/**
 * Registers that got the same values because neither program provides them.
 */
notes: Array<string>,
/**
 * Pictures of A and B and of their difference: 8 bits a channel, the upper row first.
 */
pictures: [Bytes, Bytes, Bytes], };

/**
 * An instruction where two runs diverge.
 */
export type Parting = {
/**
 * The step that executes it, counted from 1.
 */
step: number,
/**
 * Its address.
 */
address: number,
/**
 * The instruction as text.
 */
text: string,
/**
 * Its place, if it is in the source itself.
 */
range: Range | null, };

/**
 * The description of a place.
 */
export type Hover = {
/**
 * Markdown.
 */
text: string,
/**
 * The first unit.
 */
from: number,
/**
 * The unit after the last.
 */
to: number, };

/**
 * A completion.
 */
export type Completion = { label: string, kind: string,
/**
 * Its meaning, in a line.
 */
detail: string,
/**
 * Its description in Markdown.
 */
text: string,
/**
 * The text to insert, a snippet.
 */
insert: string,
/**
 * The first unit.
 */
from: number,
/**
 * The unit after the last.
 */
to: number, };

/**
 * A name that can be renamed.
 */
export type Renamable = {
/**
 * The name, without a label's `@`.
 */
name: string,
/**
 * The first unit.
 */
from: number,
/**
 * The unit after the last.
 */
to: number, };

/**
 * An optimised program, and the evidence that it is equivalent.
 */
export type Optimized = {
/**
 * The result as a source; lines of unchanged instructions are kept.
 */
text: string,
/**
 * The place of each instruction of the result in `text`.
 */
ranges: Array<Range>,
/**
 * For each instruction of the result the instructions of the original that it stands for, by number.
 */
origins: Array<Array<number>>,
/**
 * Costs before and after.
 */
cost: [Cost, Cost],
/**
 * The evidence that the result is equivalent; `refused` results are not returned.
 */
verdict: "unchanged" | "proved" | "equal" | "refused",
/**
 * The verdict in a sentence.
 */
evidence: string,
/**
 * The changes, in order.
 */
changes: Array<Change>, };

/**
 * The cost of a program.
 */
export type Cost = {
/**
 * Issue cycles of the longest path; 0 where the program is not structured.
 */
cycles: number,
/**
 * Instruction slots.
 */
slots: number,
/**
 * Temporaries.
 */
temporaries: number,
/**
 * Instructions with NOP.
 */
nops: number, };

/**
 * A change that a pass made.
 */
export type Change = {
/**
 * The pass.
 */
pass: string,
/**
 * The effect of the pass.
 */
what: string,
/**
 * Why the change does not alter results.
 */
why: string,
/**
 * Numbers of the original instructions that it concerned.
 */
before: Array<number>,
/**
 * Numbers of the instructions of the result that they have become.
 */
after: Array<number>,
/**
 * Costs before and after it.
 */
cost: [Cost, Cost], };

/**
 * A compiled shader, or its errors.
 */
export type CompiledShader = {
/**
 * The program as a source; none if the shader has errors.
 */
text: string | null,
/**
 * Errors and warnings, by place.
 */
diagnostics: Array<Diagnostic>,
/**
 * For each instruction the lines of the shader that it computes, from 1, ascending.
 */
lines: Array<Array<number>>,
/**
 * The cost of each line that costs something, ascending.
 */
costs: Array<LineCost>,
/**
 * What the program uses of the chip.
 */
limits: Array<Limit>,
/**
 * The names of the samplers of the texture units, in order.
 */
samplers: Array<string>, };

/**
 * What a line of a shader costs.
 */
export type LineCost = {
/**
 * The line, from 1.
 */
line: number,
/**
 * Instructions that compute it.
 */
instructions: number,
/**
 * Instruction slots: an instruction that computes several lines is shared equally, so that the sum over all lines is the program.
 */
slots: number, };

/**
 * What a program uses of a resource of the chip.
 */
export type Limit = {
/**
 * The resource.
 */
name: string,
/**
 * What is counted.
 */
meaning: string,
/**
 * Its use.
 */
used: number,
/**
 * What the chip has; none where it has no limit.
 */
most: number | null, };

/**
 * A value of a uniform, or a texture of a sampler.
 */
export type Setting = { "uniform": Array<number> } | { "texture": string };

/**
 * A movement in the run.
 */
export type Going = { how: Way, backward: boolean,
/**
 * The position, for `seek`.
 */
position: number,
/**
 * The pixel, for `watch`.
 */
pixel: [number, number],
/**
 * The breakpoints of `run`.
 */
breaks: Array<Breakpoint>, };

export type Way = "step" | "active" | "over" | "out" | "run" | "seek" | "watch";

/**
 * A breakpoint: at an address, where a condition becomes true, or both; or where a value changes.
 */
export type Breakpoint = { address: number | null, condition: string | null,
/**
 * The run stops when this expression changes its value.
 */
changes: string | null,
/**
 * Which of its hits count, from the start of the run: `3`, `>= 3`, `% 3`.
 */
hits: string | null,
/**
 * A message that it logs instead of stopping, with values in braces: `r is {temp[1].r}`.
 */
message: string | null, };

/**
 * A recorded run.
 */
export type Recorded = {
/**
 * Number of steps.
 */
length: number,
/**
 * Why the run was not recorded to its end.
 */
stopped: string | null,
/**
 * The address that each step executes, 32 bits each.
 */
addresses: Bytes,
/**
 * The state at the start.
 */
shown: Moment, };

/**
 * The state at a position of the run.
 */
export type Moment = {
/**
 * Steps executed.
 */
position: number,
/**
 * Address of the next instruction; none at the end.
 */
address: number | null,
/**
 * Why the movement stopped here: `there`, `break`, `start` or `end`.
 */
stop: "there" | "break" | "start" | "end",
/**
 * The indices of the breakpoints that stopped it.
 */
breakpoints: Array<number>,
/**
 * Messages of breakpoints on the way, in the order of the run.
 */
log: Array<string>,
/**
 * Column and row of the pixel.
 */
pixel: [number, number],
/**
 * Left, bottom, width, height of its group.
 */
group: [number, number, number, number], active: boolean,
/**
 * The effect of the last step.
 */
done: Did | null,
/**
 * The effect of the next step.
 */
coming: Did | null,
/**
 * The halves of the next instruction, if it is one of the ALU.
 */
halves: Array<HalfInWords>, lanes: Array<Lane>,
/**
 * Number, channels ever written, and value of each temporary that was written.
 */
temps: Array<[number, number, [number, number, number, number]]>, predicate: number, predicate_set: number, alu_result: boolean, alu_result_set: boolean,
/**
 * Channels written and value of each output.
 */
outputs: Array<[number, [number, number, number, number]]>, depth: number | null, al: number, loops: Array<RunningLoop>, calls: Array<number>,
/**
 * The final colours of the pixel: A to D.
 */
delivered: [[number, number, number, number], [number, number, number, number], [number, number, number, number], [number, number, number, number]], delivered_depth: number | null, };

/**
 * A pixel of the group.
 */
export type Lane = { x: number, y: number,
/**
 * Whether it executes the next instruction.
 */
executes: boolean,
/**
 * Its state: `active`, `branch`, `break`, `continue`, `killed`, `uncovered` or `outside`.
 */
state: "active" | "branch" | "break" | "continue" | "killed" | "uncovered" | "outside",
/**
 * Nesting levels to leave until it is active again.
 */
levels: number,
/**
 * Whether it entered the innermost running loop; `None` outside of loops.
 */
entered: boolean | null, };

/**
 * A running loop.
 */
export type RunningLoop = {
/**
 * Remaining iterations, including the current one.
 */
count: number, al: number, };

/**
 * A half of an ALU or OUT instruction.
 */
export type HalfInWords = {
/**
 * `rgb` or `alpha`.
 */
half: "rgb" | "alpha",
/**
 * Whether its result is neither written nor forwarded by the other half.
 */
idle: boolean,
/**
 * The operation with its modifiers: `clamp MAD`.
 */
operation: string,
/**
 * The operands that the operation uses.
 */
operands: Array<OperandInWords>, };

/**
 * An operand.
 */
export type OperandInWords = {
/**
 * 0 to 2: A to C.
 */
slot: number,
/**
 * The operand as it is written: `-src0.rg0`.
 */
text: string,
/**
 * The same with the registers of its sources: `-temp[2].rg0`.
 */
register: string,
/**
 * The temporaries that it reads: number, and channels by bit.
 */
reads: Array<[number, number]>, };

/**
 * The effect of a step on the pixel.
 */
export type Did = { address: number, active: boolean, writes: Array<Write>, } & ({ "kind": "skipped" } | { "kind": "alu", rgb: [[number, number, number], [number, number, number], [number, number, number]], alpha: [number, number, number], raw: [number, number, number, number], result: [number, number, number, number], enabled: number, } | { "kind": "tex", coord: [number, number, number, number], texel: [number, number, number, number] | null, enabled: number, killed: boolean, } | { "kind": "flow", wants: boolean, voted: boolean, voters: number, favour: number, taken: boolean, next: number, });

export type Effect = { "kind": "skipped" } | { "kind": "alu", rgb: [[number, number, number], [number, number, number], [number, number, number]], alpha: [number, number, number], raw: [number, number, number, number], result: [number, number, number, number], enabled: number, } | { "kind": "tex", coord: [number, number, number, number], texel: [number, number, number, number] | null, enabled: number, killed: boolean, } | { "kind": "flow", wants: boolean, voted: boolean, voters: number, favour: number, taken: boolean, next: number, };

export type Write = { "to": "temp", number: number, mask: number, value: [number, number, number, number], } | { "to": "output", number: number, mask: number, value: [number, number, number, number], } | { "to": "depth", value: number, } | { "to": "predicate", mask: number, bits: number, } | { "to": "aluResult", value: boolean, };

/**
 * A query about the pixels of some areas of a picture.
 */
export type AreaQuery = {
/**
 * The picture.
 */
drawing: Drawing,
/**
 * Left, bottom, width, height of each area.
 */
areas: Array<[number, number, number, number]>,
/**
 * The condition to find first; without one, instructions executed and waited are counted.
 */
condition: string | null, };

/**
 * The answer to an [`AreaQuery`].
 */
export type AreaResult = {
/**
 * Groups of pixels that the limit of instructions stopped.
 */
stopped: number,
/**
 * 32 bits each, area by area, row by row from the lowest. Of what pixels execute: two a pixel,
 * instructions executed and waited. Of a condition: the steps after which it first holds, plus one;
 * 0 for never.
 */
numbers: Bytes, };

/**
 * A drawn scene.
 */
export type SceneDrawn = {
/**
 * Pixels of 8 bits a channel, the upper row first.
 */
bytes: Bytes,
/**
 * Draws.
 */
draws: number,
/**
 * Vertices.
 */
vertices: number,
/**
 * What a real card does otherwise.
 */
notes: Array<string>, };

/**
 * A recorded pixel of a scene.
 */
export type SceneRecorded = {
/**
 * The number of the draw that shades it last, from 0.
 */
draw: number,
/**
 * Its run.
 */
recorded: Recorded, };

/**
 * A source with the files that it may name.
 */
export type Source = {
/**
 * The text.
 */
text: string,
/**
 * Its name.
 */
name: string,
/**
 * Files; their bytes are attached in this order.
 */
files: Array<FileLength>, };

/**
 * An attached file.
 */
export type FileLength = {
/**
 * Its name.
 */
name: string,
/**
 * Its length.
 */
length: number, };

/**
 * A request. `do` names it.
 */
export type Request = { "do": "open",
/**
 * Which program, from 0.
 */
pick: number,
/**
 * The file's name.
 */
name: string,
/**
 * Bytes attached.
 */
length: number, } | { "do": "analyse" } & Source | { "do": "load" } & Source | { "do": "draw" } & Drawing | { "do": "show",
/**
 * Target 0 to 3, or 4 for depth.
 */
target: number,
/**
 * How its values are displayed.
 */
look: Look, } | { "do": "shader",
/**
 * Whether it computes the reference engine's bits, on a device that passes the test.
 */
exact: boolean, } | { "do": "uniforms",
/**
 * Whether it is that of the exact shader.
 */
exact: boolean,
/**
 * The picture.
 */
drawing: Drawing, } | { "do": "gpuTest" } | { "do": "gpuFailures",
/**
 * Bytes attached.
 */
length: number, } | { "do": "shown",
/**
 * Width of the picture.
 */
width: number,
/**
 * Bytes attached.
 */
length: number,
/**
 * How its values are displayed.
 */
look: Look, } | { "do": "expect",
/**
 * Instructions that a group of pixels may execute.
 */
limit: number, } | { "do": "compare",
/**
 * The source of B.
 */
other: Source,
/**
 * Options of the comparison.
 */
options: CompareOptions, } | { "do": "gif",
/**
 * Width and height.
 */
size: [number, number],
/**
 * Frames.
 */
frames: number,
/**
 * Frames a second.
 */
fps: number, } | { "do": "values",
/**
 * Target 0 to 3, or 4 for depth.
 */
target: number, } | { "do": "encoding",
/**
 * Its number, from 0.
 */
index: number, } | { "do": "editField",
/**
 * Number of the instruction.
 */
index: number,
/**
 * Number of the dword.
 */
word: number,
/**
 * Name of the field.
 */
field: string,
/**
 * Its new code.
 */
code: number, } | { "do": "editConstant",
/**
 * Its number.
 */
constant: number,
/**
 * Its new value, as bits.
 */
value: [number, number, number, number], } | { "do": "editInt",
/**
 * Its number.
 */
number: number,
/**
 * Iterations, first value of aL, step of aL.
 */
value: [number, number, number], } | { "do": "editTexture",
/**
 * Its unit.
 */
unit: number,
/**
 * The text after `TEXTURE tex[n] =`.
 */
what: string, } | { "do": "flow" } | { "do": "write",
/**
 * The format's name.
 */
format: string, } | { "do": "hover",
/**
 * The place, in UTF-16 units.
 */
at: number, } | { "do": "complete",
/**
 * The place, in UTF-16 units.
 */
at: number, } | { "do": "definition",
/**
 * The place, in UTF-16 units.
 */
at: number, } | { "do": "references",
/**
 * The place, in UTF-16 units.
 */
at: number, } | { "do": "renamable",
/**
 * The place, in UTF-16 units.
 */
at: number, } | { "do": "rename",
/**
 * The place, in UTF-16 units.
 */
at: number,
/**
 * The new name.
 */
name: string, } | { "do": "format" } | { "do": "fixAll" } | { "do": "optimize" } & Source | { "do": "compile",
/**
 * The shader.
 */
text: string,
/**
 * The name of the program.
 */
name: string,
/**
 * Whether the program is for the picture alone: not optimised, without costs.
 */
draft: boolean, } | { "do": "editShader",
/**
 * The shader.
 */
text: string,
/**
 * The uniform or sampler.
 */
name: string,
/**
 * Its value or texture.
 */
setting: Setting, } | { "do": "tokens",
/**
 * The part, in UTF-16 units.
 */
from: number,
/**
 * Where it ends.
 */
to: number, } | { "do": "record",
/**
 * The picture.
 */
drawing: Drawing,
/**
 * Column and row, from the bottom.
 */
pixel: [number, number], } | { "do": "go" } & Going | { "do": "checkBreakpoint",
/**
 * The breakpoint.
 */
breakpoint: Breakpoint, } | { "do": "area" } & AreaQuery | { "do": "analyseScene" } & Source | { "do": "loadScene" } & Source | { "do": "drawScene",
/**
 * Seconds.
 */
time: number,
/**
 * How its values are displayed.
 */
look: Look, } | { "do": "showScene",
/**
 * How its values are displayed.
 */
look: Look, } | { "do": "sceneValues" } | { "do": "expectScene" } | { "do": "recordScene",
/**
 * Seconds.
 */
time: number,
/**
 * Column and row, from the bottom.
 */
pixel: [number, number],
/**
 * Instructions that a group of pixels may execute.
 */
limit: number, } | { "do": "sceneCapture",
/**
 * Seconds.
 */
time: number, } | { "do": "page",
/**
 * The code.
 */
code: string, };

/** The answer to each request, by its name. */
export interface Answers {
  open: Opened;
  analyse: Analysis;
  load: Loaded;
  draw: Drawn;
  show: Array<Band>;
  values: Array<Band>;
  shader: GpuShader;
  uniforms: Bytes;
  gpuTest: GpuTest;
  gpuFailures: Array<string>;
  shown: Bytes;
  expect: Array<Judged>;
  compare: Compared;
  gif: Bytes;
  encoding: Encoding;
  editField: Array<TextEdit>;
  editConstant: Array<TextEdit>;
  editInt: Array<TextEdit>;
  editTexture: Array<TextEdit>;
  flow: string;
  write: Bytes;
  hover: Hover | null;
  complete: Array<Completion>;
  tokens: Array<[number, number, string]>;
  definition: Range | null;
  references: Array<Range>;
  renamable: Renamable | null;
  rename: Array<TextEdit>;
  format: Array<TextEdit>;
  fixAll: Array<TextEdit>;
  optimize: Optimized;
  compile: CompiledShader;
  editShader: Array<TextEdit>;
  record: Recorded;
  go: Moment;
  checkBreakpoint: null;
  area: AreaResult;
  page: string | null;
  analyseScene: Analysis;
  loadScene: Loaded;
  drawScene: SceneDrawn;
  showScene: Bytes;
  sceneValues: Bytes;
  expectScene: Array<Judged>;
  recordScene: SceneRecorded;
  sceneCapture: Bytes;
}
