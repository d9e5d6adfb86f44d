/*
 * Devices without requests: device mapper, md, zram. There a bio is the I/O.
 */
#pragma once
#include "disk_counts.h"
#include "disk_who.h"

struct bio_slot {
    struct slot slot;
    u64 sector; /* where it starts; the bio itself moves on */
};
/* Of `map_update`. */
#define NEW_ONLY 1
#define OLD_ONLY 2
MAP(bios, HASH, u64, struct bio_slot, 16384);

/* To zero without writing is a write, which moves nothing in zram: it frees, and the kernel counts no I/O. */
INLINE bool is_uncounted(struct gendisk *disk, u32 flags)
{
    const u32 zram = 0x6d61727a;
    return (flags & 0xff) == WRITE_ZEROES && *(u32 *)disk->disk_name == zram;
}

SEC("tp_btf/block_bio_queue")
int disk_bio_queue(u64 *ctx)
{
    struct bio *bio = (void *)ctx[0];
    struct gendisk *disk = bio->bi_bdev->bd_disk;
    struct device *device;
    struct bio_slot bs = {};
    struct slot *slot = &bs.slot;
    u64 key = (u64)bio;
    u32 index = 0, op = op_of(bio->bi_opf);
    if (!disk || disk->queue->mq_ops || op == OPS || is_uncounted(disk, bio->bi_opf))
        return 0;
    device = device_of(disk, &index);
    if (!device) {
        untracked();
        return 0;
    }
    slot->first = slot->issued = ktime();
    slot->bytes = bio->bi_iter.bi_size;
    slot->index = index;
    slot->depth = change_depth(device, slot->issued, 1, AT_ISSUE);
    bs.sector = bio->bi_iter.bi_sector;
    if (op != FLUSH)
        measure(device, slot, bs.sector, slot->bytes >> 9);
    if (with_events) {
        struct task_struct *task = current_task(), *leader = task->group_leader;
        HERE(leader);
        know(&slot->who, bio, bio->bi_opf, task, leader);
    }
    if (map_update(&bios, &key, &bs, NEW_ONLY)) {
        /* There is no room, or the completion of the one before was never seen. */
        untracked();
        change_depth(device, ktime(), -1, AT_ISSUE);
        map_update(&bios, &key, &bs, OLD_ONLY);
    }
    return 0;
}

/*
 * A driver may hand on a bio itself instead of a copy, as NVMe does that knows several ways to a
 * disk: then it stands at another device when it completes. So it is the bio that is looked for,
 * whatever that device is; what is not found is another's. Of a request that joins several such
 * bios the kernel tells the first only: the others are seen when their memory is used again.
 */
SEC("tp_btf/block_bio_complete")
int disk_bio_complete(u64 *ctx)
{
    struct bio *bio = (void *)ctx[1];
    struct device *device;
    struct bio_slot *bs;
    u64 key = (u64)bio, now;
    u32 flags, op;
    bs = map_lookup(&bios, &key);
    if (!bs)
        return 0;
    device = device_at(bs->slot.index);
    if (!device)
        return 0;
    flags = bio->bi_opf;
    op = op_of(flags);
    now = ktime();
    change_depth(device, now, -1, AT_COMPLETE);
    count(device, &bs->slot, op, now, bio->bi_status);
    if (with_events) {
        u32 weight = chosen(now);
        if (weight)
            tell(&bs->slot, bs->slot.index, op, flags, bs->sector, now, weight);
    }
    map_delete(&bios, &key);
    return 0;
}
