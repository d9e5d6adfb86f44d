/*
 * A process becomes another program: it is told again, by its new name.
 */
#pragma once
#include "who.h"

SEC("tp_btf/sched_process_exec")
int who_exec(u64 *ctx)
{
    struct task_struct *task = (void *)ctx[0];
    u32 place = task->tgid & (TOLD - 1);
    struct told_process *told = map_lookup(&told_processes, &place);
    if (told)
        told->tgid = 0;
    return 0;
}
