/*
 * Distributions by remote address: round-trip times, and times to connect.
 */
#pragma once
#include "rows.h"
#include "tcp_connections.h"

#define REMOTES 256
/* Rows of all remotes that have none of their own. */
enum kind { RTT, CONNECT_TIME, KINDS };

struct remote {
    u64 key;
    u32 ready;
    u32 row; /* row and 1 */
    u32 touched;
    u16 family;
    u16 port;
    u8 address[16];
    u64 kind;
};
struct all_remotes {
    struct remote remote[REMOTES];
};
MAP(remotes, ARRAY, u32, struct all_remotes, 1);

/* The place of what belongs to that remote, or REMOTES. */
ONCE u32 find_remote(u64 high, u64 low, u32 port, u32 kind)
{
    u64 key = scattered(scattered(scattered(high) + low) + ((u64)kind << 32 | port)) | 1;
    u32 place = (u32)(key >> 40) & (REMOTES - 1), zero = 0;
    struct all_remotes *all = map_lookup(&remotes, &zero);
    if (!all)
        return REMOTES;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        struct remote *r = &all->remote[place];
        if (r->key == key)
            return place;
        if (!r->key) {
            u64 was = __sync_val_compare_and_swap(&r->key, 0, key);
            if (!was) {
                u64 *address = (u64 *)r->address;
                address[0] = high;
                address[1] = low;
                r->port = port;
                /* An address of version 4 is in the first four bytes. */
                r->family = kind >> 16;
                r->kind = kind & 0xffff;
                __sync_fetch_and_add(&r->ready, 1);
            }
            if (!was || was == key)
                return place;
        }
        place = (place + 1) & (REMOTES - 1);
    }
    return REMOTES;
}

ONCE int tally(u32 place, u32 kind, u32 cell)
{
    u32 zero = 0, now = interval_now(), number = 0;
    struct all_remotes *all = map_lookup(&remotes, &zero);
    struct row *row;
    if (!all)
        return 0;
    if (place < REMOTES) {
        struct remote *r = &all->remote[place];
        number = row_at(&r->row, KINDS, all_rows);
        if (r->touched != now)
            r->touched = now;
    }
    row = row_here(number ? number : (kind & 1) + 1);
    if (row)
        ADD(row->cell[WITHIN(cell, CELLS)], 1);
    return 0;
}

INLINE void spread(struct sock_common *common, u32 kind, u32 port, u32 cell)
{
    u64 address[2] = {};
    u32 family = common->skc_family;
    if (family == INET)
        address[0] = common->skc_daddr;
    else
        read_kernel(address, sizeof(address), &common->skc_v6_daddr);
    tally(find_remote(address[0], address[1], port, kind | family << 16), kind, cell);
}
