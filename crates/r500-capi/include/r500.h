/* The r500 library for C. Made by cbindgen from crates/r500-capi/src; see docs/src/embedding.md. */

#ifndef R500_H
#define R500_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// US_OUT_FMT of red, green, blue and alpha in a byte each, in this order in memory.
#define R500_RGBA8 14592

// US_OUT_FMT of blue, green, red and alpha in a byte each, in this order in memory.
#define R500_BGRA8 6912

// US_OUT_FMT of red, green, blue and alpha as floats, in this order in memory.
#define R500_RGBA32F 14613

// A program that an engine is ready to draw, and what it reads. The caller of r500_prepare owns it. It belongs to one thread at a time: a
// function fails while another call uses the drawing, also r500_drawing_free. To draw on several threads, prepare a drawing for each.
typedef struct r500_drawing r500_drawing;

// A program with all that its file says about it: constants, inputs, textures, size. The caller of r500_read owns it. No function changes it,
// so any number of threads may use it at the same time; none may when it is freed. Drawings of it do not need it any more.
typedef struct r500_program r500_program;

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

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns why the last call on this thread that failed did so, in English. Valid until the next call on this thread; empty
// if none failed yet.
const char *r500_last_error(void);

// Returns the library's version.
const char *r500_version(void);

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

// Sets float constant n, 0 to 255, to four floats. Costs nothing else.
bool r500_set_constant(struct r500_drawing *drawing, size_t n, const float *value);

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

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* R500_H */
