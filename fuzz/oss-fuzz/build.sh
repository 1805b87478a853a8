#!/bin/bash -eu
# Builds every fuzz target into $OUT, with its seeds and its dictionary. OSS-Fuzz runs it in the image of the Dockerfile; it
# sets $SRC, $OUT and the compiler's flags.
cd "$SRC/r500"
# As in fuzz/Cargo.toml: overflows and failed assertions are finds.
cargo fuzz build -O --debug-assertions
release=fuzz/target/x86_64-unknown-linux-gnu/release
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "$release/$target" "$OUT/"
    seeds=$(mktemp -d)
    if [ -d "fuzz/seeds/$target" ]; then
        cp -r "fuzz/seeds/$target/." "$seeds"
    fi
    if [ -f "fuzz/seeds/$target.tar.gz" ]; then
        tar -xzf "fuzz/seeds/$target.tar.gz" -C "$seeds"
    fi
    if [ -n "$(ls -A "$seeds")" ]; then
        (cd "$seeds" && zip -qr "$OUT/${target}_seed_corpus.zip" .)
    fi
    rm -rf "$seeds"
    if [ -f "fuzz/seeds/$target.dict" ]; then
        cp "fuzz/seeds/$target.dict" "$OUT/"
    fi
    # As fuzz/run: long inputs from the start.
    printf '[libfuzzer]\nmax_len = 8192\nlen_control = 0\n' >"$OUT/$target.options"
done
