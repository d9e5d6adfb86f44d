/*
 * Asynchronous I/O of libaio: many operations are submitted by one call, and another one fetches the
 * results of those that are done. An operation's time is from the one call to the other.
 *
 * Structs and numbers are those of the kernel's include/uapi/linux/aio_abi.h.
 */
#pragma once
#include "file_counts.h"

/* What a program asks for. */
struct iocb {
    u64 data;
    u32 key;
    u32 rw_flags;
    u16 opcode;
    u16 priority;
    u32 fd;
    u64 rest[5];
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
    struct named named;
};
/* By the address of its question in its program. */
MAP(submissions, HASH, u64, struct submitted, 1 << 14);

INLINE u64 aio_key(u64 iocb)
{
    return mix(iocb, current_task()->tgid);
}

/* The question at `list[i]`. */
ONCE int submit_one(u64 list, u32 i, u64 now)
{
    struct submitted one = {};
    struct iocb iocb;
    u64 address = 0, key;
    if (read_user(&address, sizeof(address), (void *)(list + i * 8)) ||
        read_user(&iocb, sizeof(iocb), (void *)address))
        return 0;
    one.named.op = aio_ops[iocb.opcode & 15];
    if (iocb.opcode > 15 || !one.named.op || !is_file(file_at(iocb.fd), &one.named))
        return 0;
    one.from = now;
    key = aio_key(address);
    /* It asks with the same address again: what it was answered it has fetched itself, from memory that
     * it has in common with the kernel, which nobody tells. */
    if (map_lookup(&submissions, &key))
        untracked();
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
    struct done done = {};
    u64 key;
    if (read_user(&event, sizeof(event), (void *)(events + i * sizeof(event))))
        return 0;
    key = aio_key(event.iocb);
    one = map_lookup(&submissions, &key);
    if (!one)
        return 0;
    done.named = one->named;
    done.now = now;
    done.latency = now - one->from;
    if (event.result > 0 && moves_bytes(done.named.op))
        done.bytes = event.result;
    map_delete(&submissions, &key);
    count(&done);
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
        if (step == SUBMIT_IT)
            submit_one(list, at, now);
        else if (step == REFUSE_IT)
            refuse_one(list, at);
        else
            fetch_one(list, at, now);
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
