/*
 * What is counted of a call that ended: its histograms, and who did what to which file.
 */
#pragma once
#include "control.h"
#include "entries.h"
#include "file.h"
#include "rows.h"

/* The order of `NAMES` in file.rs. */
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

/* ---- what is kept ---- */

/* Histograms, each a row: of calls without bytes only the first. */
enum row_kind { LATENCY, LATENCY_BYTES, SIZE, SIZE_BYTES, ROWS };
/* Rows that are left for the file systems that found none. */
#define RESERVE 24

struct sums {
    u64 ops;
    u64 bytes;
    u64 time;
};

/* What found no place there. */
struct all_sums {
    struct sums op[OPS];
};
MAP(path_sums, ARRAY, u32, struct all_sums, FILESYSTEMS);

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
    u32 *given = map_lookup(&taken, &zero);
    if (!given || *given + count > most)
        return 0;
    first = __sync_fetch_and_add(given, count) + 1;
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
    struct row *row = row_here(first + kind);
    if (row)
        ADD(row->cell[cell & (CELLS - 1)], amount);
    return 0;
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

INLINE void count_in_others(struct done *done)
{
    u32 fs = done->named.fs;
    struct all_sums *all = map_lookup(&path_sums, &fs);
    struct sums *sums;
    if (!all)
        return;
    sums = &all->op[done->named.op & (OPS - 1)];
    __sync_fetch_and_add(&sums->ops, 1);
    __sync_fetch_and_add(&sums->bytes, done->bytes);
    __sync_fetch_and_add(&sums->time, done->latency);
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
    ring_submit(event, ring_flags(sizeof(*event)));
}

ONCE int tell_names(struct caller *who, struct named *named)
{
    if (!who || !named)
        return 0;
    tell_leader(who->leader, who->tgid, who->start);
    tell_group_path(address_of(who->node), who->group);
    tell_path(named);
    return 0;
}

/* Counts a call of this task. */
ONCE int count(struct done *done)
{
    struct caller who;
    u32 weight = 0;
    u64 key;
    u32 place, at;
    struct chunk *chunk;
    struct entry *entry;
    if (!done)
        return 0;
    find_caller(&who);
    key = mix(mix(done->named.id, who.start), mix(who.group, (u64)who.tgid << 16 | done->named.op));
    key = mix(key, done->named.fs) | 1;
    count_in_rows(done);
    place = entry_of(key, interval_now());
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
        weight = chosen(done->now);
    if (place & FRESH || weight)
        tell_names(&who, &done->named);
    if (weight)
        tell(done, &who, weight);
    return 0;
}
