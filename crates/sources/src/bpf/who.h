/*
 * Who did it: processes, control groups and files, told once each through a ring, before the
 * first event that refers to them. So also those are known that are gone when the ring is read.
 */
#pragma once
#include "kernel.h"

#define TOLD 8192
/* Groups in each other, and directories, whose names are told: FEW at a time. */
#define GROUPS_DEEP 24
#define DIRECTORIES_DEEP 64
/* Bytes of a name, the 0 among them: the longest that the kernel has. */
#define NAME_ROOM 256
#define TEXT_ROOM 4096
/* A path has more names than are told. */
#define CUT (1u << 31)
/* What a record says of its path: it is cut; its first name is one that a program gave. */
enum path_flag { IS_CUT = 1, IS_GIVEN = 2 };

/* The first word of every record in a ring. */
enum record { EVENT = 1, PROCESS = 2, GROUP = 3, FILE = 4 };

struct qstr {
    u64 hash_len;
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
    struct super_block *d_sb;
    struct dentry *d_parent;
    struct qstr d_name;
    union {
        struct hlist_node d_alias;
    } d_u;
} KERNEL;
struct super_block {
    u32 s_dev;
    struct block_device *s_bdev;
    struct dentry *s_root;
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

/* Names from the inside out, each ended by 0. */
struct path_record {
    u32 record;
    u32 flags;
    u64 id;
    u64 device;
    char text[TEXT_ROOM + NAME_ROOM];
};
#define RECORD_HEAD 24

/* Where a record is made. A program may take the place of another on its processor: only the
 * first uses it, and what the second had to tell is told at the next look. */
struct path_room {
    struct path_record path;
    u32 taken;
    u64 next; /* whose name comes next; 0: there is none */
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
MAP(told_names, ARRAY, u32, u64, TOLD);
MAP(scratch, PERCPU_ARRAY, u32, struct path_room, 1);
MAP(group_scratch, PERCPU_ARRAY, u32, struct path_room, 1);
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

#define FIELD(to, from) read_kernel(&(to), sizeof(to), &(from))

INLINE u64 mix(u64 a, u64 b)
{
    u64 h = (a ^ (b << 29 | b >> 35)) * 0x9e3779b97f4a7c15ULL;
    return h ^ h >> 32;
}

/* Sends the record, whose names end at `at`; whether it went. */
INLINE bool send_path(struct path_record *record, u32 at)
{
    record->flags |= at & CUT ? IS_CUT : 0;
    at &= ~CUT;
    if (at <= TEXT_ROOM + NAME_ROOM &&
        !ring_output(&ring, record, RECORD_HEAD + at, ring_flags(RECORD_HEAD + at)))
        return 1;
    count_lost();
    return 0;
}

/*
 * Names are put down a few at a time: the kernel checks a loop as often as it may go round, but a
 * function only once.
 */
#define FEW 8

/* Puts the next few names from a kernfs_node outwards into `group_scratch` at `at`; answers with
 * where they end, and CUT. */
ONCE u32 few_names_of_group(u32 at)
{
    u32 zero = 0;
    struct path_room *room = map_lookup(&group_scratch, &zero);
    u64 address, parent = 0;
    if (!room)
        return CUT;
    address = room->next;
    room->next = 0;
#pragma nounroll
    for (int i = 0; i < FEW; i++) {
        const char *name = NULL;
        long length;
        if (HAS(((struct kernfs_node___parent *)0)->parent))
            FIELD(parent, ((struct kernfs_node___parent *)address)->parent);
        else
            FIELD(parent, ((struct kernfs_node *)address)->__parent);
        if (!parent)
            return at;
        if (at > TEXT_ROOM)
            return at | CUT;
        FIELD(name, ((struct kernfs_node *)address)->name);
        length = read_kernel_text(&room->path.text[at], NAME_ROOM, name);
        if (length <= 0 || length > NAME_ROOM)
            return at | CUT;
        at += length;
        address = parent;
    }
    room->next = address;
    return at;
}

/* Puts the names from the kernfs_node at `address` outwards into `group_scratch`; answers with
 * where they end, and CUT. */
ONCE u32 names_of_group(u64 address)
{
    u32 zero = 0, at = 0;
    struct path_room *room = map_lookup(&group_scratch, &zero);
    if (!room)
        return 0;
    room->next = address;
#pragma nounroll
    for (int i = 0; i < GROUPS_DEEP / FEW; i++) {
        at = few_names_of_group(at);
        if (at & CUT || !room->next)
            return at;
    }
    return at | CUT;
}

/*
 * Tells the path of the group whose directory is the kernfs_node at `address`, if that was
 * not told. By address, so that the kernel checks it once and quickly (see HERE).
 */
ONCE int tell_group_path(u64 address, u64 id)
{
    u32 place = ((u32)id ^ (u32)(id >> 32)) & (TOLD - 1), zero = 0;
    u64 *told = map_lookup(&told_groups, &place);
    struct path_room *room = map_lookup(&group_scratch, &zero);
    if (!told || *told == id || !room)
        return 0;
    if (__sync_val_compare_and_swap(&room->taken, 0, 1)) {
        count_lost();
        return 0;
    }
    room->path.record = GROUP;
    room->path.flags = 0;
    room->path.id = id;
    room->path.device = 0;
    if (send_path(&room->path, names_of_group(address)))
        *told = id;
    room->taken = 0;
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

/* Puts the next few names from a dentry outwards into `scratch` at `at`; answers with where they
 * end, and CUT. */
ONCE u32 few_names(u32 at)
{
    u32 zero = 0;
    struct path_room *room = map_lookup(&scratch, &zero);
    u64 dentry;
    if (!room)
        return CUT;
    dentry = room->next;
    room->next = 0;
#pragma nounroll
    for (int i = 0; i < FEW; i++) {
        u64 parent = 0;
        void *name = NULL;
        long length;
        FIELD(parent, ((struct dentry *)dentry)->d_parent);
        if (!parent || parent == dentry)
            return at;
        if (at > TEXT_ROOM)
            return at | CUT;
        FIELD(name, ((struct dentry *)dentry)->d_name.name);
        length = read_kernel_text(&room->path.text[at], NAME_ROOM, name);
        if (length <= 0 || length > NAME_ROOM)
            return at | CUT;
        at += length;
        dentry = parent;
    }
    room->next = dentry;
    return at;
}

/* Puts the names from `dentry` outwards into `scratch` at `at`; answers with where they end, and
 * CUT. */
ONCE u32 names_of(u64 dentry, u32 at)
{
    u32 zero = 0;
    struct path_room *room = map_lookup(&scratch, &zero);
    if (!room)
        return 0;
    room->next = dentry;
#pragma nounroll
    for (int i = 0; i < DIRECTORIES_DEEP / FEW; i++) {
        at = few_names(at);
        if (at & CUT || !room->next)
            return at;
    }
    return at | CUT;
}

/* Whether the names of a file are not known: an NFS server may work on one of which it was told
 * nothing but a handle. Its entry is in no directory, and yet is not the root. */
INLINE bool is_nameless(u64 dentry)
{
    u64 parent = 0, sb = 0, root = 0;
    FIELD(parent, ((struct dentry *)dentry)->d_parent);
    FIELD(sb, ((struct dentry *)dentry)->d_sb);
    FIELD(root, ((struct super_block *)sb)->s_root);
    return parent == dentry && root != dentry;
}

/* Tells the path of the file of number `id` by its directory entry; whether that was told. */
ONCE int tell_entry(u64 dentry, u64 id, u64 device)
{
    u32 zero = 0;
    bool sent;
    struct path_room *room = map_lookup(&scratch, &zero);
    if (!room)
        return 0;
    if (__sync_val_compare_and_swap(&room->taken, 0, 1)) {
        count_lost();
        return 0;
    }
    room->path.record = FILE;
    room->path.flags = 0;
    room->path.id = id;
    room->path.device = device;
    sent = send_path(&room->path, is_nameless(dentry) ? CUT : names_of(dentry, 0));
    room->taken = 0;
    return sent;
}

/* Tells the path of an inode within its file system, if it was not told by the name that it has
 * in its first directory entry, whose link is at `node`; answers with a number for it, or 0 if it
 * has no name. */
ONCE u64 tell_inode(u64 number, u32 generation, u32 device, u64 node)
{
    u64 id = number * 0x9e3779b97f4a7c15ULL ^ ((u64)device << 32) ^ ((u64)generation << 8);
    u64 entry, parent = 0, name = 0;
    u32 place;
    u64 *told, *by_name;
    id |= 1;
    place = (u32)(id >> 17) & (TOLD - 1);
    told = map_lookup(&told_files, &place);
    by_name = map_lookup(&told_names, &place);
    if (!told || !by_name)
        return id;
    if (!node)
        return *told == id ? id : 0;
    entry = node - __builtin_preserve_field_info(((struct dentry *)0)->d_u.d_alias, 0);
    FIELD(name, ((struct dentry *)entry)->d_name.hash_len);
    FIELD(parent, ((struct dentry *)entry)->d_parent);
    name = mix(name, parent);
    if ((*told != id || *by_name != name) && tell_entry(entry, id, device)) {
        *told = id;
        *by_name = name;
    }
    return id;
}

/* The same of the inode at that address, which is copied from and not read: the kernel does not check
 * what it is (see HERE). */
INLINE u64 tell_file_at(u64 inode)
{
    u64 sb = 0, number = 0, node = 0;
    u32 generation = 0, device = 0;
    FIELD(sb, ((struct inode *)inode)->i_sb);
    FIELD(device, ((struct super_block *)sb)->s_dev);
    FIELD(number, ((struct inode *)inode)->i_ino);
    FIELD(generation, ((struct inode *)inode)->i_generation);
    FIELD(node, ((struct inode *)inode)->i_dentry.first);
    return tell_inode(number, generation, device, node);
}

INLINE u64 tell_file(struct inode *inode)
{
    return tell_inode(inode->i_ino, inode->i_generation, inode->i_sb->s_dev,
                      address_of(inode->i_dentry.first));
}
