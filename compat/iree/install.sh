#!/usr/bin/env bash
# install.sh PREFIX FEATURES: builds the libraries and puts them, with header, pkg-config file and
# CMake config, below PREFIX. FEATURES as for cargo: tracy, console, tracy,console, null, …
# With ZONECAST_IREE_BUILT=FOLDER, libraries that stand there are taken instead.
set -euo pipefail
if [ $# -ne 2 ]; then sed -n 2,3p "$0" >&2; exit 2; fi
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
cd "$(dirname "$0")"

built=${ZONECAST_IREE_BUILT:-}
if [ -z "$built" ]; then
    # One at a time: cargo optimises across crates only where all that it builds can have that.
    for kind in staticlib cdylib; do
        cargo rustc --profile library --features "$2" --crate-type "$kind"
    done
    built=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/library
fi

install -d "$prefix"/{include,lib/pkgconfig,lib/cmake/zonecast_iree}
install -m 644 include/*.h "$prefix/include"
install -m 644 "$built/libzonecast_iree.a" "$prefix/lib"
install -m 755 "$built/libzonecast_iree.so" "$prefix/lib"
install -m 644 share/zonecast_iree.pc "$prefix/lib/pkgconfig"
install -m 644 share/zonecast_iree-config.cmake "$prefix/lib/cmake/zonecast_iree"
