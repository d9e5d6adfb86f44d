/*
 * Processor time: who ran, for how long at a time, and how long it had waited to.
 *
 * The kernel itself counts how long each task ran (sum_exec_runtime). At each switch the
 * growth since the switch before is charged to the group of the task that leaves: to the
 * nanosecond what the group's own counter says. A task that lives for a microsecond counts
 * like any other.
 *
 * The kernel's count of waiting (run_delay) is not used: a task that gets a processor at once
 * has waited for nothing there, as its clock is not read again. Stamps lie in an array.
 */
#include "control.h"
#include "cpu_groups.h"

/* ---- what is read of the kernel's structs ---- */

struct sched_entity {
    u64 sum_exec_runtime;
    u64 prev_sum_exec_runtime; /* when it last got a processor */
    u8 sched_delayed;
} KERNEL;
struct thread_info {
    u32 cpu;
} KERNEL;
struct task_struct___sched {
    struct thread_info thread_info;
    int on_cpu;
    int on_rq;
    struct sched_entity se;
} KERNEL;
/* Where the task itself keeps its processor: before Linux 5.16. */
struct task_struct___cpu {
    u32 cpu;
} KERNEL;

/* ---- what is kept ---- */

/* Who has a processor. */
struct running {
    u64 stamp; /* since when; 0: not known, CHANGING: it is being changed */
    u64 runtime; /* what it had run until then */
    u32 pid;
    u32 tgid;
    u32 place; /* of its group, and 1; 0: nobody runs */
    /* The last cut that was heeded. */
    u64 cut_stamp;
    u64 cut_told;
} __attribute__((aligned(64)));
#define CHANGING 1

/* Of a slice under way the reader has counted `told` nanoseconds already. */
struct cut {
    u64 told;
    u64 stamp;
};

/* Marks beside what was lost: slices whose wait is not known, switches that were not told. */
enum remark { NO_WAIT, NOT_TOLD };

/* Tasks that were moved to another group, by number of their process. */
#define MOVES 128
struct move {
    u64 when;
    u64 runtime; /* what the task itself had run until then */
    u32 tgid;
    u32 pid;
    u32 place;
    u32 all; /* of the process */
};
struct all_moves {
    struct move move[MOVES];
};

MAP(cpus, ARRAY, u32, struct running, 1);
/* Who had a processor when we came. */
MAP(firsts, ARRAY, u32, struct running, 1);
MAP(cuts, ARRAY, u32, struct cut, 1);
MAP(moves, ARRAY, u32, struct all_moves, 1);
/* When a task was moved last. */
MAP(moved, ARRAY, u32, u64, 1);
/*
 * What is kept of a task, in the place of its number, with the number beside each: since when
 * it waits for a processor, and what it had run when it was last charged. Should another task
 * take the place, a wait is not known, and of the time nothing is lost.
 */
#define TASKS (1 << 16)
#define VALUE_BITS 42
#define VALUE_MASK ((1ULL << VALUE_BITS) - 1)
struct task {
    u64 waits;
    u64 charged;
};
MAP(tasks, ARRAY, u32, struct task, TASKS);

INLINE u64 runtime_of(struct task_struct *task)
{
    return ((struct task_struct___sched *)task)->se.sum_exec_runtime;
}

/* ---- switches ---- */

INLINE s64 least(s64 a, s64 b)
{
    return a < b ? a : b;
}

/* The move of that task since its slice began at `stamp`, if there was one. */
INLINE struct move *move_of(struct running *at, u64 stamp)
{
    u32 zero = 0;
    u64 *last = map_lookup(&moved, &zero);
    struct all_moves *all;
    struct move *move;
    if (!last || *last < stamp)
        return NULL;
    all = map_lookup(&moves, &zero);
    if (!all)
        return NULL;
    move = &all->move[at->tgid & (MOVES - 1)];
    if (move->tgid != at->tgid || (!move->all && move->pid != at->pid))
        return NULL;
    return move->when >= stamp ? move : NULL;
}

/*
 * What of the slice is the old group's. What the kernel has not added up yet, because no clock
 * tick came, it charges to the new one; of other tasks of the process only the time is known.
 */
INLINE s64 before_move(struct running *at, struct move *move, u64 stamp)
{
    if (move->pid == at->pid)
        return move->runtime - at->runtime;
    return move->when - stamp;
}

/*
 * What the reader has counted of the slice that began at `stamp`. The reader writes the cut
 * and later looks whether the slice still runs; here it is the other way round (`cpu_switch`
 * has changed the stamp). So both agree whether a cut came in time.
 */
INLINE s64 heed_cut(struct running *at, u64 stamp, u32 cpu)
{
    struct cut *cut = map_lookup(&cuts, &cpu);
    if (!cut || cut->stamp != stamp)
        return 0;
    at->cut_told = cut->told;
    at->cut_stamp = stamp;
    return at->cut_told;
}

INLINE struct task *task_of(u32 pid)
{
    u32 place = pid & (TASKS - 1);
    return map_lookup(&tasks, &place);
}

INLINE u64 kept_of(u32 pid, u64 value)
{
    return (u64)pid << VALUE_BITS | (value & VALUE_MASK);
}

/* The task of that number can run from now on. */
INLINE void stamp_waiting(u32 pid, u64 now)
{
    struct task *task = task_of(pid);
    if (task)
        task->waits = kept_of(pid, now);
}

/* What a task ran from when it was last charged until `runtime`; `since`, if that is not
 * known. They differ only where a switch was not seen. */
INLINE s64 not_charged(u32 pid, u64 runtime, u64 since)
{
    struct task *task = task_of(pid);
    s64 ran = runtime - since, all;
    if (!task)
        return ran;
    all = (runtime - task->charged) & VALUE_MASK;
    /* A task before it may have had the number, and have run for longer. */
    if (task->charged >> VALUE_BITS == pid && all > ran && all <= (s64)runtime)
        ran = all;
    task->charged = kept_of(pid, runtime);
    return ran < 0 ? 0 : ran;
}

/* Whether a task that leaves its processor could still run. Nobody can change that now: the
 * queue is locked. */
INLINE bool can_run(struct task_struct *task)
{
    struct task_struct___sched *sched = (void *)task;
    if (HAS(((struct task_struct___sched *)0)->se.sched_delayed) && sched->se.sched_delayed)
        return 0;
    return sched->on_rq == 1;
}

/* Counts how long the task that gets a processor waited for it. */
INLINE void end_wait(u32 pid, u32 place, u64 now)
{
    struct task *task = task_of(pid);
    struct group *group;
    u64 wait;
    if (!task)
        return;
    if (task->waits >> VALUE_BITS != pid) {
        count_mark(NO_WAIT);
        return;
    }
    wait = (now - task->waits) & VALUE_MASK;
    task->waits = 0;
    /* Another processor's clock may be a little ahead. */
    if (wait >> (VALUE_BITS - 1))
        wait = 0;
    group = map_lookup(&groups, &place);
    if (group)
        tally_in(group, WAIT, wait, wait, 1);
}

/* The end of a slice. Where the task was moved, the part before is the old group's. */
INLINE void leave(struct running *at, struct task_struct *task, u64 stamp, u32 interval,
                  u32 cpu)
{
    u32 place = at->place - 1;
    s64 length = not_charged(at->pid, runtime_of(task), at->runtime);
    s64 told = heed_cut(at, stamp, cpu);
    struct move *move = move_of(at, stamp);
    mark(place, interval);
    if (move) {
        s64 until = before_move(at, move, stamp);
        s64 ran = least(until, length), counted = least(until, told);
        charge(place, length, ran - counted, 0);
        place = move->place;
        mark(place, interval);
        charge(place, length, (length - ran) - (told - counted), 1);
    } else {
        charge_here(place, length, length - told);
    }
}

/* The directory of the group of `task`: all pointers that are read on the way to it. */
INLINE struct kernfs_node *node_of(struct task_struct *task)
{
    struct kernfs_node *node = NULL;
    read_kernel(&node, sizeof(node), &group_of(task)->kn);
    return node;
}

/* The same, read and not copied, once: copying takes a quarter of what a switch takes, and
 * reading takes the kernel long to check (see HERE). */
INLINE struct kernfs_node *node_read(struct task_struct *task)
{
    struct css_set *set = task->cgroups;
    struct cgroup *group;
    if (group_subsystem < 0)
        group = set->dfl_cgrp;
    else
        group = set->subsys[group_subsystem & 15]->cgroup;
    return group->kn;
}

/* Its number. */
INLINE u64 id_of(struct kernfs_node *node)
{
    u64 id = 0;
    read_kernel(&id, sizeof(id), &node->id);
    return id;
}

/*
 * A task leaves that was not seen to come: kernels were seen that do not tell some switches
 * out of interrupts. It is charged with what it ran since it was seen last. So will the task be
 * that was not seen to leave, the next time; until then its group owes what the reader has
 * counted.
 */
INLINE void leave_unseen(struct running *at, struct task_struct *task, u64 stamp, u32 interval,
                         u32 cpu)
{
    struct kernfs_node *node = node_of(task);
    u64 since = ((struct task_struct___sched *)task)->se.prev_sum_exec_runtime;
    s64 ran = not_charged(task->pid, runtime_of(task), since);
    u32 place = place_of(node, id_of(node));
    if (at->place) {
        s64 told = heed_cut(at, stamp, cpu);
        mark(at->place - 1, interval);
        charge(at->place - 1, 0, -told, 0);
    }
    mark(place, interval);
    charge(place, ran, ran, 1);
    count_mark(NOT_TOLD);
}

/* The start of a slice of a task whose group has its directory at `node`, and the number `id`. */
INLINE void enter(struct running *at, struct task_struct *task, struct kernfs_node *node, u64 id,
                  u32 interval, u64 now)
{
    u32 pid = task->pid;
    at->pid = pid;
    at->place = 0;
    if (pid) {
        u32 place = place_of(node, id);
        struct seen *seen = seen_of(place);
        at->runtime = runtime_of(task);
        at->tgid = task->tgid;
        at->place = place + 1;
        if (seen && seen->told != interval) {
            seen->told = interval;
            tell_group_path(address_of(node), id);
        }
    }
    *(volatile u64 *)&at->stamp = now;
}

SEC("tp_btf/sched_switch")
int cpu_switch(u64 *ctx)
{
    struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
    struct kernfs_node *node = NULL;
    u32 cpu = cpu_number();
    struct running *at = map_lookup(&cpus, &cpu);
    u32 interval = interval_now();
    u64 stamp, id = 0, now = ktime();
    if (!at)
        return 0;
    if (next->pid) {
        node = node_read(next);
        id = node->id;
    }
    if (!at->stamp) {
        /* The first switch of this processor: it ran since we came. */
        struct running *first = map_lookup(&firsts, &cpu);
        if (first)
            *at = *first;
    }
    stamp = at->stamp;
    *(volatile u64 *)&at->stamp = CHANGING;
    if (at->place && at->pid == (u32)prev->pid)
        leave(at, prev, stamp, interval, cpu);
    else if (prev->pid && stamp)
        leave_unseen(at, prev, stamp, interval, cpu);
    if (prev->pid && can_run(prev))
        stamp_waiting(prev->pid, now);
    enter(at, next, node, id, interval, now);
    if (at->place)
        end_wait(at->pid, at->place - 1, now);
    return 0;
}

SEC("tp_btf/sched_wakeup")
int cpu_wakeup(u64 *ctx)
{
    stamp_waiting(((struct task_struct *)ctx[0])->pid, ktime());
    return 0;
}

SEC("tp_btf/sched_wakeup_new")
int cpu_new(u64 *ctx)
{
    stamp_waiting(((struct task_struct *)ctx[0])->pid, ktime());
    return 0;
}

/* A task, or all of a process, is in another group from now on. */
SEC("tp_btf/cgroup_attach_task")
int cpu_move(u64 *ctx)
{
    struct task_struct *task = (void *)ctx[2];
    struct kernfs_node *node = node_of(task);
    u32 zero = 0, tgid = task->tgid, place;
    u64 id = id_of(node);
    struct all_moves *all = map_lookup(&moves, &zero);
    u64 *last = map_lookup(&moved, &zero);
    struct move *move;
    if (!all || !last)
        return 0;
    tell_group_path(address_of(node), id);
    place = place_of(node, id);
    move = &all->move[tgid & (MOVES - 1)];
    move->tgid = 0;
    move->pid = task->pid;
    move->all = (u8)ctx[3];
    move->place = place;
    move->runtime = runtime_of(task);
    move->when = ktime();
    move->tgid = tgid;
    *last = move->when;
    return 0;
}

/* A group is gone: nobody will enter it. Its last tasks may still run to their end. */
SEC("tp_btf/cgroup_rmdir")
int cpu_gone(u64 *ctx)
{
    struct cgroup___life *group = (void *)ctx[0];
    struct cgroup_root *root = NULL;
    struct kernfs_node *node = NULL;
    u32 hierarchy = 0, place;
    u64 id;
    FIELD(root, group->root);
    FIELD(hierarchy, root->hierarchy_id);
    /* Each has numbers of its own. */
    if (hierarchy != group_hierarchy)
        return 0;
    FIELD(node, group->kn);
    id = id_of(node);
    place = home_of(id);
    /* Two processors may have made a place each. */
    for (int i = 0; i < PROBES; i++) {
        leave_place(place, id);
        place = (place + 1) & (GROUPS - 1);
    }
    return 0;
}

/* Whoever runs on a processor while the reader reads the list of tasks. */
SEC("iter/task")
int cpu_first(u64 *ctx)
{
    struct task_struct *task = (void *)ctx[1];
    struct task_struct___sched *sched = (void *)task;
    struct kernfs_node *node;
    struct running *first;
    u32 cpu;
    if (!task || !task->pid || !sched->on_cpu)
        return 0;
    if (HAS(((struct task_struct___cpu *)0)->cpu))
        cpu = ((struct task_struct___cpu *)task)->cpu;
    else
        cpu = sched->thread_info.cpu;
    first = map_lookup(&firsts, &cpu);
    if (!first)
        return 0;
    /* The interval before the first. */
    node = node_of(task);
    enter(first, task, node, id_of(node), 0, ktime());
    return 0;
}

char gpl[] SEC("license") = "GPL";
