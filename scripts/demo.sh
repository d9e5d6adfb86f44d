#!/usr/bin/env bash
# Records a real 10-second mixed disk benchmark of this machine and shows what came of it.
set -eu

sonde=${1:?usage: demo.sh PATH-OF-SONDE}
demo=${DEMO_DIR:-$PWD/demo}
mkdir -p "$demo"
run="$demo/fio-$(date +%Y%m%d-%H%M%S)"
file="$demo/fio.data"
trap 'rm -f "$file"' EXIT

# Direct I/O goes to the device, not to the page cache; some file systems refuse it.
direct=1
if ! dd if=/dev/zero of="$file" bs=4096 count=1 oflag=direct status=none 2>/dev/null; then
    direct=0
fi

echo "Recording fio: 70 % reads, 30 % writes of 16 KiB on a file of 256 MiB, 10 seconds."
PATH="$(dirname "$sonde"):$PATH" "$sonde" record -o "$run" --every 200ms \
    --name "mixed fio job, 70 % reads of 16 KiB" -- \
    fio --name=mixed --filename="$file" --size=256m --rw=randrw --rwmixread=70 --bs=16k \
    --iodepth=16 --ioengine=libaio --direct=$direct --time_based --runtime=10 \
    --group_reporting --eta=never
echo
"$sonde" show "$run"
picture="$demo/disk.png"
"$sonde" plot "$run" 'disk.bytes by op' --right disk.utilisation -o "$picture"
cat <<END

The run is in      $run
The picture is in  $picture

Type next:
  $sonde get $run 'disk.bytes by device, op'
  $sonde plot $run 'cpu.utilisation by mode' --stack
  $sonde plot $run 'disk.mean_latency by op' --log
  $sonde catalog
END
