/*
 * What is known of an I/O under way, in a place that each request finds again.
 */
#pragma once
#include "disk_devices.h"

/* Who asked for an I/O, and of which file. */
struct asker {
    u64 group;
    u64 file;
    u32 tgid;
    u32 mark; /* of what it asked for: see `mark` */
};

/* What is known of a request between insertion and completion. */
struct slot {
    u64 first; /* inserted, or issued without */
    u64 issued;
    s64 distance; /* sectors */
    s64 nearest;
    struct asker who;
    u32 bytes;
    u16 depth;
    u8 index; /* of the device */
    u8 marks;
} __attribute__((aligned(64)));

#define REQUEUED 1
#define HELD 2 /* its data is done, the flush around it is not */
#define ABANDONED 4 /* what was issued before in its place was never seen to complete */

MAP(slots, ARRAY, u32, struct slot, 1 << 14);
const volatile u32 slot_mask = (1 << 14) - 1;

/*
 * The place of a request in `slots`, by its address. The kernel makes a queue's requests once
 * and uses them again and again, so each finds its own place at the first look, and keeps it
 * while it rests. The table has many times more places than there are requests; where two
 * meet, the second takes the next place.
 */
INLINE u32 mark(const void *rq)
{
    /* 0 stands for nobody. The kernel lets nobody calculate with the upper half, and to copy the
     * pointer takes 20 ns: two requests whose addresses differ by a multiple of 4 GiB are taken for
     * one. Where both are under way that is counted as not followed. */
    return LOWER_HALF(rq) | 1;
}

#define WAYS 4

/* Requests of a queue lie together in memory, each of more than 256 bytes; so do their places, in few
 * pages: to find a page that is not known takes as long as all else here. Those that lie a megabyte
 * apart are spread. */
INLINE u32 place_at(u32 mark, u32 step)
{
    return ((mark >> 8) + ((mark >> 20) * 2654435761u >> 12) + step) & slot_mask;
}

INLINE struct slot *slot_at(u32 mark, u32 step)
{
    u32 place = place_at(mark, step);
    return map_lookup(&slots, &place);
}

INLINE void forget(struct slot *slot)
{
    slot->first = 0;
    slot->issued = 0;
    slot->marks = 0;
    slot->who.tgid = 0;
    slot->who.group = 0;
    slot->who.file = 0;
}

/* Makes `slot` that of another request, if it still is that of `was`. Two processors may want
 * the same one at the same moment: only one of them gets it. */
INLINE bool take_slot(struct slot *slot, u32 was, u32 wanted)
{
    if (__sync_val_compare_and_swap(&slot->who.mark, was, wanted) != was)
        return 0;
    forget(slot);
    return 1;
}

#define NO_PLACE (~0u)

/* The place of the slot that is the request's of that mark, beyond the first. */
ONCE u32 other_slot(u32 wanted)
{
#pragma unroll
    for (int i = 1; i < WAYS; i++) {
        struct slot *slot = slot_at(wanted, i);
        if (slot && slot->who.mark == wanted)
            return place_at(wanted, i);
    }
    return NO_PLACE;
}

/* The place of a slot that is made that of the request of that mark. */
ONCE u32 new_slot(u32 wanted)
{
    struct slot *slot;
#pragma unroll
    for (int i = 0; i < WAYS; i++) {
        slot = slot_at(wanted, i);
        if (slot && !slot->who.mark && take_slot(slot, 0, wanted))
            return place_at(wanted, i);
    }
    /* All taken, perhaps by requests of devices that are gone: one that rests. */
#pragma unroll
    for (int i = 0; i < WAYS; i++) {
        slot = slot_at(wanted, i);
        if (slot && !slot->issued && !slot->first && take_slot(slot, slot->who.mark, wanted))
            return place_at(wanted, i);
    }
    return NO_PLACE;
}

INLINE struct slot *find_slot(u32 wanted, bool make)
{
    u32 place;
    struct slot *slot = slot_at(wanted, 0);
    if (slot && slot->who.mark == wanted)
        return slot;
    place = other_slot(wanted);
    if (place == NO_PLACE && make)
        place = new_slot(wanted);
    return place == NO_PLACE ? NULL : map_lookup(&slots, &place);
}

/* The slot that is the request's. */
INLINE struct slot *slot_of(struct request *rq)
{
    return find_slot(mark(rq), 0);
}

/* The slot that is the request's, or one made its own. */
INLINE struct slot *own_slot(struct request *rq)
{
    struct slot *slot = find_slot(mark(rq), 1);
    /* The end of its flush was never seen. */
    if (slot && slot->marks & HELD) {
        untracked();
        forget(slot);
    }
    return slot;
}

/* Signed distance from the end before, and the least to the last ends. */
INLINE void measure_here(struct device *device, struct slot *slot, u64 sector, u32 sectors)
{
    slot->distance = sector - device->end;
    slot->nearest = nearest(sector, device->end, device->ends);
    device->end = sector + sectors;
    device->ends[device->turn++ & (ENDS - 1)] = -(sector + sectors);
}

/* The same for bios, as a function of its own (see HERE). */
ONCE int measure(struct device *device, struct slot *slot, u64 sector, u32 sectors)
{
    if (device && slot)
        measure_here(device, slot, sector, sectors);
    return 0;
}
