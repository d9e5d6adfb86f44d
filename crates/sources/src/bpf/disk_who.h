/*
 * Who asked for an I/O, and of which file: only with events.
 */
#pragma once
#include "disk_slots.h"

struct direct {
    u32 pid;
    u64 file;
    u64 device; /* the block device of its file system */
};
MAP(directs, ARRAY, u32, struct direct, TOLD);

/* Direct I/O on a file: its pages are the program's, so the file is remembered for the task
 * while it submits. */
SEC("tp_btf/iomap_dio_rw_begin")
int disk_direct(u64 *ctx)
{
    struct kiocb *call = (void *)ctx[0];
    struct inode *inode = call->ki_filp->f_inode;
    u32 pid = current_task()->pid, place = pid & (TOLD - 1);
    struct direct *direct = map_lookup(&directs, &place);
    if (!direct)
        return 0;
    direct->file = tell_file(inode);
    direct->device = (u64)inode->i_sb->s_bdev;
    direct->pid = pid;
    return 0;
}

INLINE u64 file_of(struct bio *bio, struct task_struct *task)
{
    struct page *page;
    u64 mapping;
    u32 pid = task->pid, place = pid & (TOLD - 1);
    struct direct *direct;
    if (!bio || !bio->bi_io_vec)
        return 0;
    page = bio->bi_io_vec->bv_page;
    if (!page || read_kernel(&mapping, sizeof(mapping), &page->mapping))
        return 0;
    /* The lowest bits tell pages of programs apart. */
    if (mapping && !(mapping & 3)) {
        struct inode *inode = page->mapping->host;
        /* The pages of a block device are the file system's own. */
        if (inode && inode->i_sb->s_bdev == bio->bi_bdev)
            return tell_file(inode);
        return 0;
    }
    direct = map_lookup(&directs, &place);
    if (direct && direct->pid == pid && direct->device == (u64)bio->bi_bdev)
        return direct->file;
    return 0;
}

/* Pointers are read, not copied: each I/O has to wait for this. */
INLINE void know(struct slot *slot, struct bio *bio, struct task_struct *task)
{
    struct task_struct *leader = task->group_leader;
    struct kernfs_node *node;
    HERE(leader);
    slot->tgid = task->tgid;
    tell_leader(leader, slot->tgid, start_read(leader));
    if (bio && bio->bi_blkg) {
        node = bio->bi_blkg->blkcg->css.cgroup->kn;
        HERE(node);
        slot->group = tell_node(node, node->id);
    } else {
        slot->group = tell_group(group_of(task));
    }
    slot->file = file_of(bio, task);
}

/* In the task that submitted it; later it may be a worker of the kernel. */
SEC("tp_btf/block_io_start")
int disk_start(u64 *ctx)
{
    struct request *rq = (void *)ctx[0];
    struct bio *bio = rq->bio;
    struct task_struct *task = current_task();
    struct slot *slot;
    HERE(bio);
    if (op_of(rq->cmd_flags) == OPS)
        return 0;
    slot = own_slot(rq);
    if (!slot)
        return 0;
    /* What a request before it left, that was never completed. */
    forget(slot);
    know(slot, bio, task);
    return 0;
}
