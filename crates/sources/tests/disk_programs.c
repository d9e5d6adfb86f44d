/*
 * The programs of disks, compiled for this machine: the kernel's helpers are functions here, its
 * structs are made, and other processors come in between where a check wants them to.
 */
#include "outside/made.h"

#undef LOWER_HALF
#define LOWER_HALF(pointer) ((u32)(u64)(pointer))

/* How often another processor is faster, and issues an I/O. */
static int faster;
#define __sync_val_compare_and_swap(place, old, new)                                              \
    ({                                                                                            \
        __typeof__(*(place)) found = faster ? ++*(place) : *(place);                              \
        if (faster)                                                                               \
            faster--;                                                                             \
        else if (found == (old))                                                                  \
            *(place) = (new);                                                                     \
        found;                                                                                    \
    })

#include "disk.bpf.c"

/* ---- maps and helpers ---- */

static struct device *all_devices;
static struct block *all_of_blocks;
static struct weights *all_of_weights;
static struct all_sums *all_totals;
static struct slot *all_slots;
static struct asker the_asker;
static struct counters count_of;
static struct lost lost_of;
static struct {
    u64 key;
    struct bio_slot value;
} under_way[8];
static u32 given_back, now_is = 1000;

static void *look(void *map, const void *key)
{
    u32 place = *(u32 *)key;
    if (map == (void *)&devices)
        return place < DEVICES ? &all_devices[place] : NULL;
    if (map == (void *)&blocks)
        return place < 8 ? &all_of_blocks[place] : NULL;
    if (map == (void *)&weights)
        return place < 8 ? &all_of_weights[place] : NULL;
    if (map == (void *)&totals)
        return place < DEVICES ? &all_totals[place] : NULL;
    if (map == (void *)&slots)
        return place < 1 << 14 ? &all_slots[place] : NULL;
    if (map == (void *)&askers)
        return place ? NULL : &the_asker;
    if (map == (void *)&counters)
        return &count_of;
    if (map == (void *)&losses)
        return &lost_of;
    for (int i = 0; map == (void *)&bios && i < 8; i++) {
        if (under_way[i].key == *(u64 *)key)
            return &under_way[i].value;
    }
    return NULL;
}

static long put(void *map, const void *key, const void *value, u64 flags)
{
    for (int i = 0; i < 8; i++) {
        if (!under_way[i].key) {
            under_way[i].key = *(u64 *)key;
            under_way[i].value = *(struct bio_slot *)value;
            return 0;
        }
    }
    return -1;
}

static long lose(void *map, const void *key)
{
    for (int i = 0; i < 8; i++) {
        if (under_way[i].key == *(u64 *)key)
            under_way[i].key = 0;
    }
    return 0;
}

/* One number is there to be taken. */
static long pop(void *map, void *value)
{
    if (!given_back)
        return -1;
    *(u32 *)value = given_back;
    given_back = 0;
    return 0;
}

static long push(void *map, const void *value, u64 flags)
{
    given_back = *(u32 *)value;
    return 0;
}

static u64 clock(void)
{
    return now_is += 10;
}

static void prepare(void)
{
    all_devices = calloc(DEVICES, sizeof(*all_devices));
    all_of_blocks = calloc(8, sizeof(*all_of_blocks));
    all_of_weights = calloc(8, sizeof(*all_of_weights));
    all_totals = calloc(DEVICES, sizeof(*all_totals));
    all_slots = calloc(1 << 14, sizeof(*all_slots));
    map_update = put;
    map_delete = lose;
    map_pop = pop;
    map_push = push;
}

/* ---- checks ---- */

static struct request_queue with_requests = { .mq_ops = &with_requests };
static struct request_queue without_requests;

static struct gendisk disk(int major, int minor, const char *name, struct request_queue *queue)
{
    struct gendisk disk = { .major = major, .first_minor = minor, .queue = queue };
    for (int i = 0; name[i]; i++)
        disk.disk_name[i] = name[i];
    return disk;
}

static struct device *device_named(const char *name)
{
    for (int i = 0; i < DEVICES; i++) {
        if (!strcmp(all_devices[i].name, name))
            return &all_devices[i];
    }
    return NULL;
}

/* After four processors that were faster the depth is what the fifth made it. */
static void depth(void)
{
    struct device *device = &all_devices[0];
    faster = 4;
    IS(change_depth(device, 1000, 1, AT_ISSUE), 5);
    IS(device->state & 0xffff, 5);
    faster = 4;
    IS(change_depth(device, 1000, -1, AT_COMPLETE), 8);
    faster = 4;
    IS(change_depth(device, 1000, 0, AT_ISSUE), 12);
    device->state = 7ULL << 16;
    faster = 0;
    IS(change_depth(device, 1000, -1, AT_COMPLETE), 0);
    IS(device->state & 0xffff, 0);
}

/* A driver hands on the bio of a device without requests itself, to a disk with them. */
static void remapped(void)
{
    struct gendisk head = disk(259, 1, "nvme0n1", &without_requests);
    struct gendisk path = disk(259, 0, "nvme0c0n1", &with_requests);
    struct block_device at_head = { .bd_disk = &head }, at_path = { .bd_disk = &path };
    struct bio bio = { .bi_bdev = &at_head, .bi_iter = { .bi_sector = 64, .bi_size = 4096 } };
    struct bio other = { .bi_bdev = &at_path, .bi_iter = { .bi_sector = 8, .bi_size = 512 } };
    u64 queued[] = { (u64)&bio }, completed[] = { (u64)&with_requests, (u64)&bio };
    u64 not_ours[] = { (u64)&with_requests, (u64)&other };
    struct device *device;
    disk_bio_queue(queued);
    device = device_named("nvme0n1");
    IS(device != NULL, 1);
    if (!device)
        return;
    IS(device->state & 0xffff, 1);
    bio.bi_bdev = &at_path;
    disk_bio_complete(not_ours);
    IS(device->state & 0xffff, 1);
    disk_bio_complete(completed);
    IS(device->state & 0xffff, 0);
    IS(under_way[0].key, 0);
    IS((u32)all_of_blocks[0].cell[DEPTH][1], 1);
    IS(device_named("nvme0c0n1") == NULL, 1);
}

static struct slot measured(struct device *device, u64 sector)
{
    struct slot slot = {};
    measure(device, &slot, sector, 8);
    return slot;
}

/* Nothing has ended at the beginning of the device before anything was there. */
static void ends(void)
{
    struct gendisk sda = disk(8, 0, "sda", &with_requests);
    u32 index = 0;
    struct device *device = device_of(&sda, &index);
    struct slot first = measured(device, 1000), second = measured(device, 0);
    IS(first.distance, 1000);
    IS(first.nearest, 1000);
    IS(second.distance, -1008);
    IS(second.nearest, -1008);
    IS(measured(device, 1008).nearest, 0);
    IS(measured(device, (1ULL << 61) - 1).nearest, (1ULL << 61) - 1 - 1016);
}

/* Two devices of which the second found the first in its place: it stays where it is when the first
 * is gone. */
static void places(void)
{
    struct gendisk first = disk(8, 0, "sda", &with_requests), second;
    u32 place, at = 0, again = 0, minor;
    device_of(&first, &place);
    IS(all_devices[place].ready, 1);
    IS(count_of.changes, 1);
    for (minor = 1; first_place(((u64)8 << 20 | minor) + 1) != place; minor++)
        ;
    second = disk(8, minor, "sdb", &with_requests);
    device_of(&second, &at);
    IS(at, place + 1);
    all_devices[place] = (struct device){};
    device_of(&second, &again);
    IS(again, at);
    IS(all_devices[place].key, 0);
    device_of(&first, &again);
    IS(again, place);
    IS(count_of.changes, 3);
}

/* One block, and one that somebody gave back; then there is none. */
static void room(void)
{
    struct device *device = &all_devices[0];
    IS(block_of(device, READ) == &all_of_blocks[0], 1);
    IS(block_of(device, WRITE) == NULL, 1);
    IS(device->lacking, 1 << WRITE);
    given_back = 5;
    IS(block_of(device, FLUSH) == &all_of_blocks[4], 1);
    IS(block_of(device, FLUSH) == &all_of_blocks[4], 1);
    IS(block_of(device, READ) == &all_of_blocks[0], 1);
    IS(device->lacking, 1 << WRITE);
}

/* What completed is not seen: when its request is used again that is counted, and the depth is that of
 * one. The same of what was issued. */
static void left_out(void)
{
    struct gendisk sda = disk(8, 0, "sda", &with_requests);
    struct request_queue queue = { .mq_ops = &with_requests, .disk = &sda };
    struct request rq = { .q = &queue, .__data_len = 4096, .__sector = 8 };
    u64 issued[] = { (u64)&rq }, completed[] = { (u64)&rq, 0, 4096 };
    struct device *device;
    disk_issue(issued);
    device = device_named("sda");
    IS(device != NULL, 1);
    if (!device)
        return;
    IS(device->state & 0xffff, 1);
    IS(lost_of.untracked, 0);
    disk_issue(issued);
    IS(lost_of.untracked, 1);
    IS(device->state & 0xffff, 1);
    disk_complete(completed);
    IS(device->state & 0xffff, 0);
    IS((u32)all_of_blocks[0].cell[DEPTH][1], 1);
    disk_complete(completed);
    IS(lost_of.untracked, 2);
    IS(device->state & 0xffff, 0);
    IS((u32)all_of_blocks[0].cell[DEPTH][1], 1);
}

static struct sums *reads_of(struct device *device)
{
    return &all_totals[device - all_devices].op[READ];
}

/* The driver hands it back, first all of it, then what is left after a part was done. It is one I/O
 * with all of its bytes that lies where it lay, and it waits until it is issued for good. */
static void requeued(void)
{
    struct gendisk sda = disk(8, 0, "sda", &with_requests);
    struct request_queue queue = { .mq_ops = &with_requests, .disk = &sda };
    struct request rq = { .q = &queue, .__data_len = 8192 };
    u64 told[] = { (u64)&rq }, part[] = { (u64)&rq, 0, 4096 };
    u32 from = now_is, last;
    struct device *device;
    disk_insert(told);
    disk_issue(told);
    device = device_named("sda");
    IS(device != NULL, 1);
    if (!device)
        return;
    disk_requeue(told);
    IS(device->state & 0xffff, 0);
    disk_requeue(told);
    IS(reads_of(device)->requeues, 1);
    disk_insert(told);
    disk_issue(told);
    IS(device->state & 0xffff, 1);
    disk_complete(part);
    IS(device->state & 0xffff, 1);
    rq.__data_len = 4096;
    rq.__sector = 8;
    disk_requeue(told);
    IS(device->state & 0xffff, 0);
    disk_issue(told);
    last = now_is;
    disk_complete(part);
    IS(device->state & 0xffff, 0);
    IS(lost_of.untracked, 0);
    IS(reads_of(device)->requeues, 2);
    IS(all_of_blocks[0].cell[SIZE][16], 1 | 16ULL << 32);
    IS(all_of_blocks[0].cell[DEPTH][1], 1 | 16ULL << 32);
    IS(all_of_blocks[0].cell[AHEAD][0], 1 | 16ULL << 32);
    IS(all_of_blocks[0].cell[NEAR_AHEAD][0], 1 | 16ULL << 32);
    IS(reads_of(device)->queue, last - (from + 10));
    IS(reads_of(device)->service, now_is - last);
    /* The next goes on where it ended, and has its own bytes only. */
    rq.__sector = 16;
    disk_issue(told);
    disk_complete(part);
    IS(all_of_blocks[0].cell[SIZE][8], 1 | 8ULL << 32);
    IS(all_of_blocks[0].cell[NEAR_AHEAD][0], 2 | 24ULL << 32);
    IS(reads_of(device)->queue, last - (from + 10));
}

/* What failed is counted of its operation, whichever error. */
static void errors(void)
{
    struct gendisk sda = disk(8, 0, "sda", &with_requests);
    struct request_queue queue = { .mq_ops = &with_requests, .disk = &sda };
    struct request rq = { .q = &queue, .__data_len = 4096 };
    u64 told[] = { (u64)&rq }, bad[] = { (u64)&rq, (u64)(u32)-5, 4096 };
    u64 well[] = { (u64)&rq, 0, 4096 };
    struct device *device;
    disk_issue(told);
    disk_complete(bad);
    disk_issue(told);
    disk_complete(well);
    device = device_named("sda");
    IS(device != NULL, 1);
    if (!device)
        return;
    IS(reads_of(device)->errors, 1);
    rq.cmd_flags = 1;
    given_back = 2;
    bad[1] = 10;
    disk_issue(told);
    disk_complete(bad);
    IS(reads_of(device)->errors, 1);
    IS(all_totals[device - all_devices].op[WRITE].errors, 1);
}

/* Who asked is known of the bio that a request was made for, also where another was merged in front of
 * it; once; and not where another bio came to its place. */
static void by_bio(void)
{
    struct bio both[2] = {}, *one = &both[0], *other = &both[1];
    struct request rq = { .bio = one, .biotail = one };
    struct asker who = {}, asked = { .group = 7, .file = 8, .tgid = 9 };
    asked.mark = mark(one);
    *asker_at(asked.mark) = asked;
    rq.bio = other;
    know_by_bio(&who, &rq);
    IS(who.tgid, 9);
    IS(who.group, 7);
    IS(who.file, 8);
    who = (struct asker){};
    know_by_bio(&who, &rq);
    IS(who.tgid, 0);
    /* There is one place, and it is another's. */
    asked.mark = mark(other);
    *asker_at(asked.mark) = asked;
    know_by_bio(&who, &(struct request){ .bio = one, .biotail = one });
    IS(who.tgid, 0);
    know_by_bio(&who, &(struct request){ .bio = other, .biotail = other });
    IS(who.tgid, 9);
    /* Another processor took it meanwhile. */
    *asker_at(asked.mark) = asked;
    who = (struct asker){};
    faster = 1;
    know_by_bio(&who, &(struct request){ .bio = other, .biotail = other });
    IS(who.tgid, 0);
}

int main(int count, char **words)
{
    static const struct check checks[] = {
        { "depth", depth }, { "remapped", remapped }, { "ends", ends },
        { "places", places }, { "room", room }, { "left_out", left_out },
        { "requeued", requeued }, { "errors", errors }, { "by_bio", by_bio },
        { NULL, NULL },
    };
    prepare();
    return run(checks, count, words);
}
