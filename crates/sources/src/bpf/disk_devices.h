/*
 * Devices, and what is kept of each: histograms, sums, the time at each depth.
 *
 * Histograms and weights are given out on demand, one a lane.
 */
#pragma once
#include "disk_nearest.h"
#include "disk_structs.h"

#define DEVICES 128
enum op { READ, WRITE, DISCARD, FLUSH, OPS };
/*
 * Histograms of a device and operation. What was issued without waiting has a row of its own:
 * its queue time is 0 and its latency its service time, so one cell tells all three.
 */
enum row_kind { DIRECT, SERVICE, QUEUE, LATENCY, SIZE, AHEAD, BEHIND, NEAR_AHEAD, NEAR_BEHIND,
                DEPTH, ROWS };
/* Time at a depth: issue and completion each write their own row. */
enum weight_row { AT_ISSUE, AT_COMPLETE, WEIGHTS };

struct block {
    u64 cell[ROWS][CELLS];
};
struct weights {
    u64 cell[WEIGHTS][CELLS];
};

struct device {
    /* Read at each I/O, written once. */
    u64 key; /* device number and 1 */
    u32 blocks[OPS]; /* number of the block and 1 */
    u32 weights; /* number of the weights and 1 */
    char name[20];
    /* Written at each I/O. */
    u64 state __attribute__((aligned(64))); /* ns << 16 | I/Os under way */
    u64 end;
    u64 turn;
    u64 ends[ENDS];
};

/* One value, so that one call reads them all. */
struct all_devices {
    struct device device[DEVICES];
};

struct sums {
    u64 queue;
    u64 service;
    u64 errors;
    u64 requeues;
};

struct all_sums {
    struct sums op[OPS];
};

struct counters {
    u32 blocks;
    u32 weights;
};

MAP(devices, ARRAY, u32, struct all_devices, 1);
MAP(blocks, ARRAY, u32, struct block, 1);
MAP(weights, ARRAY, u32, struct weights, 1);
MAP(totals, ARRAY, u32, struct all_sums, DEVICES);
MAP(counters, ARRAY, u32, struct counters, 1);

const volatile u32 all_blocks = 1;
const volatile u32 all_weights = 1;

INLINE u32 op_of(u32 flags)
{
    u32 op = flags & 0xff;
    if (op == 0)
        return READ;
    if (op == 2)
        return FLUSH;
    if (op == 3)
        return DISCARD;
    if (op >= 34)
        return OPS; /* passed through: not I/O of the device's content */
    return op & 1 ? WRITE : READ;
}

INLINE struct gendisk *disk_of(struct request *rq)
{
    struct request_queue *q = rq->q;
    HERE(q);
    if (HAS(((struct request___old *)0)->rq_disk))
        return ((struct request___old *)rq)->rq_disk;
    return q->disk;
}

INLINE u32 first_place(u64 key)
{
    return ((u32)key * 2654435761u) >> 25;
}

/* Whether a disk has that place, or has got it now. */
ONCE u32 has_place(u64 key, u64 name, u32 place)
{
    u32 zero = 0;
    u64 was;
    struct device *device;
    struct all_devices *all = map_lookup(&devices, &zero);
    if (!all)
        return 0;
    device = &all->device[place & (DEVICES - 1)];
    if (device->key)
        return device->key == key;
    was = __sync_val_compare_and_swap(&device->key, 0, key);
    if (was && was != key)
        return 0;
    read_kernel_text(device->name, sizeof(device->name), (void *)name);
    return 1;
}

/* The place of a disk of which the first place is another's, or that is new; DEVICES if there is
 * none. */
ONCE u32 other_place(u64 key, u64 name)
{
    u32 place = first_place(key);
#pragma nounroll
    for (int i = 0; i < 16; i++) {
        if (has_place(key, name, place + i))
            return (place + i) & (DEVICES - 1);
    }
    return DEVICES;
}

/* The entry of a disk, made if it is new; its place in `index`. */
INLINE struct device *device_by(u32 major, u32 minor, const void *name, u32 *index)
{
    u64 key = ((u64)major << 20 | minor) + 1;
    u32 place = first_place(key), zero = 0;
    struct all_devices *all = map_lookup(&devices, &zero);
    if (!all)
        return NULL;
    if (all->device[place & (DEVICES - 1)].key != key) {
        place = other_place(key, address_of(name));
        if (place >= DEVICES)
            return NULL;
    }
    *index = place;
    return &all->device[place & (DEVICES - 1)];
}

INLINE struct device *device_of(struct gendisk *disk, u32 *index)
{
    return device_by(disk->major, disk->first_minor, disk->disk_name, index);
}

INLINE struct device *device_at(u32 index)
{
    u32 zero = 0;
    struct all_devices *all = map_lookup(&devices, &zero);
    return all ? &all->device[index & (DEVICES - 1)] : NULL;
}

/* Takes the next of `all` from `next`, and keeps its number and 1 in `at`; 0: none is left. */
INLINE u32 take(u32 *at, u32 *next, u32 all)
{
    u32 mine, was;
    if (*next >= all)
        return 0;
    mine = __sync_fetch_and_add(next, 1) + 1;
    if (mine > all)
        return 0;
    was = __sync_val_compare_and_swap(at, 0, mine);
    return was ? was : mine;
}

INLINE struct block *block_of(struct device *device, u32 op)
{
    u32 zero = 0, number = device->blocks[op & 3], place;
    if (!number) {
        struct counters *all = map_lookup(&counters, &zero);
        if (!all)
            return NULL;
        number = take(&device->blocks[op & 3], &all->blocks, all_blocks);
        if (!number)
            return NULL;
    }
    place = (number - 1) * lanes + (cpu_number() & lane_mask);
    return map_lookup(&blocks, &place);
}

INLINE struct weights *weights_of(struct device *device)
{
    u32 zero = 0, number = device->weights, place;
    if (!number) {
        struct counters *all = map_lookup(&counters, &zero);
        if (!all)
            return NULL;
        number = take(&device->weights, &all->weights, all_weights);
        if (!number)
            return NULL;
    }
    place = (number - 1) * lanes + (cpu_number() & lane_mask);
    return map_lookup(&weights, &place);
}

INLINE struct sums *sums_of(u32 index, u32 op)
{
    u32 place = index * lanes + (cpu_number() & lane_mask);
    struct all_sums *all = map_lookup(&totals, &place);
    return all ? &all->op[op & 3] : NULL;
}

INLINE u32 depth_after(u32 depth, int by)
{
    return by >= 0 ? depth + by : depth ? depth - 1 : 0;
}

#define NOT_NOW (~0ULL)

/* Tries to make one more or less of what is under way. Answers with the nanoseconds since the last
 * change (48 bits), shifted, and how many there were (16 bits); NOT_NOW if another processor was
 * faster. */
INLINE u64 try_depth(struct device *device, u64 now, int by)
{
    const u64 mask = (1ULL << 48) - 1;
    volatile u64 *state;
    u64 old, passed, stamp = now & mask;
    u32 depth, next;
    state = &device->state;
    old = *state;
    depth = old & 0xffff;
    passed = (stamp - (old >> 16)) & mask;
    next = depth_after(depth, by);
    if (passed >> 47) {
        /* Another processor's clock was ahead: its stamp stays. */
        passed = 0;
        stamp = old >> 16;
    }
    if (__sync_val_compare_and_swap(state, old, stamp << 16 | (next & 0xffff)) != old)
        return NOT_NOW;
    return passed << 16 | depth;
}

/* The same, after another processor was faster. */
ONCE u64 retry_depth(struct device *device, u64 now, int by)
{
    return device ? try_depth(device, now, by) : NOT_NOW;
}

/*
 * One more or less under way; answers with how many that are then. Whoever changes the number owns
 * the time since the last change, and adds it to the row of the depth that was: so the times add up
 * to the whole, however many processors change it at once.
 */
ONCE u32 change_depth(struct device *device, u64 now, int by, u32 weight)
{
    u64 was;
    u32 depth;
    if (!device)
        return 0;
    was = try_depth(device, now, by);
#pragma nounroll
    for (int i = 1; i < 4 && was == NOT_NOW; i++)
        was = retry_depth(device, now, by);
    if (was == NOT_NOW) {
        /* Too many at once: the number stays right, the time goes to another depth. */
        __sync_fetch_and_add(&device->state, (u64)(s64)by);
        return 1;
    }
    depth = was & 0xffff;
    if (depth) {
        struct weights *weights = weights_of(device);
        if (weights)
            ADD(weights->cell[weight & 1][depth < CELLS ? depth : CELLS - 1], was >> 16);
    }
    return depth_after(depth, by);
}
