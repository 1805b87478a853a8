#!/usr/bin/env python3
"""Draws the GLSL of a capture of the corpus, with its uniforms and textures, by way of EGL: corpus.py NAME.json

--tag gives each component of a uniform a number of its own: 7001, 7003, ..."""
import base64, ctypes, ctypes.util, json, sys

capture = json.load(open(sys.argv[1]))
source = capture["source"]
desktop = "//@ api gl\n" in source
egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetProcAddress.restype = ctypes.c_void_p
for name in ("eglGetDisplay", "eglCreateContext"):
    getattr(egl, name).restype = ctypes.c_void_p
display = ctypes.c_void_p(egl.eglGetDisplay(None))
assert egl.eglInitialize(display, None, None), "no EGL display"
assert egl.eglBindAPI(0x30A2 if desktop else 0x30A0)
attributes = (ctypes.c_int * 5)(0x3033, 1, 0x3040, 8 if desktop else 4, 0x3038)
config, count = ctypes.c_void_p(), ctypes.c_int()
assert egl.eglChooseConfig(display, attributes, ctypes.byref(config), 1, ctypes.byref(count)) and count.value
version = (ctypes.c_int * 3)(0x3098, 2, 0x3038)
context = ctypes.c_void_p(egl.eglCreateContext(display, config, None, version))
assert context.value and egl.eglMakeCurrent(display, None, None, context)


def gl(name, *arguments, result=None):
    types = [ctypes.c_float if isinstance(a, float) else ctypes.c_void_p if not isinstance(a, int) else ctypes.c_int
             for a in arguments]
    function = ctypes.CFUNCTYPE(result, *types)(egl.eglGetProcAddress(name.encode()))
    return function(*arguments)


def pointer(data):
    return ctypes.cast(data, ctypes.c_void_p)


print(gl("glGetString", 0x1F01, result=ctypes.c_char_p), gl("glGetString", 0x1F02, result=ctypes.c_char_p))


def shader(kind, text):
    number = gl("glCreateShader", kind, result=ctypes.c_int)
    texts = (ctypes.c_char_p * 1)(text.encode())
    gl("glShaderSource", number, 1, pointer(texts), None)
    gl("glCompileShader", number)
    log = ctypes.create_string_buffer(4000)
    gl("glGetShaderInfoLog", number, 4000, None, pointer(log))
    if log.value:
        print(log.value.decode())
    return number


vertex = """attribute vec4 corner; varying vec2 uv; varying vec4 vc; varying vec4 pos;
void main() {
    gl_Position = corner; uv = corner.xy * 0.5 + 0.5; pos = corner;
    vc = vec4(corner.xy, 0.25 + 0.5 * uv.x - uv.y, 1.5 * uv.y - uv.x);
}"""
program = gl("glCreateProgram", result=ctypes.c_int)
gl("glAttachShader", program, shader(0x8B31, vertex))
gl("glAttachShader", program, shader(0x8B30, source))
gl("glBindAttribLocation", program, 0, pointer(ctypes.c_char_p(b"corner")))
gl("glLinkProgram", program)
linked = ctypes.c_int()
gl("glGetProgramiv", program, 0x8B82, pointer(ctypes.pointer(linked)))
assert linked.value, "not linked"
gl("glUseProgram", program)


def location(name):
    return gl("glGetUniformLocation", program, pointer(ctypes.c_char_p(name.encode())), result=ctypes.c_int)


tag = 7001
for uniform in capture["uniforms"]:
    values = uniform["value"] if isinstance(uniform["value"], list) else [uniform["value"]]
    if "--tag" in sys.argv:
        # Tag values, by which corpus_job.py recognises the constants.
        values = list(range(tag, tag + 2 * len(values), 2))
        tag += 2 * len(values)
    if "f" in uniform["type"]:
        gl("glUniform" + uniform["type"][:2], location(uniform["name"]), *[float(v) for v in values])
    else:
        gl("glUniform" + uniform["type"][:2], location(uniform["name"]), *[int(v) for v in values])
FILTERS = {"nearest": 0x2600, "linear": 0x2601, "trilinear": 0x2703, "linear_mip": 0x2701, "nearest_mip": 0x2700}
WRAPS = {"repeat": 0x2901, "clamp": 0x812F, "mirror": 0x8370}
for unit, texture in enumerate(capture["textures"]):
    bound = next(b for b in capture["bound_textures"] if b.get("matches_upload", texture["name"]) == texture["name"]
                 and (b["width"], b["height"]) == tuple(texture["size"]))
    name = ctypes.c_int()
    gl("glGenTextures", 1, pointer(ctypes.pointer(name)))
    gl("glActiveTexture", 0x84C0 + unit)
    gl("glBindTexture", 0x0DE1, name.value)
    for level, image in enumerate(bound["levels"]):
        texels = bytearray(base64.b64decode(image["bytes"]))
        if "--bgra" in sys.argv:
            texels[0::4], texels[2::4] = texels[2::4], texels[0::4]
        gl("glTexImage2D", 0x0DE1, level, 0x1908, image["width"], image["height"], 0, 0x1908, 0x1401,
           pointer(ctypes.c_char_p(bytes(texels))))
    for parameter, value in ((0x2801, FILTERS[texture["min"]]), (0x2800, FILTERS[texture["mag"]]),
                             (0x2802, WRAPS[texture["wrap"][0]]), (0x2803, WRAPS[texture["wrap"][1]])):
        gl("glTexParameteri", 0x0DE1, parameter, value)
    gl("glUniform1i", location(texture["name"]), unit)
width, height = capture["size"]
buffer, frame = ctypes.c_int(), ctypes.c_int()
gl("glGenRenderbuffers", 1, pointer(ctypes.pointer(buffer)))
gl("glBindRenderbuffer", 0x8D41, buffer.value)
gl("glRenderbufferStorage", 0x8D41, 0x8058, width, height)
gl("glGenFramebuffers", 1, pointer(ctypes.pointer(frame)))
gl("glBindFramebuffer", 0x8D40, frame.value)
gl("glFramebufferRenderbuffer", 0x8D40, 0x8CE0, 0x8D41, buffer.value)
assert gl("glCheckFramebufferStatus", 0x8D40, result=ctypes.c_int) == 0x8CD5
gl("glViewport", 0, 0, width, height)
corners = (ctypes.c_float * 12)(-1, -1, 0, 1, 3, -1, 0, 1, -1, 3, 0, 1)
gl("glEnableVertexAttribArray", 0)
gl("glVertexAttribPointer", 0, 4, 0x1406, 0, 0, pointer(corners))
gl("glDrawArrays", 4, 0, 3)
gl("glFinish")
assert gl("glGetError", result=ctypes.c_int) == 0
