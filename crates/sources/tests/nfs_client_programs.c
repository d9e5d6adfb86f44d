/*
 * The program of the NFS client, run outside the kernel.
 */
#define PROGRAMS "nfs_client.bpf.c"
#include "nfs_made.h"

static void *own(void *map, u32 place)
{
    return NULL;
}

/* ---- what the kernel has ---- */

/* A connection with the server's address in it. */
static struct {
    struct rpc_xprt xprt;
    struct inet_peer more;
} connection;
static struct nfs_pgio_header header = {.inode = &inode, .res = {.count = 4096}};
static struct nfs_commit_data commit = {.inode = &inode};
static struct rpc_clnt client = {.cl_prog = NFS_PROGRAM};

static void ends(const char *operation, void *data, int status)
{
    struct inet_peer *peer = (void *)&connection.xprt.addr;
    struct rpc_procinfo procedure = {.p_name = operation};
    struct rpc_task task = {.tk_status = status,
                            .tk_msg = {.rpc_proc = &procedure},
                            .tk_calldata = data,
                            .tk_client = &client,
                            .tk_xprt = &connection.xprt};
    /* Before it was sent, on its way, and in all. */
    u64 ctx[4] = {(u64)&task, 100, 2000, 3000};
    peer->family = INET;
    peer->address[0] = 10;
    peer->address[3] = 5;
    nfs_client_done(ctx);
}

/* ---- checks ---- */

static void read(void)
{
    struct entry *entry;
    u32 op = op_named((u64) "READ");
    name_file("a");
    ends("READ", &header, 0);
    entry = entry_for(op);
    IS(entry->ops, 1);
    IS(entry->bytes, 4096);
    IS(entry->time, 3000);
    IS(entry->file != 0, 1);
    IS(strcmp(last_path.text, "a"), 0);
    IS(all_of_clients.client[entry->fs].address[0], 10 | 5 << 24);
    IS(all_of_rows[all_of_op_rows.first[op] - 1].cell[grid(3000)], 1);
    IS(all_of_rows[all_of_op_rows.first[op]].cell[grid(3000)], 4096);
}

/* What has no file, or none that is known, is of none: what lies there is something else. */
static void files(void)
{
    static const struct {
        const char *name;
        bool has_file;
        u64 bytes;
    } all[] = {
        {"READ_PLUS", 1, 4096}, {"WRITE", 1, 4096}, {"READDIR", 0, 0},      {"READLINK", 0, 0},
        {"READDIRPLUS", 0, 0},  {"WRITE_X", 0, 0},  {"COMMITTEE", 0, 0},    {"GETATTR", 0, 0},
        {"REA", 0, 0},          {"", 0, 0},         {"LAYOUTCOMMIT", 0, 0},
    };
    u32 count = sizeof(all) / sizeof(*all);
    name_file("a");
    for (u32 i = 0; i < count; i++) {
        struct entry *entry;
        ends(all[i].name, &header, 0);
        entry = entry_for(op_named((u64)all[i].name));
        IS(entry->ops, 1);
        IS(entry->file != 0, all[i].has_file);
        IS(entry->bytes, all[i].bytes);
    }
    IS(all_ops(), count);
}

static void commits(void)
{
    struct entry *entry;
    name_file("a");
    ends("COMMIT", &commit, 0);
    entry = entry_for(op_named((u64) "COMMIT"));
    IS(entry->file != 0, 1);
    IS(entry->bytes, 0);
}

/* What failed moved nothing; it is an operation nonetheless. */
static void failures(void)
{
    struct entry *entry;
    name_file("a");
    ends("READ", &header, -5);
    entry = entry_for(op_named((u64) "READ"));
    IS(entry->ops, 1);
    IS(entry->bytes, 0);
    header.inode = NULL;
    ends("WRITE", &header, 0);
    IS(entry_for(op_named((u64) "WRITE"))->file, 0);
    IS(in_rows(LATENCY), 2);
}

/* Mounting, locking and access lists have programs of their own. */
static void others(void)
{
    client.cl_prog = 100005;
    ends("MNT", NULL, 0);
    IS(all_ops(), 0);
    IS(in_rows(LATENCY), 0);
}

/* What asks whether a server is there has no name. */
static void nameless(void)
{
    ends(NULL, NULL, 0);
    IS(entry_for(V4_NULL)->ops, 1);
}

/* Times that clocks of two processors make less than nothing. */
static void times(void)
{
    struct rpc_procinfo procedure = {.p_name = "GETATTR"};
    struct rpc_task task = {.tk_msg = {.rpc_proc = &procedure}, .tk_client = &client};
    u64 ctx[4] = {(u64)&task, -100, -2000, -3000};
    nfs_client_done(ctx);
    IS(entry_for(op_named((u64) "GETATTR"))->time, 0);
    IS(entry_for(op_named((u64) "GETATTR"))->fs, OTHER_CLIENT);
}

int main(int count, char **words)
{
    static const struct check checks[] = {
        {"read", read},     {"files", files}, {"commits", commits}, {"failures", failures},
        {"others", others}, {"times", times}, {"nameless", nameless}, {NULL, NULL},
    };
    prepare();
    return run(checks, count, words);
}
