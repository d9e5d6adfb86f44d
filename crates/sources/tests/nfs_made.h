/*
 * What tests of NFS programs share: they are compiled for this machine, where the kernel's helpers are
 * functions and its structs are made. So they are run where no kernel has NFS. PROGRAMS names them.
 */
#include "outside/made.h"

#include PROGRAMS

/* ---- maps and helpers ---- */

static struct all_op_names all_names;
static struct all_clients all_of_clients;
static struct all_op_rows all_of_op_rows;
static struct nfs_all_sums *all_rest;
static struct chunk *all_chunks;
static u64 all_used[2];
static struct row *all_of_rows;
static struct control control_of = {1, 2};
static struct lost lost_of;
static struct path_room room_of;
static u64 told[TOLD], told_by_name[TOLD];
static u32 rows_given;
static bool is_full;
static u64 now_is;
static struct task_struct thread;
static struct path_record last_path;
static u32 paths_told;

/* What is in a map that only one side has. */
static void *own(void *map, u32 place);

static void *look(void *map, const void *key)
{
    u32 place = *(u32 *)key;
    if (map == (void *)&op_names)
        return &all_names;
    if (map == (void *)&clients)
        return &all_of_clients;
    if (map == (void *)&op_rows)
        return &all_of_op_rows;
    if (map == (void *)&nfs_rest)
        return place < CLIENTS ? &all_rest[place] : NULL;
    if (map == (void *)&paths)
        return place < 2 * CHUNKS && !is_full ? &all_chunks[place] : NULL;
    if (map == (void *)&used_chunks)
        return &all_used[place];
    if (map == (void *)&rows)
        return place < 128 ? &all_of_rows[place] : NULL;
    if (map == (void *)&taken)
        return &rows_given;
    if (map == (void *)&control)
        return &control_of;
    if (map == (void *)&losses)
        return &lost_of;
    if (map == (void *)&scratch)
        return &room_of;
    if (map == (void *)&told_files)
        return &told[place];
    if (map == (void *)&told_names)
        return &told_by_name[place];
    return own(map, place);
}

static u64 clock(void)
{
    return now_is;
}

static struct task_struct *this_thread(void)
{
    return &thread;
}

static long send(void *ring, void *data, u64 size, u64 flags)
{
    memcpy(&last_path, data, size);
    paths_told++;
    return 0;
}

static u64 waiting(void *ring, u64 what)
{
    return 0;
}

static void prepare(void)
{
    all_rest = calloc(CLIENTS, sizeof(*all_rest));
    all_chunks = calloc(2 * CHUNKS, sizeof(*all_chunks));
    all_of_rows = calloc(128, sizeof(*all_of_rows));
    thread.pid = 1;
    current_task = this_thread;
    ring_output = send;
    ring_query = waiting;
}

/* ---- what the kernel has ---- */

struct inet_peer {
    u16 family;
    u16 port;
    u8 address[4];
    u64 rest[3];
};
/* A file of one entry below the root of its file system. */
static struct super_block disk = {.s_dev = 7};
static struct inode inode = {.i_sb = &disk, .i_ino = 99};
static struct {
    struct dentry entry;
} named;
static struct dentry root;

static void name_file(const char *name)
{
    root.d_sb = named.entry.d_sb = &disk;
    root.d_parent = &root;
    disk.s_root = &root;
    named.entry.d_parent = &root;
    named.entry.d_name.name = (const unsigned char *)name;
    inode.i_dentry.first = (void *)&named.entry;
}

/* ---- what was counted ---- */

static struct entry *entry_for(u32 op)
{
    static struct entry none;
    for (int i = 0; i < 2 * CHUNKS * CHUNK; i++) {
        struct entry *entry = &all_chunks[i / CHUNK].entry[i % CHUNK];
        if (entry->key && entry->op == op)
            return entry;
    }
    return &none;
}

/* In the chunks that are read. */
static u64 all_ops(void)
{
    u64 sum = 0;
    for (int i = 0; i < 2 * CHUNKS * CHUNK; i++) {
        int chunk = i / CHUNK;
        if (all_used[chunk / CHUNKS] >> (chunk % CHUNKS) & 1)
            sum += all_chunks[chunk].entry[i % CHUNK].ops;
    }
    return sum;
}

/* Of all rows of operations, or of bytes. */
static u64 in_rows(u32 kind)
{
    u64 sum = 0;
    for (int row = kind; row < 128; row += ROWS) {
        for (int cell = 0; cell < CELLS; cell++)
            sum += all_of_rows[row].cell[cell];
    }
    return sum;
}
