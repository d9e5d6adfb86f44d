/*
 * Asynchronous I/O of libaio: many operations are submitted by one call, and another one fetches the
 * results of those that are done. An operation's time is from the one call to the other.
 *
 * A program can also take results from memory that it has in common with the kernel, without a call
 * (QEMU does). What became of such an operation is seen where the kernel is done with it, and counted
 * when its program asks with the same address again.
 *
 * Structs and numbers are those of the kernel's include/uapi/linux/aio_abi.h.
 */
#pragma once
#include "file_counts.h"

/* What a program asks for: of struct iocb, from 16 bytes on. */
#define ASKED_AT 16
struct asked {
    u16 opcode;
    u16 priority;
    u32 fd;
};
/* What it is answered. */
struct io_event {
    u64 data;
    u64 iocb; /* the address of the question */
    s64 result;
    s64 second;
};

/* Operations that a call submits or fetches at most; what is beyond is counted as not followed. */
#define AIO_MOST 1024

/* By their numbers. What polls is not of a file. In a section that is named: see `highest`. */
static const u8 aio_ops[16] SEC(".rodata") = {
    [0] = READ, [1] = WRITE, [2] = FSYNC, [3] = FSYNC, [7] = READ, [8] = WRITE,
};

/* An operation under way. */
struct submitted {
    u64 from;
    u64 until; /* when the kernel was done with it; 0: not yet, or not seen */
    s64 result;
    struct named named;
};
/* By the address of its question in its program. */
MAP(submissions, HASH, u64, struct submitted, 1 << 14);
/* Keys of those by the kernel's own address of them. */
MAP(at_work, HASH, u64, u64, 1 << 14);

INLINE u64 aio_key(u64 iocb)
{
    return mix(iocb, current_task()->tgid);
}

INLINE void count_one(struct submitted *one, u64 now, u64 until, s64 result)
{
    struct done done = {};
    done.named = one->named;
    done.now = now;
    done.latency = until - one->from;
    if (result > 0 && moves_bytes(done.named.op))
        done.bytes = result;
    count(&done);
}

/* The question at `list[i]` has the address of one before: what that was answered, its program took from
 * memory. Apart from what follows: Linux 6.1 allows 512 bytes for all calls together. */
ONCE int settle_one(u64 list, u32 i, u64 now)
{
    struct submitted *before;
    u64 address = 0, key;
    if (read_user(&address, sizeof(address), (void *)(list + i * 8)))
        return 0;
    key = aio_key(address);
    before = map_lookup(&submissions, &key);
    if (!before)
        return 0;
    if (before->until)
        count_one(before, now, before->until, before->result);
    else
        untracked();
    map_delete(&submissions, &key);
    return 0;
}

/* The question at `list[i]`. */
ONCE int submit_one(u64 list, u32 i, u64 now)
{
    struct submitted one = {};
    struct asked asked;
    u64 address = 0, key;
    if (read_user(&address, sizeof(address), (void *)(list + i * 8)) ||
        read_user(&asked, sizeof(asked), (void *)(address + ASKED_AT)))
        return 0;
    one.named.op = aio_ops[asked.opcode & 15];
    if (asked.opcode > 15 || !one.named.op || !is_file(file_at(asked.fd), &one.named))
        return 0;
    one.from = now;
    key = aio_key(address);
    if (map_update(&submissions, &key, &one, 0))
        untracked();
    return 0;
}

/* The kernel did not take the question at `list[i]`. */
ONCE int refuse_one(u64 list, u32 i)
{
    u64 address = 0, key;
    if (read_user(&address, sizeof(address), (void *)(list + i * 8)))
        return 0;
    key = aio_key(address);
    map_delete(&submissions, &key);
    return 0;
}

ONCE int fetch_one(u64 events, u32 i, u64 now)
{
    struct submitted *one;
    struct io_event event;
    u64 key;
    if (read_user(&event, sizeof(event), (void *)(events + i * sizeof(event))))
        return 0;
    key = aio_key(event.iocb);
    one = map_lookup(&submissions, &key);
    if (!one)
        return 0;
    count_one(one, now, now, event.result);
    map_delete(&submissions, &key);
    return 0;
}

/* What is done with each of a list, a few at a time: the kernel checks a loop as often as it may go
 * round, but a function only once. */
enum aio_step { SUBMIT_IT, REFUSE_IT, FETCH_IT };
#define AIO_FEW 32

ONCE int step_few(u32 step, u64 list, u32 from, u32 until, u64 now)
{
#pragma nounroll
    for (u32 i = 0; i < AIO_FEW; i++) {
        u32 at = from + i;
        if (at >= until)
            return 0;
        if (step == SUBMIT_IT) {
            settle_one(list, at, now);
            submit_one(list, at, now);
        } else if (step == REFUSE_IT) {
            refuse_one(list, at);
        } else {
            fetch_one(list, at, now);
        }
    }
    return 0;
}

INLINE void step_all(u32 step, u64 list, s64 from, s64 until)
{
    u64 now = ktime();
    if (from < 0)
        from = 0;
#pragma nounroll
    for (u32 i = 0; i < AIO_MOST / AIO_FEW; i++) {
        if (from >= until)
            return;
        step_few(step, list, from, until, now);
        from += AIO_FEW;
    }
    if (from < until)
        untracked();
}

/* ---- what the kernel does of it ---- */

/* What it answers: the address of the question. */
struct io_event___kernel {
    u64 obj;
} KERNEL;
/* Begins with a kiocb, which is what hooks are given. */
struct aio_kiocb {
    struct io_event___kernel ki_res;
} KERNEL;

/* In the task that asks. Others have a kiocb too, and something else behind it: then no question is
 * known by what stands there. */
INLINE void begun(u64 kiocb)
{
    u64 question = 0, key;
    FIELD(question, ((struct aio_kiocb *)kiocb)->ki_res.obj);
    key = aio_key(question);
    if (map_lookup(&submissions, &key))
        map_update(&at_work, &kiocb, &key, 0);
}

/* Anywhere. */
INLINE void ended(u64 kiocb, s64 result)
{
    u64 *key = map_lookup(&at_work, &kiocb), found;
    struct submitted *one;
    if (!key)
        return;
    found = *key;
    map_delete(&at_work, &kiocb);
    one = map_lookup(&submissions, &found);
    if (!one)
        return;
    one->result = result;
    one->until = ktime();
}

/* At functions of the kernel, where it allows that: all reads and writes. */
SEC("fentry/aio_prep_rw")
int file_taken_on(u64 *ctx)
{
    begun(ctx[0]);
    return 0;
}

SEC("fentry/aio_complete_rw")
int file_done(u64 *ctx)
{
    ended(ctx[0], ctx[1]);
    return 0;
}

/* Else at tracepoints of file systems: direct I/O of those that use iomap (ext4, xfs, btrfs). */
SEC("tp_btf/iomap_dio_rw_begin")
int file_direct(u64 *ctx)
{
    begun(ctx[0]);
    return 0;
}

SEC("tp_btf/iomap_dio_complete")
int file_direct_end(u64 *ctx)
{
    ended(ctx[0], ctx[2]);
    return 0;
}
