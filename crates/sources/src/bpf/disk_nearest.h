/*
 * The distance to the nearest of some places.
 *
 * Without branches, which would be mispredicted: distances are made numbers without a sign that are
 * the larger the farther they are (zigzag, the sign in the lowest bit), and the lesser of two is
 * taken by a mask. Two rows of them, since each step waits for the one before.
 */
#pragma once
#include "kernel.h"

#define ENDS 16
/* Where nothing has ended yet: farther than any other, and no sector is there. */
#define NO_END (1ULL << 62)

INLINE u64 zigzag(s64 distance)
{
    return (u64)distance << 1 ^ (u64)(distance >> 63);
}

INLINE u64 lesser(u64 a, u64 b)
{
    s64 less = b - a;
    s64 mask = less >> 63;
    HERE(mask); /* or the compiler makes a branch of it */
    return a + (less & mask);
}

/* The signed distance of `sector` from `end` or one of `ends`, whichever is nearest. Sectors are
 * below 2^61. */
INLINE s64 nearest(u64 sector, u64 end, const u64 *ends)
{
    u64 even = zigzag(sector - end), odd = even;
#pragma unroll
    for (int i = 0; i < ENDS; i += 2) {
        even = lesser(even, zigzag(sector - ends[i]));
        odd = lesser(odd, zigzag(sector - ends[i + 1]));
    }
    even = lesser(even, odd);
    return even >> 1 ^ -(even & 1);
}
