#!/usr/bin/env bash
# Runs a command on another kernel: Debian's own, in a virtual machine, without installing either.
#
#   scripts/other-kernel.sh COMMAND [ARGUMENT...]     on Linux 6.1
#   KERNEL=linux-image-6.12-amd64 scripts/other-kernel.sh COMMAND [ARGUMENT...]
#
# The machine sees this one's files as they are and may change them: changes are kept in its memory
# and are gone at its end. Only /result stays, in $RESULT (else in the target folder). It has no
# network, ends by itself (LIMIT seconds, 600) and answers with the command's status.
# What is downloaded is kept in the target folder. Needs root, for /dev/kvm and to read all files.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
kernel=${KERNEL:-linux-image-amd64}
at=$(realpath -m "${CARGO_TARGET_DIR:-$here/target}")/other-kernel
result=$(realpath -m "${RESULT:-$at/result}")
# What its kernel has and this machine need not: NFS, md, encrypted devices.
tools=(kmod busybox-static nfs-kernel-server nfs-common rpcbind libtirpc3 libevent-core-2.1-7
    libnfsidmap1 keyutils libwrap0 mdadm cryptsetup-bin libcryptsetup12 libpopt0)

# `modprobe` and `depmod` are one program, which goes by its name.
of_kmod() { (exec -a "$1" "$at/tools/usr/bin/kmod" "${@:2}"); }

download() { # into this folder
    (cd "$1" && shift && apt-get download -q "$@" >/dev/null 2>&1) ||
        { echo "cannot download $*: apt-get update, or another KERNEL" >&2 && exit 1; }
}

if ! command -v qemu-system-x86_64 >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        qemu-system-x86 >/dev/null
fi
mkdir -p "$at" "$result"

if [ ! -d "$at/tools" ]; then
    rm -rf "$at/packages" && mkdir -p "$at/packages"
    download "$at/packages" "${tools[@]}"
    for package in "$at/packages"/*.deb; do dpkg-deb -x "$package" "$at/tools.new"; done
    # Packages that merge /bin into /usr at their installation.
    cp -a "$at/tools.new"/{bin,sbin,lib} "$at/tools.new/usr/" && rm -r "$at/tools.new"/{bin,sbin,lib}
    mv "$at/tools.new" "$at/tools"
fi

if [ ! -d "$at/$kernel" ]; then
    # The package of that name depends on the one of a version.
    package=$(apt-cache depends --important "$kernel" | awk '/Depends: linux-image/ { print $2 }')
    rm -rf "$at/new" && mkdir -p "$at/new"
    download "$at/new" "${package:-$kernel}"
    dpkg-deb -x "$at/new"/*.deb "$at/new"
    rm "$at/new"/*.deb
    # Where /lib is a link to it.
    mkdir -p "$at/new/usr" && mv "$at/new/lib" "$at/new/usr/"
    of_kmod depmod -b "$at/new/usr" "$(ls "$at/new/usr/lib/modules")"
    mv "$at/new" "$at/$kernel"
fi
version=$(ls "$at/$kernel/usr/lib/modules")

# The first programs: modules for the files of this machine, then over to those.
root=$at/initial
rm -rf "$root" && mkdir -p "$root"/{bin,proc,sys,dev,host,tools,kernel,over,root,modules}
cp "$at/tools/usr/bin/busybox" "$root/bin/"
order=$root/modules/order
for module in virtio_pci 9pnet_virtio 9p overlay; do
    of_kmod modprobe -d "$at/$kernel/usr" -S "$version" --show-depends $module
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
    case $file in
    *.xz) xz -dc "$file" >"$root/modules/$(basename "$file" .xz)" ;;
    *) cp "$file" "$root/modules/" ;;
    esac
    basename "$file" .xz >>"$order"
done
cat >"$root/init" <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
while read -r module; do insmod /modules/\$module; done </modules/order
share() { mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,\$3 \$1 \$2; }
for tag in tools kernel host; do share \$tag /\$tag ro,cache=loose; done
mount -t tmpfs -o size=75% over /over; mkdir /over/up /over/work
mount -t overlay -o lowerdir=/tools:/kernel:/host,upperdir=/over/up,workdir=/over/work over /root
mkdir -p /root/result
share result /root/result rw
for tree in proc sys dev; do mount --move /\$tree /root/\$tree; done
exec switch_root /root /bin/bash /result/.first
END
chmod +x "$root/init"
# As in `newc`, without a tool for it.
python3 "$here/scripts/other-kernel/cpio.py" "$root" | gzip -1 >"$at/initial.gz"

cat >"$result/.first" <<END
mount -t tmpfs run /run; mount -t tmpfs shm -o mode=1777 /dev/shm 2>/dev/null || {
    mkdir -p /dev/shm && mount -t tmpfs -o mode=1777 shm /dev/shm; }
mkdir -p /dev/pts && mount -t devpts pts /dev/pts
mount -t tmpfs tmp /tmp -o mode=1777
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tracefs tracing /sys/kernel/tracing 2>/dev/null
mount -t securityfs security /sys/kernel/security 2>/dev/null
ln -sfn /proc/self/fd /dev/fd
ip link set lo up; hostname other
export HOME=/root PATH=$PATH:/usr/sbin:/sbin TERM=dumb ${CI:+CI=$CI}
cd $(printf %q "$PWD")
$(printf '%q ' "$@") </dev/null
echo \$? >/result/.status
sync; echo o >/proc/sysrq-trigger; for ((;;)); do :; done
END
rm -f "$result/.status"
# Without the processor's support what is at /dev/kvm may hang; QEMU then translates, 5 to 20 times slower.
# On one thread: with one a processor, what the kernel changes in its own code (as when it begins to
# measure programs) stays translated as it was on the other, which hung in four of five recordings.
fast=(-accel tcg,thread=single -cpu max,la57=off)
if [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then
    fast=(-enable-kvm -cpu host)
fi
# Disks to test with.
for disk in virtio nvme; do truncate -s 128M "$at/$disk.img"; done
shares=()
for of in host=/ "tools=$at/tools" "kernel=$at/$kernel"; do
    shares+=(-virtfs "local,path=${of#*=},mount_tag=${of%%=*},security_model=none,readonly=on,multidevs=remap")
done
# A machine that gets little time finds its timer broken, unless it is told not to look.
timeout --foreground "${LIMIT:-600}" nice -n 15 qemu-system-x86_64 "${fast[@]}" -smp 2 -m "${MEMORY:-4G}" \
    -nodefaults -no-user-config -display none -no-reboot -serial stdio \
    -kernel "$at/$kernel/boot/vmlinuz-$version" -initrd "$at/initial.gz" \
    -append "console=ttyS0 quiet panic=-1 no_timer_check ${APPEND:-}" \
    -drive "file=$at/virtio.img,format=raw,if=virtio,discard=unmap" \
    -drive "file=$at/nvme.img,format=raw,if=none,id=nvme" -device nvme,drive=nvme,serial=1 \
    "${shares[@]}" -virtfs "local,path=$result,mount_tag=result,security_model=none" </dev/null ||
    echo "the machine did not end by itself" >&2
exit "$(cat "$result/.status" 2>/dev/null || echo 1)"
