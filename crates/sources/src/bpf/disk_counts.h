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

/* The time between two stamps. Clocks of two processors may differ by a little. */
INLINE u64 between(u64 from, u64 to)
{
    s64 time = to - from;
    return time < 0 ? 0 : time;
}

ONCE int count(struct device *device, struct slot *slot, u32 op, u64 now, u32 error)
{
    u64 service, queue, one;
    struct block *block;
    struct sums *sums;
    u32 cell;
    if (!device || !slot)
        return 0;
    service = between(slot->issued, now);
    queue = between(slot->first, slot->issued);
    one = 1 | (u64)(slot->bytes >> 9) << 32;
    block = block_of(device, op);
    sums = sums_of(slot->index, op);
    if (!block || !sums) {
        untracked();
        return 0;
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
    ADD(block->cell[DEPTH][slot->depth < CELLS ? slot->depth : CELLS - 1], one);
    /* Without data it has no size and no place. */
    if (op == FLUSH || !slot->bytes)
        return 0;
    ADD(block->cell[SIZE][grid(slot->bytes >> 9)], one);
    if (slot->distance >= 0)
        ADD(block->cell[AHEAD][grid(slot->distance)], one);
    else
        ADD(block->cell[BEHIND][grid(-slot->distance)], one);
    if (slot->nearest >= 0)
        ADD(block->cell[NEAR_AHEAD][grid(slot->nearest)], one);
    else
        ADD(block->cell[NEAR_BEHIND][grid(-slot->nearest)], one);
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
    /* REQ_SYNC, REQ_META and REQ_PRIO: bits 11, 12, 13 since Linux 4.10. */
    event->flags = (flags >> 11 & 1 ? SYNC : 0) | (flags >> 12 & 1 ? META : 0);
    event->done = now;
    event->queue = between(slot->first, slot->issued);
    event->service = between(slot->issued, now);
    event->sector = sector;
    event->distance = slot->distance;
    event->nearest = slot->nearest;
    event->bytes = slot->bytes;
    event->depth = slot->depth;
    event->group = slot->group;
    event->file = slot->file;
    event->tgid = slot->tgid;
    event->weight = weight;
    ring_submit(event, ring_flags(sizeof(*event)));
}
