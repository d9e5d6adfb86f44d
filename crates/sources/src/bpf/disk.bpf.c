/*
 * Block I/O: where its time goes, how large, how far apart, how deep.
 *
 * insert (into the scheduler) - issue (to the device) - complete. Stamps lie in an array, in
 * the place of the request's tag, not in a hash: that is what makes it cheap. Everything is
 * counted at completion, so that all histograms of a device and operation have the same sum,
 * which is that of /proc/diskstats.
 */
#include "control.h"
#include "who.h"

/* ---- what is read of the kernel's structs ---- */

struct gendisk {
    int major;
    int first_minor;
    char disk_name[32];
    struct request_queue *queue;
} KERNEL;
struct request_queue {
    const void *mq_ops;
    struct gendisk *disk;
} KERNEL;
struct block_device {
    struct gendisk *bd_disk;
    u64 bd_start_sect;
} KERNEL;
struct blkcg {
    struct cgroup_subsys_state css;
} KERNEL;
struct blkcg_gq {
    struct blkcg *blkcg;
} KERNEL;
struct address_space {
    struct inode *host;
} KERNEL;
struct page {
    struct address_space *mapping;
} KERNEL;
struct bio_vec {
    struct page *bv_page;
} KERNEL;
struct bvec_iter {
    u64 bi_sector;
    u32 bi_size;
} KERNEL;
struct bio {
    struct block_device *bi_bdev;
    u32 bi_opf;
    u8 bi_status;
    struct bvec_iter bi_iter;
    struct blkcg_gq *bi_blkg;
    struct bio_vec *bi_io_vec;
} KERNEL;
struct request {
    struct request_queue *q;
    u32 cmd_flags;
    u32 __data_len;
    u64 __sector;
    struct bio *bio;
    u64 start_time_ns;
    void *end_io;
    void *end_io_data;
} KERNEL;
/* Before Linux 5.17. */
struct request___old {
    struct gendisk *rq_disk;
} KERNEL;
struct file {
    struct inode *f_inode;
} KERNEL;
struct kiocb {
    struct file *ki_filp;
} KERNEL;

/* ---- what is kept ---- */

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
#define ENDS 16

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

/* What is known of a request between insertion and completion. */
struct slot {
    u64 first; /* inserted, or issued without */
    u64 issued;
    s64 distance; /* sectors */
    s64 nearest;
    u64 group;
    u64 file;
    u32 request; /* tells requests apart: see `mark` */
    u32 bytes;
    u16 depth;
    u8 index; /* of the device */
    u8 marks;
    u32 tgid;
} __attribute__((aligned(64)));

#define REQUEUED 1
#define HELD 2 /* its data is done, the flush around it is not */

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

MAP(devices, ARRAY, u32, struct all_devices, 1);
MAP(blocks, ARRAY, u32, struct block, 1);
MAP(weights, ARRAY, u32, struct weights, 1);
MAP(totals, ARRAY, u32, struct all_sums, DEVICES);
MAP(slots, ARRAY, u32, struct slot, 1 << 14);
MAP(counters, ARRAY, u32, struct counters, 1);

const volatile u32 all_blocks = 1;
const volatile u32 all_weights = 1;
const volatile u32 slot_mask = (1 << 14) - 1;

/* ---- devices ---- */

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

/* The entry of a disk, made if it is new; its place in `index`. */
INLINE struct device *device_by(u32 major, u32 minor, const void *name, u32 *index)
{
    u64 key = ((u64)major << 20 | minor) + 1;
    u32 place = ((u32)key * 2654435761u) >> 25, zero = 0;
    struct all_devices *all = map_lookup(&devices, &zero);
    if (!all)
        return NULL;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        struct device *device = &all->device[place & (DEVICES - 1)];
        if (device->key == key) {
            *index = place;
            return device;
        }
        if (!device->key) {
            u64 was = __sync_val_compare_and_swap(&device->key, 0, key);
            if (!was || was == key) {
                read_kernel_text(device->name, sizeof(device->name), name);
                *index = place;
                return device;
            }
        }
        place = (place + 1) & (DEVICES - 1);
    }
    return NULL;
}

INLINE struct device *device_of(struct gendisk *disk, u32 *index)
{
    return device_by(disk->major, disk->first_minor, disk->disk_name, index);
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

/*
 * The place of a request in `slots`, by its address. The kernel makes a queue's requests once
 * and uses them again and again, so each finds its own place at the first look, and keeps it
 * while it rests. The table has many times more places than there are requests; where two
 * meet, the second takes the next place.
 */
INLINE u32 mark(struct request *rq)
{
    /* The lower half of the address, which may be calculated with; 0 stands for nobody. */
    u32 address;
    asm volatile("%0 = %1" : "=w"(address) : "w"((u32)(u64)rq));
    return address | 1;
}

INLINE struct slot *slot_at(u32 mark, u32 step)
{
    u32 place = (((mark >> 5) * 2654435761u >> 12) + step) & slot_mask;
    return map_lookup(&slots, &place);
}

#define WAYS 4

/* The slot that is the request's. */
INLINE struct slot *slot_of(struct request *rq)
{
    u32 wanted = mark(rq);
#pragma unroll
    for (int i = 0; i < WAYS; i++) {
        struct slot *slot = slot_at(wanted, i);
        if (slot && slot->request == wanted)
            return slot;
    }
    return NULL;
}

INLINE void forget(struct slot *slot)
{
    slot->first = 0;
    slot->issued = 0;
    slot->marks = 0;
    slot->tgid = 0;
    slot->group = 0;
    slot->file = 0;
}

/* Makes `slot` that of another request, if it still is that of `was`. Two processors may want
 * the same one at the same moment: only one of them gets it. */
INLINE bool take_slot(struct slot *slot, u32 was, u32 wanted)
{
    if (__sync_val_compare_and_swap(&slot->request, was, wanted) != was)
        return 0;
    forget(slot);
    return 1;
}

/* The slot that is the request's, or one made its own. */
INLINE struct slot *own_slot(struct request *rq)
{
    u32 wanted = mark(rq);
    struct slot *slot = slot_of(rq);
    if (slot) {
        /* The end of its flush was never seen. */
        if (slot->marks & HELD)
            forget(slot);
        return slot;
    }
#pragma unroll
    for (int i = 0; i < WAYS; i++) {
        slot = slot_at(wanted, i);
        if (slot && !slot->request && take_slot(slot, 0, wanted))
            return slot;
    }
    /* All taken, perhaps by requests of devices that are gone: one that rests. */
#pragma unroll
    for (int i = 0; i < WAYS; i++) {
        slot = slot_at(wanted, i);
        if (slot && !slot->issued && !slot->first && take_slot(slot, slot->request, wanted))
            return slot;
    }
    return NULL;
}

/*
 * One more or less under way. Whoever changes the number owns the time since the last
 * change, and adds it to the row of the depth that was: so the times add up to the whole,
 * however many processors change it at once.
 */
ONCE u32 change_depth(struct device *device, u64 now, int by, u32 weight)
{
    const u64 mask = (1ULL << 48) - 1;
    struct weights *weights;
    volatile u64 *state;
    if (!device)
        return 0;
    weights = weights_of(device);
    state = &device->state;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        u64 old = *state;
        u32 depth = old & 0xffff;
        u64 passed = ((now & mask) - (old >> 16)) & mask;
        u64 stamp = now & mask;
        u32 next = by >= 0 ? depth + by : depth ? depth - 1 : 0;
        if (passed >> 47) {
            /* Another processor's clock was ahead: its stamp stays. */
            passed = 0;
            stamp = old >> 16;
        }
        if (__sync_val_compare_and_swap(state, old, stamp << 16 | (next & 0xffff)) == old) {
            if (depth && weights)
                ADD(weights->cell[weight & 1][depth < CELLS ? depth : CELLS - 1], passed);
            return next;
        }
    }
    /* Too many at once: the number stays right, the time goes to another depth. */
    __sync_fetch_and_add(&device->state, (u64)(s64)by);
    return 1;
}

/* Signed distance from the end before, and the least to the last ends. */
ONCE int measure(struct device *device, struct slot *slot, u64 sector, u32 sectors)
{
    s64 distance, nearest;
    u64 least;
    if (!device || !slot)
        return 0;
    distance = nearest = sector - device->end;
    least = nearest < 0 ? -nearest : nearest;
#pragma unroll
    for (int i = 0; i < ENDS; i++) {
        s64 other = sector - device->ends[i];
        /* The size without a branch: half of them would be mispredicted. */
        s64 sign = other >> 63;
        u64 size = (other ^ sign) - sign;
        if (size < least) {
            least = size;
            nearest = other;
        }
    }
    slot->distance = distance;
    slot->nearest = nearest;
    device->end = sector + sectors;
    device->ends[device->turn++ & (ENDS - 1)] = sector + sectors;
    return 0;
}

INLINE struct sums *sums_of(u32 index, u32 op)
{
    u32 place = index * lanes + (cpu_number() & lane_mask);
    struct all_sums *all = map_lookup(&totals, &place);
    return all ? &all->op[op & 3] : NULL;
}

/* ---- requests ---- */

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
    if (slot && !slot->marks)
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
    u64 now;
    if (!disk || op == OPS)
        return 0;
    device = device_of(disk, &index);
    slot = own_slot(rq);
    if (!device || !slot) {
        untracked();
        return 0;
    }
    now = ktime();
    if (slot->issued) {
        /*
         * It was issued before, and its completion never seen: the kernel may leave a
         * program out for the moment in which another is attached to the same hook.
         */
        untracked();
        slot->first = now;
        slot->depth = change_depth(device, now, 0, AT_ISSUE);
    } else {
        if (!slot->first)
            slot->first = now;
        slot->depth = change_depth(device, now, 1, AT_ISSUE);
    }
    slot->issued = now;
    slot->bytes = rq->__data_len;
    slot->index = index;
    if (op != FLUSH)
        measure(device, slot, rq->__sector, slot->bytes >> 9);
    else
        slot->distance = slot->nearest = 0;
    return 0;
}

INLINE struct device *device_at(u32 index)
{
    u32 zero = 0;
    struct all_devices *all = map_lookup(&devices, &zero);
    return all ? &all->device[index & (DEVICES - 1)] : NULL;
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

/* The time between two stamps. Clocks of two processors may differ by a little. */
INLINE u64 between(u64 from, u64 to)
{
    s64 time = to - from;
    return time < 0 ? 0 : time;
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
    ring_submit(event, ring_flags());
}

INLINE u32 cell_of(u64 value)
{
    return value < 128 ? value : grid(value);
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
    cell = grid(service) & (CELLS - 1);
    if (!queue) {
        ADD(block->cell[DIRECT][cell], one);
    } else {
        ADD(sums->queue, queue);
        ADD(block->cell[SERVICE][cell], one);
        ADD(block->cell[QUEUE][grid(queue) & (CELLS - 1)], one);
        ADD(block->cell[LATENCY][grid(queue + service) & (CELLS - 1)], one);
    }
    ADD(block->cell[DEPTH][slot->depth < CELLS ? slot->depth : CELLS - 1], one);
    /* Without data it has no size and no place. */
    if (op == FLUSH || !slot->bytes)
        return 0;
    ADD(block->cell[SIZE][cell_of(slot->bytes >> 9) & (CELLS - 1)], one);
    if (slot->distance >= 0)
        ADD(block->cell[AHEAD][cell_of(slot->distance) & (CELLS - 1)], one);
    else
        ADD(block->cell[BEHIND][cell_of(-slot->distance) & (CELLS - 1)], one);
    if (slot->nearest >= 0)
        ADD(block->cell[NEAR_AHEAD][cell_of(slot->nearest) & (CELLS - 1)], one);
    else
        ADD(block->cell[NEAR_BEHIND][cell_of(-slot->nearest) & (CELLS - 1)], one);
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
            slot.tgid = known->tgid;
            slot.group = known->group;
        }
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
    now = ktime();
    if (!(slot->marks & HELD)) {
        change_depth(device, now, -1, AT_COMPLETE);
        if (is_part_of_flush(rq, op)) {
            slot->marks = HELD;
            return 0;
        }
    } else if (rq->start_time_ns && rq->start_time_ns < slot->first) {
        /* It waited for a flush before it was issued. */
        slot->first = rq->start_time_ns;
    }
    count(device, slot, op, now, error & 0xff);
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

/* ---- who (only with events) ---- */

struct direct {
    u32 pid;
    u64 file;
    u64 device; /* the block device of its file system */
};
MAP(directs, ARRAY, u32, struct direct, TOLD);

/* Direct I/O on a file: its pages are the program's, so the file is remembered for the task
 * while it submits. */
SEC("tp_btf/iomap_dio_rw_begin")
int disk_direct(u64 *ctx)
{
    struct kiocb *call = (void *)ctx[0];
    struct inode *inode = call->ki_filp->f_inode;
    u32 pid = current_task()->pid, place = pid & (TOLD - 1);
    struct direct *direct = map_lookup(&directs, &place);
    if (!direct)
        return 0;
    direct->file = tell_file(inode);
    direct->device = (u64)inode->i_sb->s_bdev;
    direct->pid = pid;
    return 0;
}

INLINE u64 file_of(struct bio *bio, struct task_struct *task)
{
    struct page *page;
    u64 mapping;
    u32 pid = task->pid, place = pid & (TOLD - 1);
    struct direct *direct;
    if (!bio || !bio->bi_io_vec)
        return 0;
    page = bio->bi_io_vec->bv_page;
    if (!page || read_kernel(&mapping, sizeof(mapping), &page->mapping))
        return 0;
    /* The lowest bits tell pages of programs apart. */
    if (mapping && !(mapping & 3)) {
        struct inode *inode = page->mapping->host;
        /* The pages of a block device are the file system's own. */
        if (inode && inode->i_sb->s_bdev == bio->bi_bdev)
            return tell_file(inode);
        return 0;
    }
    direct = map_lookup(&directs, &place);
    if (direct && direct->pid == pid && direct->device == (u64)bio->bi_bdev)
        return direct->file;
    return 0;
}

INLINE void know(struct slot *slot, struct bio *bio, struct task_struct *task)
{
    slot->tgid = tell_process(task);
    if (bio && bio->bi_blkg)
        slot->group = tell_group(bio->bi_blkg->blkcg->css.cgroup);
    else
        slot->group = tell_group(group_of(task));
    slot->file = file_of(bio, task);
}

/* In the task that submitted it; later it may be a worker of the kernel. */
SEC("tp_btf/block_io_start")
int disk_start(u64 *ctx)
{
    struct request *rq = (void *)ctx[0];
    struct bio *bio = rq->bio;
    struct task_struct *task = current_task();
    struct slot *slot;
    HERE(bio);
    if (op_of(rq->cmd_flags) == OPS)
        return 0;
    slot = own_slot(rq);
    if (!slot)
        return 0;
    /* What a request before it left, that was never completed. */
    forget(slot);
    know(slot, bio, task);
    return 0;
}

/* ---- devices without requests: dm, md, zram ---- */

struct bio_slot {
    struct slot slot;
    u64 sector; /* where it starts; the bio itself moves on */
};
/* Of `map_update`. */
#define NEW_ONLY 1
#define OLD_ONLY 2
MAP(bios, HASH, u64, struct bio_slot, 16384);

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
    if (!disk || disk->queue->mq_ops || op == OPS)
        return 0;
    device = device_of(disk, &index);
    if (!device)
        return 0;
    slot->first = slot->issued = ktime();
    slot->bytes = bio->bi_iter.bi_size;
    slot->depth = change_depth(device, slot->issued, 1, AT_ISSUE);
    bs.sector = bio->bi_iter.bi_sector;
    if (op != FLUSH)
        measure(device, slot, bs.sector, slot->bytes >> 9);
    if (with_events)
        know(slot, bio, current_task());
    if (map_update(&bios, &key, &bs, NEW_ONLY)) {
        /* There is no room, or the completion of the one before was never seen. */
        untracked();
        change_depth(device, ktime(), -1, AT_ISSUE);
        map_update(&bios, &key, &bs, OLD_ONLY);
    }
    return 0;
}

SEC("tp_btf/block_bio_complete")
int disk_bio_complete(u64 *ctx)
{
    struct bio *bio = (void *)ctx[1];
    struct gendisk *disk = bio->bi_bdev->bd_disk;
    struct device *device;
    struct bio_slot *bs;
    u64 key = (u64)bio, now;
    u32 index = 0, flags = bio->bi_opf, op = op_of(flags);
    if (!disk || disk->queue->mq_ops || op == OPS)
        return 0;
    bs = map_lookup(&bios, &key);
    device = device_of(disk, &index);
    if (!bs || !device)
        return 0;
    now = ktime();
    change_depth(device, now, -1, AT_COMPLETE);
    bs->slot.index = index;
    count(device, &bs->slot, op, now, bio->bi_status);
    if (with_events) {
        u32 weight = chosen(now);
        if (weight)
            tell(&bs->slot, index, op, flags, bs->sector, now, weight);
    }
    map_delete(&bios, &key);
    return 0;
}

char gpl[] SEC("license") = "GPL";
