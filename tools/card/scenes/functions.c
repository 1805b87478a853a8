/* Fixed-function pipeline, and programs with loops. */

#include <math.h>
#include <string.h>

#include "scenes.h"

static void scene_light(void)
{
    const float position[4] = {0.5f, 0.5f, 1, 0};
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glLightfv(GL_LIGHT0, GL_POSITION, position);
    glMaterialfv(GL_FRONT_AND_BACK, GL_AMBIENT_AND_DIFFUSE, amber);
    glMaterialfv(GL_FRONT_AND_BACK, GL_SPECULAR, white);
    glMaterialf(GL_FRONT_AND_BACK, GL_SHININESS, 20);
    for (int row = 0; row < 8; row++) {
        glBegin(GL_TRIANGLE_STRIP);
        for (int i = 0; i <= 16; i++)
            for (int k = 0; k < 2; k++) {
                float a = (row + k) * 3.14159f / 8, b = i * 6.28318f / 16;
                float n[3] = {sinf(a) * cosf(b), cosf(a), sinf(a) * sinf(b)};
                glNormal3fv(n);
                glVertex3f(n[0] * 0.8f, n[1] * 0.8f, n[2] * 0.8f);
            }
        glEnd();
    }
}

static void scene_fog(void)
{
    glEnable(GL_FOG);
    glFogi(GL_FOG_MODE, GL_LINEAR);
    glFogf(GL_FOG_START, -0.5f);
    glFogf(GL_FOG_END, 0.8f);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        glColor4fv(triangle[i] + 2);
        glVertex3f(triangle[i][0], triangle[i][1], 0.8f - 0.8f * i);
    }
    glEnd();
}

static void scene_vertex_loop(void)
{
    GLuint program = use_program(
        "attribute vec4 position; attribute vec4 color; varying vec4 v_color; uniform int count;\n"
        "void main() { vec2 p = position.xy; v_color = color;\n"
        "  for (int i = 0; i < count; i++) { p = vec2(p.x - p.y * 0.2, p.y + p.x * 0.2);\n"
        "    if (dot(p, p) > 0.8) v_color.r = 1.0 - v_color.r; }\n"
        "  gl_Position = vec4(p * 0.7, 0.0, 1.0); }\n",
        fragment_color);
    glUniform1i(glGetUniformLocation(program, "count"), 5);
    draw_random_triangles(8);
}

static void scene_fragment_loop(void)
{
    use_program(vertex_plain, "varying vec2 v_coord; void main() { vec2 z = vec2(0.0), c = v_coord * 3.0 - vec2(2.2, 1.5);\n"
                              "  float n = 0.0; for (int i = 0; i < 20; i++) {\n"
                              "    if (dot(z, z) > 4.0) break; z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c; n += 0.05; }\n"
                              "  gl_FragColor = vec4(n, n * n, 1.0 - n, 1.0); }\n");
    draw_rectangle(-1, -1, 1, 1, white);
}

static void scene_discard(void)
{
    use_program(vertex_plain, "varying vec2 v_coord; varying vec4 v_color; void main() {\n"
                              "  if (fract(v_coord.x * 8.0) < 0.5 && fract(v_coord.y * 8.0) < 0.5) discard;\n"
                              "  gl_FragColor = v_color; }\n");
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, amber);
}

/* Two-sided lighting, with a specular colour added after texturing, and materials from vertex
 * colours. */
static void scene_light_faces(void)
{
    const float position[4] = {0.3f, 0.4f, 1, 0}, spot[4] = {0, 0, 2, 1}, down[3] = {0, 0, -1};
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_LIGHT1);
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1);
    glLightModeli(GL_LIGHT_MODEL_LOCAL_VIEWER, 1);
    glLightModeli(GL_LIGHT_MODEL_COLOR_CONTROL, GL_SEPARATE_SPECULAR_COLOR);
    glLightfv(GL_LIGHT0, GL_POSITION, position);
    glLightfv(GL_LIGHT1, GL_POSITION, spot);
    glLightfv(GL_LIGHT1, GL_SPOT_DIRECTION, down);
    glLightf(GL_LIGHT1, GL_SPOT_CUTOFF, 25);
    glLightf(GL_LIGHT1, GL_SPOT_EXPONENT, 3);
    glLightf(GL_LIGHT1, GL_LINEAR_ATTENUATION, 0.3f);
    glLightfv(GL_LIGHT1, GL_DIFFUSE, half_blue);
    glColorMaterial(GL_FRONT, GL_DIFFUSE);
    glEnable(GL_COLOR_MATERIAL);
    glMaterialfv(GL_BACK, GL_DIFFUSE, green);
    glMaterialfv(GL_FRONT_AND_BACK, GL_SPECULAR, white);
    glMaterialf(GL_FRONT_AND_BACK, GL_SHININESS, 12);
    for (int row = 0; row < 8; row++) {
        glBegin(GL_TRIANGLE_STRIP);
        for (int i = 0; i <= 12; i++)
            for (int k = 0; k < 2; k++) {
                float a = (row + k) * 0.2f - 0.8f, b = i * 0.15f - 0.9f, wave = sinf(a * 5 + b * 3);
                glColor3f(0.5f + 0.5f * wave, 0.4f, 0.2f);
                glNormal3f(wave * 0.5f, a * 0.3f, row & 1 ? 1 : -1);
                glVertex3f(row & 1 ? b : -b, a, wave * 0.2f);
            }
        glEnd();
    }
}

/* Back colours written by a program. */
static void scene_back_colors(void)
{
    glEnable(GL_VERTEX_PROGRAM_TWO_SIDE);
    use_program("attribute vec4 position; attribute vec4 color;\n"
                "void main() { gl_Position = position; gl_FrontColor = color; gl_BackColor = vec4(1.0) - color; }\n",
                "void main() { gl_FragColor = gl_Color; }\n");
    draw_random_triangles(12);
    glDisable(GL_VERTEX_PROGRAM_TWO_SIDE);
}

/* Three textures, combined by fixed functions: interpolation, dot products, and scaled sums. */
static void scene_combine(void)
{
    GLuint textures[3];
    for (int i = 0; i < 3; i++) {
        glActiveTexture(GL_TEXTURE0 + i);
        textures[i] = new_texture(GL_TEXTURE_2D, 16 << i, GL_NEAREST);
        glEnable(GL_TEXTURE_2D);
        glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_COMBINE);
    }
    for (int cell = 0; cell < 4; cell++) {
        static const GLenum functions[] = {GL_INTERPOLATE, GL_DOT3_RGB, GL_ADD_SIGNED, GL_SUBTRACT};
        glActiveTexture(GL_TEXTURE1);
        glTexEnvi(GL_TEXTURE_ENV, GL_COMBINE_RGB, functions[cell]);
        glTexEnvi(GL_TEXTURE_ENV, GL_SRC0_RGB, GL_TEXTURE);
        glTexEnvi(GL_TEXTURE_ENV, GL_SRC1_RGB, GL_PREVIOUS);
        glTexEnvi(GL_TEXTURE_ENV, GL_SRC2_RGB, GL_PRIMARY_COLOR);
        glTexEnvi(GL_TEXTURE_ENV, GL_OPERAND1_RGB, GL_ONE_MINUS_SRC_COLOR);
        glActiveTexture(GL_TEXTURE2);
        glTexEnvi(GL_TEXTURE_ENV, GL_COMBINE_RGB, GL_MODULATE);
        glTexEnvf(GL_TEXTURE_ENV, GL_RGB_SCALE, cell & 1 ? 2 : 1);
        glViewport(cell % 2 * SIZE / 2, cell / 2 * SIZE / 2, SIZE / 2, SIZE / 2);
        glBegin(GL_TRIANGLE_STRIP);
        for (int v = 0; v < 4; v++) {
            glColor3f(v & 1, 0.5f, v >> 1);
            for (int i = 0; i < 3; i++)
                glMultiTexCoord2f(GL_TEXTURE0 + i, v & 1, v >> 1);
            glVertex2f((v & 1) * 1.6f - 0.8f, (v >> 1) * 1.6f - 0.8f);
        }
        glEnd();
    }
    for (int i = 2; i >= 0; i--) {
        glActiveTexture(GL_TEXTURE0 + i);
        glDisable(GL_TEXTURE_2D);
        glBindTexture(GL_TEXTURE_2D, 0);
    }
    glDeleteTextures(3, textures);
}

/* Texture coordinates generated by fixed functions: sphere map and planes. */
static void scene_generated_coordinates(void)
{
    const float plane[4] = {1.5f, 0.3f, 0, 0.5f};
    GLuint texture = new_texture(GL_TEXTURE_2D, 64, GL_NEAREST);
    glEnable(GL_TEXTURE_2D);
    glEnable(GL_TEXTURE_GEN_S);
    glEnable(GL_TEXTURE_GEN_T);
    for (int cell = 0; cell < 2; cell++) {
        glTexGeni(GL_S, GL_TEXTURE_GEN_MODE, cell ? GL_OBJECT_LINEAR : GL_SPHERE_MAP);
        glTexGeni(GL_T, GL_TEXTURE_GEN_MODE, cell ? GL_EYE_LINEAR : GL_SPHERE_MAP);
        glTexGenfv(GL_S, GL_OBJECT_PLANE, plane);
        glViewport(cell * SIZE / 2, 0, SIZE / 2, SIZE);
        glBegin(GL_TRIANGLE_FAN);
        for (int i = 0; i < 8; i++) {
            float x = cosf(i * 0.785f), y = sinf(i * 0.785f);
            glNormal3f(x * 0.7f, y * 0.7f, 0.5f);
            glVertex3f(x * 0.9f, y * 0.9f, 0.2f);
        }
        glEnd();
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &texture);
}

static void scene_fog_exponential(void)
{
    const float color[4] = {0.8f, 0.7f, 0.4f, 1};
    glEnable(GL_FOG);
    glFogfv(GL_FOG_COLOR, color);
    glFogf(GL_FOG_DENSITY, 1.3f);
    for (int cell = 0; cell < 2; cell++) {
        glFogi(GL_FOG_MODE, cell ? GL_EXP2 : GL_EXP);
        glViewport(cell * SIZE / 2, 0, SIZE / 2, SIZE);
        glBegin(GL_TRIANGLES);
        for (int i = 0; i < 3; i++) {
            glColor4fv(triangle[i] + 2);
            glVertex3f(triangle[i][0], triangle[i][1], 0.8f - 0.8f * i);
        }
        glEnd();
    }
}

/* The position of a fragment, and the derivative of its colour. */
static void scene_fragment_inputs(void)
{
    use_program(vertex_plain, "varying vec4 v_color; varying vec2 v_coord; void main() {\n"
                              "  vec2 where = gl_FragCoord.xy / 300.0;\n"
                              "  gl_FragColor = vec4(where.x, fwidth(v_coord.y - v_coord.x) * 40.0, dFdx(v_color.r) * 99.0 + gl_FragCoord.w * 0.5, 1.0); }\n");
    draw_vertices(GL_TRIANGLES, triangle[0], 3);
    draw_rectangle(0.2f, 0.2f, 0.9f, 0.9f, amber);
}

/* Functions with approximate results: powers, roots, logarithms, sines. */
static void scene_transcendental(void)
{
    use_program(vertex_plain, "varying vec2 v_coord; void main() { vec2 p = v_coord;\n"
                              "  gl_FragColor = vec4(pow(p.x, 2.2), sin(p.y * 9.0) * 0.5 + 0.5, inversesqrt(p.x + 0.1) * 0.3,\n"
                              "    exp2(-p.y * 3.0) + log2(p.x + 1.0)); }\n");
    draw_rectangle(-1, -1, 1, 1, white);
}

/* An ARB program, with fog and a position computed by fixed functions. */
static void scene_arb_programs(void)
{
    static const char vertex[] = "!!ARBvp1.0\nOPTION ARB_position_invariant;\nATTRIB c = vertex.color; TEMP t; ADDRESS a;\n"
                                 "PARAM k[4] = {{0.1,0.9,0.2,1}, {0.9,0.1,0.3,1}, {0.2,0.3,0.9,1}, {1,1,0.1,1}};\n"
                                 "MUL t.x, c.x, 3.99; ARL a.x, t.x; MOV result.color, k[a.x]; MOV result.fogcoord.x, c.y; END";
    static const char fragment[] = "!!ARBfp1.0\nOPTION ARB_fog_linear;\nTEMP t; MUL t, fragment.color, fragment.position.x;\n"
                                   "MUL t, t, 0.02; FRC t, t; CMP t.w, t.x, 0.5, 1.0; LRP result.color, 0.7, t, fragment.color; END";
    GLuint programs[2];
    glGenProgramsARB(2, programs);
    glBindProgramARB(GL_VERTEX_PROGRAM_ARB, programs[0]);
    glProgramStringARB(GL_VERTEX_PROGRAM_ARB, GL_PROGRAM_FORMAT_ASCII_ARB, strlen(vertex), vertex);
    glBindProgramARB(GL_FRAGMENT_PROGRAM_ARB, programs[1]);
    glProgramStringARB(GL_FRAGMENT_PROGRAM_ARB, GL_PROGRAM_FORMAT_ASCII_ARB, strlen(fragment), fragment);
    glEnable(GL_VERTEX_PROGRAM_ARB);
    glEnable(GL_FRAGMENT_PROGRAM_ARB);
    glFogfv(GL_FOG_COLOR, red);
    glFogf(GL_FOG_START, 0.2f);
    glFogf(GL_FOG_END, 1.5f);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 8; i++) {
        glColor3f(i / 8.0f, i & 1, 0);
        glVertex2f((i / 2) * 0.6f - 0.9f, (i & 1) * 1.6f - 0.8f);
    }
    glEnd();
    glDeleteProgramsARB(2, programs);
}

const struct scene functions_scenes[] = {
    {"light", scene_light},
    {"fog", scene_fog},
    {"vertex-loop", scene_vertex_loop},
    {"fragment-loop", scene_fragment_loop},
    {"discard", scene_discard},
    {"light-faces", scene_light_faces},
    {"back-colors", scene_back_colors},
    {"combine", scene_combine},
    {"generated-coordinates", scene_generated_coordinates},
    {"fog-exponential", scene_fog_exponential},
    {"fragment-inputs", scene_fragment_inputs},
    {"transcendental", scene_transcendental},
    {"arb-programs", scene_arb_programs},
    {0},
};
