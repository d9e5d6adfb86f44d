/*
 * Control groups and their histograms of slices and waits.
 */
#pragma once
#include "who.h"

/* Groups that have a place, and one more for all that find none. */
#define GROUPS 2048
#define OTHERS GROUPS
/* The histograms of a group, in pages of one power of two. */
enum kind { SLICE, WAIT, KINDS };
#define PAGE_CELLS 64
#define PAGES (CELLS / PAGE_CELLS)

struct cell {
    u64 count;
    u64 time;
};

struct page {
    struct cell cell[PAGE_CELLS];
};

struct group {
    u64 id;
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

MAP(groups, ARRAY, u32, struct group, GROUPS + 1);
MAP(seen, ARRAY, u32, struct all_seen, 1);
MAP(pages, ARRAY, u32, struct page, 1024);
MAP(next_page, ARRAY, u32, u32, 1);

const volatile u32 all_pages = 1024;

/* The place of a group, made if it is new. */
ONCE u32 place_of(u64 id)
{
    u32 place = (id * 0x9e3779b97f4a7c15ULL) >> 53;
    for (int i = 0; i < 8; i++) {
        struct group *group = map_lookup(&groups, &place);
        if (!group)
            return OTHERS;
        if (group->id == id)
            return place;
        if (!group->id) {
            u64 was = __sync_val_compare_and_swap(&group->id, 0, id);
            if (!was || was == id)
                return place;
        }
        place = (place + 1) & (GROUPS - 1);
    }
    untracked();
    return OTHERS;
}

/* The page where a value is counted; NULL: there are none left. */
INLINE struct page *page_at(u32 *at)
{
    u32 zero = 0, number = *at, *next;
    if (!number) {
        u32 was;
        next = map_lookup(&next_page, &zero);
        if (!next || *next >= all_pages)
            return NULL;
        /* Should another processor be as fast, a page stays unused. */
        number = __sync_fetch_and_add(next, 1) + 1;
        if (number > all_pages)
            return NULL;
        was = __sync_val_compare_and_swap(at, 0, number);
        number = was ? was : number;
    }
    number--;
    return map_lookup(&pages, &number);
}

/* Counts `count` slices or waits of `length`, that add `time`. */
ONCE int tally(u32 place, u32 kind, u64 length, u64 time, u32 count)
{
    struct group *group = map_lookup(&groups, &place);
    u32 number = grid(length) & (CELLS - 1);
    struct page *page;
    struct cell *cell;
    if (!group)
        return 0;
    page = page_at(&group->page[kind & 1][number / PAGE_CELLS]);
    cell = page ? &page->cell[number % PAGE_CELLS] : &group->beyond[kind & 1];
    __sync_fetch_and_add(&cell->count, count);
    __sync_fetch_and_add(&cell->time, time);
    return 0;
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
    return tally(place, SLICE, length, time, count);
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
