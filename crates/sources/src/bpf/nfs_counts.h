/*
 * What is counted of an operation of NFS, and whose it is: at the server, of which client it is, at
 * the client, of which server.
 */
#pragma once
#include "control.h"
#include "entries.h"
#include "rows.h"
#include "who.h"

/* The number of the program NFS; that of its access lists has another and is not counted, as the
 * kernel does not count it either. */
#define NFS_PROGRAM 100003

/* ---- operations ---- */

/* By number: version 2 from 1 on, version 3 from 32 on, NULL of version 4; and by name from
 * FIRST_NAMED on. The order of `op_name` in nfs/ops.rs. */
#define OPS 256
#define V3 32
#define V4_NULL 64
#define OTHER_OP 127
#define FIRST_NAMED 128
#define NAMED_OPS 128
#define OP_ROOM 32

/* The place of what a whole request does; 0: it is more than one operation. */
INLINE u32 op_numbered(u32 version, u32 procedure)
{
    if (version == 2)
        return procedure < 18 ? 1 + procedure : OTHER_OP;
    if (version == 3)
        return procedure < 22 ? V3 + procedure : OTHER_OP;
    if (procedure)
        return 0;
    return V4_NULL;
}

struct op_name {
    u64 key;
    char text[OP_ROOM];
};
struct all_op_names {
    struct op_name op[NAMED_OPS];
};
MAP(op_names, ARRAY, u32, struct all_op_names, 1);

/* The place of the operation whose name is there. The number is no argument of the tracepoint. */
ONCE u32 op_named(u64 address)
{
    u32 zero = 0, place;
    u64 words[OP_ROOM / 8] = {}, key;
    struct all_op_names *all = map_lookup(&op_names, &zero);
    if (!all || read_kernel_text(words, OP_ROOM, (void *)address) <= 0)
        return OTHER_OP;
    key = mix(mix(words[0], words[1]), mix(words[2], words[3])) | 1;
    place = key >> 40;
#pragma nounroll
    for (u32 i = 0; i < 16; i++) {
        struct op_name *op = &all->op[(place + i) & (NAMED_OPS - 1)];
        u64 was = op->key;
        if (!was && !(was = __sync_val_compare_and_swap(&op->key, 0, key))) {
            __builtin_memcpy(op->text, words, OP_ROOM);
            was = key;
        }
        if (was == key)
            return FIRST_NAMED + ((place + i) & (NAMED_OPS - 1));
    }
    return OTHER_OP;
}

/* ---- clients, or servers ---- */

struct in6_addr {
    u8 bytes[16];
};
/* An address and its port, as sockets have it. The place of the address differs by family: 4 bytes
 * from 4 on, or 16 from 8 on. */
struct peer {
    u16 ss_family;
} KERNEL;
struct peer_bytes {
    u16 family;
    u16 port;
    u32 first;
    u64 rest[2];
};
#define INET 2
#define INET6 10
#define CLIENTS 128
/* Clients that found no place, and such without an address. */
#define OTHER_CLIENT 0

struct client {
    u64 key;
    u64 address[2];
    u32 family;
    u32 ready;
};
struct all_clients {
    struct client client[CLIENTS];
};
MAP(clients, ARRAY, u32, struct all_clients, 1);

/* The place of the client with that address. */
ONCE u32 client_of(u64 address)
{
    u32 zero = 0, place;
    u64 high = 0, low = 0, key;
    struct peer_bytes peer = {};
    struct all_clients *all = map_lookup(&clients, &zero);
    if (!all || read_kernel(&peer, sizeof(peer), (void *)address))
        return OTHER_CLIENT;
    if (peer.family == INET) {
        high = peer.first;
    } else if (peer.family == INET6) {
        high = peer.rest[0];
        low = peer.rest[1];
    } else {
        return OTHER_CLIENT;
    }
    key = mix(mix(high, low), peer.family) | 1;
    place = key >> 40;
#pragma nounroll
    for (u32 i = 0; i < 16; i++) {
        u32 at = (place + i) & (CLIENTS - 1);
        struct client *c = &all->client[at];
        u64 was = c->key;
        if (at == OTHER_CLIENT)
            continue;
        if (!was && !(was = __sync_val_compare_and_swap(&c->key, 0, key))) {
            c->address[0] = high;
            c->address[1] = low;
            c->family = peer.family;
            __sync_fetch_and_add(&c->ready, 1);
            was = key;
        }
        if (was == key)
            return at;
    }
    return OTHER_CLIENT;
}

/* ---- counting ---- */

/* An operation that has ended. */
struct operation {
    u64 now;
    u64 latency;
    /* Parts of that, where they are known. */
    u64 round_trip;
    u64 queue;
    u64 bytes;
    u64 file;
    u32 op;
    u32 client;
};

struct nfs_event {
    u32 record;
    u16 op;
    u16 client;
    u64 done;
    u64 latency;
    u64 bytes;
    u64 file;
    u32 weight;
    u32 none;
    u64 round_trip;
    u64 queue;
};

/* The histograms: two rows an operation, of operations and of their bytes; where its first is,
 * and 1. The last pair is that of those that found none. */
enum row_kind { LATENCY, LATENCY_BYTES, ROWS };
struct all_op_rows {
    u32 first[OPS];
};
MAP(op_rows, ARRAY, u32, struct all_op_rows, 1);

/* What found no place among the entries, by client and operation. */
struct nfs_sums {
    u64 ops;
    u64 bytes;
    u64 time;
};
struct nfs_all_sums {
    struct nfs_sums op[OPS];
};
MAP(nfs_rest, ARRAY, u32, struct nfs_all_sums, CLIENTS);

/* The first row of an operation, and 1. */
INLINE u32 rows_of(u32 op)
{
    u32 zero = 0, first, was;
    struct all_op_rows *all = map_lookup(&op_rows, &zero);
    u32 *given = map_lookup(&taken, &zero), *at;
    if (!all || !given)
        return 0;
    at = &all->first[op & (OPS - 1)];
    if (*at)
        return *at;
    if (*given + 2 * ROWS > all_rows)
        return all_rows - 1;
    first = __sync_fetch_and_add(given, ROWS) + 1;
    if (first + 2 * ROWS > all_rows + 1)
        return all_rows - 1;
    was = __sync_val_compare_and_swap(at, 0, first);
    return was ? was : first;
}

ONCE int count_in_rows(struct operation *x)
{
    struct row *row;
    u32 first, cell;
    if (!x)
        return 0;
    first = rows_of(x->op);
    cell = grid(x->latency);
    row = first ? row_here(first + LATENCY) : NULL;
    if (!row) {
        untracked();
        return 0;
    }
    ADD(row->cell[WITHIN(cell, CELLS)], 1);
    row = x->bytes ? row_here(first + LATENCY_BYTES) : NULL;
    if (row)
        ADD(row->cell[WITHIN(cell, CELLS)], x->bytes);
    return 0;
}

ONCE int count_in_entries(struct operation *x)
{
    u64 key;
    u32 place, at;
    struct chunk *chunk;
    struct entry *entry;
    struct nfs_all_sums *rest;
    if (!x)
        return 0;
    key = mix(x->file, (u64)x->client << 16 | x->op) | 1;
    place = entry_of(key, interval_now());
    at = (place & ~FRESH) / CHUNK;
    chunk = map_lookup(&paths, &at);
    if (chunk) {
        entry = &chunk->entry[place & (CHUNK - 1)];
        if (place & FRESH) {
            entry->file = x->file;
            entry->fs = x->client;
            entry->op = x->op;
        }
        __sync_fetch_and_add(&entry->ops, 1);
        __sync_fetch_and_add(&entry->bytes, x->bytes);
        __sync_fetch_and_add(&entry->time, x->latency);
        return 0;
    }
    at = x->client;
    rest = map_lookup(&nfs_rest, &at);
    if (rest) {
        struct nfs_sums *sums = &rest->op[x->op & (OPS - 1)];
        __sync_fetch_and_add(&sums->ops, 1);
        __sync_fetch_and_add(&sums->bytes, x->bytes);
        __sync_fetch_and_add(&sums->time, x->latency);
        /* Last: the recorder reads them only when it sees this. */
        count_mark(0);
    }
    return 0;
}

ONCE int tell(struct operation *x)
{
    struct nfs_event *event;
    u32 weight;
    if (!x)
        return 0;
    weight = chosen(x->now);
    if (!weight)
        return 0;
    event = ring_reserve(&ring, sizeof(*event), 0);
    if (!event) {
        count_lost();
        return 0;
    }
    event->record = EVENT;
    event->op = x->op;
    event->client = x->client;
    event->done = x->now;
    event->latency = x->latency;
    event->bytes = x->bytes;
    event->file = x->file;
    event->weight = weight;
    event->none = 0;
    event->round_trip = x->round_trip;
    event->queue = x->queue;
    ring_submit(event, ring_flags(sizeof(*event)));
    return 0;
}

INLINE void count(struct operation *x)
{
    count_in_rows(x);
    count_in_entries(x);
    if (with_events)
        tell(x);
}
