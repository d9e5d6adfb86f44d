/*
 * Control groups and their histograms of slices and waits.
 */
#pragma once
#include "who.h"

/* Groups that have a place, and one more for all that find none. */
#define GROUPS 2048
#define OTHERS GROUPS
/* How many places a group may have, from that of its number on. */
#define PROBES 32
/* The histograms of a group, in pages of one power of two. */
enum kind { SLICE, WAIT, KINDS };
#define PAGE_CELLS 64
#define PAGES (CELLS / PAGE_CELLS)

/* What of the kernel's structs says whether a group is still there. */
struct cgroup_subsys_state___life {
    u32 flags;
} KERNEL;
struct cgroup_root {
    int hierarchy_id;
} KERNEL;
struct cgroup___life {
    struct cgroup_subsys_state___life self;
    struct kernfs_node *kn;
    struct cgroup_root *root;
} KERNEL;
struct kernfs_node___life {
    void *priv;
} KERNEL;
#define ONLINE 2

struct cell {
    u64 count;
    u64 time;
};

struct page {
    struct cell cell[PAGE_CELLS];
};

struct group {
    /* Told by the reader and not run (see `charge`). */
    u64 owed;
    /* What found no page. */
    struct cell beyond[KINDS];
    u32 page[KINDS][PAGES]; /* and 1 */
};

/* The interval in which a group was last charged, and that in which its name was told. */
struct seen {
    u32 charged;
    u32 told;
};
struct all_seen {
    struct seen group[GROUPS * 2]; /* a power of two above OTHERS */
};

/*
 * Places that were left by groups that are gone, in order: the lower bits are the place, the
 * higher how many there were with this one. Between two looks of the reader there are no more
 * than places, as each has to be freed by it in between.
 */
struct all_left {
    u64 count;
    u32 left[GROUPS];
};
#define PLACE_BITS 11

/*
 * Whose place it is: the number of a group. When the group is gone the number is marked, so that
 * nobody finds it, and the reader frees the place when all of it was told. A free one keeps the
 * mark alone, as groups behind it are found by going past it. 0: there never was a group.
 */
#define GONE (1ULL << 63)
MAP(owners, ARRAY, u32, u64, GROUPS);
MAP(groups, ARRAY, u32, struct group, GROUPS + 1);
MAP(seen, ARRAY, u32, struct all_seen, 1);
MAP(left, ARRAY, u32, struct all_left, 1);
MAP(pages, ARRAY, u32, struct page, 1024);
MAP(next_page, ARRAY, u32, u32, 1);
/* Pages of groups that are gone, each number and 1. */
FIFO(free_pages, u32, 1024);

const volatile u32 all_pages = 1024;
/* Of the hierarchy whose groups are charged. */
const volatile u32 group_hierarchy = 0;

#define NOWHERE 0xffffffff

INLINE u32 home_of(u64 id)
{
    return (id * 0x9e3779b97f4a7c15ULL) >> (64 - PLACE_BITS);
}

/* The place of a group, or NOWHERE. */
ONCE u32 find_place(u64 id)
{
    u32 place = home_of(id);
    for (int i = 0; i < PROBES; i++) {
        u64 *owner = map_lookup(&owners, &place);
        u64 whose = owner ? *owner : 0;
        if (whose == id)
            return place;
        if (!whose)
            break;
        place = (place + 1) & (GROUPS - 1);
    }
    return NOWHERE;
}

/* If it is that of the group of number `id`, which is gone, the place is the reader's now. */
ONCE int leave_place(u32 place, u64 id)
{
    u32 zero = 0;
    u64 *owner = map_lookup(&owners, &place), n;
    struct all_left *all = map_lookup(&left, &zero);
    if (!owner || !all || __sync_val_compare_and_swap(owner, id, id | GONE) != id)
        return 0;
    n = __sync_fetch_and_add(&all->count, 1);
    all->left[n & (GROUPS - 1)] = (u32)(n + 1) << PLACE_BITS | place;
    return 0;
}

/* The place of a group, or else one that it may have; or NOWHERE. */
ONCE u32 free_place(u64 id)
{
    u32 place = home_of(id);
    for (int i = 0; i < PROBES; i++) {
        u64 *owner = map_lookup(&owners, &place);
        u64 whose = owner ? *owner : id;
        if (whose == id || !(whose & ~GONE))
            return place;
        place = (place + 1) & (GROUPS - 1);
    }
    return NOWHERE;
}

/* Makes a place for the group of number `id`, whose directory is the kernfs_node at `address`. */
ONCE u32 make_place(u64 address, u64 id)
{
    u32 place = NOWHERE, flags = ONLINE;
    struct cgroup___life *group = NULL;
    bool made = 0;
    /* Another processor may be faster, and take it. */
    for (int round = 0; round < 4 && !made; round++) {
        u64 *owner, whose;
        place = free_place(id);
        owner = map_lookup(&owners, &place);
        if (!owner)
            break;
        whose = *owner;
        if (!(whose & ~GONE)) {
            u64 was = __sync_val_compare_and_swap(owner, whose, id);
            made = was == whose;
            whose = was;
        }
        if (whose == id && !made)
            return place;
    }
    if (!made) {
        untracked();
        return OTHERS;
    }
    /* Tasks that end run for a moment longer than their group may be there, and that it went was
     * told then. After the place was made: else the group could go in between. */
    FIELD(group, ((struct kernfs_node___life *)address)->priv);
    FIELD(flags, group->self.flags);
    if (!(flags & ONLINE))
        leave_place(place, id);
    return place;
}

/* The place of the group of number `id`, whose directory is `node`; made if it is new. */
INLINE u32 place_of(struct kernfs_node *node, u64 id)
{
    u32 place = home_of(id);
    u64 *owner = map_lookup(&owners, &place);
    /* Nearly always it is the first. */
    if (owner && *owner == id)
        return place;
    place = find_place(id);
    return place == NOWHERE ? make_place(address_of(node), id) : place;
}

/* A page that nobody uses, and 1; 0: there are none left. */
ONCE u32 new_page(void)
{
    u32 zero = 0, number = 0, *next;
    if (!map_pop(&free_pages, &number))
        return number;
    next = map_lookup(&next_page, &zero);
    if (!next || *next >= all_pages)
        return 0;
    number = __sync_fetch_and_add(next, 1) + 1;
    return number > all_pages ? 0 : number;
}

/* Keeps one in `at`, if there is none; its number and 1. */
ONCE u32 make_page(u32 *at)
{
    u32 fresh = at ? new_page() : 0, number;
    if (!fresh)
        return 0;
    number = __sync_val_compare_and_swap(at, 0, fresh);
    if (!number)
        return fresh;
    /* Another processor was as fast. */
    map_push(&free_pages, &fresh, 0);
    return number;
}

/* The page where a value is counted; NULL: there are none left. */
INLINE struct page *page_at(u32 *at)
{
    u32 number = *at ? *at : make_page(at);
    number--;
    return map_lookup(&pages, &number);
}

/* Counts `count` slices or waits of `length`, that add `time`. */
INLINE void tally_in(struct group *group, u32 kind, u64 length, u64 time, u32 count)
{
    u32 number = grid(length);
    struct page *page = page_at(&group->page[kind & 1][number / PAGE_CELLS]);
    struct cell *cell = page ? &page->cell[number % PAGE_CELLS] : &group->beyond[kind & 1];
    __sync_fetch_and_add(&cell->count, count);
    __sync_fetch_and_add(&cell->time, time);
}

/*
 * Charges the rest of a slice. It can be less than nothing: the reader counts what a slice
 * has run so far by the clock, and the kernel does not count what the hypervisor took away.
 * Then the group owes it.
 */
ONCE int charge(u32 place, u64 length, s64 rest, u32 count)
{
    struct group *group = map_lookup(&groups, &place);
    u64 time = rest;
    if (!group)
        return 0;
    if (rest < 0) {
        __sync_fetch_and_add(&group->owed, -rest);
        time = 0;
    } else if (group->owed) {
        u64 owed = __sync_lock_test_and_set(&group->owed, 0);
        if (owed > time) {
            __sync_fetch_and_add(&group->owed, owed - time);
            time = 0;
        } else {
            time -= owed;
        }
    }
    tally_in(group, SLICE, length, time, count);
    return 0;
}

/* The same of a whole slice: nearly always nothing is owed, and to call a function takes a tenth of
 * what a switch does. */
INLINE void charge_here(u32 place, u64 length, s64 rest)
{
    struct group *group = map_lookup(&groups, &place);
    if (group && rest >= 0 && !group->owed)
        tally_in(group, SLICE, length, rest, 1);
    else
        charge(place, length, rest, 1);
}

INLINE struct seen *seen_of(u32 place)
{
    u32 zero = 0;
    struct all_seen *all = map_lookup(&seen, &zero);
    return all ? &all->group[place & (GROUPS * 2 - 1)] : NULL;
}

INLINE void mark(u32 place, u32 interval)
{
    struct seen *seen = seen_of(place);
    if (seen && seen->charged != interval)
        seen->charged = interval;
}
