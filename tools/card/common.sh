# Shared by the scripts of this folder: paths, and checks for what must be installed.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${CARGO_TARGET_DIR:-$root/target}
profile=${PROFILE:-release}
export MESA_SHADER_CACHE_DISABLE=true

# Selects another Mesa than the system's: a folder that `mesa` unpacked.
if [ -n "${MESA:-}" ]; then
    libraries=$(ls -d "$(realpath "$MESA")"/usr/lib/*-linux-gnu 2>/dev/null | head -1 || true)
    [ -n "$libraries" ] || { echo "MESA=$MESA: no libraries are in it; tools/card/mesa makes such a folder" >&2; exit 3; }
    export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} LIBGL_DRIVERS_PATH=$libraries/dri
    export GBM_BACKENDS_PATH=$libraries/gbm
    export __EGL_VENDOR_LIBRARY_FILENAMES=$MESA/usr/share/glvnd/egl_vendor.d/50_mesa.json
fi

# Debian packages: libegl1 libegl-mesa0 libgl1-mesa-dri libgbm1 libegl-dev libgl-dev libgbm-dev gcc
need_mesa() {
    local missing=()
    for file in EGL/egl.h GL/gl.h gbm.h; do
        [ -e "/usr/include/$file" ] || missing+=("$file")
    done
    command -v cc >/dev/null || missing+=(cc)
    ldconfig -p | grep -q libEGL_mesa || missing+=(libEGL_mesa)
    if [ ${#missing[@]} -gt 0 ]; then
        echo "skipped: no ${missing[*]} (apt-get install --no-install-recommends libegl1 libegl-mesa0" \
            "libgl1-mesa-dri libgbm1 libegl-dev libgl-dev libgbm-dev gcc)"
        exit 0
    fi
}

# Builds the command and the library of the card, unless R500 names a command (which finds R500_CARD_LIBRARY, or the library next to it). Sets
# $r500.
build_card() {
    local flags=()
    mkdir -p "$build/card"
    if [ -n "${R500:-}" ]; then
        r500=$R500
        return
    fi
    [ "$profile" = release ] && flags=(--release)
    (cd "$root" && cargo build -q "${flags[@]}" -p r500-cli -p r500-preload)
    r500=$build/$profile/r500
}

# Builds the same and the scenes. Sets $scenes.
build_all() {
    build_card
    scenes=$build/card/scenes
    if [ ! -e "$scenes" ] || [ -n "$(find "$root/tools/card/scenes" -newer "$scenes" -name '*.[ch]')" ]; then
        cc -O1 -Wall -o "$scenes" "$root"/tools/card/scenes/*.c -lEGL -lGL -lgbm -lm
    fi
}
