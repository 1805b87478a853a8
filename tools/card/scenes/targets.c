/* Render targets. */

#include <math.h>
#include <string.h>

#include "scenes.h"

static GLint bound_frame(void)
{
    GLint frame;
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &frame);
    return frame;
}

/* Draws into textures with `draw`, then shows them side by side. */
static void draw_through_textures(int count, void (*draw)(void))
{
    static const GLenum attachments[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1, GL_COLOR_ATTACHMENT2,
                                         GL_COLOR_ATTACHMENT3};
    GLint outside = bound_frame();
    GLuint frame, textures[4];
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    for (int i = 0; i < count; i++) {
        textures[i] = new_texture(GL_TEXTURE_2D, 64, GL_NEAREST);
        glFramebufferTexture2D(GL_FRAMEBUFFER, attachments[i], GL_TEXTURE_2D, textures[i], 0);
    }
    glDrawBuffers(count, attachments);
    glViewport(0, 0, 64, 64);
    glClear(GL_COLOR_BUFFER_BIT);
    draw();
    glBindFramebuffer(GL_FRAMEBUFFER, outside);
    glViewport(0, 0, SIZE, SIZE);
    use_program(vertex_plain, fragment_texture);
    for (int i = 0; i < count; i++) {
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        if (count <= 2)
            draw_rectangle(-0.9f + i, -0.9f, -0.1f + i + (count == 1), 0.9f, white);
        else
            draw_rectangle(-0.9f + i % 2, -0.9f + i / 2, -0.1f + i % 2, -0.1f + i / 2, white);
    }
    glDeleteTextures(count, textures);
    glDeleteFramebuffers(1, &frame);
}

static void scene_render_to_texture(void) { draw_through_textures(1, scene_triangle); }

static void draw_two_outputs(void)
{
    use_program(vertex_plain, "varying vec4 v_color; void main() {\n"
                              "  gl_FragData[0] = v_color; gl_FragData[1] = vec4(1.0) - v_color * 0.5; }\n");
    draw_vertices(GL_TRIANGLES, triangle[0], 3);
}

static void scene_two_targets(void) { draw_through_textures(2, draw_two_outputs); }

static void scene_blit(void)
{
    GLint frame = bound_frame();
    GLuint other, texture;
    use_color();
    draw_random_triangles(10);
    texture = new_texture(GL_TEXTURE_2D, 64, GL_NEAREST);
    glGenFramebuffers(1, &other);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, other);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glBlitFramebuffer(0, 0, 64, 64, 16, 16, 144, 144, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBlitFramebuffer(0, 0, 64, 64, 240, 240, 176, 176, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glDeleteFramebuffers(1, &other);
    glDeleteTextures(1, &texture);
}

/* Four targets with blending and a mask. */
static void draw_four_outputs(void)
{
    use_program(vertex_plain, "varying vec4 v_color; varying vec2 v_coord; void main() {\n"
                              "  gl_FragData[0] = v_color; gl_FragData[1] = vec4(v_coord, 0.5, 0.5);\n"
                              "  gl_FragData[2] = v_color.bgra; gl_FragData[3] = vec4(1.0) - v_color; }\n");
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glColorMask(1, 1, 0, 1);
    draw_rectangle(-0.8f, -0.6f, 0.6f, 0.9f, half_blue);
    draw_rectangle(-0.4f, -0.9f, 0.9f, 0.4f, amber);
    glColorMask(1, 1, 1, 1);
    glDisable(GL_BLEND);
}

static void scene_four_targets(void) { draw_through_textures(4, draw_four_outputs); }

/* Targets that are a face of a cube, a level of a texture and a slice of a volume; each is then shown. */
static void scene_target_parts(void)
{
    GLint outside = bound_frame();
    GLuint frame, textures[3];
    glGenFramebuffers(1, &frame);
    textures[0] = new_texture(GL_TEXTURE_CUBE_MAP, 32, GL_NEAREST);
    textures[1] = new_texture(GL_TEXTURE_2D, 64, GL_NEAREST_MIPMAP_NEAREST);
    glGenerateMipmap(GL_TEXTURE_2D);
    glGenTextures(1, textures + 2);
    glBindTexture(GL_TEXTURE_3D, textures[2]);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 32, 32, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glViewport(0, 0, 32, 32);
    use_color();
    for (int i = 0; i < 6; i++) {
        const float color[4] = {i / 5.0f, 1 - i / 5.0f, i & 1, 1};
        glBindFramebuffer(GL_FRAMEBUFFER, frame);
        if (i == 0)
            glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_NEGATIVE_Y, textures[0], 0);
        else if (i == 1)
            glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[1], 1);
        else
            glFramebufferTexture3D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_3D, textures[2], 0, i - 2);
        glClear(GL_COLOR_BUFFER_BIT);
        draw_rectangle(-0.7f, -0.9f, 0.8f, 0.1f * i, color);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, outside);
    glViewport(0, 0, SIZE, SIZE);
    use_program(vertex_plain, "uniform samplerCube image; varying vec2 v_coord;\n"
                              "void main() { gl_FragColor = textureCube(image, vec3(v_coord.x * 2.0 - 1.0, -1.0, v_coord.y * 2.0 - 1.0)); }\n");
    draw_rectangle(-0.95f, -0.95f, -0.05f, -0.05f, white);
    use_program(vertex_plain, fragment_texture);
    draw_rectangle(0.05f, -0.95f, 0.2f, -0.8f, white);
    draw_rectangle(0.3f, -0.95f, 0.5f, -0.75f, white);
    use_program(vertex_plain, "uniform sampler3D image; varying vec2 v_coord;\n"
                              "void main() { gl_FragColor = texture3D(image, vec3(fract(v_coord * 2.0), dot(floor(v_coord * 2.0), vec2(1.0, 2.0)) * 0.25 + 0.1)); }\n");
    draw_rectangle(-0.95f, 0.05f, 0.95f, 0.95f, white);
    glDeleteTextures(3, textures);
    glDeleteFramebuffers(1, &frame);
}

/* Pixels copied from memory to the frame buffer and within it, scaled and mirrored; bitmaps; depth from memory. */
static void scene_pixels(void)
{
    unsigned char texels[20 * 12 * 4], bits[16 * 2];
    float depths[24 * 24];
    for (unsigned i = 0; i < sizeof texels; i++)
        texels[i] = next_random() * 255;
    for (unsigned i = 0; i < sizeof bits; i++)
        bits[i] = i * 0x35;
    for (int i = 0; i < 24 * 24; i++)
        depths[i] = i % 24 / 24.0f;
    glWindowPos2f(20, 30);
    glDrawPixels(20, 12, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glPixelZoom(3.3f, -2.7f);
    glWindowPos2f(60.3f, 100.3f);
    glDrawPixels(20, 12, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glPixelZoom(2, 1);
    glWindowPos2f(10, 120);
    glCopyPixels(20, 30, 60, 50, GL_COLOR);
    glColor3f(1, 1, 0.2f);
    glWindowPos2f(170, 30);
    glBitmap(16, 16, 0, 0, 0, 0, bits);
    glColorMask(0, 0, 0, 0);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    glPixelZoom(4, 4);
    glWindowPos2f(150, 130);
    glDrawPixels(24, 24, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
    glPixelZoom(1, 1);
    glColorMask(1, 1, 1, 1);
    glDepthFunc(GL_LESS);
    use_color();
    draw_at_depth(0.1f, -0.1f, 1, 1, 0.6f, -0.9f, green);
}

/* Depth and stencil, read back and shown as grey. */
static void scene_read_depth(void)
{
    static float depths[SIZE * SIZE];
    static unsigned char stencils[SIZE * SIZE];
    scene_depth();
    glReadPixels(0, 0, SIZE, SIZE, GL_DEPTH_COMPONENT, GL_FLOAT, depths);
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_ALWAYS, 0, 255);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
    draw_random_triangles(9);
    glReadPixels(0, 0, SIZE, SIZE, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, stencils);
    for (int i = 0; i < SIZE * SIZE; i++)
        stencils[i] *= 28;
    glDisable(GL_STENCIL_TEST);
    glUseProgram(0);
    glWindowPos2f(0, 0);
    glDrawPixels(SIZE, SIZE / 2, GL_LUMINANCE, GL_FLOAT, depths + SIZE * SIZE / 4);
    glWindowPos2f(0, SIZE / 2);
    glDrawPixels(SIZE, SIZE / 2, GL_LUMINANCE, GL_UNSIGNED_BYTE, stencils + SIZE * SIZE / 4);
}

/* Alpha to coverage, and a fraction of samples by coverage value. */
static void scene_alpha_to_coverage(void)
{
    use_color();
    glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    for (int i = 0; i < 8; i++) {
        const float color[4] = {1, i & 1, 0.5f, i / 7.0f};
        draw_rectangle(i * 0.24f - 0.96f, -0.9f, i * 0.24f - 0.76f, 0, color);
    }
    glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    glEnable(GL_SAMPLE_COVERAGE);
    for (int i = 0; i < 8; i++) {
        glSampleCoverage(i / 7.0f, i & 1);
        draw_rectangle(i * 0.24f - 0.96f, 0.1f, i * 0.24f - 0.76f, 0.9f, white);
    }
    glSampleCoverage(1, 0);
}

const struct scene targets_scenes[] = {
    {"render-to-texture", scene_render_to_texture},
    {"two-targets", scene_two_targets},
    {"blit", scene_blit},
    {"target-565", scene_triangles, .color = GL_RGB565},
    {"target-float16", scene_triangles, .color = GL_RGBA16F},
    {"target-float32", scene_triangles, .color = GL_RGBA32F},
    {"blend-float16", scene_blend, .color = GL_RGBA16F},
    {"samples-2", scene_triangles, .samples = 2},
    {"samples-4", scene_triangles, .samples = 4},
    {"samples-4-depth", scene_depth, .samples = 4},
    {"four-targets", scene_four_targets},
    {"target-parts", scene_target_parts},
    {"pixels", scene_pixels},
    {"read-depth", scene_read_depth},
    {"alpha-to-coverage", scene_alpha_to_coverage, .samples = 4},
    {"target-4444", scene_triangles, .color = GL_RGBA4},
    {"target-5551", scene_triangles, .color = GL_RGB5_A1},
    {"target-1010102", scene_triangles, .color = GL_RGB10_A2},
    {"target-16", scene_triangles, .color = GL_RGBA16},
    {"target-r8", scene_triangles, .color = GL_R8, .needs = "GL_ARB_texture_rg"},
    {"target-rg8", scene_triangles, .color = GL_RG8, .needs = "GL_ARB_texture_rg"},
    {"target-r16f", scene_triangles, .color = GL_R16F, .needs = "GL_ARB_texture_rg"},
    {"target-rg32f", scene_triangles, .color = GL_RG32F, .needs = "GL_ARB_texture_rg"},
    {0},
};
