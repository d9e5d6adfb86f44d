/*
 * An I/O that was completed: counted in its histograms, and told as an event.
 */
#pragma once
#include "control.h"
#include "disk_slots.h"

/* An I/O that was completed. */
struct disk_event {
    u32 record;
    u16 device;
    u8 op;
    u8 flags;
    u64 done;
    u64 queue;
    u64 service;
    u64 sector;
    s64 distance;
    s64 nearest;
    u32 bytes;
    u32 depth;
    u64 group;
    u64 file;
    u32 tgid;
    u32 weight;
};
#define SYNC 1
#define META 2

/* Flags of a request or bio, since Linux 4.10. */
#define REQ_SYNC (1u << 11)
#define REQ_META (1u << 12)
#define REQ_FUA (1u << 17)
#define REQ_PREFLUSH (1u << 18)

/* Whether somebody waits for it, as the kernel has it: of reads, and of what asks for a flush or to be
 * written through, that is not marked. */
INLINE bool is_sync(u32 op, u32 flags)
{
    return op == READ || flags & (REQ_SYNC | REQ_FUA | REQ_PREFLUSH);
}

/* The time between two stamps. Clocks of two processors may differ by a little. */
INLINE u64 between(u64 from, u64 to)
{
    s64 time = to - from;
    return time < 0 ? 0 : time;
}

/* The cell of a signed number: in that row, or below 0 in the one after it. Without branches: what
 * follows one is checked by the kernel for each of its ways. */
INLINE u64 *signed_cell(struct block *block, u32 row, s64 number)
{
    u64 sign = number >> 63;
    u32 cell;
    HERE(sign);
    cell = (u32)(sign & 1) * CELLS | grid((number ^ sign) - sign);
    /* Linux 6.1 forgets what it knew of both when they are joined. */
    return &block->cell[0][0] + row * CELLS + WITHIN(cell, 2 * CELLS);
}

INLINE void count_here(struct device *device, struct slot *slot, u32 op, u64 now, u32 error)
{
    u64 service, queue, one;
    struct block *block;
    struct sums *sums;
    u32 cell;
    service = between(slot->issued, now);
    queue = between(slot->first, slot->issued);
    one = 1 | (u64)(slot->bytes >> 9) << 32;
    block = block_of(device, op);
    sums = sums_of(slot->index, op);
    if (!block || !sums) {
        untracked();
        return;
    }
    ADD(sums->service, service);
    if (error)
        ADD(sums->errors, 1);
    cell = grid(service);
    if (!queue) {
        ADD(block->cell[DIRECT][cell], one);
    } else {
        ADD(sums->queue, queue);
        ADD(block->cell[SERVICE][cell], one);
        ADD(block->cell[QUEUE][grid(queue)], one);
        ADD(block->cell[LATENCY][grid(queue + service)], one);
    }
    ADD(block->cell[DEPTH][depth_cell(slot->depth)], one);
    /* Without data it has no size and no place. */
    if (op == FLUSH || !slot->bytes)
        return;
    ADD(block->cell[SIZE][grid(slot->bytes >> 9)], one);
    ADD(*signed_cell(block, AHEAD, slot->distance), one);
    ADD(*signed_cell(block, NEAR_AHEAD, slot->nearest), one);
}

/* The same, where it is seldom or costs less than the rest. */
ONCE int count(struct device *device, struct slot *slot, u32 op, u64 now, u32 error)
{
    if (device && slot)
        count_here(device, slot, op, now, error);
    return 0;
}

INLINE void tell(struct slot *slot, u32 index, u32 op, u32 flags, u64 sector, u64 now, u32 weight)
{
    struct disk_event *event = ring_reserve(&ring, sizeof(*event), 0);
    if (!event) {
        count_lost();
        return;
    }
    event->record = EVENT;
    event->device = index;
    event->op = op;
    event->flags = (is_sync(op, flags) ? SYNC : 0) | (flags & REQ_META ? META : 0);
    event->done = now;
    event->queue = between(slot->first, slot->issued);
    event->service = between(slot->issued, now);
    event->sector = sector;
    event->distance = slot->distance;
    event->nearest = slot->nearest;
    event->bytes = slot->bytes;
    event->depth = slot->depth;
    event->group = slot->who.group;
    event->file = slot->who.file;
    event->tgid = slot->who.tgid;
    event->weight = weight;
    ring_submit(event, ring_flags(sizeof(*event)));
}
