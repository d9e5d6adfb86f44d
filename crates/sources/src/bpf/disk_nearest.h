/*
 * The distance to the nearest of some places.
 *
 * Without branches, which would be mispredicted. Of two distances a and b, a is the shorter where
 * a^2 < b^2, that is where a - b and a + b have not the same sign: so the difference of the two is
 * taken by a mask. Places are kept with the other sign, so that each distance is a sum, made in the
 * register in which it was read. Several rows of them, since each step waits for the one before.
 */
#pragma once
#include "kernel.h"

#define ENDS 16
/* Where nothing has ended yet: farther than any other, and no sector is there. */
#define NO_END (1ULL << 62)

/* The one of two distances that is shorter; of two that are as short the one that goes back. */
INLINE s64 shorter(s64 best, s64 distance)
{
    s64 less = distance - best;
    s64 mask = ((distance + best) ^ less) >> 63;
    HERE(mask); /* or the compiler makes a branch of it */
    return best + (less & mask);
}

/* The signed distance of `sector` from `end`, or from one of those places of which `ends` has the
 * negatives, whichever is nearest. Sectors are below 2^61. */
INLINE s64 nearest(u64 sector, u64 end, const u64 *ends)
{
    s64 even = sector - end, odd = even;
#pragma unroll
    for (int i = 0; i < ENDS; i += 2) {
        even = shorter(even, ends[i] + sector);
        odd = shorter(odd, ends[i + 1] + sector);
    }
    return shorter(even, odd);
}
