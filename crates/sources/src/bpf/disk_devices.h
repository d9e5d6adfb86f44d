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

/* A value of its own in the map, so that the recorder can clear it when the device is gone. */
struct device {
    /* Read at each I/O, written once. */
    u64 key; /* device number and 1 */
    u32 blocks[OPS]; /* number of the block and 1 */
    u32 weights; /* number of the weights and 1 */
    char name[20];
    u32 ready; /* the name is there */
    u32 lacking; /* a bit for each operation that found no block */
    /* Written at each I/O. */
    u64 state __attribute__((aligned(64))); /* ns << 16 | I/Os under way */
    u32 wanted; /* see want */
    u64 end;
    u64 turn;
    u64 ends[ENDS]; /* negative: see nearest */
} __attribute__((aligned(64)));

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
    u32 blocks; /* given out for the first time */
    u32 weights;
    u32 changes; /* devices that got a place */
    u32 homeless; /* I/Os of devices that found none */
};

MAP(devices, ARRAY, u32, struct device, DEVICES);
MAP(blocks, ARRAY, u32, struct block, 1);
MAP(weights, ARRAY, u32, struct weights, 1);
MAP(totals, ARRAY, u32, struct all_sums, DEVICES);
MAP(counters, ARRAY, u32, struct counters, 1);
/* Numbers and 1 of blocks and weights of devices that are gone; the recorder has cleared them. */
FIFO(free_blocks, u32, 1);
FIFO(free_weights, u32, 1);

const volatile u32 all_blocks = 1;
const volatile u32 all_weights = 1;

/* The kind of an operation by its number, REQ_OP_READ and so on; the rest is passed through: not I/O
 * of the device's content. A table, since the kernel checks all that follows for each branch. */
static const u8 ops[64] SEC(".rodata") = {
    READ, WRITE, FLUSH, DISCARD, READ, WRITE, READ, WRITE, READ, WRITE, READ, WRITE,
    READ, WRITE, READ, WRITE, READ, WRITE, READ, WRITE, READ, WRITE, READ, WRITE,
    READ, WRITE, READ, WRITE, READ, WRITE, READ, WRITE, READ, WRITE, OPS, OPS,
    OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS,
    OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS, OPS,
    OPS, OPS, OPS, OPS,
};

INLINE u32 op_of(u32 flags)
{
    u32 number = flags & 0xff;
    return number < 64 ? ops[number] : OPS;
}

/* The cell of a depth; the last takes all that is deeper. Without a branch. */
INLINE u32 depth_cell(u32 depth)
{
    u32 over = (u32)((s32)(CELLS - 1 - depth) >> 31);
    HERE(over);
    return (depth | over) & (CELLS - 1);
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

INLINE struct device *device_at(u32 index)
{
    return map_lookup(&devices, &index);
}

/* Whether a disk has that place. */
ONCE u32 has_place(u64 key, u32 place)
{
    struct device *device = device_at(place & (DEVICES - 1));
    return device && device->key == key;
}

/* Gives a disk that place, if nobody has it. */
ONCE u32 take_place(u64 key, u64 name, u32 place)
{
    u32 zero = 0;
    u64 was;
    struct counters *all = map_lookup(&counters, &zero);
    struct device *device = device_at(place & (DEVICES - 1));
    if (!device || !all)
        return 0;
    if (device->key)
        return device->key == key;
    was = __sync_val_compare_and_swap(&device->key, 0, key);
    if (was)
        return was == key;
#pragma unroll
    for (int i = 0; i < ENDS; i++)
        device->ends[i] = -NO_END;
    read_kernel_text(device->name, sizeof(device->name), (void *)name);
    /* The recorder sees it after the rest. */
    __sync_fetch_and_add(&device->ready, 1);
    __sync_fetch_and_add(&all->changes, 1);
    return 1;
}

/* The place of a disk of which the first place is another's, or that is new; DEVICES if there is
 * none. All are looked at before one is taken: one before its own may be free now. */
ONCE u32 other_place(u64 key, u64 name)
{
    u32 place = first_place(key), zero = 0;
    struct counters *all = map_lookup(&counters, &zero);
#pragma nounroll
    for (int i = 0; i < 16; i++) {
        if (has_place(key, place + i))
            return (place + i) & (DEVICES - 1);
    }
#pragma nounroll
    for (int i = 0; i < 16; i++) {
        if (take_place(key, name, place + i))
            return (place + i) & (DEVICES - 1);
    }
    if (all)
        __sync_fetch_and_add(&all->homeless, 1);
    return DEVICES;
}

/* The entry of a disk, made if it is new; its place in `index`. */
INLINE struct device *device_by(u32 major, u32 minor, const void *name, u32 *index)
{
    u64 key = ((u64)major << 20 | minor) + 1;
    u32 place = first_place(key);
    struct device *device = device_at(place);
    if (!device)
        return NULL;
    if (device->key != key) {
        place = other_place(key, address_of(name));
        device = device_at(place);
        if (!device)
            return NULL;
    }
    *index = place;
    return device;
}

INLINE struct device *device_of(struct gendisk *disk, u32 *index)
{
    return device_by(disk->major, disk->first_minor, disk->disk_name, index);
}

/* Takes the next of `all` from `next`, then one that is free again, and keeps its number and 1 in
 * `at`; 0: none is left. */
INLINE u32 take(u32 *at, u32 *next, u32 all, void *free)
{
    u32 mine = 0, was;
    if (*next < all)
        mine = __sync_fetch_and_add(next, 1) + 1;
    if ((!mine || mine > all) && map_pop(free, &mine))
        return 0;
    was = __sync_val_compare_and_swap(at, 0, mine);
    if (was)
        map_push(free, &mine, 0); /* another processor was faster */
    return was ? was : mine;
}

INLINE struct block *block_of(struct device *device, u32 op)
{
    u32 zero = 0, number = device->blocks[op & 3], place;
    if (!number) {
        struct counters *all = map_lookup(&counters, &zero);
        if (!all)
            return NULL;
        number = take(&device->blocks[op & 3], &all->blocks, all_blocks, &free_blocks);
        if (!number) {
            if (!(device->lacking >> (op & 3) & 1))
                device->lacking |= 1u << (op & 3);
            return NULL;
        }
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
        number = take(&device->weights, &all->weights, all_weights, &free_weights);
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

/*
 * Has the line of the depth fetched for writing, while the clock is read: another processor may have
 * written it last. To read the clock waits for what is being read, but not for what is being written.
 */
INLINE void want(struct device *device)
{
    *(volatile u32 *)&device->wanted = 1;
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
ONCE u64 try_again(struct device *device, u64 now, int by)
{
    return device ? try_depth(device, now, by) : NOT_NOW;
}

/* Adds the time since the last change to the depth that was. */
INLINE void weigh(struct device *device, u64 was, u32 weight)
{
    u32 depth = was & 0xffff;
    struct weights *weights;
    if (!depth)
        return;
    weights = weights_of(device);
    if (weights)
        ADD(weights->cell[weight & 1][depth_cell(depth)], was >> 16);
}

/* After as many tries as are worth it: the number stays right, the time goes to another depth. */
ONCE u32 retry_depth(struct device *device, u64 now, int by, u32 weight)
{
    u64 was = NOT_NOW;
    u32 depth;
    if (!device)
        return 0;
#pragma nounroll
    for (int i = 1; i < 4 && was == NOT_NOW; i++)
        was = try_again(device, now, by);
    if (was == NOT_NOW) {
        depth = __sync_fetch_and_add(&device->state, (u64)(s64)by) & 0xffff;
        if (by < 0 && !depth)
            __sync_fetch_and_add(&device->state, 1);
        return depth_after(depth, by);
    }
    weigh(device, was, weight);
    return depth_after(was & 0xffff, by);
}

/*
 * One more or less under way; answers with how many that are then. Whoever changes the number owns
 * the time since the last change, and adds it to the row of the depth that was: so the times add up
 * to the whole, however many processors change it at once.
 */
INLINE u32 change_depth_here(struct device *device, u64 now, int by, u32 weight)
{
    u64 was = try_depth(device, now, by);
    if (was == NOT_NOW)
        return retry_depth(device, now, by, weight);
    weigh(device, was, weight);
    return depth_after(was & 0xffff, by);
}

/* The same where it is seldom. */
ONCE u32 change_depth(struct device *device, u64 now, int by, u32 weight)
{
    return device ? change_depth_here(device, now, by, weight) : 0;
}
