/*
 * Network namespaces, by number.
 */
#pragma once
#include "kernel.h"

struct ns_common {
    u32 inum;
} KERNEL;
struct net {
    struct ns_common ns;
} KERNEL;
struct possible_net {
    struct net *net;
} KERNEL;

/* The one that is observed. */
const volatile u32 own_space = 0;

/* The number of the one whose pointer is at `at`. (The kernel has no name for the struct around
 * that pointer: only from outside it is the field found.) */
INLINE u32 space_of(struct net **at)
{
    struct net *net = NULL;
    u32 space = 0;
    /* Copied: see HERE. */
    read_kernel(&net, sizeof(net), at);
    read_kernel(&space, sizeof(space), &net->ns.inum);
    return space;
}
