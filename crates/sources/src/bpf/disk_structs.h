/*
 * What is read of the kernel's structs of block I/O.
 */
#pragma once
#include "who.h"

/* `REQ_OP_WRITE_ZEROES`. */
#define WRITE_ZEROES 9

struct gendisk {
    int major;
    int first_minor;
    char disk_name[32];
    struct request_queue *queue;
} KERNEL;
struct request_queue {
    const void *mq_ops;
    struct gendisk *disk;
} KERNEL;
struct block_device {
    struct gendisk *bd_disk;
    u64 bd_start_sect;
} KERNEL;
struct blkcg {
    struct cgroup_subsys_state css;
} KERNEL;
struct blkcg_gq {
    struct blkcg *blkcg;
} KERNEL;
struct address_space {
    struct inode *host;
} KERNEL;
struct page {
    struct address_space *mapping;
    u64 compound_head; /* of a page that is not the first of its folio: that one's address and 1 */
} KERNEL;
struct bio_vec {
    struct page *bv_page;
} KERNEL;
struct bvec_iter {
    u64 bi_sector;
    u32 bi_size;
} KERNEL;
struct bio {
    struct block_device *bi_bdev;
    u32 bi_opf;
    u8 bi_status;
    struct bvec_iter bi_iter;
    struct blkcg_gq *bi_blkg;
    struct bio_vec *bi_io_vec;
} KERNEL;
struct request {
    struct request_queue *q;
    u32 cmd_flags;
    u32 __data_len;
    u64 __sector;
    struct bio *bio;
    struct bio *biotail;
    u64 start_time_ns;
    void *end_io;
    void *end_io_data;
} KERNEL;
/* Before Linux 5.17. */
struct request___old {
    struct gendisk *rq_disk;
} KERNEL;
struct file {
    struct inode *f_inode;
} KERNEL;
struct kiocb {
    struct file *ki_filp;
} KERNEL;
