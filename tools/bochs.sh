# shellcheck shell=bash
# A machine with AVX-512, in software: Linux in Bochs. To be sourced after targets.sh.

# Debian's Bochs and Linux and what puts them together, unpacked aside.
unpack_bochs() {
    bochs="$target/bochs"
    [ ! -f "$bochs/complete" ] || return 0
    lists_of bochs
    echo "unpacking Debian's Bochs and Linux into $bochs" >&2
    local kernel
    kernel="$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2 }')"
    # shellcheck disable=SC2046
    unpack "$bochs" "$kernel" $(needed bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso \
        cpio busybox-static)
    touch "$bochs/complete"
}

# Runs a program of this machine there, with its arguments; those that are files come along.
# What it prints goes to standard output; `expected` says how many lines that will be.
in_bochs() {
    local machine="$target/machine" argument files=()
    local root="$machine/files" disc="$machine/disc" libraries="$bochs/usr/lib/x86_64-linux-gnu"
    rm -rf "$machine"
    mkdir -p "$root/bin" "$root/dev" "$root/proc" "$disc"
    cp "$bochs/bin/busybox" "$root/bin"
    cp "$runner/bochs/init" "$root"
    cp "$1" "$root/program"
    ldd "$1" | grep -o '/[^ ]*' | xargs -r cp --parents -t "$root"
    for argument in "${@:2}"; do
        [ ! -f "$argument" ] || files+=("$argument")
    done
    [ ${#files[@]} = 0 ] || cp --parents -t "$root" "${files[@]}"
    echo "/program ${*@Q}" | sed "s|^/program '[^']*'|/program|" >"$root/command"
    (cd "$root" && find . | "$bochs/bin/cpio" -o -H newc --quiet) >"$disc/files"
    cp "$bochs"/boot/vmlinuz-* "$disc/linux"
    cp "$bochs/usr/lib/ISOLINUX/isolinux.bin" "$bochs/usr/lib/syslinux/modules/bios/ldlinux.c32" \
        "$runner/bochs/isolinux.cfg" "$disc"
    (
        export LD_LIBRARY_PATH="$libraries" LTDL_LIBRARY_PATH="$libraries/bochs/plugins"
        export BOCHS="$bochs" BXSHARE="$bochs/usr/share/bochs" MACHINE="$machine" TERM=xterm
        "$bochs/usr/bin/xorriso" -as mkisofs -quiet -o "$machine/disc.iso" -b isolinux.bin -c boot.cat \
            -no-emul-boot -boot-load-size 4 -boot-info-table "$disc" 2>"$machine/xorriso" || {
            cat "$machine/xorriso" >&2
            exit 1
        }
        # Debian's Bochs has a debugger, which waits for a word, and wants a terminal.
        echo continue >"$machine/debugger"
        cd "$machine"
        exec nice script -qfc "'$bochs/usr/bin/bochs-bin' -q -f '$runner/bochs/bochsrc' -rc debugger" \
            /dev/null </dev/null >"$machine/screen" 2>&1
    ) &
    local emulator=$! waited=0 screen=
    # shellcheck disable=SC2064
    trap "kill $emulator 2>/dev/null" EXIT
    # Its screen is a terminal of its own, and it waits if nobody reads that.
    until screen="$(grep -ao -m1 '/dev/pts/[0-9]*' "$machine/screen" 2>/dev/null)"; do
        kill -0 "$emulator" 2>/dev/null || break
        sleep 1
    done
    cat "$screen" >/dev/null 2>&1 </dev/null &
    while kill -0 "$emulator" 2>/dev/null; do
        sleep 1
        waited=$((waited + 1))
        [ $((waited % 15)) != 0 ] || printed_so_far "$waited" >&2
    done
    trap - EXIT
    grep -q '^exit status: 0' "$machine/console" || {
        tail -n 20 "$machine/console" "$machine/log" >&2
        return 1
    }
    cat "$machine/printed"
}

printed_so_far() {
    local lines=0
    [ ! -f "$machine/printed" ] || lines="$(wc -l <"$machine/printed")"
    echo "$1 s: $lines of $expected lines"
}
