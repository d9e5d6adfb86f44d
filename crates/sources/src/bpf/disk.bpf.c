/*
 * Block I/O: where its time goes, how large, how far apart, how deep.
 *
 * insert (into the scheduler) - issue (to the device) - complete. Stamps lie in an array, in
 * a place that each request keeps, not in a hash: that is what makes it cheap. Everything is
 * counted at completion, so that all histograms of a device and operation have the same sum,
 * which is that of /proc/diskstats.
 */
#include "disk_bios.h"
#include "disk_counts.h"
#include "disk_who.h"

/* Where the number of arguments differs: before 5.11 the queue came first. */
const volatile u32 request_argument = 0;

INLINE struct request *request_of(u64 *ctx)
{
    return request_argument ? (void *)ctx[1] : (void *)ctx[0];
}

SEC("tp_btf/block_rq_insert")
int disk_insert(u64 *ctx)
{
    struct request *rq = request_of(ctx);
    struct slot *slot;
    if (op_of(rq->cmd_flags) == OPS)
        return 0;
    slot = own_slot(rq);
    if (slot && !(slot->marks & REQUEUED))
        slot->first = ktime();
    return 0;
}

SEC("tp_btf/block_rq_issue")
int disk_issue(u64 *ctx)
{
    struct request *rq = request_of(ctx);
    struct gendisk *disk = disk_of(rq);
    u32 index = 0, op = op_of(rq->cmd_flags);
    struct device *device;
    struct slot *slot;
    int by = 1;
    u64 now;
    if (!disk || op == OPS)
        return 0;
    device = device_of(disk, &index);
    slot = own_slot(rq);
    if (!device || !slot) {
        untracked();
        return 0;
    }
    want(device);
    /* So is the request's own line. */
    *(volatile u8 *)&slot->index = index;
    now = ktime();
    if (slot->issued || slot->marks & ABANDONED) {
        /*
         * What was issued before in this place was never seen to complete: the kernel may leave
         * a program out, for the moment in which another is attached to the same hook.
         */
        untracked();
        if (slot->issued)
            slot->first = 0;
        slot->marks = 0;
        by = 0;
    }
    if (!slot->first)
        slot->first = now;
    slot->depth = change_depth_here(device, now, by, AT_ISSUE);
    slot->issued = now;
    if (slot->marks & REQUEUED) {
        /* What was done of it before is its own too, and it lies where it lay. */
        slot->bytes += rq->__data_len;
        return 0;
    }
    if (with_events && asker_mask)
        know_by_bio(&slot->who, rq);
    slot->bytes = rq->__data_len;
    if (op != FLUSH)
        measure_here(device, slot, rq->__sector, slot->bytes >> 9);
    else
        slot->distance = slot->nearest = 0;
    return 0;
}

SEC("tp_btf/block_rq_requeue")
int disk_requeue(u64 *ctx)
{
    struct request *rq = request_of(ctx);
    struct slot *slot = slot_of(rq);
    struct device *device;
    struct sums *sums;
    u32 op = op_of(rq->cmd_flags);
    if (!slot || !slot->issued || op == OPS)
        return 0;
    device = device_at(slot->index);
    if (!device)
        return 0;
    slot->issued = 0;
    slot->marks = REQUEUED;
    /* Until it is issued again: what was done of it. */
    slot->bytes -= rq->__data_len < slot->bytes ? rq->__data_len : slot->bytes;
    change_depth(device, ktime(), -1, AT_ISSUE);
    sums = sums_of(slot->index, op);
    if (sums)
        ADD(sums->requeues, 1);
    return 0;
}

/* It became part of another request: it will neither be issued nor completed. */
SEC("tp_btf/block_rq_merge")
int disk_merge(u64 *ctx)
{
    struct slot *slot = slot_of(request_of(ctx));
    if (slot)
        forget(slot);
    return 0;
}

/*
 * A flush. Who asks for one makes a write, with or without data, that completes when the
 * flush has: the kernel issues its data, if it has any, as a part of that, and the flush as a
 * request of its own. The write is counted once, when all of it has completed, as
 * /proc/diskstats does.
 */

/* Whether only the data of such a write has completed: until the rest has, the kernel itself
 * waits for the end. (Others that do so, as device mapper, leave a word for themselves.) */
INLINE bool is_part_of_flush(struct request *rq, u32 op)
{
    void *end = NULL, *own = NULL;
    if (op != WRITE)
        return 0;
    /* Copied: see HERE. */
    read_kernel(&end, sizeof(end), &rq->end_io);
    read_kernel(&own, sizeof(own), &rq->end_io_data);
    return end && !own;
}

/* Counts a write without data: it was never issued, and its time is that of the flush. */
INLINE void count_empty(struct request *rq, struct slot *known, u64 now)
{
    struct request_queue *q = NULL;
    struct gendisk *disk = NULL;
    struct slot slot = {};
    struct device *device;
    u64 start = rq->start_time_ns;
    u32 index = 0, major = 0, minor = 0;
    if (HAS(((struct request___old *)0)->rq_disk)) {
        read_kernel(&disk, sizeof(disk), &((struct request___old *)rq)->rq_disk);
    } else {
        read_kernel(&q, sizeof(q), &rq->q);
        read_kernel(&disk, sizeof(disk), &q->disk);
    }
    if (!disk)
        return;
    read_kernel(&major, sizeof(major), &disk->major);
    read_kernel(&minor, sizeof(minor), &disk->first_minor);
    device = device_by(major, minor, disk->disk_name, &index);
    if (!device) {
        untracked();
        return;
    }
    slot.first = slot.issued = start ? start : now;
    slot.index = index;
    count(device, &slot, WRITE, now, 0);
    if (with_events) {
        u32 weight = chosen(now);
        if (known) {
            slot.who.tgid = known->who.tgid;
            slot.who.group = known->who.group;
        }
        if (asker_mask)
            know_by_bio(&slot.who, rq);
        if (weight)
            tell(&slot, index, WRITE, rq->cmd_flags, 0, now, weight);
    }
}

SEC("tp_btf/block_rq_complete")
int disk_complete(u64 *ctx)
{
    struct request *rq = (void *)ctx[0];
    u32 error = ctx[1], bytes = ctx[2], flags, op;
    struct slot *slot;
    struct device *device;
    u64 now;
    /* A part of it: the rest is still under way. */
    if (bytes < rq->__data_len)
        return 0;
    slot = slot_of(rq);
    flags = rq->cmd_flags;
    op = op_of(flags);
    if (!slot || !slot->issued) {
        if (op == WRITE && !rq->__data_len && !rq->__sector)
            count_empty(rq, slot, ktime());
        else if (op != OPS && rq->__data_len)
            untracked(); /* issued before we came */
        if (slot)
            forget(slot);
        return 0;
    }
    device = device_at(slot->index);
    if (!device)
        return 0;
    want(device);
    now = ktime();
    if (!(slot->marks & HELD)) {
        change_depth_here(device, now, -1, AT_COMPLETE);
        if (is_part_of_flush(rq, op)) {
            slot->marks = HELD;
            return 0;
        }
    } else if (rq->start_time_ns && rq->start_time_ns < slot->first) {
        /* It waited for a flush before it was issued. */
        slot->first = rq->start_time_ns;
    }
    /* Where a device cannot zero by itself, zeros are written: nobody is told that it failed. */
    if (error && (flags & 0xff) == WRITE_ZEROES)
        error = 0;
    count_here(device, slot, op, now, error & 0xff);
    if (with_events) {
        u32 weight = chosen(now);
        u64 sector;
        if (slot->marks & HELD) {
            struct bio *bio = NULL;
            /* It stands at its end. */
            sector = 0;
            read_kernel(&bio, sizeof(bio), &rq->bio);
            if (bio && !read_kernel(&sector, sizeof(sector), &bio->bi_iter.bi_sector))
                sector -= slot->bytes >> 9;
        } else {
            /* Parts that were completed before moved its start on. */
            sector = rq->__sector - ((slot->bytes - bytes) >> 9);
        }
        if (weight)
            tell(slot, slot->index, op, flags, sector, now, weight);
    }
    forget(slot);
    return 0;
}

char gpl[] SEC("license") = "GPL";
