# shellcheck shell=bash
# Functions for scripts that build for other processors; to be sourced. The scripts set `target` (a folder for build
# outputs), `install` (whether missing packages may be installed) and `toolchain` (own, debian, or empty: the first that
# has the target), and define a function `could_not` that aborts.

# Flags for WebAssembly: with vectors, and with an exported growable table for functions that are generated at run time.
# shellcheck disable=SC2034
wasm_flags="-C target-feature=+simd128 -C link-arg=--export-table -C link-arg=--growable-table"

# Seconds that apt-get waits for another one that holds the lock.
apt_patience=120

# Installs Debian packages; waits if another process of apt holds its lock. Returns whether it succeeded.
apt_install() {
    local as_root=() patience=(-o "DPkg::Lock::Timeout=$apt_patience")
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    export DEBIAN_FRONTEND=noninteractive
    echo "installing ${*}: if another apt runs, this waits for it, at most $apt_patience seconds" >&2
    # The lists have a lock of their own, for which apt-get does not wait; old lists are usually good enough.
    "${as_root[@]}" apt-get "${patience[@]}" update -q >&2 || echo "the lists of packages are not updated" >&2
    "${as_root[@]}" apt-get "${patience[@]}" install -q -y --no-install-recommends "$@" >&2
}

# Makes sure that a command of a Debian package is available.
needs() {
    command -v "$1" >/dev/null && return
    local packages=("${@:2}")
    [ -n "$install" ] || could_not "no $1: apt-get install ${packages[*]} (or --install)"
    command -v apt-get >/dev/null || could_not "no $1, and no apt-get to install it with"
    apt_install "${packages[@]}" || could_not "${packages[*]} cannot be installed"
    command -v "$1" >/dev/null || could_not "the packages have no $1"
}

# Makes sure that programs for AArch64 can be linked. Debian's compiler may be there without the C library.
needs_aarch64_linker() {
    local packages=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
    needs aarch64-linux-gnu-gcc "${packages[@]}"
    [ "$(aarch64-linux-gnu-gcc -print-file-name=crti.o)" = crti.o ] || return 0
    [ -n "$install" ] || could_not "no C library for AArch64: apt-get install ${packages[*]} (or --install)"
    apt_install "${packages[@]}" || could_not "${packages[*]} cannot be installed"
}

# Installs the Debian package of a command that is optional; without it, prints what that costs and continues.
wants() {
    command -v "$1" >/dev/null && return
    [ -z "$install" ] || apt_install "$2" || true
    command -v "$1" >/dev/null || echo "no $1 (Debian: $2): $3" >&2
}

# Returns whether the machine's Rust can build for a target, after trying rustup.
has_target() {
    local library
    library="$(rustc --print sysroot)/lib/rustlib/$1/lib"
    [ -d "$library" ] && return
    command -v rustup >/dev/null || return 1
    # Without a network, rustup retries for a long time.
    timeout 180 rustup target add "$1" >&2 && [ -d "$library" ]
}

# Makes sure that apt-get knows a package, in a matching version if one is given.
lists_of() {
    command -v apt-get >/dev/null || could_not "no apt-get for Debian's packages"
    [[ "$(apt-cache show "$1" 2>/dev/null)" =~ Version:\ ${2:-.} ]] && return
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    "${as_root[@]}" apt-get update -q >&2 || could_not "no list of Debian's packages"
}

# Prints the names of packages and of their dependencies that are not installed.
needed() {
    printf '%s\n' "$@"
    apt-get -s install --no-install-recommends "$@" | awk '/^Inst/ { print $2 }'
}

# Unpacks packages into a folder, because they may conflict with installed ones.
unpack() {
    local packages="$1/packages" wanted package
    wanted="$(printf '%s\n' "${@:2}" | sort -u)"
    mkdir -p "$packages"
    # shellcheck disable=SC2086
    (cd "$packages" && apt-get download -q $wanted >&2) ||
        could_not "Debian's packages cannot be downloaded: ${wanted//$'\n'/ }"
    for package in "$packages"/*.deb; do
        dpkg -x "$package" "$1"
    done
    rm -r "$packages"
}

# Unpacks Debian's second Rust, which includes the sources of its library, into a folder, because its packages conflict
# with any other Rust.
debian_rust() {
    debian="$target/debian"
    [ ! -f "$debian/complete" ] || return 0
    lists_of rust-web-src '1\.(89|9[0-9]|[1-9][0-9]{2})'
    echo "unpacking Debian's Rust into $debian" >&2
    local lld
    lld="$(apt-cache search --names-only '^lld-[0-9]+$' | cut -d' ' -f1 | sort -V | tail -1)"
    # shellcheck disable=SC2046
    unpack "$debian" $(needed rustc-web cargo-web rust-web-src "$lld")
    touch "$debian/complete"
}

windows=x86_64-pc-windows-gnu
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc

# Makes sure that programs for Windows can be linked, and run by `in_wine`.
prepare_wine() {
    needs x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
    needs wineboot wine wine64
    wine=$(command -v wine64 || command -v /usr/lib/wine/wine64 || command -v wine)
    mkdir -p "$target/wine-dlls"
    x86_64-w64-mingw32-gcc -O1 -shared -o "$target/wine-dlls/bcryptprimitives.dll" \
        "$root/tools/cross-runner/bcryptprimitives.c" -ladvapi32 || could_not "bcryptprimitives.dll does not build"
}

# Runs a program for Windows in a folder of Wine of its own.
in_wine() {
    local dlls="Z:$target/wine-dlls"
    WINEPREFIX="$target/wine" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=;bcryptprimitives=n,b" \
        WINEPATH="${dlls//\//\\}" DISPLAY='' "$wine" "$@"
}

# Runs a build; prints its output only if it fails.
quietly() {
    local said="$target/build.log"
    "$@" >"$said" 2>&1 && return
    cat "$said" >&2
    return 1
}

# Builds for a target; the arguments are the target and cargo's options.
build_for() {
    local triple="$1" options=(--locked --target "$1" "${@:2}")
    if [ "$toolchain" != debian ] && has_target "$triple"; then
        quietly cargo build "${options[@]}" --target-dir "$target" && return
        could_not "it does not build for $triple"
    fi
    [ "$toolchain" != own ] || could_not "no Rust for $triple: rustup target add $triple"
    debian_rust
    (
        local libraries="$debian/usr/lib/x86_64-linux-gnu" lld
        lld="$(find "$debian/usr/bin" -name 'wasm-ld-*' | tail -1)"
        export PATH="$debian/usr/bin:$PATH" RUSTC_BOOTSTRAP=1
        export LD_LIBRARY_PATH="$libraries:$(echo "$debian"/usr/lib/llvm-*/lib)"
        export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$lld"
        unset RUSTUP_TOOLCHAIN RUSTC CARGO
        quietly "$debian/usr/bin/cargo" build "${options[@]}" -Zbuild-std=std,panic_abort \
            --target-dir "$target/with-debian"
    ) || could_not "it does not build for $triple with Debian's Rust"
}

# Prints the path of an output of the last build_for.
built() {
    local own="$target/$1" other="$target/with-debian/$1"
    if [ -f "$other" ] && { [ ! -f "$own" ] || [ "$other" -nt "$own" ]; }; then own="$other"; fi
    echo "$own"
}
