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

/* The file of the page cache to which a page belongs. The first page of a folio knows it; the others
 * know where that one is. By address: the kernel checks that once and quickly (see HERE), and what
 * goes through the cache has not to wait for it. */
ONCE u64 file_of_page(u64 address, u64 block)
{
    u64 head = 0, mapping = 0, inode = 0, sb = 0, device = 0, number = 0, node = 0;
    u32 generation = 0, s_dev = 0;
    FIELD(head, ((struct page *)address)->compound_head);
    if (head & 1)
        address = head - 1;
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
    /* As `tell_file_at`, which takes eight bytes more: with those Linux 6.1 refuses `disk_bio_queue`, as
     * all functions on the way may have 512 together. */
    FIELD(s_dev, ((struct super_block *)sb)->s_dev);
    FIELD(number, ((struct inode *)inode)->i_ino);
    FIELD(generation, ((struct inode *)inode)->i_generation);
    FIELD(node, ((struct inode *)inode)->i_dentry.first);
    return tell_inode(number, generation, s_dev, node);
}

ONCE u64 file_of_bio(u64 address, u32 flags, u32 pid)
{
    struct bio *bio = (void *)address;
    u32 zero = 0, *end;
    u64 block = 0, vec = 0, page = 0, file;
    struct direct *direct = direct_of(pid);
    FIELD(vec, bio->bi_io_vec);
    FIELD(block, bio->bi_bdev);
    if (!vec)
        return 0;
    if (direct && (direct->pid != pid || direct->device != block))
        direct = NULL;
    /* What the file system reads meanwhile to find the data is its own. The buffer of direct I/O
     * may be of another file's pages, so those do not count. */
    end = direct ? map_lookup(&directs_end, &zero) : NULL;
    if (direct && end && *end)
        return flags & METADATA ? 0 : direct->file;
    FIELD(page, ((struct bio_vec *)vec)->bv_page);
    file = page ? file_of_page(page, block) : 0;
    return file || !direct ? file : direct->file;
}

/* Whether the data are in memory of a program, or nobody's: of no file's cache. Pointers are read, not
 * copied: all direct I/O goes by here, and to copy the four takes as long as all else that is done at
 * its start. What is in the other pages of a folio only its first one knows. */
INLINE bool is_of_no_cache(struct bio *bio)
{
    struct bio_vec *vec = bio->bi_io_vec;
    struct page *page = vec->bv_page;
    struct address_space *mapping = page->mapping;
    /* To the kernel both are pointers. */
    return !(LOWER_HALF(page->compound_head) & 1) && (!mapping || LOWER_HALF(mapping) & 3);
}

/* The file whose data a bio moves, in the task that submits it; 0: none, or not known. */
INLINE u64 file_of(struct bio *bio, u32 flags, u32 pid)
{
    struct direct *direct = direct_of(pid);
    if ((!direct || direct->pid != pid) && is_of_no_cache(bio))
        return 0;
    return file_of_bio(address_of(bio), flags, pid);
}

/* Pointers are read, not copied: each I/O has to wait for this. */
INLINE void know(struct asker *who, struct bio *bio, u32 flags, struct task_struct *task,
                 struct task_struct *leader)
{
    struct kernfs_node *node;
    who->tgid = task->tgid;
    tell_leader(leader, who->tgid, start_read(leader));
    if (bio && bio->bi_blkg) {
        node = bio->bi_blkg->blkcg->css.cgroup->kn;
        HERE(node);
        who->group = tell_node(node, node->id);
    } else {
        who->group = tell_group(group_of(task));
    }
    who->file = bio ? file_of(bio, flags, task->pid) : 0;
}

/* In the task that submitted it; later it may be a worker of the kernel. */
SEC("tp_btf/block_io_start")
int disk_start(u64 *ctx)
{
    struct request *rq = (void *)ctx[0];
    struct bio *bio = rq->bio;
    struct task_struct *task = current_task(), *leader = task->group_leader;
    struct slot *slot;
    bool abandoned;
    HERE(bio);
    HERE(leader);
    if (op_of(rq->cmd_flags) == OPS)
        return 0;
    slot = own_slot(rq);
    if (!slot)
        return 0;
    /* What a request before it left. If that was never seen to complete, `disk_issue` counts it:
     * what counts is checked there anyway, and checking takes long. */
    abandoned = slot->issued || slot->marks & ABANDONED;
    forget(slot);
    if (abandoned)
        slot->marks = ABANDONED;
    know(&slot->who, bio, rq->cmd_flags, task, leader);
    return 0;
}

/*
 * Before Linux 6.5 nothing tells of a request in the task that asks for it, but of the bio that one is
 * made for. Who asked is kept by that bio's address until the request is issued. A place that two bios
 * want is the later one's: of the earlier nobody is known. It is small, since a bio is not long in it.
 */
MAP(askers, ARRAY, u32, struct asker, 1);
/* 0: requests are told of themselves. */
const volatile u32 asker_mask = 0;
/* Before Linux 5.11 the queue came first. */
const volatile u32 bio_argument = 0;

/* Bios lie 64 bytes apart or more. */
INLINE struct asker *asker_at(u32 mark)
{
    u32 place = (mark >> 6 ^ mark >> 20) & asker_mask;
    return map_lookup(&askers, &place);
}

SEC("tp_btf/block_getrq")
int disk_getrq(u64 *ctx)
{
    struct bio *bio = bio_argument ? (void *)ctx[1] : (void *)ctx[0];
    struct task_struct *task = current_task(), *leader = task->group_leader;
    struct asker *asker;
    HERE(leader);
    if (!bio || op_of(bio->bi_opf) == OPS)
        return 0;
    asker = asker_at(mark(bio));
    if (!asker)
        return 0;
    /* Nobody takes what is half written. */
    *(volatile u32 *)&asker->mark = 0;
    know(asker, bio, bio->bi_opf, task, leader);
    *(volatile u32 *)&asker->mark = mark(bio);
    return 0;
}

/* Who asked for the bio of that mark, once; whether that is known. */
ONCE int take_asker(struct asker *who, u32 mark)
{
    struct asker *asker = asker_at(mark), found;
    if (!who || !asker || asker->mark != mark)
        return 0;
    found = *asker;
    if (__sync_val_compare_and_swap(&asker->mark, mark, 0) != mark)
        return 0;
    who->tgid = found.tgid;
    who->group = found.group;
    who->file = found.file;
    return 1;
}

/* Who asked for a request: for its first bio, or for its last where another was merged in front. */
INLINE void know_by_bio(struct asker *who, struct request *rq)
{
    struct bio *first = NULL, *last = NULL;
    read_kernel(&first, sizeof(first), &rq->bio);
    read_kernel(&last, sizeof(last), &rq->biotail);
    if (!take_asker(who, mark(first)) && last != first)
        take_asker(who, mark(last));
}
