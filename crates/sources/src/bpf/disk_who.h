/*
 * Who asked for an I/O, and of which file: only with events.
 */
#pragma once
#include "disk_slots.h"
#include "who_exec.h"

#define METADATA (1u << 12) /* REQ_META */

struct direct {
    u32 pid;
    u64 file;
    u64 device; /* the block device of its file system */
    u64 call;
};
MAP(directs, ARRAY, u32, struct direct, TOLD);

/* Whether the kernel tells when a task has submitted all of its direct I/O; set when what sees that
 * is attached. */
MAP(directs_end, ARRAY, u32, u32, 1);

INLINE struct direct *direct_of(u32 pid)
{
    u32 place = pid & (TOLD - 1);
    return map_lookup(&directs, &place);
}

/* Direct I/O on a file: its pages are the program's, so the file is remembered for the task
 * while it submits. */
SEC("tp_btf/iomap_dio_rw_begin")
int disk_direct(u64 *ctx)
{
    struct kiocb *call = (void *)ctx[0];
    struct inode *inode = call->ki_filp->f_inode;
    u32 pid = current_task()->pid;
    struct direct *direct = direct_of(pid);
    if (!direct)
        return 0;
    direct->file = tell_file(inode);
    direct->device = (u64)inode->i_sb->s_bdev;
    direct->call = ctx[0];
    direct->pid = pid;
    return 0;
}

/* All of it is submitted, and the task does not wait for the end. */
SEC("tp_btf/iomap_dio_rw_queued")
int disk_direct_queued(u64 *ctx)
{
    u32 pid = current_task()->pid;
    struct direct *direct = direct_of(pid);
    if (direct && direct->pid == pid)
        direct->pid = 0;
    return 0;
}

/* It is over; where the task waited for that, only now has it submitted all. */
SEC("tp_btf/iomap_dio_complete")
int disk_direct_end(u64 *ctx)
{
    struct direct *direct = direct_of(current_task()->pid);
    if (direct && direct->call == ctx[0])
        direct->pid = 0;
    return 0;
}

/* The file to which pages of the page cache belong, by the first page of their folio: the others
 * know only where that one is. By address, so all is copied. */
ONCE u64 file_of_folio(u64 address, u64 block)
{
    u64 mapping = 0, inode = 0, sb = 0, device = 0, number = 0, node = 0;
    u32 generation = 0, s_dev = 0;
    FIELD(mapping, ((struct page *)address)->mapping);
    /* The lowest bits tell pages of programs apart. */
    if (!mapping || mapping & 3)
        return 0;
    FIELD(inode, ((struct address_space *)mapping)->host);
    FIELD(sb, ((struct inode *)inode)->i_sb);
    FIELD(device, ((struct super_block *)sb)->s_bdev);
    /* The pages of a block device are the file system's own. */
    if (!inode || device != block)
        return 0;
    FIELD(s_dev, ((struct super_block *)sb)->s_dev);
    FIELD(number, ((struct inode *)inode)->i_ino);
    FIELD(generation, ((struct inode *)inode)->i_generation);
    FIELD(node, ((struct inode *)inode)->i_dentry.first);
    return tell_inode(number, generation, s_dev, node);
}

INLINE u64 file_of(struct bio *bio, struct task_struct *task)
{
    struct page *page;
    u64 mapping, head = 0;
    u32 pid = task->pid, zero = 0, *end;
    struct direct *direct;
    if (!bio || !bio->bi_io_vec)
        return 0;
    direct = direct_of(pid);
    if (direct && (direct->pid != pid || direct->device != (u64)bio->bi_bdev))
        direct = NULL;
    /* What the file system reads meanwhile to find the data is its own. The buffer of direct I/O
     * may be of another file's pages, so those do not count. */
    end = direct ? map_lookup(&directs_end, &zero) : NULL;
    if (direct && end && *end)
        return bio->bi_opf & METADATA ? 0 : direct->file;
    page = bio->bi_io_vec->bv_page;
    if (!page || FIELD(head, page->compound_head))
        return 0;
    if (head & 1) {
        u64 file = file_of_folio(head - 1, address_of(bio->bi_bdev));
        return file || !direct ? file : direct->file;
    }
    if (FIELD(mapping, page->mapping))
        return 0;
    if (mapping && !(mapping & 3)) {
        struct inode *inode = page->mapping->host;
        if (inode && inode->i_sb->s_bdev == bio->bi_bdev)
            return tell_file(inode);
        return 0;
    }
    return direct ? direct->file : 0;
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
