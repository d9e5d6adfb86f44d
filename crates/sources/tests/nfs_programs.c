/*
 * The programs of the NFS server, run outside the kernel.
 */
#define PROGRAMS "nfs.bpf.c"
#include "nfs_made.h"

#define THREADS 4
static struct serving served[THREADS];

static void *own(void *map, u32 place)
{
    if (map == (void *)&servings && place < THREADS && served[place].client)
        return &served[place];
    return NULL;
}

static long put(void *map, const void *key, const void *value, u64 flags)
{
    served[*(u32 *)key] = *(struct serving *)value;
    return 0;
}

static long lose(void *map, const void *key)
{
    served[*(u32 *)key].client = 0;
    return 0;
}

/* ---- what the kernel has ---- */

/* A request with its address in it. */
static struct {
    struct svc_rqst rq;
    struct inet_peer more;
} request;

static struct svc_fh handle;

static void make_file(const char *name)
{
    /* Only the inode is read through the entry that the handle has. */
    static struct dentry___nfs seen;
    name_file(name);
    seen.d_inode = &inode;
    handle.fh_dentry = (void *)&seen;
}

static void arrives(u32 program, u32 version, u32 procedure, u64 when, u8 host)
{
    struct inet_peer *peer = (void *)&request.rq.rq_addr;
    u64 ctx[2] = {(u64)&request, 0};
    request.rq.rq_prog = program;
    request.rq.rq_vers = version;
    request.rq.rq_proc = procedure;
    request.rq.rq_stime = when;
    peer->family = INET;
    peer->port = 700 + host;
    peer->address[0] = 10;
    peer->address[3] = host;
    nfs_begin(ctx);
}

static void looks(void)
{
    u64 ctx[4] = {(u64)&request, (u64)&handle};
    nfs_looks(ctx);
}

static void reads(u32 bytes)
{
    u64 ctx[4] = {(u64)&request, (u64)&handle, 0, bytes};
    nfs_read(ctx);
}

static void ends(const char *operation, u64 when)
{
    u64 ctx[4] = {0, 0, 0, (u64)operation};
    now_is = when;
    nfs_operation(ctx);
}

static void answered(u64 when)
{
    u64 ctx[1] = {(u64)&request};
    now_is = when;
    nfs_answered(ctx);
}

/* ---- checks ---- */

/* READ of version 3, from its arrival until it is answered. */
static void version_3(void)
{
    struct entry *entry;
    make_file("a");
    arrives(NFS_PROGRAM, 3, 6, 1000, 5);
    looks();
    reads(4096);
    answered(4000);
    entry = entry_for(V3 + 6);
    IS(entry->ops, 1);
    IS(entry->bytes, 4096);
    IS(entry->time, 3000);
    IS(entry->file != 0, 1);
    IS(entry->fs != OTHER_CLIENT, 1);
    IS(all_of_clients.client[entry->fs].address[0], 10 | 5 << 24);
    IS(all_of_rows[all_of_op_rows.first[V3 + 6] - 1].cell[grid(3000)], 1);
    IS(all_of_rows[all_of_op_rows.first[V3 + 6]].cell[grid(3000)], 4096);
    /* An answer to something that was never taken up. */
    answered(9000);
    IS(all_ops(), 1);
    IS(in_rows(LATENCY), 1);
}

/* A row of operations, each from the end of the one before. */
static void compound(void)
{
    u64 ctx[1] = {(u64)&request};
    u32 sequence, read;
    make_file("a");
    arrives(NFS_PROGRAM, 4, 1, 1000, 5);
    now_is = 1500;
    nfs_compound(ctx);
    ends("OP_SEQUENCE", 1700);
    looks();
    ends("OP_PUTFH", 2000);
    reads(512);
    ends("OP_READ", 5000);
    answered(6000);
    IS(all_ops(), 3);
    sequence = op_named((u64) "OP_SEQUENCE");
    read = op_named((u64) "OP_READ");
    IS(entry_for(sequence)->time, 200);
    IS(entry_for(sequence)->file, 0);
    IS(entry_for(op_named((u64) "OP_PUTFH"))->file != 0, 1);
    IS(entry_for(op_named((u64) "OP_PUTFH"))->bytes, 0);
    IS(entry_for(read)->time, 3000);
    IS(entry_for(read)->bytes, 512);
    IS(in_rows(LATENCY), 3);
    IS(in_rows(LATENCY_BYTES), 512);
}

/* Other programs' requests, and procedures that are whole rows of operations. */
static void others(void)
{
    arrives(100227, 3, 1, 1000, 5);
    answered(2000);
    IS(all_ops(), 0);
    arrives(NFS_PROGRAM, 3, 1, 1000, 5);
    arrives(100227, 3, 1, 3000, 5);
    answered(4000);
    ends("OP_READ", 5000);
    IS(all_ops(), 0);
    arrives(NFS_PROGRAM, 4, 0, 1000, 5);
    answered(2000);
    IS(entry_for(V4_NULL)->ops, 1);
    arrives(NFS_PROGRAM, 3, 77, 1000, 5);
    answered(2000);
    IS(entry_for(OTHER_OP)->ops, 1);
}

static void names(void)
{
    static char text[400][OP_ROOM];
    u32 read = op_named((u64) "OP_READ"), place;
    int others = 0;
    IS(op_named((u64) "OP_READDIR") != read, 1);
    IS(op_named((u64) "OP_READ"), read);
    IS(strcmp(all_names.op[read - FIRST_NAMED].text, "OP_READ"), 0);
    for (int i = 0; i < 400; i++) {
        text[i][0] = 'a' + i % 20;
        text[i][1] = 'a' + i / 20;
        place = op_named((u64)text[i]);
        others += place == OTHER_OP;
        IS(place < OPS, 1);
    }
    IS(others >= 400 - NAMED_OPS, 1);
    IS(op_named((u64) "OP_READ"), read);
}

static void many_clients(void)
{
    struct inet_peer peer = {.family = INET};
    u32 first, place, others = 0;
    peer.address[3] = 1;
    first = client_of((u64)&peer);
    peer.port = 9;
    IS(client_of((u64)&peer), first);
    for (int i = 0; i < 300; i++) {
        peer.address[1] = i;
        peer.address[2] = i >> 8;
        place = client_of((u64)&peer);
        others += place == OTHER_CLIENT;
        IS(place < CLIENTS, 1);
    }
    IS(others >= 300 - CLIENTS, 1);
    IS(others < 300, 1);
    IS(all_of_clients.client[OTHER_CLIENT].key, 0);
    peer.family = 1;
    IS(client_of((u64)&peer), OTHER_CLIENT);
    peer.family = INET6;
    peer.rest[0] = 77;
    IS(client_of((u64)&peer) < CLIENTS, 1);
}

/* What finds no room is counted nonetheless. */
static void no_room(void)
{
    struct operation x = {.latency = 500, .bytes = 10, .client = 3};
    u32 expected = 0;
    for (x.op = 0; x.op < OPS; x.op++, expected++)
        count(&x);
    IS(in_rows(LATENCY), expected);
    IS(in_rows(LATENCY_BYTES), 10 * expected);
    IS(all_of_rows[all_rows - 2].cell[grid(500)] > 100, 1);
    IS(all_ops(), expected);
    is_full = 1;
    x.op = 40;
    count(&x);
    IS(all_ops(), expected);
    is_full = 0;
    IS(all_rest[3].op[40].ops, 1);
    IS(all_rest[3].op[40].bytes, 10);
    IS(all_rest[3].op[40].time, 500);
    IS(lost_of.untracked, 0);
}

/* A file of which nobody told where it lies has not the path of the root. */
static void nameless(void)
{
    make_file("a");
    arrives(NFS_PROGRAM, 3, 6, 1000, 5);
    looks();
    IS(paths_told, 1);
    IS(last_path.flags, 0);
    IS(strcmp(last_path.text, "a"), 0);
    /* The root itself has no name, and is known. */
    inode.i_ino = 2;
    inode.i_dentry.first = (void *)&root;
    served[1].dentry = 0;
    looks();
    IS(paths_told, 2);
    IS(last_path.flags, 0);
    inode.i_ino = 3;
    named.entry.d_parent = &named.entry;
    inode.i_dentry.first = (void *)&named.entry;
    served[1].dentry = 0;
    looks();
    IS(paths_told, 3);
    IS(last_path.flags, IS_CUT);
}

int main(int count, char **words)
{
    static const struct check checks[] = {
        {"version_3", version_3}, {"compound", compound},         {"others", others},
        {"names", names},         {"many_clients", many_clients}, {"no_room", no_room},
        {"nameless", nameless},   {NULL, NULL},
    };
    map_update = put;
    map_delete = lose;
    prepare();
    return run(checks, count, words);
}
