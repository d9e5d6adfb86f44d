#!/usr/bin/env bash
# Installs what is missing to build, demonstrate and test Sonde on Debian or Ubuntu.
# Says what and why; asks for nothing. Changes nothing where everything is there.
#
#   scripts/setup.sh build    what `make demo` needs
#   scripts/setup.sh test     that, and what the tests need
#   scripts/setup.sh bench    that of `build`, and what the measurements need
set -eu

purpose=${1:-build}

# The oldest compiler this builds with; the same as rust-version in Cargo.toml.
least_rust=1.88

missing=()
need() { # command, package, why
    if ! command -v "$1" >/dev/null 2>&1; then
        missing+=("$2")
        printf '  %-14s %s\n' "$2" "$3"
    fi
}

# The page is built by Vite 8, which needs Node 20.19 or newer. Debian 13 has it; of Debian 12's
# Node 18 nothing can be made, so it is not installed: the page is then left out, and said.
least_node=20
need_node() {
    command -v npm >/dev/null 2>&1 && return 0
    local offered
    offered=$(apt-cache policy nodejs 2>/dev/null | awk '$1 == "Candidate:" { print int($2) }')
    if [ "${offered:-0}" -ge "$least_node" ]; then
        need npm nodejs "builds the web page of sonde view"
        need npm npm "builds the web page of sonde view"
    else
        echo "  no Node $least_node here: the web page is left out (see https://nodejs.org)" >&2
    fi
}

wanted() {
    need cc build-essential "C compiler and linker, for the compression library"
    need make build-essential "runs the commands of the README"
    need clang clang "compiles programs for the kernel (eBPF)"
    need fio fio "makes the disk load of the demonstration and of the tests"
    need_node
    [ "$purpose" != bench ] || wanted_to_measure
    [ "$purpose" = test ] || return 0
    need curl curl "asks the server of the web page, in its guide"
    need chromium chromium "tests of the page, in a browser without a screen"
    need ip iproute2 "network namespaces, for tests of the network"
    need iperf3 iperf3 "the load of experiments on a network, in tests"
    need tc iproute2 "slows a network down, in tests"
    need ethtool ethtool "an independent look at settings of interfaces, in tests"
    need sysctl procps "the same for settings of the kernel"
    need mkfs.ext4 e2fsprogs "file systems of tests"
    need losetup mount "loop devices, for tests of disks"
    need setpriv util-linux "tests without privileges"
    need unshare util-linux "tests without a network"
    need chromium chromium "tests of pages in a real browser"
    need script bsdutils "tests in a terminal"
    need sadf sysstat "tests of the import of its recordings"
    need bzip2 bzip2 "tests of compressed files"
    need xz xz-utils "tests of compressed files"
    need zstd zstd "tests of compressed files"
    need python3 python3 "tests that other readers read a run: DuckDB, pandas"
    if command -v python3 >/dev/null 2>&1 && ! python3 -c 'import ensurepip' >/dev/null 2>&1; then
        missing+=(python3-venv)
        printf '  %-14s %s\n' python3-venv "keeps the Python packages of those tests apart"
    fi
}

wanted_to_measure() {
    need gawk gawk "filters a text beside an import"
    need curl curl "asks what is measured beside"
    need /usr/bin/time time "memory of a command"
    need taskset util-linux "measures on two processors"
    need losetup mount "loop devices to load"
    need python3 python3 "attaches programs to compare with"
    need bpftool bpftool "loads them"
    need bpftrace bpftrace "a one-liner beside, to compare with"
    need perf linux-perf "a tracepoint in use, to compare with"
}

# Their packages start services, which is not for a measurement to decide.
services() {
    local tool
    for tool in sadc:sysstat collectl:collectl atop:atop \
        prometheus-node-exporter:prometheus-node-exporter; do
        [ -x "/usr/lib/sysstat/${tool%:*}" ] || command -v "${tool%:*}" >/dev/null 2>&1 ||
            echo "  bench/cost.sh needs ${tool#*:}, which brings a service: install it yourself" >&2
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        echo "not root, and sudo would ask for a password. Run this, then again:" >&2
        echo "  sudo $*" >&2
        exit 1
    fi
}

install_packages() {
    local found
    found=$(wanted)
    wanted >/dev/null # fills `missing` in this shell
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "Installing:"
    echo "$found"
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "this is not Debian or Ubuntu: install these with your package manager" >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -q >/dev/null
    # shellcheck disable=SC2046
    as_root apt-get install -y -q --no-install-recommends \
        $(printf '%s\n' "${missing[@]}" | sort -u) >/dev/null
}

# Its package would start a service that records, now and whenever the machine starts: it is kept from that.
install_atop() {
    ! command -v atop >/dev/null 2>&1 || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "  no atop here: the test of its recordings is left out" >&2
        return 0
    fi
    echo "Installing:"
    printf '  %-14s %s\n' atop "tests of the import of its recordings; without its service"
    local policy=/usr/sbin/policy-rc.d made= status=0
    if [ ! -e $policy ]; then
        made=yes
        printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
        as_root chmod 755 $policy
    fi
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -q >/dev/null || true
    as_root apt-get install -y -q --no-install-recommends atop >/dev/null || status=$?
    for service in atop atopacct; do
        as_root update-rc.d $service disable >/dev/null 2>&1 || true
    done
    [ -z "$made" ] || as_root rm -f $policy
    return $status
}

rust_is_new_enough() {
    command -v cargo >/dev/null 2>&1 || return 1
    local have
    have=$(cargo --version 2>/dev/null | cut -d' ' -f2) || return 1
    [ "$(printf '%s\n%s\n' "$least_rust" "$have" | sort -V | head -n 1)" = "$least_rust" ]
}

install_rust() {
    rust_is_new_enough && return 0
    if [ -x "$HOME/.cargo/bin/cargo" ]; then
        export PATH="$HOME/.cargo/bin:$PATH"
        rust_is_new_enough && return 0
    fi
    echo "Installing the Rust compiler ($least_rust or newer) for this user, by rustup"
    if ! command -v rustup >/dev/null 2>&1; then
        if apt-cache show rustup >/dev/null 2>&1; then
            as_root apt-get install -y -q --no-install-recommends rustup >/dev/null
        else
            command -v curl >/dev/null 2>&1 ||
                as_root apt-get install -y -q --no-install-recommends curl ca-certificates >/dev/null
            curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
                sh -s -- -y -q --profile minimal --no-modify-path
            export PATH="$HOME/.cargo/bin:$PATH"
        fi
    fi
    rustup toolchain install stable --profile minimal -c clippy -c rustfmt
    rustup default stable
}

# The kernel's own trace is what tests and measurements compare with; not every machine has it in its
# place.
mount_trace() {
    local at=/sys/kernel/tracing
    [ "$(id -u)" = 0 ] && [ -d $at ] && [ ! -e $at/instances ] || return 0
    echo "Mounting the kernel's trace at $at: what is measured is compared with it"
    mount -t tracefs tracefs $at || true
}

install_packages
[ "$purpose" != bench ] || services
[ "$purpose" != test ] || install_atop
[ "$purpose" = build ] || mount_trace
install_rust
