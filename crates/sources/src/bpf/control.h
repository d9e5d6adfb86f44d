/*
 * What the recorder tells a program while it runs: which interval it is, and of how many events
 * one is to be told. The writing side is in control.rs.
 */
#pragma once
#include "kernel.h"

/* Whether events are told. */
const volatile bool with_events = 0;

struct control {
    u32 one_in; /* more than 1 while events come too fast */
    u32 interval; /* counts the intervals */
};
MAP(control, ARRAY, u32, struct control, 1);

INLINE u32 interval_now(void)
{
    u32 zero = 0;
    struct control *c = map_lookup(&control, &zero);
    return c ? c->interval : 0;
}

/* Of one in `one_in` an event is told, by chance: every n-th could beat in time with the load; of a kind
 * that is seldom, so many times as often. Answers with how many the event stands for; 0: it is not told. */
INLINE u32 chosen_of(u64 now, u32 as_often)
{
    u32 zero = 0;
    struct control *c = map_lookup(&control, &zero);
    u32 one_in = c ? c->one_in / as_often : 1;
    if (one_in <= 1)
        return 1;
    return (((now * 0x9e3779b97f4a7c15ULL) >> 32) * one_in) >> 32 ? 0 : one_in;
}

INLINE u32 chosen(u64 now)
{
    return chosen_of(now, 1);
}
