/*
 * Files as programs use them: each system call that works on one, and what libaio and io_uring do.
 *
 * The hooks are those of all system calls, so both programs first look the number up and go.
 * A call is counted when it ends, in histograms of its file system and in a table of who did
 * what to which file; both are exact. The table is of one interval: two take turns.
 */
#include "file_aio.h"
#include "who_exec.h"

struct pt_regs {
    u64 di;
    u64 si;
    u64 dx;
    u64 r10;
    u64 r8;
    u64 orig_ax;
} KERNEL;

/* ---- which system calls ---- */

/* Where a call says which file: a descriptor first; a source's and a target's; a path; a
 * directory's descriptor and a path, and perhaps flags by which the path may be empty. The last two
 * are no operations, but submit many or fetch their results. */
enum how { FD, FROM_TO, TO_FROM, FROM_3RD, PATHS, AT, AT_FLAGS_3RD, AT_FLAGS_4TH, SUBMIT, FETCH };

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
    [208] = {READ, FETCH},      /* io_getevents */
    [209] = {READ, SUBMIT},     /* io_submit */
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
    [306] = {FSYNC, FD},        /* syncfs */
    [316] = {RENAME, AT},       /* renameat2 */
    [326] = {COPY, FROM_3RD},   /* copy_file_range */
    [327] = {READ, FD},         /* preadv2 */
    [328] = {WRITE, FD},        /* pwritev2 */
    [332] = {STAT, AT_FLAGS_3RD}, /* statx */
    [333] = {READ, FETCH},      /* io_pgetevents */
    [437] = {OPEN, AT},         /* openat2 */
    [439] = {ACCESS, AT_FLAGS_4TH}, /* faccessat2 */
};

/* What a call of that number is, which is below CALLS: Linux 6.1 forgets that it is, where the number
 * was put aside before. */
INLINE struct kind kind_of(u64 number)
{
    return calls[WITHIN(number, CALLS)];
}

/* ---- calls under way ---- */

/* A call under way. */
struct call {
    u32 pid;
    u32 number;
    u64 from;
    struct named named;
};
#define SLOTS (1 << 15)
MAP(calls_open, ARRAY, u32, struct call, SLOTS);
/* When a request of io_uring was submitted, by its address. */
MAP(requests, HASH, u64, u64, 1 << 13);

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
    return map_lookup(&calls_open, &place);
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
    kind = kind_of(number);
    if (!kind.op)
        return 0;
    task = current_task();
    if (is_32_bit(task))
        return 0;
    if (kind.how == SUBMIT)
        step_all(SUBMIT_IT, regs->dx, 0, regs->si);
    if (kind.how >= SUBMIT)
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
    struct kind kind;
    u32 how;
    if (number >= CALLS)
        return 0;
    kind = kind_of(number);
    if (!kind.op)
        return 0;
    how = kind.how;
    task = current_task();
    if (how >= SUBMIT) {
        if (is_32_bit(task))
            return 0;
        /* Of what was submitted it took so many. */
        if (how == SUBMIT)
            step_all(REFUSE_IT, regs->dx, result, regs->si);
        else
            step_all(FETCH_IT, regs->r10, 0, result);
        return 0;
    }
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

INLINE void submitted(u64 request)
{
    u64 now = ktime();
    if (ring_op((void *)request) && map_update(&requests, &request, &now, 0))
        untracked();
}

SEC("tp_btf/io_uring_submit_req")
int file_submit(u64 *ctx)
{
    submitted(ctx[0]);
    return 0;
}

/* Its name from Linux 6.0 to 6.2. Before that the request was another argument, or none. */
SEC("tp_btf/io_uring_submit_sqe")
int file_submit_sqe(u64 *ctx)
{
    submitted(ctx[0]);
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
