/*
 * Who did what to which file in an interval. Two tables take turns; the reading side is in
 * entries.rs.
 */
#pragma once
#include "kernel.h"

/* What a process, or a client, did to a file in an interval: `fs` is the file system, or the client. */
struct entry {
    u64 key; /* made of all that follows before the sums */
    u64 file;
    u64 start;
    u64 group;
    u32 tgid;
    u16 fs;
    u16 op;
    u64 ops;
    u64 bytes;
    u64 time;
};
/* One value, so that one call reads them all. */
#define CHUNK 256
struct chunk {
    struct entry entry[CHUNK];
};
/* Chunks of an interval; those of even and odd ones follow each other. */
#define CHUNKS 64
MAP(paths, ARRAY, u32, struct chunk, 128);
/* Which of an interval's chunks have entries: a bit each. The others are not read. */
MAP(used_chunks, ARRAY, u32, u64, 2);

/* An entry was made. */
#define FRESH (1u << 31)
#define NO_ENTRY 0xffff

/* An entry of that chunk was made in the interval. */
ONCE int use_chunk(u32 interval, u32 chunk)
{
    u32 half = interval & 1;
    u64 *used = map_lookup(&used_chunks, &half);
    if (used)
        __sync_fetch_and_or(used, 1ULL << (chunk & (CHUNKS - 1)));
    return 0;
}

/* The place of the entry of `key` in this interval; NO_ENTRY: there is no room. */
ONCE u32 entry_of(u64 key, u32 interval)
{
    u32 place = (key >> 32) & (CHUNKS * CHUNK - 1);
    u32 at = (interval & 1) * CHUNKS + place / CHUNK;
    struct chunk *chunk = map_lookup(&paths, &at);
    if (!chunk)
        return NO_ENTRY;
#pragma nounroll
    for (u32 i = 0; i < 32; i++) {
        u32 in = (place + i) & (CHUNK - 1);
        u64 was = chunk->entry[in].key;
        if (!was && !(was = __sync_val_compare_and_swap(&chunk->entry[in].key, 0, key))) {
            use_chunk(interval, place / CHUNK);
            return (at * CHUNK + in) | FRESH;
        }
        if (was == key)
            return at * CHUNK + in;
    }
    return NO_ENTRY;
}
