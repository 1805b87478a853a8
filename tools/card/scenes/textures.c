/* Textures. */

#include <math.h>
#include <string.h>

#include "scenes.h"

static void draw_textured(GLenum filter, int mipmaps)
{
    GLuint texture;
    use_program(vertex_plain, fragment_texture);
    texture = new_texture(GL_TEXTURE_2D, 64, filter);
    if (mipmaps)
        glGenerateMipmap(GL_TEXTURE_2D);
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, white);
    draw_rectangle(0.5f, 0.5f, 0.75f, 0.75f, amber);
    glDeleteTextures(1, &texture);
}

static void scene_texture(void) { draw_textured(GL_NEAREST, 0); }
static void scene_texture_linear(void) { draw_textured(GL_LINEAR, 0); }
static void scene_mipmaps(void) { draw_textured(GL_NEAREST_MIPMAP_NEAREST, 1); }
static void scene_trilinear(void) { draw_textured(GL_LINEAR_MIPMAP_LINEAR, 1); }

static void scene_texture_perspective(void)
{
    use_program("attribute vec4 position; attribute vec4 color; attribute vec2 coord;\n"
                "varying vec4 v_color; varying vec2 v_coord;\n"
                "void main() { gl_Position = vec4(position.xy, 0.0, 1.5 + position.y); v_color = color;\n"
                "  v_coord = coord * 3.0; }\n",
                fragment_texture);
    GLuint texture = new_texture(GL_TEXTURE_2D, 64, GL_LINEAR);
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, white);
    glDeleteTextures(1, &texture);
}

static void scene_cube_map(void)
{
    use_program(vertex_plain, "uniform samplerCube image; varying vec2 v_coord; void main() {\n"
                              "  vec2 a = v_coord * vec2(6.28, 3.14);\n"
                              "  gl_FragColor = textureCube(image, vec3(sin(a.y) * cos(a.x), cos(a.y), sin(a.y) * sin(a.x))); }\n");
    GLuint texture = new_texture(GL_TEXTURE_CUBE_MAP, 32, GL_NEAREST);
    draw_rectangle(-1, -1, 1, 1, white);
    glDeleteTextures(1, &texture);
}

static void scene_sprites(void)
{
    glEnable(GL_POINT_SPRITE);
    glTexEnvi(GL_POINT_SPRITE, GL_COORD_REPLACE, 1);
    glPointSize(24);
    use_program(vertex_plain, "#version 120\nvoid main() { gl_FragColor = vec4(gl_PointCoord, 0.5, 1.0); }\n");
    float vertices[9][8] = {{0}};
    for (int i = 0; i < 9; i++)
        vertices[i][0] = (i % 3) * 0.5f - 0.5f, vertices[i][1] = (i / 3) * 0.5f - 0.45f;
    draw_vertices(GL_POINTS, vertices[0], 9);
}

static void scene_copy_image(void)
{
    GLuint texture;
    use_color();
    draw_random_triangles(10);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIZE / 4, SIZE / 4, SIZE / 2, SIZE / 2, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    use_program(vertex_plain, fragment_texture);
    draw_rectangle(0, 0, 1, 1, white);
    glDeleteTextures(1, &texture);
}

/* Draws cell i of n x n, with the bound program and texture. */
static void draw_cell(int i, int n, const float color[4])
{
    float size = 2.0f / n, x = i % n * size - 1, y = i / n * size - 1, gap = size / 15;
    draw_rectangle(x + gap, y + gap, x + size - gap, y + size - gap, color);
}

static const char vertex_wide[] = "attribute vec4 position; attribute vec4 color; attribute vec2 coord;\n"
                                  "varying vec4 v_color; varying vec2 v_coord;\n"
                                  "void main() { gl_Position = position; v_color = color; v_coord = coord * 2.97 - 0.971; }\n";

/* Address modes along one side each, with nearest and linear filters. */
static void scene_texture_wraps(void)
{
    static const GLenum wraps[] = {GL_REPEAT, GL_MIRRORED_REPEAT, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_BORDER, GL_CLAMP,
                                   GL_MIRROR_CLAMP_TO_EDGE_EXT, GL_MIRROR_CLAMP_EXT, GL_MIRROR_CLAMP_TO_BORDER_EXT};
    GLuint texture;
    use_program(vertex_wide, fragment_texture);
    for (int i = 0; i < 16; i++) {
        texture = new_texture(GL_TEXTURE_2D, 16, i & 1 ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, wraps[i / 2]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, wraps[(i / 2 + 3) % 8]);
        glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, amber);
        draw_cell(i, 4, white);
        glDeleteTextures(1, &texture);
    }
}

/* The same colours in sixteen formats. */
static void scene_texture_formats(void)
{
    static const GLenum formats[] = {GL_LUMINANCE8, GL_ALPHA8, GL_INTENSITY8, GL_LUMINANCE8_ALPHA8, GL_RGB5, GL_RGBA4, GL_RGB5_A1,
                                     GL_RGB10_A2, GL_RGBA16, GL_RGBA16F, GL_RGBA32F, GL_R8, GL_RG8, GL_SRGB8_ALPHA8, GL_R3_G3_B2,
                                     GL_RGB8};
    unsigned char texels[8][8][4];
    for (int i = 0; i < 8 * 8 * 4; i++)
        texels[i / 32][i / 4 % 8][i % 4] = next_random() * 255;
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    use_program(vertex_plain, fragment_texture);
    for (int i = 0; i < 16; i++) {
        GLuint texture = new_texture(GL_TEXTURE_2D, 8, GL_NEAREST);
        glTexImage2D(GL_TEXTURE_2D, 0, formats[i], 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        draw_cell(i, 4, white);
        glDeleteTextures(1, &texture);
    }
}

/* Blocks of 4x4 texels with any bits. */
static void scene_texture_compressed(void)
{
    static const struct { GLenum format; int bytes; } formats[] = {
        {GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 8}, {GL_COMPRESSED_RGBA_S3TC_DXT1_EXT, 8}, {GL_COMPRESSED_RGBA_S3TC_DXT3_EXT, 16},
        {GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 16}};
    unsigned char blocks[4 * 4 * 16];
    for (unsigned i = 0; i < sizeof blocks; i++)
        blocks[i] = next_random() * 255;
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    use_program(vertex_plain, fragment_texture);
    for (int i = 0; i < 4; i++) {
        GLuint texture = new_texture(GL_TEXTURE_2D, 16, GL_NEAREST);
        glCompressedTexImage2D(GL_TEXTURE_2D, 0, formats[i].format, 16, 16, 0, 16 * formats[i].bytes, blocks);
        draw_cell(i, 2, white);
        glDeleteTextures(1, &texture);
    }
}

/* One and two channels in blocks. */
static void scene_texture_rgtc(void)
{
    unsigned char blocks[4 * 4 * 16];
    for (unsigned i = 0; i < sizeof blocks; i++)
        blocks[i] = next_random() * 255;
    use_program(vertex_plain, fragment_texture);
    for (int i = 0; i < 2; i++) {
        GLuint texture = new_texture(GL_TEXTURE_2D, 16, GL_NEAREST);
        glCompressedTexImage2D(GL_TEXTURE_2D, 0, i ? GL_COMPRESSED_RG_RGTC2 : GL_COMPRESSED_RED_RGTC1, 16, 16, 0, 128 << i, blocks);
        draw_cell(i, 2, white);
        glDeleteTextures(1, &texture);
    }
}

/* Sides that are not powers of two, clamped. */
static void scene_texture_sides(void)
{
    static const int sides[][2] = {{17, 5}, {1, 60}, {63, 64}, {33, 31}};
    use_program(vertex_wide, fragment_texture);
    for (int i = 0; i < 4; i++) {
        unsigned char texels[64 * 64 * 3];
        for (unsigned k = 0; k < sizeof texels; k++)
            texels[k] = k * 37;
        GLuint texture = new_texture(GL_TEXTURE_2D, 64, i & 1 ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, sides[i][0], sides[i][1], 0, GL_RGB, GL_UNSIGNED_BYTE, texels);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
        draw_cell(i, 2, white);
        glDeleteTextures(1, &texture);
    }
}

static void scene_texture_rectangle(void)
{
    use_program(vertex_plain, "#extension GL_ARB_texture_rectangle : enable\n"
                              "uniform sampler2DRect image; varying vec2 v_coord;\n"
                              "void main() { gl_FragColor = texture2DRect(image, v_coord * 49.7 - 5.1); }\n");
    GLuint texture = new_texture(GL_TEXTURE_RECTANGLE_ARB, 41, GL_NEAREST);
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, white);
    glDeleteTextures(1, &texture);
}

/* Slices of a volume, with nearest and linear filters. */
static void scene_texture_3d(void)
{
    static unsigned char texels[8][16][16][4];
    for (int i = 0; i < 8 * 16 * 16; i++) {
        const unsigned char texel[4] = {i % 16 * 17, i / 16 % 16 * 17, i / 256 * 36, (i ^ i / 16) & 1 ? 255 : 100};
        memcpy(texels[i / 256][i / 16 % 16][i % 16], texel, 4);
    }
    GLuint program = use_program(vertex_wide, "uniform sampler3D image; uniform float depth; varying vec2 v_coord;\n"
                                              "void main() { gl_FragColor = texture3D(image, vec3(v_coord, depth + v_coord.x * 0.2)); }\n");
    for (int i = 0; i < 9; i++) {
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_3D, texture);
        glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 16, 16, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, i & 1 ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, i & 1 ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_R, i % 3 ? GL_CLAMP_TO_EDGE : GL_MIRRORED_REPEAT);
        glUniform1f(glGetUniformLocation(program, "depth"), i * 0.17f - 0.2f);
        draw_cell(i, 3, white);
        glDeleteTextures(1, &texture);
    }
}

/* Shadow comparisons of a coordinate with depths, all functions. */
static void scene_texture_shadow(void)
{
    static float depths[32][32];
    for (int i = 0; i < 32 * 32; i++)
        depths[i / 32][i % 32] = next_random();
    use_program(vertex_plain, "uniform sampler2DShadow image; varying vec2 v_coord;\n"
                              "void main() { gl_FragColor = shadow2D(image, vec3(v_coord, v_coord.x)); }\n");
    for (int i = 0; i < 8; i++) {
        GLuint texture;
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexImage2D(GL_TEXTURE_2D, 0, i & 1 ? GL_DEPTH_COMPONENT24 : GL_DEPTH_COMPONENT16, 32, 32, 0, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_R_TO_TEXTURE);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_NEVER + i);
        glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_TEXTURE_MODE, i & 2 ? GL_INTENSITY : GL_LUMINANCE);
        draw_cell(i, 3, white);
        glDeleteTextures(1, &texture);
    }
}

/* Levels selected by bias and by bounds; each level has its own colour. */
static void scene_texture_levels(void)
{
    GLuint program = use_program(vertex_plain, "uniform sampler2D image; uniform float bias; varying vec2 v_coord;\n"
                                               "void main() { gl_FragColor = texture2D(image, v_coord * 2.0, bias); }\n");
    for (int i = 0; i < 9; i++) {
        GLuint texture = new_texture(GL_TEXTURE_2D, 32, GL_NEAREST_MIPMAP_NEAREST);
        for (int level = 0; level < 6; level++) {
            unsigned char texels[32 * 32 * 4];
            for (int k = 0; k < 32 * 32; k++) {
                const unsigned char texel[4] = {level & 1 ? 255 : 60, level & 2 ? 255 : 60, level & 4 ? 255 : 60, 255};
                memcpy(texels + k * 4, texel, 4);
            }
            glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA8, 32 >> level, 32 >> level, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        }
        if (i % 3 == 1)
            glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MIN_LOD, 1 + i / 3);
        if (i % 3 == 2)
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1 + i / 3);
        if (i >= 6)
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 3);
        glUniform1f(glGetUniformLocation(program, "bias"), i * 0.7f - 1.9f);
        draw_cell(i, 3, white);
        glDeleteTextures(1, &texture);
    }
}

/* A plane that recedes into the distance, with sixteen-fold anisotropic filtering. */
static void scene_texture_anisotropic(void)
{
    use_program("attribute vec4 position; attribute vec4 color; attribute vec2 coord;\n"
                "varying vec4 v_color; varying vec2 v_coord;\n"
                "void main() { gl_Position = vec4(position.xy, 0.0, 1.5 + position.y); v_color = color;\n"
                "  v_coord = coord * 6.0; }\n",
                fragment_texture);
    GLuint texture = new_texture(GL_TEXTURE_2D, 64, GL_LINEAR_MIPMAP_LINEAR);
    glGenerateMipmap(GL_TEXTURE_2D);
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_ANISOTROPY_EXT, 16);
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, white);
    glDeleteTextures(1, &texture);
}

static void scene_texture_projected(void)
{
    use_program("attribute vec4 position; attribute vec2 coord; varying vec4 v_where;\n"
                "void main() { gl_Position = position; v_where = vec4(coord * 2.0, 0.3, 0.6 + coord.x); }\n",
                "uniform sampler2D image; varying vec4 v_where;\n"
                "void main() { gl_FragColor = texture2DProj(image, v_where); }\n");
    GLuint texture = new_texture(GL_TEXTURE_2D, 64, GL_NEAREST);
    draw_rectangle(-0.9f, -0.9f, 0.9f, 0.9f, white);
    glDeleteTextures(1, &texture);
}

/* A cube map with mipmaps and linear filters. */
static void scene_cube_levels(void)
{
    use_program(vertex_plain, "uniform samplerCube image; varying vec2 v_coord; void main() {\n"
                              "  vec2 a = v_coord * vec2(6.28, 3.14);\n"
                              "  gl_FragColor = textureCube(image, vec3(sin(a.y) * cos(a.x), cos(a.y), sin(a.y) * sin(a.x)), 1.0); }\n");
    GLuint texture = new_texture(GL_TEXTURE_CUBE_MAP, 32, GL_LINEAR_MIPMAP_NEAREST);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glGenerateMipmap(GL_TEXTURE_CUBE_MAP);
    draw_rectangle(-1, -1, 1, 1, white);
    glDeleteTextures(1, &texture);
}

/* Part of a texture replaced, and part of another one copied from the frame buffer. */
static void scene_texture_parts(void)
{
    unsigned char texels[13 * 9 * 4];
    for (unsigned i = 0; i < sizeof texels; i++)
        texels[i] = next_random() * 255;
    use_color();
    draw_random_triangles(10);
    use_program(vertex_plain, fragment_texture);
    for (int i = 0; i < 4; i++) {
        GLuint texture = new_texture(GL_TEXTURE_2D, 64, GL_NEAREST);
        if (i & 1)
            glTexSubImage2D(GL_TEXTURE_2D, 0, 17, 40, 13, 9, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        if (i & 2)
            glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 3, 5, 61, 33, 37, 29);
        draw_cell(i, 2, white);
        glDeleteTextures(1, &texture);
    }
}

const struct scene textures_scenes[] = {
    {"sprites", scene_sprites},
    {"texture", scene_texture},
    {"texture-linear", scene_texture_linear},
    {"mipmaps", scene_mipmaps},
    {"trilinear", scene_trilinear},
    {"texture-perspective", scene_texture_perspective},
    {"cube-map", scene_cube_map},
    {"copy-image", scene_copy_image},
    {"texture-wraps", scene_texture_wraps, .needs = "GL_EXT_texture_mirror_clamp"},
    {"texture-formats", scene_texture_formats},
    {"texture-compressed", scene_texture_compressed, .needs = "GL_EXT_texture_compression_s3tc"},
    {"texture-rgtc", scene_texture_rgtc, .needs = "GL_ARB_texture_compression_rgtc"},
    {"texture-sides", scene_texture_sides},
    {"texture-rectangle", scene_texture_rectangle},
    {"texture-3d", scene_texture_3d},
    {"texture-shadow", scene_texture_shadow},
    {"texture-levels", scene_texture_levels},
    {"texture-anisotropic", scene_texture_anisotropic, .needs = "GL_EXT_texture_filter_anisotropic"},
    {"texture-projected", scene_texture_projected},
    {"cube-levels", scene_cube_levels},
    {"texture-parts", scene_texture_parts},
    {0},
};
