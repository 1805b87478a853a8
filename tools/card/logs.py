"""Effects of our own, compiled by Mesa on the virtual card: the constants that the log says are compared with those of the draw.

Called by `logs`, which sets the environment of Mesa."""

import argparse
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

EFFECTS = {}


def e(name, body, pre="", uniforms="", test=""):
    """Adds an effect: statements of main(), extensions, declarations besides `uniform vec4 u`, commands of shader_runner."""
    EFFECTS[name] = (body, pre, uniforms, test)


e('mad', 'gl_FragColor = u * vec4(0.3,0.7,0.9,0.1) + vec4(0.01,0.02,0.03,0.04);')
e('tiny_eps', 'gl_FragColor = vec4(u.x / max(abs(u.y), 1e-5), u.z * 0.00003, u.w * 3e-7, 0.123456789);')
e('inline_all', 'gl_FragColor = fract(u*2.0)*4.0 + fract(u*8.0);')
e('inline_drop', 'float a=fract(u.x*2.0); float b=fract(a*4.0); float c=fract(b*8.0); float d=fract(c*16.0); gl_FragColor=vec4(a,b,c,d)*vec4(0.3,0.7,0.9,0.1)+vec4(0.01,0.02,0.03,0.04);')
e('sincos', 'gl_FragColor = vec4(sin(u.x*0.37), cos(u.y*1.7), sin(u.z)+0.3, cos(u.w)*0.11);')
e('vary_uv', 'vec2 p = gl_FragCoord.xy * vec2(0.004, 0.0037) - 0.73; gl_FragColor = vec4(p, length(p)*0.31, 1.0);')
e('coord_only', 'gl_FragColor = fract(gl_FragCoord * vec4(0.013, 0.017, 0.9, 0.3));')
e('two_uniforms', 'gl_FragColor = u * w.wzyx + vec4(0.1,0.2,0.3,0.4)*w.x;', uniforms='uniform vec4 w;', test='uniform vec4 w 0.5 0.6 0.7 0.8\n')
e('scalars', 'gl_FragColor = vec4(a*0.3, b*0.7+0.01, c*0.9, d*0.1);', uniforms='uniform float a,b,c,d;', test='uniform float a 0.5\nuniform float b 0.25\nuniform float c 0.125\nuniform float d 0.75\n')
e('unused_uniform', 'gl_FragColor = w * vec4(0.31,0.33,0.37,0.39);', uniforms='uniform vec4 q[5]; uniform vec4 w;', test='uniform vec4 w 0.5 0.6 0.7 0.8\n')
e('array_uniform', 'gl_FragColor = q[1]*0.3 + q[3].wzyx*vec4(0.6,0.11,0.12,0.13);', uniforms='uniform vec4 q[5];', test='uniform vec4 q[1] 0.1 0.2 0.3 0.4\nuniform vec4 q[3] 0.4 0.1 0.2 0.3\n')
e('matrix', 'gl_FragColor = m * u + vec4(0.05,0.06,0.07,0.08);', uniforms='uniform mat4 m;')
e('branch', 'if (u.x > 0.37) gl_FragColor = vec4(0.11,0.22,0.33,0.44); else gl_FragColor = vec4(0.55,0.66,0.77,0.88)*u.y;')
e('ifchain', 'vec4 r = vec4(0.013); if (u.x > 0.1) r.x = 0.21; if (u.y > 0.35) r.y += 0.43; if (u.z < 0.91) r.z *= 17.3; gl_FragColor = r;')
e('loop', 'vec4 r = vec4(0.0); for (int i=0;i<int(u.x*97.0);i++) { r += vec4(0.013,0.017,0.019,0.023); if (r.x > 0.71) break; } gl_FragColor = r;')
e('loop_uniform_break', 'vec4 r = u; for (int i=0;i<40;i++) { r = r*0.937 + 0.0123; if (r.y > u.w*1.7) break; } gl_FragColor = r;')
e('mandel', 'vec2 z=vec2(0.0), c=gl_FragCoord.xy*0.0083-vec2(1.5,1.1); float n=0.0; for(int i=0;i<50;i++){ z=vec2(z.x*z.x-z.y*z.y,2.0*z.x*z.y)+c; if(dot(z,z)>4.0) break; n+=0.0211;} gl_FragColor=vec4(n,n*0.73,fract(n*3.1),1.0);')
e('pow', 'gl_FragColor = pow(u, vec4(2.2,0.45,1.7,3.3))*0.83;')
e('smooth', 'gl_FragColor = smoothstep(0.17,0.83,u)*vec4(0.19,0.29,0.59,0.61);')
e('mixes', 'gl_FragColor = mix(vec4(0.12,0.34,0.56,0.78), vec4(0.87,0.65,0.43,0.21), u.x);')
e('noise', 'vec2 p=gl_FragCoord.xy*0.017; float n=fract(sin(dot(p,vec2(12.9898,78.233)))*43758.5453); gl_FragColor=vec4(n,n*n*0.37,n+0.001,0.99);')
e('lum', 'float l=dot(u.rgb,vec3(0.2126,0.7152,0.0722)); gl_FragColor=vec4(l,l*0.5,l*0.25,l*0.3);')
e('sepia', 'gl_FragColor=vec4(dot(u.rgb,vec3(0.393,0.769,0.189)),dot(u.rgb,vec3(0.349,0.686,0.168)),dot(u.rgb,vec3(0.272,0.534,0.131)),0.97);')
e('big', 'gl_FragColor = u*123456.789 + vec4(1e6,-3.3e4,7e-4,65536.5);')
e('neg', 'gl_FragColor = -u*vec4(-0.37,0.0,-1.7,0.5)+vec4(-0.003,-0.25,0.0,1.3);')
e('repeat_vals', 'gl_FragColor = vec4(u.x*0.3,u.y*0.3,u.z*0.7,u.w*0.7)+vec4(0.7,0.3,0.3,0.7);')
e('zeros', 'gl_FragColor = u*vec4(0.3,0.0,0.7,1.0)+vec4(0.0,0.31,0.5,0.0);')
e('near_one', 'gl_FragColor = u*vec4(1.00001,0.99999,0.500001,2.00003);')
e('step_', 'gl_FragColor = step(vec4(0.13,0.24,0.35,0.46),u)*0.77;')
e('clampv', 'gl_FragColor = clamp(u*3.7,vec4(0.11,0.12,0.13,0.14),vec4(0.81,0.82,0.83,0.84));')
e('rings', 'float d=length(gl_FragCoord.xy-vec2(125.3,120.7)); gl_FragColor=vec4(0.5+0.5*sin(d*0.237),0.31,fract(d*0.0173),0.91);')
e('plasma', 'vec2 p=gl_FragCoord.xy*0.021; float v=sin(p.x*1.3)+sin((p.y+u.x)*0.7)+sin((p.x+p.y+u.y)*0.41); gl_FragColor=vec4(sin(v*3.1),cos(v*2.3),sin(v+0.71),0.93);')
e('torus', 'vec3 d=normalize(vec3(gl_FragCoord.xy*0.008-1.0,1.27)); float t=0.013; for(int i=0;i<24;i++){ vec3 p=vec3(0.0,0.0,-2.3)+d*t; float q=length(p.xz)-0.83; float h=length(vec2(q,p.y))-0.271; if(h<0.0011) break; t+=h*0.91;} gl_FragColor=vec4(t*0.21,t*0.33,fract(t*1.9),0.9);')
e('fbm', 'vec2 p=gl_FragCoord.xy*0.0137; float a=0.53,s=0.0; for(int i=0;i<4;i++){ s+=a*fract(sin(dot(p,vec2(127.1,311.7)))*43758.5453); p=p*2.03+vec2(17.3,9.1); a*=0.49;} gl_FragColor=vec4(s,s*s,s*0.61,0.87);')
e('kill', 'if (fract(gl_FragCoord.x*0.137) < 0.31) discard; gl_FragColor=vec4(0.37,0.47,0.57,0.67)*u;')
e('face', 'gl_FragColor = gl_FrontFacing ? vec4(0.15,0.25,0.35,0.45) : vec4(0.91,0.81,0.71,0.61);')
e('tex2d', 'gl_FragColor = texture2D(t, gl_FragCoord.xy*0.0041+vec2(0.07,0.013))*vec4(0.9,0.8,0.7,0.6);', uniforms='uniform sampler2D t;', test='texture checkerboard 0 0 (16, 16) (0.5, 0.2, 0.1, 0.9) (0.8,0.7,0.6,0.5)\nuniform int t 0\n')
e('tex2d_const', 'gl_FragColor = texture2D(t, vec2(0.0,0.37))*u.x + texture2D(t, vec2(0.41,0.0));', uniforms='uniform sampler2D t;', test='texture checkerboard 0 0 (16, 16) (0.5, 0.2, 0.1, 0.9) (0.8,0.7,0.6,0.5)\nuniform int t 0\n')
e('texproj', 'gl_FragColor = texture2DProj(t, vec3(gl_FragCoord.xy*0.01,1.73))*0.59;', uniforms='uniform sampler2D t;', test='texture checkerboard 0 0 (16, 16) (0.5, 0.2, 0.1, 0.9) (0.8,0.7,0.6,0.5)\nuniform int t 0\n')
e('texbias', 'gl_FragColor = texture2D(t, gl_FragCoord.xy*0.01, 0.77)*0.93;', uniforms='uniform sampler2D t;', test='texture checkerboard 0 0 (16, 16) (0.5, 0.2, 0.1, 0.9) (0.8,0.7,0.6,0.5)\nuniform int t 0\n')
e('texnpot', 'gl_FragColor = texture2D(t, gl_FragCoord.xy*0.0137+0.21)*vec4(0.3,0.31,0.32,0.33);', uniforms='uniform sampler2D t;', test='texture checkerboard 0 0 (13, 11) (0.5, 0.2, 0.1, 0.9) (0.8,0.7,0.6,0.5)\nuniform int t 0\n')
e('texrect', "gl_FragColor = shadow2DRect(t, vec3(gl_FragCoord.xy*0.07+0.3,0.41))*vec4(0.3,0.31,0.32,0.33);", pre="#extension GL_ARB_texture_rectangle : require\n", uniforms="uniform sampler2DRectShadow t;", test="texture shadowRect 0 (16, 16)\nuniform int t 0\n")
e('blur', 'vec4 s=vec4(0.0); for(int i=-2;i<=2;i++) s+=texture2D(t, gl_FragCoord.xy*0.004+vec2(float(i)*0.0173,0.0))*(0.31-abs(float(i))*0.07); gl_FragColor=s*0.83;', uniforms='uniform sampler2D t;', test='texture checkerboard 0 0 (16, 16) (0.5, 0.2, 0.1, 0.9) (0.8,0.7,0.6,0.5)\nuniform int t 0\n')
e('dfdx', 'vec2 p=gl_FragCoord.xy*0.0131; vec2 q=sin(p*3.3)*0.41; gl_FragColor=vec4(dFdx(q)*17.0,dFdy(q)*13.0);')
e('rel_const', 'int i=int(u.x*3.7); gl_FragColor = q[i]*0.31+vec4(0.07);', uniforms='uniform vec4 q[4];')
e('const_array', 'float a[4]; a[0]=0.13;a[1]=0.27;a[2]=0.39;a[3]=0.51; int i=int(u.x*3.9); gl_FragColor=vec4(a[i],a[0],0.6,0.7);')
e('nested_if', 'vec4 r; if(u.x>0.13){ if(u.y>0.23) r=vec4(0.31); else r=vec4(0.41,0.43,0.47,0.49);} else { if(u.z>0.53) r=u*0.59; else r=vec4(0.61,0.67,0.71,0.73);} gl_FragColor=r;')
e('vec_pack', 'vec3 a=u.xyz*vec3(0.11,0.22,0.33); float b=u.w*0.44+0.55; vec2 c=u.xy+vec2(0.66,0.77); gl_FragColor=vec4(a.x+b,a.y*c.x,a.z-c.y,b*0.88);')
e('palette', 'vec3 c=vec3(0.5)+vec3(0.5)*cos(6.28318*(vec3(1.0,0.7,0.4)*u.x+vec3(0.0,0.15,0.20))); gl_FragColor=vec4(c,0.99);')
e('hsv', 'vec3 k=abs(fract(u.x+vec3(1.0,0.6667,0.3333))*6.0-3.0); gl_FragColor=vec4(u.z*mix(vec3(1.0),clamp(k-1.0,0.0,1.0),u.y),0.87);')
e('fog', 'float f=exp(-0.0173*gl_FragCoord.x); gl_FragColor=mix(vec4(0.61,0.63,0.67,0.71),u,f);')
e('atan_', 'gl_FragColor=vec4(atan(u.y,u.x)*0.159,asin(u.z)*0.63,acos(u.w)*0.31,0.57);')
e('mod_', 'gl_FragColor=vec4(mod(gl_FragCoord.x,7.3)*0.13,mod(gl_FragCoord.y,11.7)*0.083,floor(u.x*9.7)*0.101,0.77);')
e('stripes', 'float s=abs(fract(gl_FragCoord.x*0.0731)-0.5)*1.93; gl_FragColor=vec4(s,s*0.47,1.0-s*0.31,1.0);')
e('aa_line', 'float d=abs(gl_FragCoord.y-gl_FragCoord.x*0.637-12.7); gl_FragColor=vec4(smoothstep(2.3,0.7,d)*0.93);')
e('sky', 'float h=gl_FragCoord.y*0.0043; gl_FragColor=vec4(mix(vec3(0.71,0.81,0.93),vec3(0.13,0.29,0.63),pow(h,0.71)),1.0);')
e('dither', 'vec2 p=mod(gl_FragCoord.xy,4.0); float t=p.x*0.0625+p.y*0.1875+0.03125; gl_FragColor=step(t,u)*0.97;')
e('posterize', 'gl_FragColor=floor(u*5.3)*0.1887+0.0021;')
e('wave', 'vec2 p=gl_FragCoord.xy*0.0091+vec2(sin(gl_FragCoord.y*0.057)*0.133,u.x*0.79); gl_FragColor=vec4(fract(p),0.29,0.83);')
e('checker', 'vec2 c=floor(gl_FragCoord.xy*0.0537); gl_FragColor=mix(vec4(0.17,0.19,0.23,0.27),vec4(0.87,0.83,0.79,0.73),mod(c.x+c.y,2.0));')
e('gamma', 'gl_FragColor=mix(u*12.92,1.055*pow(u,vec4(0.41667))-0.055,step(vec4(0.0031308),u));')
e('many_consts', 'vec4 r=u;'+''.join('r=r*vec4(%g,%g,%g,%g)+vec4(%g,%g,%g,%g);r=fract(r);'%tuple((0.013*k*j+0.0717) for j in range(1,9)) for k in range(1,9))+'gl_FragColor=r;')
e('half_lits', 'gl_FragColor = u*vec4(0.0078125,0.015625,480.0,0.1)+vec4(3.5,0.4375,448.0,0.3);')
e('all_scalar_lits', 'gl_FragColor = vec4(u.x*0.101,u.y*0.202,u.z*0.303,u.w*0.404)*0.505+0.606;')
e('empty', '')
e('black', 'gl_FragColor=vec4(0.0,0.0,0.0,1.0);')


def shader_test(name):
    body, pre, uniforms, test = EFFECTS[name]
    sets = "uniform vec4 u 0.1 0.2 0.3 0.4\n"
    # shader_runner knows only uniforms that the shader reads.
    reads = any(c in "(*-+,= /" for c in [body[i - 1] for i in range(1, len(body)) if body[i] == "u" and not (body[i + 1:i + 2].isalnum() or body[i - 1].isalnum() or body[i - 1] == "_")])
    return (
        "[require]\nGLSL >= 1.20\n[vertex shader passthrough]\n[fragment shader]\n#version 120\n"
        f"{pre}uniform vec4 u;\n{uniforms}\nvoid main(){{\n  {body}\n}}\n[test]\n{test}{sets if reads else ''}draw rect -1 -1 2 2\n"
    )


def number(value):
    if isinstance(value, str) and len(value.removeprefix("0x")) == 8:
        return struct.unpack("<f", struct.pack("<I", int(value, 16)))[0]
    return float(value)


def constants_read(program):
    """Numbers of the constants that ALU instructions name."""
    words = [[int(word, 16) for word in instruction] for instruction in program]
    sources = (word >> at for w in words if w[0] & 3 < 2 for word in w[1:3] for at in (0, 10, 20))
    return sorted({source & 0xFF for source in sources if source & 0x100})


def run(arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, **options)


def compare(r500, runner, name, work, keep):
    """Returns the number of equal, missing and wrong channels of an effect."""
    path = os.path.join(work, name)
    with open(path + ".shader_test", "w") as file:
        file.write(shader_test(name))
    ran = run([r500, "capture", "-o", path + ".r5cs", runner, path + ".shader_test", "-auto", "-fbo"])
    with open(path + ".log", "w") as file:
        file.write(ran.stdout + ran.stderr)
    if '"pass"' not in ran.stdout:
        print(f"{name}: shader_runner did not pass: {ran.stdout[-200:]}")
    draws = []
    while run([r500, "stream", path + ".r5cs", "--draw", str(len(draws)), "-o", path + ".draw.json"]).returncode == 0:
        with open(path + ".draw.json") as file:
            draws.append(json.load(file))
    read = run([r500, "convert", path + ".log", "-o", path + ".json"])
    if read.returncode != 0:
        print(f"{name}: {read.stderr.strip()}")
        return 0, 0, 1
    with open(path + ".json") as file:
        jobs = json.load(file)
    equal = missing = wrong = 0
    for job in jobs if isinstance(jobs, list) else [jobs]:
        draw = next((draw for draw in draws if draw["program"] == job["program"]), None)
        if draw is None:
            # Programs that draw nothing, as those of the driver's own.
            continue
        truth, given, record = draw["constants"], job.get("constants", []), job["compilation"].get("constants", [])
        for n in constants_read(job["program"]):
            for channel in range(4):
                uploaded = number(truth[n][channel]) if n < len(truth) and truth[n] else 0.0
                logged = given[n][channel] if n < len(given) and given[n] else None
                if logged is None:
                    missing += 1
                    continue
                decimals = int(record[n][channel].split()[1])
                if abs(number(logged) - uploaded) <= 0.5 * 10**-decimals + abs(uploaded) * 1e-7:
                    equal += 1
                else:
                    wrong += 1
                    print(f"{name}: const[{n}].{'rgba'[channel]}: the log says {number(logged)}, the draw has {uploaded}")
    if not keep:
        for file in glob.glob(path + ".*"):
            os.unlink(file)
    return equal, missing, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--r500", required=True)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--keep", metavar="DIRECTORY", help="keep logs, captures and jobs here")
    parser.add_argument("effects", nargs="*", help="names of effects (default: all)")
    arguments = parser.parse_args()
    total = [0, 0, 0]
    with tempfile.TemporaryDirectory() as work:
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
            work = arguments.keep
        names = arguments.effects or sorted(EFFECTS)
        for name in names:
            counts = compare(arguments.r500, arguments.runner, name, work, arguments.keep)
            total = [a + b for a, b in zip(total, counts)]
    print(f"{len(names)} effects: of the channels of constants that they name, {total[0]} equal, {total[1]} missing, {total[2]} wrong")
    sys.exit(1 if total[2] else 0)


if __name__ == "__main__":
    main()
