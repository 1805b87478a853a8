/* The r500 library for C. Made by cbindgen from crates/r500-capi/src; see docs/src/embedding.md.

   Errors: a function that fails returns NULL, false or 0; r500_last_error and r500_last_error_code tell why, on the same thread. NULL is
   an error where the function does not say what it means.

   Objects and threads:
     r500_program   any number of threads at the same time, but for r500_program_free
     r500_drawing   one thread at a time: a call fails with R500_ERROR_OBJECT while another one uses it
     r500_card      likewise
     r500_capture   likewise; r500_capture_next also uses the card that it is given
     r500_shader, r500_host_test   as r500_program
     texts          belong to the caller
   Functions without an object may be called on any thread. An object may go from thread to thread between calls. What a function returned is
   freed once, by the function of its type; builds with debug assertions report a second time and a use after it.

   Versions: while R500_VERSION_MAJOR is 0, a change of R500_VERSION_MINOR may change functions and structures. The shared library that
   crates/r500-capi/install installs has both numbers in its SONAME. */

#ifndef R500_H
#define R500_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// First number of the version of this header. While it is 0, a change of the second number may change functions.
#define R500_VERSION_MAJOR 0

// Second number of the version of this header.
#define R500_VERSION_MINOR 1

// Third number of the version of this header.
#define R500_VERSION_PATCH 0

// No call of this thread has failed yet.
#define R500_OK 0

// An argument is NULL, or not a value that the function takes.
#define R500_ERROR_ARGUMENT 1

// An object was freed, is in use by another call, or is none of this library.
#define R500_ERROR_OBJECT 2

// The bytes of a program or a capture are damaged or of an unknown format, or the program cannot be drawn.
#define R500_ERROR_INPUT 3

// The kernel's radeon driver would refuse the submission with EINVAL; it was not executed.
#define R500_ERROR_REFUSED 4

// A limit of time, work or memory ended a picture or a submission; what was drawn before stays.
#define R500_ERROR_LIMIT 5

// Memory cannot be allocated.
#define R500_ERROR_MEMORY 6

// A file cannot be opened or read.
#define R500_ERROR_FILE 7

// A fault of the library.
#define R500_ERROR_INTERNAL 8

// A finding of r500_findings: information.
#define R500_SEVERITY_NOTE 0

// A finding of r500_findings: the program runs, but perhaps not as intended, or differently on a card.
#define R500_SEVERITY_WARNING 1

// A finding of r500_findings: the program cannot run as written.
#define R500_SEVERITY_ERROR 2

// A verdict of r500_diff: none. The programs cannot be compared, and the text says why.
#define R500_DIFF_UNKNOWN 0

// A verdict of r500_diff: equal, proved; the text says for which values (integer and boolean constants are the programs').
#define R500_DIFF_PROVED 1

// A verdict of r500_diff: proved for groups whose pixels are all covered; in others uncovered pixels may show.
#define R500_DIFF_PROVED_IF_COVERED 2

// A verdict of r500_diff: no difference in the pictures that were drawn, and no proof.
#define R500_DIFF_EQUAL_IN_RUNS 3

// A verdict of r500_diff: a pixel differs.
#define R500_DIFF_DIFFERENT 4

// US_OUT_FMT of red, green, blue and alpha in a byte each, in this order in memory.
#define R500_RGBA8 14592

// US_OUT_FMT of blue, green, red and alpha in a byte each, in this order in memory.
#define R500_BGRA8 6912

// US_OUT_FMT of red, green, blue and alpha as floats, in this order in memory.
#define R500_RGBA32F 14613

// Id of a chunk: the list of relocations, four dwords for each: buffer, read domains, write domain, flags.
#define R500_CHUNK_RELOCS 1

// Id of a chunk: the dwords of the stream.
#define R500_CHUNK_IB 2

// Id of a chunk: one dword, R500_KEEP_TILING_FLAGS or 0.
#define R500_CHUNK_FLAGS 3

// Flag of a submission: the tiling bits of the stream count, not those of the buffers.
#define R500_KEEP_TILING_FLAGS 1

// A domain of a relocation: memory of the system.
#define R500_DOMAIN_GTT 2

// A domain of a relocation: memory of the card.
#define R500_DOMAIN_VRAM 4

// An event: the capture has ended.
#define R500_EVENT_END 0

// An event: a submission was executed.
#define R500_EVENT_SUBMISSION 1

// An event: the buffers of the last submission were compared with those of the capture.
#define R500_EVENT_COMPARISON 2

// An event: a picture went to the screen.
#define R500_EVENT_FRAME 3

// A flag of r500_emit: the bits of the reference engine, on hosts that pass the self-test. Without it a shader uses the host's functions and samplers.
#define R500_EMIT_EXACT 1

// A flag of r500_emit: inputs are computed from planes in the uniform buffer. Without it they are varyings.
#define R500_EMIT_PLANES 2

// A capture (`.r5cs`) with its buffers, between two of its records. The caller of r500_capture_open owns it. It belongs to one thread at a
// time: a function fails while another call uses the capture, also r500_capture_free.
typedef struct r500_capture r500_capture;

// A virtual card, with its registers and buffers. The caller of r500_card_new owns it. It belongs to one thread at a time: a function fails
// while another call uses the card, also r500_card_free. Different cards may be used at the same time.
typedef struct r500_card r500_card;

// A program that an engine is ready to draw, and what it reads. The caller of r500_prepare owns it. It belongs to one thread at a time: a
// function fails while another call uses the drawing, also r500_drawing_free. To draw on several threads, prepare a drawing for each.
typedef struct r500_drawing r500_drawing;

// The self-test of hosts for exact shaders. The caller of r500_host_test_new owns it. Threads may use it as they may a shader.
typedef struct r500_host_test r500_host_test;

// A program with all that its file says about it: constants, inputs, textures, size. The caller of r500_read owns it. No function changes it,
// so any number of threads may use it at the same time; none may when it is freed. Drawings of it do not need it any more.
typedef struct r500_program r500_program;

// A shader, with its bindings. The caller of r500_emit owns it. No function changes it, so any number of threads may use it at the same time;
// none may when it is freed.
typedef struct r500_shader r500_shader;

// A finding about a program.
typedef struct r500_finding {
  // R500_SEVERITY_NOTE, R500_SEVERITY_WARNING or R500_SEVERITY_ERROR.
  uint32_t severity;
  // Its number: 5001 for R5001.
  uint32_t code;
  // The address of the instruction that it is about; UINT32_MAX if it is about none.
  uint32_t address;
} r500_finding;

// Memory for the colours of a target. The first row is the lowest one of the picture.
typedef struct r500_surface {
  // The pixels; NULL for a target that is not wanted.
  uint8_t *bytes;
  // Bytes there are.
  size_t size;
  // Bytes from a row to the next.
  size_t pitch;
  // US_OUT_FMT: R500_RGBA8 and so on, or any format of the card.
  uint32_t format;
} r500_surface;

// What is drawn: a rectangle of the picture, and memory for its results. As on the card, pixels that are not covered or killed
// keep what they had. All zeros but the rectangle and one surface is a good beginning.
typedef struct r500_surfaces {
  // Left column.
  uint32_t x;
  // Lowest row.
  uint32_t y;
  // Columns; 0 for all of the picture, whatever x, y and height are.
  uint32_t width;
  // Rows.
  uint32_t height;
  // Targets A to D.
  struct r500_surface colors[4];
  // Depth of each pixel, as the program wrote it; or NULL.
  float *depth;
  // Floats there are.
  size_t depth_size;
  // Floats from a row to the next.
  size_t depth_pitch;
  // 1 for each pixel that is covered and not killed, 0 for the others; or NULL.
  uint8_t *coverage;
  // Bytes there are.
  size_t coverage_size;
  // Bytes from a row to the next.
  size_t coverage_pitch;
} r500_surfaces;

// One draw of a batch.
typedef struct r500_batch_draw {
  // Float constants that are set before this draw, four floats each; they stay set. NULL for none.
  const float *constants;
  // The number of the first one.
  size_t first;
  // How many there are.
  size_t count;
  // What is drawn.
  struct r500_surfaces surfaces;
} r500_batch_draw;

// A chunk of a submission, as `struct drm_radeon_cs_chunk` has it, with a pointer of C.
typedef struct r500_chunk {
  // R500_CHUNK_IB and so on; others are ignored.
  uint32_t id;
  // Dwords there are.
  uint32_t length;
  // The dwords; NULL if there are none.
  const uint32_t *dwords;
} r500_chunk;

// What r500_capture_next did.
typedef struct r500_event {
  // R500_EVENT_SUBMISSION and so on.
  uint32_t kind;
  // Of R500_EVENT_FRAME: columns of the picture.
  uint32_t width;
  // Of R500_EVENT_FRAME: its rows.
  uint32_t height;
  // Of R500_EVENT_END: 1 if the file ends inside of a record, as that of a program that crashed may.
  uint32_t truncated;
  // Submissions so far.
  uint64_t submissions;
  // Frames so far.
  uint64_t frames;
  // Of R500_EVENT_COMPARISON: buffers that were compared.
  uint64_t compared;
  // Of R500_EVENT_COMPARISON: those of them with other bytes than when the capture was made.
  uint64_t different;
} r500_event;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the library's version, as text. The macros R500_VERSION_MAJOR, _MINOR and _PATCH are the version of the header.
const char *r500_version(void);

// Returns why the last call on this thread that failed did so, in English. Valid until the next call on this thread; empty
// if none failed yet.
const char *r500_last_error(void);

// Returns the kind of error of the last call on this thread that failed: R500_ERROR_ARGUMENT and so on; R500_OK if none failed yet. Later
// versions may add kinds.
uint32_t r500_last_error_code(void);

// Reads a program in any of the formats that the r500 command reads: assembly, JSON captures, driver logs, raw dwords, C
// arrays, hex text; gzipped or not. `name` is the file's name, which helps where content is ambiguous, or NULL; no file is
// opened. `index` selects one of several programs. Free it with r500_program_free.
struct r500_program *r500_read(const uint8_t *bytes,
                               size_t size,
                               const char *name,
                               size_t index);

// Frees a program; does nothing for NULL. Builds with debug assertions return false where it was freed before.
bool r500_program_free(struct r500_program *program);

// Stores the width and height that the program's file gives. False, without an error, if it gives none.
bool r500_program_size(const struct r500_program *program,
                       uint32_t *width,
                       uint32_t *height);

// Returns how the driver's compilation of a program ended: "compiled"; "failed", and the program is the driver's dummy or has no
// instructions; "dummy", which the driver took for a shader without instructions. Empty if the program is not from a driver's log. NULL if
// there is an error. Free it with r500_text_free.
char *r500_outcome(const struct r500_program *program);

// Returns why the driver could not compile a program, in its words; empty if it could, or if the program is not from a driver's log.
// NULL if there is an error. Free it with r500_text_free.
char *r500_failure(const struct r500_program *program);

// Returns what ran out in the compilation of a program that failed: "temporaries", "constants", "instructions", "flow-control",
// "operations"; empty if nothing did. Stores the limit in `most` and what the shader needs in `needed`, 0 where the driver does not print
// the number; `needed` - `most` is the excess. NULL if there is an error. Free it with r500_text_free.
char *r500_limit(const struct r500_program *program,
                 uint32_t *most,
                 uint32_t *needed);

// Checks a program. Returns a line for each finding, `error[R5001]: …`; an empty text if there are none. Free it with
// r500_text_free. See docs/src/checking.md for the codes.
char *r500_check(const struct r500_program *program);

// Checks a program. Stores the first `count` findings, in the order of the lines of r500_check, and returns how many there are; SIZE_MAX if
// there is an error. To ask for the number alone, pass NULL and 0.
size_t r500_findings(const struct r500_program *program,
                     struct r500_finding *findings,
                     size_t count);

// Returns a program in the assembly language. Free it with r500_text_free.
char *r500_disassemble(const struct r500_program *program);

// Returns what each instruction did to pixel x, y of a picture: a line with its address and text, then one for each write,
// indented. Free it with r500_text_free.
char *r500_trace(const struct r500_program *program,
                 uint32_t width,
                 uint32_t height,
                 uint32_t x,
                 uint32_t y);

// Frees a text that a function of this library returned; does nothing for NULL. Builds with debug assertions return false where it
// was one of the last texts to be freed.
bool r500_text_free(char *text);

// Compares two programs in every bit that they write, for the same values of constants, inputs and textures, register by register: draws
// pictures with the values of both files and with random ones, then tries a proof. Stores the verdict, R500_DIFF_PROVED and so on. Returns
// a text about it: the pixel that differs, the number of pictures, why there is no proof. NULL if there is an error. Free it with
// r500_text_free.
char *r500_diff(const struct r500_program *a,
                const struct r500_program *b,
                uint32_t *verdict_of_diff);

// Returns a program that computes the same bits and costs less, or a copy of the given one. `evidence`, which may be NULL, receives a text to
// free with r500_text_free: "unchanged"; "proved", where both are equal for all values; else how many pictures with the values of the file
// and with random ones are equal. A result that differs in a bit is dropped, and the text says so. Free the program with r500_program_free.
struct r500_program *r500_optimize(const struct r500_program *program,
                                   char **evidence);

// Makes an engine ready to draw a program as a picture of this size. `engine_name` is "jit" (the default, for NULL), "fast" or
// "reference"; all draw the same bits. Later changes of the program do not matter. Free it with r500_drawing_free.
struct r500_drawing *r500_prepare(const struct r500_program *program,
                                  uint32_t width,
                                  uint32_t height,
                                  const char *engine_name);

// Frees a drawing; does nothing for NULL. Returns false, and does not free it, while another call uses it; builds with debug
// assertions also where it was freed before.
bool r500_drawing_free(struct r500_drawing *drawing);

// Returns the engine that draws: "jit", "fast" or "reference". It may change once machine code is ready. NULL if there is an error. Free it
// with r500_text_free.
char *r500_engine(const struct r500_drawing *drawing);

// Returns why another engine draws than the requested one; empty if the requested one does. NULL if there is an error. Free it with
// r500_text_free.
char *r500_fallback_reason(const struct r500_drawing *drawing);

// Sets the number of threads; 0 for as many as there are processors, the default.
bool r500_set_threads(struct r500_drawing *drawing, size_t threads);

// Sets the limits of a picture: instructions that a group of pixels may execute (at first 4 million), bytes that a picture or another
// allocation may take (4 GiB), and seconds (none). 0 keeps a limit as it is, a negative time removes that limit. A picture that exceeds
// one is an error, R500_ERROR_LIMIT.
bool r500_set_limits(struct r500_drawing *drawing,
                     uint64_t instructions,
                     uint64_t memory,
                     double seconds);

// Binds a texture to a unit, 0 to 15. `spec` is the text that the assembly language and `--tex` take: "checker", or the name of a file and
// options, "brick.png,wrap=mirror,min=linear" or "raw:texels,size=64x64,format=8_8_8_8". No file is opened: `bytes` are its content (PNG, DDS,
// KTX2, or raw texels), NULL for a texture without a file. The texture's size scales the program's coordinates. The bytes are copied.
bool r500_set_texture(struct r500_drawing *drawing,
                      size_t unit,
                      const char *spec,
                      const uint8_t *bytes,
                      size_t size);

// Removes the texture of a unit, 0 to 15: its fetches give what a disabled unit gives.
bool r500_clear_texture(struct r500_drawing *drawing, size_t unit);

// Sets float constant n, 0 to 255, to four floats. Costs nothing else.
bool r500_set_constant(struct r500_drawing *drawing, size_t n, const float *value);

// Sets `count` float constants from number `first` on, four floats each. If they are not all of 0 to 255 it is an error, and none is set.
bool r500_set_constants(struct r500_drawing *drawing,
                        size_t first,
                        const float *values,
                        size_t count);

// Sets integer constant n, 0 to 31: iterations of a loop, first value and step of its aL.
bool r500_set_int_constant(struct r500_drawing *drawing,
                           size_t n,
                           uint8_t iterations,
                           uint8_t first,
                           int8_t step);

// Sets boolean constant n, 0 to 31.
bool r500_set_bool_constant(struct r500_drawing *drawing, size_t n, bool value);

// Sets what temporary `temp`, 0 to 127, starts with in each pixel: four floats a pixel, row by row from the lowest. `pixels` is
// width times height of the picture. The values are copied.
bool r500_set_input(struct r500_drawing *drawing,
                    uint8_t temp,
                    const float *values,
                    size_t pixels);

// Sets which pixels the rasteriser covers, a byte each (0 or not), row by row from the lowest. NULL for all.
bool r500_set_coverage(struct r500_drawing *drawing,
                       const uint8_t *mask,
                       size_t pixels);

// Draws. Surfaces must not overlap each other.
bool r500_draw(struct r500_drawing *drawing, const struct r500_surfaces *surfaces);

// Draws `count` times, in order, each with its own constants. Surfaces of one draw must not overlap each other. `drawn`, if not NULL,
// is how many draws were done: all, or those before the one with an error.
bool r500_draw_batch(struct r500_drawing *drawing,
                     const struct r500_batch_draw *draws,
                     size_t count,
                     size_t *drawn);

// Returns a card as the kernel's driver leaves it when it starts. `engine_name` is what runs fragment programs: "fast" (the default, for
// NULL), "jit" or "reference"; all draw the same bits. `chip_name` is "rv515", "rv530" (the default, for NULL), "r520" or "r580". Free it with
// r500_card_free.
struct r500_card *r500_card_new(const char *engine_name,
                                const char *chip_name);

// Frees a card with its buffers; does nothing for NULL. Returns false, and does not free it, while another call uses it; builds with debug
// assertions also where it was freed before.
bool r500_card_free(struct r500_card *card);

// Chooses a rule that the documents leave open, as `--reading NAME=VALUE` does. It takes precedence over the readings of a capture.
bool r500_card_set_reading(struct r500_card *card,
                           const char *name,
                           const char *value);

// Sets the time in seconds that a submission may take; 0 for any time. At first it is 120. A submission that takes longer is an error,
// R500_ERROR_LIMIT.
bool r500_card_set_time_limit(struct r500_card *card,
                              double seconds);

// Sets whether r500_card_submit refuses what the kernel's radeon driver refuses; at first it does.
bool r500_card_set_checked(struct r500_card *card, bool checked);

// Creates a buffer of zeros. `size` in bytes is rounded up to pages of 4096, as the kernel does. Returns its name for relocations, a number
// above 0 that the card gives to no other buffer; 0 if there is an error.
uint32_t r500_card_create_buffer(struct r500_card *card,
                                 size_t size);

// Gives the card memory of the caller as a buffer, `dwords` of it: it reads and writes there, during calls only. The memory must exist until
// the card is freed, also where the buffer is closed before: registers may still refer to it. Returns its name for relocations, or 0 if
// there is an error.
uint32_t r500_card_adopt_buffer(struct r500_card *card,
                                uint32_t *memory,
                                size_t dwords);

// Closes a buffer: its name is no longer one of the card.
bool r500_card_close_buffer(struct r500_card *card, uint32_t buffer);

// Sets the tiling of a buffer, as the request DRM_RADEON_GEM_SET_TILING does: `flags` are its RADEON_TILING bits, `pitch` the bytes of a row.
bool r500_card_set_tiling(struct r500_card *card,
                          uint32_t buffer,
                          uint32_t flags,
                          uint32_t pitch);

// Returns the bytes of a buffer; 0 if there is an error.
size_t r500_card_buffer_size(struct r500_card *card, uint32_t buffer);

// Copies bytes into a buffer. They must end inside it.
bool r500_card_write_buffer(struct r500_card *card,
                            uint32_t buffer,
                            size_t offset,
                            const uint8_t *bytes,
                            size_t size);

// Copies bytes out of a buffer. They must end inside it.
bool r500_card_read_buffer(struct r500_card *card,
                           uint32_t buffer,
                           size_t offset,
                           uint8_t *bytes,
                           size_t size);

// Executes a submission of `count` chunks to its end, as the request DRM_RADEON_CS does: a chunk with the dwords of the stream, one with the
// relocations that they name, and one with flags. The error is R500_ERROR_REFUSED, with the reason in words, if the kernel would answer
// EINVAL; nothing was executed then. R500_ERROR_LIMIT and R500_ERROR_INPUT ended the submission early; earlier draws stay. Packets that a
// card would skip are in r500_card_notes.
bool r500_card_submit(struct r500_card *card,
                      const struct r500_chunk *chunks,
                      size_t count);

// Checks a submission as the kernel's driver does, and executes nothing. The error is R500_ERROR_REFUSED, with the reason in words, if
// the kernel would answer EINVAL.
bool r500_card_check(struct r500_card *card,
                     const struct r500_chunk *chunks,
                     size_t count);

// Returns what was not drawn as a real card does it, a line for each; empty if there is nothing. NULL if there is an error. Free it with
// r500_text_free.
char *r500_card_notes(struct r500_card *card);

// Returns the numbers of submissions, draws, vertices, primitives, quads and samples so far, in a line. NULL if there is an error. Free it
// with r500_text_free.
char *r500_card_statistics(struct r500_card *card);

// Reads what render target `n`, 0 to 3, holds by the registers of the last draw, as red, green, blue and alpha of each pixel, from the first
// row in memory. Stores width and height; multisampled pixels are averaged. Fails if no buffer is bound to the target, and if `colors` has
// fewer than 4 times width times height `floats`: width and height are stored then, too. To ask for the size alone, pass NULL and 0.
bool r500_card_target(struct r500_card *card,
                      uint32_t n,
                      uint32_t *width,
                      uint32_t *height,
                      float *colors,
                      size_t floats);

// Opens the file of a capture, which is read step by step. Its buffers may take 2 GiB together. Free it with r500_capture_free.
struct r500_capture *r500_capture_open(const char *path);

// Does the same for a capture in memory. The bytes are copied.
struct r500_capture *r500_capture_read(const uint8_t *bytes, size_t size);

// Frees a capture; does nothing for NULL. Returns false, and does not free it, while another call uses it; builds with debug assertions also
// where it was freed before.
bool r500_capture_free(struct r500_capture *capture);

// Continues to the next event of a capture, and stores it: executes a submission on the card, compares its buffers, or shows a picture, which
// r500_capture_frame reads. Pass the same card each time; the readings of the capture are set on it. Submissions are not checked as the kernel
// does. A submission that is given up is an error (R500_ERROR_LIMIT, R500_ERROR_INPUT), of which `event` tells the number; the next call
// continues after it. After the end, and after damage, there is only R500_EVENT_END.
bool r500_capture_next(struct r500_capture *capture,
                       struct r500_card *card,
                       struct r500_event *event);

// Reads the picture that the last event, R500_EVENT_FRAME, put on the screen: a byte each of red, green and blue, rows from the top, `pitch`
// bytes from a row to the next. `size` is the bytes that there are.
bool r500_capture_frame(struct r500_capture *capture,
                        uint8_t *rgb,
                        size_t size,
                        size_t pitch);

// Copies bytes out of a buffer of the capture, which `r500 stream` names. They must end inside it.
bool r500_capture_read_buffer(struct r500_capture *capture,
                              uint32_t buffer,
                              size_t offset,
                              uint8_t *bytes,
                              size_t size);

// Writes a program as a shader: "wgsl", "glsl" (4.50), "glsl-es-310", "glsl-es-300" or "spirv" (1.0, for Vulkan). `flags` are R500_EMIT_EXACT and
// R500_EMIT_PLANES, or 0. Integer and boolean constants are those of the program, float constants are in a uniform buffer. Free it with
// r500_shader_free.
struct r500_shader *r500_emit(const struct r500_program *program,
                              const char *language_name,
                              uint32_t flags);

// Frees a shader; does nothing for NULL. Builds with debug assertions return false where it was freed before.
bool r500_shader_free(struct r500_shader *shader);

// Copies the code of a shader, text without a terminating zero or the little-endian words of SPIR-V, to `size` bytes, if it fits. Returns its size
// in bytes, 0 if there is an error; with NULL and 0 it only returns that.
size_t r500_shader_code(const struct r500_shader *shader,
                        uint8_t *bytes,
                        size_t size);

// Returns what to bind to a shader, as a JSON object: the layout of the uniform buffer, varyings, textures, targets; and the instructions that make
// small differences of hosts large. NULL if there is an error. Free it with r500_text_free.
char *r500_shader_interface(const struct r500_shader *shader);

// Copies the uniform buffer for the constants and inputs of the program, and for a picture of one pixel, to `count` floats, if it fits. Returns the
// number of its floats; 0 also if there is an error.
size_t r500_shader_uniforms(const struct r500_shader *shader,
                            float *values,
                            size_t count);

// Copies a level of the texture of a unit as an exact shader must load it, four floats a texel, to `count` floats, if it fits: row by row, layer by layer
// (the faces +X, -X, +Y, -Y, +Z, -Z of a cube). Stores width, height and layers in `size`, three numbers. Returns the number of floats; 0 if there is an
// error, or the texture has no such level.
size_t r500_texels(const struct r500_program *program,
                   uint8_t unit,
                   size_t level,
                   uint32_t *size,
                   float *values,
                   size_t count);

// Returns the self-test of hosts for exact shaders in a language. Draw its shader over a picture of its size, with 8 bits a channel (RGBA, not sRGB),
// and pass the bytes to r500_host_test_compare. Free it with r500_host_test_free.
struct r500_host_test *r500_host_test_new(const char *language_name);

// Frees a self-test; does nothing for NULL. Builds with debug assertions return false where it was freed before.
bool r500_host_test_free(struct r500_host_test *test);

// Returns the shader of a self-test; the self-test may be freed before it. Free it with r500_shader_free.
struct r500_shader *r500_host_test_shader(const struct r500_host_test *test);

// Stores width and height of the picture of a self-test, which are also those of its texture, in `size`, two numbers. Copies the texels, four floats
// each, to `count` floats, if they fit, and returns the number of floats; 0 if there is an error.
size_t r500_host_test_texels(const struct r500_host_test *test,
                             uint32_t *size,
                             float *values,
                             size_t count);

// Compares the picture that a host drew, `size` bytes, row 0 first, with what exact shaders need. Returns the operations that differ, one a line:
// empty if exact shaders are exact there. NULL if there is an error. Free it with r500_text_free.
char *r500_host_test_compare(const struct r500_host_test *test,
                             const uint8_t *rgba,
                             size_t size);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* R500_H */
