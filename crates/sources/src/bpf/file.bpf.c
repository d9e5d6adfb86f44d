/*
 * Files as programs use them: each system call that works on one, and what io_uring does.
 *
 * The hooks are those of all system calls, so both programs first look the number up and go.
 * A call is counted when it ends, in histograms of its file system and in a table of who did
 * what to which file; both are exact. The table is of one interval: two take turns.
 */
#include "file.h"

struct pt_regs {
    u64 di;
    u64 si;
    u64 dx;
    u64 r10;
    u64 r8;
    u64 orig_ax;
} KERNEL;

/* ---- which system calls ---- */

/* The order of `OPS` in file.rs. */
enum op {
    NONE,
    OPEN,
    OPEN_FAILED,
    CLOSE,
    READ,
    WRITE,
    COPY,
    FSYNC,
    STAT,
    ACCESS,
    LIST,
    UNLINK,
    RENAME,
    TRUNCATE,
    ALLOCATE,
};

/* Where a call says which file: a descriptor first; a source's and a target's; a path; a
 * directory's descriptor and a path, and perhaps flags by which the path may be empty. */
enum how { FD, FROM_TO, TO_FROM, FROM_3RD, PATHS, AT, AT_FLAGS_3RD, AT_FLAGS_4TH };

struct kind {
    u8 op;
    u8 how;
};

/* By their numbers on x86-64. */
#define CALLS 512
static const struct kind calls[CALLS] = {
    [0] = {READ, FD},           /* read */
    [1] = {WRITE, FD},          /* write */
    [2] = {OPEN, PATHS},        /* open */
    [3] = {CLOSE, FD},          /* close */
    [4] = {STAT, PATHS},        /* stat */
    [5] = {STAT, FD},           /* fstat */
    [6] = {STAT, PATHS},        /* lstat */
    [17] = {READ, FD},          /* pread64 */
    [18] = {WRITE, FD},         /* pwrite64 */
    [19] = {READ, FD},          /* readv */
    [20] = {WRITE, FD},         /* writev */
    [21] = {ACCESS, PATHS},     /* access */
    [40] = {COPY, TO_FROM},     /* sendfile */
    [74] = {FSYNC, FD},         /* fsync */
    [75] = {FSYNC, FD},         /* fdatasync */
    [76] = {TRUNCATE, PATHS},   /* truncate */
    [77] = {TRUNCATE, FD},      /* ftruncate */
    [78] = {LIST, FD},          /* getdents */
    [82] = {RENAME, PATHS},     /* rename */
    [84] = {UNLINK, PATHS},     /* rmdir */
    [85] = {OPEN, PATHS},       /* creat */
    [87] = {UNLINK, PATHS},     /* unlink */
    [217] = {LIST, FD},         /* getdents64 */
    [257] = {OPEN, AT},         /* openat */
    [262] = {STAT, AT_FLAGS_4TH}, /* newfstatat */
    [263] = {UNLINK, AT},       /* unlinkat */
    [264] = {RENAME, AT},       /* renameat */
    [269] = {ACCESS, AT},       /* faccessat */
    [275] = {COPY, FROM_3RD},   /* splice */
    [277] = {FSYNC, FD},        /* sync_file_range */
    [285] = {ALLOCATE, FD},     /* fallocate */
    [295] = {READ, FD},         /* preadv */
    [296] = {WRITE, FD},        /* pwritev */
    [316] = {RENAME, AT},       /* renameat2 */
    [326] = {COPY, FROM_3RD},   /* copy_file_range */
    [327] = {READ, FD},         /* preadv2 */
    [328] = {WRITE, FD},        /* pwritev2 */
    [332] = {STAT, AT_FLAGS_3RD}, /* statx */
    [437] = {OPEN, AT},         /* openat2 */
    [439] = {ACCESS, AT_FLAGS_4TH}, /* faccessat2 */
};

/* ---- what is kept ---- */

/* Histograms, each a row: of calls without bytes only the first. */
enum row_kind { LATENCY, LATENCY_BYTES, SIZE, SIZE_BYTES, ROWS };
/* Rows that are left for the file systems that found none. */
#define RESERVE 24

struct row {
    u64 cell[CELLS];
};
MAP(rows, ARRAY, u32, struct row, 64);
MAP(rows_taken, ARRAY, u32, u32, 1);

/* A call under way. */
struct call {
    u32 pid;
    u32 number;
    u64 from;
    struct named named;
};
#define SLOTS (1 << 15)
MAP(slots, ARRAY, u32, struct call, SLOTS);
/* When a request of io_uring was submitted, by its address. */
MAP(requests, HASH, u64, u64, 1 << 13);

struct sums {
    u64 ops;
    u64 bytes;
    u64 time;
    u64 unused;
};

/* What a process did to a file in an interval. */
struct entry {
    u64 key; /* made of all that follows before the sums */
    u64 file;
    u64 start;
    u64 group;
    u32 tgid;
    u16 fs;
    u16 op;
    u64 ops;
    u64 bytes;
    u64 time;
};
/* One value, so that one call reads them all. */
#define CHUNK 64
struct chunk {
    struct entry entry[CHUNK];
};
/* Chunks of an interval; those of even and odd ones follow each other. */
#define CHUNKS 256
MAP(paths, ARRAY, u32, struct chunk, 512);
/* What found no place there. */
struct all_sums {
    struct sums op[OPS];
};
MAP(others, ARRAY, u32, struct all_sums, FILESYSTEMS);

const volatile u32 lanes = 1;
const volatile u32 all_rows = 64;
const volatile bool with_events = 0;
struct control {
    u32 one_in; /* of how many events one is told */
    u32 interval;
};
MAP(control, ARRAY, u32, struct control, 1);

/* A call that ended. */
struct file_event {
    u32 record;
    u16 op;
    u16 fs;
    u64 done;
    u64 latency;
    u64 bytes;
    u64 file;
    u64 group;
    u64 start;
    u32 tgid;
    u32 weight;
};

struct done {
    struct named named;
    u64 now;
    u64 latency;
    u64 bytes;
};

/* ---- histograms ---- */

INLINE bool moves_bytes(u32 op)
{
    return op == READ || op == WRITE || op == COPY;
}

/* Takes `count` rows for the place `at`, if it has none; its first and 1. */
INLINE u32 take_rows(u32 *at, u32 count, u32 most)
{
    u32 zero = 0, first, was;
    u32 *taken = map_lookup(&rows_taken, &zero);
    if (!taken || *taken + count > most)
        return 0;
    first = __sync_fetch_and_add(taken, count) + 1;
    if (first + count > all_rows + 1)
        return 0;
    was = __sync_val_compare_and_swap(at, 0, first);
    return was ? was : first;
}

INLINE u32 rows_for(struct all_filesystems *all, u32 fs, u32 op)
{
    u32 count = moves_bytes(op) ? ROWS : 1, first;
    u32 *at = &all->filesystem[fs & (FILESYSTEMS - 1)].rows[op & (OPS - 1)];
    if (*at)
        return *at;
    if (fs != OTHER_FS) {
        first = take_rows(at, count, all_rows - RESERVE);
        if (first)
            return first;
        at = &all->filesystem[OTHER_FS].rows[op & (OPS - 1)];
        if (*at)
            return *at;
    }
    return take_rows(at, count, all_rows);
}

ONCE int tally(u32 first, u32 kind, u32 cell, u64 amount)
{
    u32 place = (first - 1 + kind) * lanes + (cpu_number() & lane_mask);
    struct row *row = map_lookup(&rows, &place);
    if (row)
        ADD(row->cell[cell & (CELLS - 1)], amount);
    return 0;
}

INLINE void untracked(void)
{
    struct lost *lost = lost_here();
    if (lost)
        ADD(lost->untracked, 1);
}

ONCE int count_in_rows(struct done *done)
{
    u32 zero = 0, first, cell;
    struct all_filesystems *all = map_lookup(&filesystems, &zero);
    if (!all || !done)
        return 0;
    first = rows_for(all, done->named.fs, done->named.op);
    if (!first) {
        untracked();
        return 0;
    }
    cell = grid(done->latency);
    tally(first, LATENCY, cell, 1);
    if (!moves_bytes(done->named.op))
        return 0;
    if (done->bytes)
        tally(first, LATENCY_BYTES, cell, done->bytes);
    cell = grid(done->bytes);
    tally(first, SIZE, cell, 1);
    if (done->bytes)
        tally(first, SIZE_BYTES, cell, done->bytes);
    return 0;
}

/* ---- who did what to which file ---- */

/* An entry was made. */
#define FRESH (1u << 31)
#define NO_ENTRY 0xffff

/* The place of the entry of `key` in this interval; NO_ENTRY: there is no room. */
ONCE u32 entry_of(u64 key, u32 interval)
{
    u32 place = (key >> 32) & (CHUNKS * CHUNK - 1);
    u32 at = (interval & 1) * CHUNKS + place / CHUNK;
    struct chunk *chunk = map_lookup(&paths, &at);
    if (!chunk)
        return NO_ENTRY;
#pragma nounroll
    for (u32 i = 0; i < 32; i++) {
        u32 in = (place + i) & (CHUNK - 1);
        u64 was = chunk->entry[in].key;
        if (!was && !(was = __sync_val_compare_and_swap(&chunk->entry[in].key, 0, key)))
            return (at * CHUNK + in) | FRESH;
        if (was == key)
            return at * CHUNK + in;
    }
    return NO_ENTRY;
}

INLINE void count_in_others(struct done *done)
{
    u32 fs = done->named.fs;
    struct all_sums *all = map_lookup(&others, &fs);
    struct sums *sums;
    if (!all)
        return;
    sums = &all->op[done->named.op & (OPS - 1)];
    __sync_fetch_and_add(&sums->ops, 1);
    __sync_fetch_and_add(&sums->bytes, done->bytes);
    __sync_fetch_and_add(&sums->time, done->latency);
}

/* Of one in `one_in` calls an event is told, by chance. Answers with how many the event
 * stands for; 0: it is not told. */
INLINE u32 chosen(u64 now, u32 one_in)
{
    if (one_in <= 1)
        return 1;
    return (((now * 0x9e3779b97f4a7c15ULL) >> 32) * one_in) >> 32 ? 0 : one_in;
}

/* Who calls. */
struct caller {
    struct task_struct *leader;
    struct kernfs_node *node;
    u64 start;
    u64 group;
    u32 tgid;
};

/* By copies: the kernel would check each pointer that is followed at length. */
INLINE void find_caller(struct caller *who)
{
    struct task_struct *task = current_task();
    struct css_set *set = NULL;
    struct cgroup_subsys_state *state = NULL;
    struct cgroup *group = NULL;
    who->leader = NULL;
    who->node = NULL;
    who->start = who->group = 0;
    who->tgid = task->tgid;
    FIELD(who->leader, task->group_leader);
    if (HAS(((struct task_struct *)0)->start_boottime))
        FIELD(who->start, who->leader->start_boottime);
    else
        FIELD(who->start, ((struct task_struct___old *)who->leader)->real_start_time);
    FIELD(set, task->cgroups);
    if (group_subsystem < 0) {
        FIELD(group, set->dfl_cgrp);
    } else {
        FIELD(state, set->subsys[group_subsystem & 15]);
        FIELD(group, state->cgroup);
    }
    FIELD(who->node, group->kn);
    FIELD(who->group, who->node->id);
}

INLINE void tell(struct done *done, struct caller *who, u32 weight)
{
    struct file_event *event = ring_reserve(&ring, sizeof(*event), 0);
    if (!event) {
        count_lost();
        return;
    }
    event->record = EVENT;
    event->op = done->named.op;
    event->fs = done->named.fs;
    event->done = done->now;
    event->latency = done->latency;
    event->bytes = done->bytes;
    event->file = done->named.id;
    event->group = who->group;
    event->start = who->start;
    event->tgid = who->tgid;
    event->weight = weight;
    ring_submit(event, ring_flags());
}

ONCE int tell_names(struct caller *who, struct named *named)
{
    if (!who || !named)
        return 0;
    tell_leader(who->leader, who->tgid, who->start);
    tell_node(who->node, who->group);
    tell_path(named);
    return 0;
}

/* Counts a call of this task. */
ONCE int count(struct done *done)
{
    struct caller who;
    u32 zero = 0, weight = 0;
    u64 key;
    u32 place, at;
    struct chunk *chunk;
    struct entry *entry;
    struct control *c = map_lookup(&control, &zero);
    if (!c || !done)
        return 0;
    find_caller(&who);
    key = mix(mix(done->named.id, who.start), mix(who.group, (u64)who.tgid << 16 | done->named.op));
    key = mix(key, done->named.fs) | 1;
    count_in_rows(done);
    place = entry_of(key, c->interval);
    at = (place & ~FRESH) / CHUNK;
    chunk = map_lookup(&paths, &at);
    if (chunk) {
        entry = &chunk->entry[place & (CHUNK - 1)];
        if (place & FRESH) {
            entry->file = done->named.id;
            entry->start = who.start;
            entry->group = who.group;
            entry->tgid = who.tgid;
            entry->fs = done->named.fs;
            entry->op = done->named.op;
        }
        __sync_fetch_and_add(&entry->ops, 1);
        __sync_fetch_and_add(&entry->bytes, done->bytes);
        __sync_fetch_and_add(&entry->time, done->latency);
    } else {
        count_in_others(done);
    }
    if (with_events)
        weight = chosen(done->now, c->one_in);
    if (place & FRESH || weight)
        tell_names(&who, &done->named);
    if (weight)
        tell(done, &who, weight);
    return 0;
}

/* ---- system calls ---- */

/* Calls of the 32-bit interface have other numbers. */
INLINE bool is_32_bit(struct task_struct *task)
{
    return ((struct task_struct___file *)task)->thread_info.status & 2;
}

/* The place of the call that a task has under way. A second one where the first is another
 * task's, whose number has the same lower bits. */
INLINE struct call *place_of(u32 pid, bool second)
{
    u32 place = second ? (pid * 2654435761u) >> 17 : pid & (SLOTS - 1);
    return map_lookup(&slots, &place);
}

INLINE struct call *call_of(u32 pid)
{
    struct call *call = place_of(pid, 0);
    if (!call || call->pid == pid)
        return call;
    call = place_of(pid, 1);
    return call && call->pid == pid ? call : NULL;
}

INLINE struct call *new_call(u32 pid)
{
    struct call *call = place_of(pid, 0);
    if (!call || !__sync_val_compare_and_swap(&call->pid, 0, pid))
        return call;
    call = place_of(pid, 1);
    if (!call)
        return NULL;
    if (call->pid)
        untracked();
    call->pid = pid;
    return call;
}

/* AT_EMPTY_PATH with an empty path: the descriptor itself is meant. */
INLINE bool is_empty(u64 flags, u64 name)
{
    char first = 0;
    if (!(flags & 0x1000))
        return 0;
    return !name || (!read_user(&first, 1, (void *)name) && !first);
}

/* The descriptors that the call works on, the better known first; false: it has a path. */
INLINE bool descriptors(struct pt_regs *regs, u32 how, u32 *fd, u32 *other)
{
    u64 flags;
    *fd = *other = regs->di;
    if (how == FD)
        return 1;
    if (how == TO_FROM) {
        *fd = regs->si;
        return 1;
    }
    if (how == FROM_3RD) {
        *other = regs->dx;
        return 1;
    }
    if (how != AT_FLAGS_3RD && how != AT_FLAGS_4TH)
        return 0;
    flags = how == AT_FLAGS_3RD ? regs->dx : regs->r10;
    return is_empty(flags, regs->si);
}

SEC("tp_btf/sys_enter")
int file_enter(u64 *ctx)
{
    struct pt_regs *regs = (void *)ctx[0];
    u64 number = ctx[1];
    struct task_struct *task;
    struct kind kind;
    struct call *call;
    struct named named = {};
    u32 pid, fd, other;
    if (number >= CALLS)
        return 0;
    kind = calls[number];
    if (!kind.op)
        return 0;
    task = current_task();
    if (is_32_bit(task))
        return 0;
    pid = task->pid;
    /* One that its task never came back from. */
    call = call_of(pid);
    if (call)
        call->pid = 0;
    if (descriptors(regs, kind.how, &fd, &other)) {
        if (!is_file(file_at(fd), &named) &&
            (fd == other || !is_file(file_at(other), &named)))
            return 0;
    }
    call = new_call(pid);
    if (!call)
        return 0;
    named.op = kind.op;
    call->number = number;
    call->named = named;
    call->from = ktime();
    return 0;
}

/* The file of a call that names it, when the call has ended. */
INLINE bool find_by_name(struct pt_regs *regs, u32 how, long result, struct named *named)
{
    if (named->op == OPEN) {
        if (result >= 0)
            return is_file(file_at(result), named);
        named->op = OPEN_FAILED;
    }
    if (how == PATHS)
        return is_name(regs->di, -1, named);
    return is_name(regs->si, regs->di, named);
}

SEC("tp_btf/sys_exit")
int file_exit(u64 *ctx)
{
    struct pt_regs *regs = (void *)ctx[0];
    long result = ctx[1];
    u64 number = regs->orig_ax;
    struct task_struct *task;
    struct call *call;
    struct done done;
    u32 how;
    if (number >= CALLS || !calls[number].op)
        return 0;
    how = calls[number].how;
    task = current_task();
    call = call_of(task->pid);
    if (!call)
        return 0;
    done.now = ktime();
    done.latency = done.now - call->from;
    done.named = call->named;
    done.bytes = 0;
    if (call->number != number)
        number = CALLS;
    call->pid = 0;
    /* A signal came: it starts again, or did nothing. */
    if (number == CALLS || (result <= -512 && result >= -516))
        return 0;
    if (!done.named.id && !find_by_name(regs, how, result, &done.named))
        return 0;
    if (result > 0 && moves_bytes(done.named.op))
        done.bytes = result;
    count(&done);
    return 0;
}

/* A process becomes another program: it is told again, by its new name. */
SEC("tp_btf/sched_process_exec")
int file_exec(u64 *ctx)
{
    struct task_struct *task = (void *)ctx[0];
    u32 place = task->tgid & (TOLD - 1);
    struct told_process *told = map_lookup(&told_processes, &place);
    if (told)
        told->tgid = 0;
    return 0;
}

/* ---- io_uring ---- */

struct io_cqe {
    s32 res;
} KERNEL;
struct io_kiocb {
    void *file;
    u8 opcode;
    struct io_cqe cqe;
} KERNEL;

/* By their numbers in the kernel's interface: those that have an open file, and opening. */
static const u8 ring_ops[64] = {
    [1] = READ,  [2] = WRITE,  [3] = FSYNC,      [4] = READ,   [5] = WRITE, [8] = FSYNC,
    [17] = ALLOCATE, [18] = OPEN, [22] = READ, [23] = WRITE, [28] = OPEN, [55] = TRUNCATE,
};

/* What a request is; NONE: not of a file. */
INLINE u32 ring_op(struct io_kiocb *request)
{
    u8 opcode = 0;
    FIELD(opcode, request->opcode);
    return opcode < 64 ? ring_ops[opcode] : NONE;
}

SEC("tp_btf/io_uring_submit_req")
int file_submit(u64 *ctx)
{
    u64 request = ctx[0], now = ktime();
    if (ring_op((void *)request) && map_update(&requests, &request, &now, 0))
        untracked();
    return 0;
}

SEC("tp_btf/io_uring_complete")
int file_complete(u64 *ctx)
{
    struct io_kiocb *request = (void *)ctx[1];
    struct done done = {};
    u64 key = (u64)request, file = 0;
    u64 *from;
    s32 result = 0;
    done.named.op = ring_op(request);
    if (!done.named.op)
        return 0;
    from = map_lookup(&requests, &key);
    if (!from)
        return 0;
    done.now = ktime();
    done.latency = done.now - *from;
    map_delete(&requests, &key);
    FIELD(result, request->cqe.res);
    if (done.named.op != OPEN)
        FIELD(file, request->file);
    else if (result >= 0)
        file = file_at(result);
    if (!is_file(file, &done.named))
        return 0;
    if (result > 0 && moves_bytes(done.named.op))
        done.bytes = result;
    count(&done);
    return 0;
}

char gpl[] SEC("license") = "GPL";
