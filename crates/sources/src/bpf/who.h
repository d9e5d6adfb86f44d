/*
 * Who did it: processes, control groups and files, told once each through a ring, before the
 * first event that refers to them. So also those are known that are gone when the ring is read.
 */
#pragma once
#include "kernel.h"

#define TOLD 8192
#define NAMES 12
#define NAME_BYTES 56

/* The first word of every record in a ring. */
enum record { EVENT = 1, PROCESS = 2, GROUP = 3, FILE = 4 };

struct qstr {
    u32 len;
    const unsigned char *name;
} KERNEL;
struct hlist_node {
    struct hlist_node *next;
} KERNEL;
struct hlist_head {
    struct hlist_node *first;
} KERNEL;
struct dentry;
/* Older kernels name the union with the node otherwise. */
union dentry_alias {
    struct hlist_node d_alias;
} KERNEL;
struct dentry {
    struct dentry *d_parent;
    struct qstr d_name;
    union {
        struct hlist_node d_alias;
    } d_u;
} KERNEL;
struct super_block {
    u32 s_dev;
    struct block_device *s_bdev;
} KERNEL;
struct inode {
    struct super_block *i_sb;
    unsigned long i_ino;
    u32 i_generation;
    struct hlist_head i_dentry;
} KERNEL;
struct kernfs_node {
    struct kernfs_node *__parent;
    const char *name;
    u64 id;
} KERNEL;
struct kernfs_node___parent {
    struct kernfs_node *parent;
} KERNEL;
struct cgroup {
    struct kernfs_node *kn;
} KERNEL;
struct cgroup_subsys_state {
    struct cgroup *cgroup;
} KERNEL;
struct css_set {
    struct cgroup_subsys_state *subsys[16]; /* in the kernel as many as it has */
    struct cgroup *dfl_cgrp;
} KERNEL;
struct task_struct {
    int pid;
    int tgid;
    u32 flags;
    char comm[16];
    struct task_struct *group_leader;
    u64 start_boottime;
    struct css_set *cgroups;
} KERNEL;
/* Before Linux 5.5. */
struct task_struct___old {
    u64 real_start_time;
} KERNEL;

struct process_record {
    u32 record;
    u32 tgid;
    u64 start;
    char comm[16];
};

/* Names from the inside out, as far as there are any. */
struct path_record {
    u32 record;
    u32 names;
    u64 id;
    u64 device;
    char name[NAMES][NAME_BYTES];
};

struct told_process {
    u32 tgid;
    u64 start;
};

/* Drops of this ring, and what else could not be kept; one line a lane. */
struct lost {
    u64 records;
    u64 untracked;
    u64 marks[2]; /* of the program, for its own source */
} __attribute__((aligned(64)));

MAP(ring, RING, u8[0], u8[0], 1 << 22);
MAP(told_processes, ARRAY, u32, struct told_process, TOLD);
MAP(told_groups, ARRAY, u32, u64, TOLD);
MAP(told_files, ARRAY, u32, u64, TOLD);
MAP(losses, ARRAY, u32, struct lost, 64);

/* Place of the subsystem whose groups are told, in a task's set; below 0: those of version 2. */
const volatile int group_subsystem = -1;
/* A reader that sleeps is woken when so many bytes wait. */
const volatile u32 wake_bytes = 1 << 19;

/*
 * It is woken once, and not with every record until it gets a processor: waking is an interrupt,
 * which takes as long as some fifty records. It is woken again at each so many bytes more, in
 * case several records came at once and each took another for the one to wake.
 */
#define WAKE_STEP (1 << 14)

/* How a record of that size is to be submitted. */
INLINE u64 ring_flags(u64 size)
{
    /* 0: bytes that wait, this record among them; 1: do not wake, 2: wake. */
    u64 waiting = ring_query(&ring, 0);
    if (waiting < wake_bytes)
        return 1;
    return ((waiting - wake_bytes) & (WAKE_STEP - 1)) < 2 * size ? 2 : 1;
}

INLINE struct lost *lost_here(void)
{
    u32 lane = cpu_number() & lane_mask;
    return map_lookup(&losses, &lane);
}

INLINE void count_lost(void)
{
    struct lost *lost = lost_here();
    if (lost)
        ADD(lost->records, 1);
}

/* Something could not be followed, and is counted nowhere else. */
INLINE void untracked(void)
{
    struct lost *lost = lost_here();
    if (lost)
        ADD(lost->untracked, 1);
}

INLINE void count_mark(u32 which)
{
    struct lost *lost = lost_here();
    if (lost)
        ADD(lost->marks[which & 1], 1);
}

/*
 * Pointers that lead from a task are copied, not followed: the kernel checks that in no time
 * (see HERE).
 */

/* When the process of `leader` began; with its number it is that of no other process. */
INLINE u64 start_of(struct task_struct *leader)
{
    u64 start = 0;
    if (HAS(((struct task_struct *)0)->start_boottime))
        read_kernel(&start, sizeof(start), &leader->start_boottime);
    else
        read_kernel(&start, sizeof(start), &((struct task_struct___old *)leader)->real_start_time);
    return start;
}

/* The same, read and not copied. */
INLINE u64 start_read(struct task_struct *leader)
{
    if (HAS(((struct task_struct *)0)->start_boottime))
        return leader->start_boottime;
    return ((struct task_struct___old *)leader)->real_start_time;
}

/* Tells the process of `leader`, if that was not told. */
INLINE void tell_leader(struct task_struct *leader, u32 tgid, u64 start)
{
    u32 place = tgid & (TOLD - 1);
    struct told_process *told = map_lookup(&told_processes, &place);
    struct process_record *record;
    if (!told || (told->tgid == tgid && told->start == start))
        return;
    record = ring_reserve(&ring, sizeof(*record), 0);
    if (!record) {
        count_lost();
        return;
    }
    record->record = PROCESS;
    record->tgid = tgid;
    record->start = start;
    read_kernel(record->comm, sizeof(record->comm), leader->comm);
    ring_submit(record, ring_flags(sizeof(*record)));
    told->tgid = tgid;
    told->start = start;
}

/* Tells who `task` is, if that was not told; answers with the number of its process. */
INLINE u32 tell_process(struct task_struct *task)
{
    struct task_struct *leader = NULL;
    u32 tgid = task->tgid;
    read_kernel(&leader, sizeof(leader), &task->group_leader);
    tell_leader(leader, tgid, start_of(leader));
    return tgid;
}

/* The group of `task` whose processor time is charged. */
INLINE struct cgroup *group_of(struct task_struct *task)
{
    struct css_set *set = NULL;
    struct cgroup_subsys_state *state = NULL;
    struct cgroup *group = NULL;
    read_kernel(&set, sizeof(set), &task->cgroups);
    if (group_subsystem < 0) {
        read_kernel(&group, sizeof(group), &set->dfl_cgrp);
    } else {
        read_kernel(&state, sizeof(state), &set->subsys[group_subsystem & 15]);
        read_kernel(&group, sizeof(group), &state->cgroup);
    }
    return group;
}

/* The address that a pointer holds, as a number that a function checked once can take. */
INLINE u64 address_of(const void *pointer)
{
    const void *kept = pointer;
    u64 address = 0;
    read_kernel(&address, sizeof(address), &kept);
    return address;
}

/*
 * Tells the path of the group whose directory is the kernfs_node at `address`, if that was
 * not told. By address, so that the kernel checks it once and quickly (see HERE).
 */
ONCE int tell_group_path(u64 address, u64 id)
{
    struct kernfs_node *node = (void *)address;
    u32 place = ((u32)id ^ (u32)(id >> 32)) & (TOLD - 1);
    u64 *told = map_lookup(&told_groups, &place);
    struct path_record *record;
    u32 names = 0;
    if (!told || *told == id)
        return 0;
    record = ring_reserve(&ring, sizeof(*record), 0);
    if (!record) {
        count_lost();
        return 0;
    }
    record->record = GROUP;
    record->id = id;
    record->device = 0;
    for (int i = 0; i < NAMES; i++) {
        struct kernfs_node *parent = NULL;
        const char *name = NULL;
        if (HAS(((struct kernfs_node___parent *)0)->parent))
            read_kernel(&parent, sizeof(parent), &((struct kernfs_node___parent *)node)->parent);
        else
            read_kernel(&parent, sizeof(parent), &node->__parent);
        if (!parent)
            break;
        read_kernel(&name, sizeof(name), &node->name);
        read_kernel_text(record->name[i], NAME_BYTES, name);
        names = i + 1;
        node = parent;
    }
    record->names = names;
    ring_submit(record, ring_flags(sizeof(*record)));
    *told = id;
    return 0;
}

/* The same of the group whose directory is `node` and whose number `id`, which it answers. */
INLINE u64 tell_node(struct kernfs_node *node, u64 id)
{
    u32 place = ((u32)id ^ (u32)(id >> 32)) & (TOLD - 1);
    u64 *told = map_lookup(&told_groups, &place);
    if (told && *told != id)
        tell_group_path(address_of(node), id);
    return id;
}

/* The same of `group`. */
INLINE u64 tell_group(struct cgroup *group)
{
    struct kernfs_node *node = NULL;
    u64 id = 0;
    read_kernel(&node, sizeof(node), &group->kn);
    read_kernel(&id, sizeof(id), &node->id);
    return tell_node(node, id);
}

/* Tells the path of `inode` within its file system, if that was not told; answers with a
 * number for it, never 0. */
INLINE u64 tell_file(struct inode *inode)
{
    u64 device = inode->i_sb->s_dev;
    u64 id = (u64)inode->i_ino * 0x9e3779b97f4a7c15ULL ^ (device << 32) ^
             ((u64)inode->i_generation << 8);
    u32 place;
    u64 *told;
    struct path_record *record;
    struct hlist_node *node;
    struct dentry *entry;
    u32 names = 0;
    id |= 1;
    place = (u32)(id >> 17) & (TOLD - 1);
    told = map_lookup(&told_files, &place);
    if (!told || *told == id)
        return id;
    node = inode->i_dentry.first;
    if (!node)
        return 0;
    record = ring_reserve(&ring, sizeof(*record), 0);
    if (!record) {
        count_lost();
        return id;
    }
    record->record = FILE;
    record->id = id;
    record->device = device;
    entry = (void *)node - __builtin_preserve_field_info(((struct dentry *)0)->d_u.d_alias, 0);
#pragma unroll
    for (int i = 0; i < NAMES; i++) {
        struct dentry *parent = NULL;
        struct dentry_reader {
            struct dentry *parent;
            const unsigned char *name;
        } now = {};
        if (entry) {
            read_kernel(&now.parent, sizeof(now.parent), &entry->d_parent);
            read_kernel(&now.name, sizeof(now.name), &entry->d_name.name);
            parent = now.parent;
        }
        if (parent && parent != entry) {
            read_kernel_text(record->name[i], NAME_BYTES, now.name);
            names = i + 1;
            entry = parent;
        } else {
            entry = NULL;
        }
    }
    record->names = names;
    ring_submit(record, ring_flags(sizeof(*record)));
    *told = id;
    return id;
}
