/*
 * The NFS client: each operation, of which server, on which file, how long, how many bytes.
 *
 * rpc_stats_latency comes where the kernel adds an operation to the statistics of its mount
 * (/proc/self/mountstats), with the times that it adds. The tracepoint is that of a module, which
 * the kernel takes by name (raw_tp).
 */
#include "nfs_counts.h"

struct rpc_procinfo {
    const char *p_name;
} KERNEL;
struct rpc_message {
    struct rpc_procinfo *rpc_proc;
} KERNEL;
struct rpc_clnt {
    u32 cl_prog;
} KERNEL;
struct rpc_xprt {
    struct peer addr;
} KERNEL;
struct rpc_task {
    int tk_status;
    struct rpc_message tk_msg;
    void *tk_calldata;
    struct rpc_clnt *tk_client;
    struct rpc_xprt *tk_xprt;
} KERNEL;
struct nfs_pgio_res {
    u64 count;
} KERNEL;
/* What READ and WRITE are about, of all versions. */
struct nfs_pgio_header {
    struct inode *inode;
    struct nfs_pgio_res res;
} KERNEL;
struct nfs_commit_data {
    struct inode *inode;
} KERNEL;

/* Nothing, or what is known of the file that an operation is on. */
enum about { NOTHING, DATA, COMMITTED };

/* By the operation's name: READ and READ_PLUS, not READDIR. */
INLINE enum about about_of(u64 name)
{
    char text[8] = {};
    u64 first;
    read_kernel_text(text, sizeof(text), (void *)name);
    first = *(u64 *)text;
    /* As they lie in memory. */
    if ((u32)first == *(u32 *)"READ" && (!text[4] || text[4] == '_'))
        return DATA;
    if ((u32)first == *(u32 *)"WRIT" && text[4] == 'E' && !text[5])
        return DATA;
    if ((u32)first == *(u32 *)"COMM" && text[4] == 'I' && text[5] == 'T' && !text[6])
        return COMMITTED;
    return NOTHING;
}

INLINE u64 not_below_zero(u64 time)
{
    return (s64)time < 0 ? 0 : time;
}

SEC("raw_tp/rpc_stats_latency")
int nfs_client_done(u64 *ctx)
{
    struct rpc_task *task = (void *)ctx[0];
    struct operation x = {.now = ktime(),
                          .latency = not_below_zero(ctx[3]),
                          .round_trip = not_below_zero(ctx[2]),
                          .queue = not_below_zero(ctx[1])};
    u64 client = 0, procedure = 0, name = 0, xprt = 0, data = 0, inode = 0;
    u32 program = 0;
    int status = 0;
    FIELD(client, task->tk_client);
    FIELD(program, ((struct rpc_clnt *)client)->cl_prog);
    if (program != NFS_PROGRAM)
        return 0;
    FIELD(procedure, task->tk_msg.rpc_proc);
    FIELD(name, ((struct rpc_procinfo *)procedure)->p_name);
    FIELD(xprt, task->tk_xprt);
    if (xprt)
        x.client = client_of((u64) & ((struct rpc_xprt *)xprt)->addr);
    /* What only asks whether the server is there has no name; mountstats gives it one. */
    x.op = name ? op_named(name) : V4_NULL;
    switch (about_of(name)) {
    case DATA:
        FIELD(data, task->tk_calldata);
        FIELD(status, task->tk_status);
        FIELD(inode, ((struct nfs_pgio_header *)data)->inode);
        if (status >= 0)
            FIELD(x.bytes, ((struct nfs_pgio_header *)data)->res.count);
        /* Before Linux 5.10 it has half the width. */
        if (WIDTH(((struct nfs_pgio_header *)0)->res.count) == sizeof(u32))
            x.bytes = (u32)x.bytes;
        break;
    case COMMITTED:
        FIELD(data, task->tk_calldata);
        FIELD(inode, ((struct nfs_commit_data *)data)->inode);
        break;
    case NOTHING:
        break;
    }
    if (inode)
        x.file = tell_file_at(inode);
    count(&x);
    return 0;
}

char gpl[] SEC("license") = "GPL";
