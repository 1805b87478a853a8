/* Blending and logical operations. */

#include <math.h>
#include <string.h>

#include "scenes.h"

static void draw_blended(GLenum equation, GLenum source, GLenum destination)
{
    use_color();
    draw_random_triangles(10);
    glEnable(GL_BLEND);
    glBlendEquation(equation);
    glBlendFunc(source, destination);
    draw_rectangle(-0.9f, -0.9f, 0.3f, 0.5f, half_blue);
    draw_rectangle(-0.4f, -0.5f, 0.9f, 0.9f, amber);
}

void scene_blend(void) { draw_blended(GL_FUNC_ADD, GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA); }
static void scene_blend_subtract(void) { draw_blended(GL_FUNC_REVERSE_SUBTRACT, GL_ONE, GL_ONE); }
static void scene_blend_max(void) { draw_blended(GL_MAX, GL_ONE, GL_ONE); }

static void scene_blend_constant(void)
{
    glBlendColor(0.3f, 0.6f, 0.9f, 0.5f);
    draw_blended(GL_FUNC_ADD, GL_CONSTANT_COLOR, GL_ONE_MINUS_CONSTANT_ALPHA);
}

static void scene_logic_op(void)
{
    use_color();
    draw_random_triangles(10);
    glEnable(GL_COLOR_LOGIC_OP);
    glLogicOp(GL_XOR);
    draw_rectangle(-0.7f, -0.7f, 0.7f, 0.7f, amber);
}

/* All sixteen operations, one cell each. */
static void scene_logic_ops(void)
{
    use_color();
    draw_random_triangles(10);
    glEnable(GL_COLOR_LOGIC_OP);
    for (int i = 0; i < 16; i++) {
        float x = i % 4 * 0.5f - 1, y = i / 4 * 0.5f - 1;
        const float color[4] = {0x35 / 255.0f, 0xa6 / 255.0f, 0xf0 / 255.0f, 0x99 / 255.0f};
        glLogicOp(GL_CLEAR + i);
        draw_rectangle(x + 0.05f, y + 0.05f, x + 0.4f, y + 0.4f, color);
    }
}

/* Separate functions and equations for alpha, with masks. */
static void scene_blend_separate(void)
{
    static const GLenum factors[] = {GL_ZERO, GL_ONE, GL_SRC_COLOR, GL_ONE_MINUS_SRC_COLOR, GL_DST_COLOR, GL_ONE_MINUS_DST_COLOR,
                                     GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_DST_ALPHA, GL_ONE_MINUS_DST_ALPHA};
    use_color();
    draw_random_triangles(10);
    glEnable(GL_BLEND);
    glBlendEquationSeparate(GL_FUNC_ADD, GL_FUNC_SUBTRACT);
    for (int i = 0; i < 25; i++) {
        float x = i % 5 * 0.4f - 1, y = i / 5 * 0.4f - 1;
        glColorMask(i != 7, i != 8, i != 9, 1);
        glBlendFuncSeparate(factors[i % 10], factors[i * 3 % 10], factors[(i + 5) % 10], factors[i * 7 % 10]);
        draw_rectangle(x + 0.02f, y + 0.02f, x + 0.36f, y + 0.36f, i & 1 ? half_blue : amber);
    }
}

static void scene_blend_saturate(void) { draw_blended(GL_FUNC_ADD, GL_SRC_ALPHA_SATURATE, GL_ONE); }
static void scene_blend_min(void) { draw_blended(GL_MIN, GL_ONE, GL_ONE); }

const struct scene blending_scenes[] = {
    {"blend", scene_blend},
    {"blend-subtract", scene_blend_subtract},
    {"blend-max", scene_blend_max},
    {"blend-constant", scene_blend_constant},
    {"logic-op", scene_logic_op},
    {"logic-ops", scene_logic_ops},
    {"blend-separate", scene_blend_separate},
    {"blend-saturate", scene_blend_saturate},
    {"blend-min", scene_blend_min},
    {0},
};
