/*
 * The NFS server: each operation, for whom, on which file, how long, how many bytes.
 *
 * A request is taken up, worked on and answered by one thread of the kernel, so that what is
 * known of it is kept by thread. Of versions 2 and 3 a request is an operation, whose time is
 * from its arrival until it is answered, as the kernel's own svc_stats_latency tells it. A request
 * of version 4 is a row of operations: the time of each is from the end of the one before.
 *
 * The tracepoints are those of modules, which the kernel takes by name (raw_tp).
 */
#include "nfs_counts.h"

struct svc_rqst {
    u32 rq_prog;
    u32 rq_vers;
    u32 rq_proc;
    s64 rq_stime;
    struct peer rq_addr;
} KERNEL;
struct svc_fh {
    struct dentry *fh_dentry;
} KERNEL;
struct dentry___nfs {
    struct inode *d_inode;
} KERNEL;

/* What a thread works on. */
struct serving {
    u64 from; /* when the operation began */
    u64 dentry; /* what it last looked at, in this operation */
    u64 file; /* that; 0: nothing yet */
    u64 bytes;
    u16 client;
    u8 version; /* 0: no request of NFS */
    u8 procedure;
};
/* By thread. Those that have ended are forgotten when others need the room. */
MAP(servings, LRU_HASH, u32, struct serving, 4096);

INLINE struct serving *serving_now(void)
{
    u32 pid = current_task()->pid;
    return map_lookup(&servings, &pid);
}

/* The next operation begins. */
INLINE void begin(struct serving *s, u64 now)
{
    s->from = now;
    s->dentry = s->file = s->bytes = 0;
}

INLINE void done(struct serving *s, u32 op, u64 now)
{
    struct operation x = {.now = now, .file = s->file, .bytes = s->bytes, .op = op};
    x.client = s->client;
    x.latency = now > s->from ? now - s->from : 0;
    count(&x);
}

/* A request is taken up. */
SEC("raw_tp/svc_process")
int nfs_begin(u64 *ctx)
{
    struct svc_rqst *rq = (void *)ctx[0];
    u32 pid = current_task()->pid, program = 0, number = 0;
    struct serving fresh = {};
    struct peer *peer = &rq->rq_addr;
    FIELD(program, rq->rq_prog);
    if (program != NFS_PROGRAM) {
        map_delete(&servings, &pid);
        return 0;
    }
    FIELD(fresh.from, rq->rq_stime);
    FIELD(number, rq->rq_vers);
    fresh.version = number;
    FIELD(number, rq->rq_proc);
    fresh.procedure = number;
    fresh.client = client_of((u64)peer);
    if (map_update(&servings, &pid, &fresh, 0))
        untracked();
    return 0;
}

/* The operations of a request of version 4 begin. */
SEC("raw_tp/nfsd_compound")
int nfs_compound(u64 *ctx)
{
    struct serving *s = serving_now();
    if (s)
        begin(s, ktime());
    return 0;
}

/* One of them has ended. */
SEC("raw_tp/nfsd_compound_status")
int nfs_operation(u64 *ctx)
{
    struct serving *s = serving_now();
    u64 now = ktime();
    if (!s || s->version != 4)
        return 0;
    done(s, op_named(ctx[3]), now);
    begin(s, now);
    return 0;
}

/* It is answered. */
SEC("raw_tp/svc_stats_latency")
int nfs_answered(u64 *ctx)
{
    struct serving *s = serving_now();
    u32 op;
    if (!s || !s->version)
        return 0;
    op = op_numbered(s->version, s->procedure);
    if (op)
        done(s, op, ktime());
    s->version = 0;
    return 0;
}

/* The file of a handle. Its entry is let go of before the request is answered. */
INLINE void look_at(struct serving *s, u64 handle)
{
    u64 dentry = 0, inode = 0;
    FIELD(dentry, ((struct svc_fh *)handle)->fh_dentry);
    if (!dentry || dentry == s->dentry)
        return;
    FIELD(inode, ((struct dentry___nfs *)dentry)->d_inode);
    if (!inode)
        return;
    s->dentry = dentry;
    s->file = tell_file_at(inode);
}

/* An operation looks at a file, or at a directory. */
SEC("raw_tp/nfsd_fh_verify")
int nfs_looks(u64 *ctx)
{
    struct serving *s = serving_now();
    if (s && s->version)
        look_at(s, ctx[1]);
    return 0;
}

INLINE int moved(u64 *ctx)
{
    struct serving *s = serving_now();
    if (!s || !s->version)
        return 0;
    look_at(s, ctx[1]);
    s->bytes += (u32)ctx[3];
    return 0;
}

/* Bytes were read from a file, or written to it. */
SEC("raw_tp/nfsd_read_io_done")
int nfs_read(u64 *ctx)
{
    return moved(ctx);
}

SEC("raw_tp/nfsd_write_io_done")
int nfs_written(u64 *ctx)
{
    return moved(ctx);
}

char gpl[] SEC("license") = "GPL";
