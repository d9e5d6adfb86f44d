/*
 * Rows of cells that are given out on demand, one row a lane. The reading side is in cells.rs.
 */
#pragma once
#include "kernel.h"

struct row {
    u64 cell[CELLS];
};
MAP(rows, ARRAY, u32, struct row, 64);
/* How many rows were given out. */
MAP(taken, ARRAY, u32, u32, 1);

const volatile u32 all_rows = 64;

/* The row whose number and 1 is kept in `at`, which gets one of the first `limit` if it has
 * none; 0: there are none left. The first `kept` rows are not given out. */
INLINE u32 row_at(u32 *at, u32 kept, u32 limit)
{
    u32 zero = 0, row, was;
    u32 *count;
    if (*at)
        return *at;
    count = map_lookup(&taken, &zero);
    if (!count || *count + kept >= limit)
        return 0;
    row = __sync_fetch_and_add(count, 1) + kept + 1;
    if (row > all_rows)
        return 0;
    was = __sync_val_compare_and_swap(at, 0, row);
    return was ? was : row;
}

/* The row of that number and 1, as the processor it runs on has it. */
INLINE struct row *row_here(u32 row)
{
    u32 place = (row - 1) * lanes + (cpu_number() & lane_mask);
    return map_lookup(&rows, &place);
}
