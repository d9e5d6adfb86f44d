/*
 * Which file a descriptor or a name stands for, and how its path is told.
 *
 * A descriptor is followed through the tables of its task by copying: what is found may go
 * away meanwhile, and then the copy fails or is of another file, but nothing breaks.
 */
#pragma once
#include "who.h"

struct path {
    void *dentry;
} KERNEL;
struct file {
    struct inode *f_inode;
    struct path f_path;
} KERNEL;
/* Its first two fields, copied at once: they have been these since there are such tables. */
struct fdtable {
    u32 max_fds;
    void **fd;
};
struct files_struct {
    struct fdtable *fdt;
} KERNEL;
struct fs_struct {
    struct path pwd;
} KERNEL;
struct thread_info {
    u32 status;
} KERNEL;
struct task_struct___file {
    struct thread_info thread_info;
    struct files_struct *files;
    struct fs_struct *fs;
} KERNEL;
struct inode___file {
    u16 i_mode;
    struct super_block *i_sb;
} KERNEL;
struct super_block___file {
    u32 s_dev;
    u64 s_flags;
    u64 s_magic;
    void *s_bdev;
} KERNEL;

static long (*read_user)(void *to, u32 size, const void *from) = (void *)112;
static long (*read_user_text)(void *to, u32 size, const void *from) = (void *)114;

/* Of a name that a program gives. */
#define GIVEN_ROOM 512

/* A file: the place of its file system, a number that is its own, and where its name is. */
struct named {
    u64 id;
    u64 dentry;
    u32 device;
    u32 fs;
    u32 length; /* of the name it was given by, in `scratch`; 0: it has a descriptor */
    u32 op;
};

/* The open file behind descriptor `fd` of this task; 0: there is none. */
ONCE u64 file_at(u32 fd)
{
    struct task_struct *task = current_task();
    struct files_struct *files = NULL;
    struct fdtable *table = NULL;
    struct fdtable now = {};
    u64 file = 0;
    FIELD(files, ((struct task_struct___file *)task)->files);
    FIELD(table, files->fdt);
    FIELD(now, *table);
    if (fd >= now.max_fds)
        return 0;
    FIELD(file, now.fd[fd]);
    return file;
}

/* A number for a directory entry: another one when it gets another name. */
ONCE u64 number_of(u64 inode, u64 dentry, u32 device)
{
    u64 name = 0;
    FIELD(name, ((struct dentry *)dentry)->d_name.hash_len);
    return mix(mix(inode, name), device) | 1;
}

/* ---- file systems ---- */

#define FILESYSTEMS 256
#define OPS 16
/* Places that are no file system: for those that found no place or no rows, and for files that
 * are known by a name only. */
#define OTHER_FS 0
#define BY_NAME 1
#define FIRST_FS 2
#define NO_FS FILESYSTEMS

struct filesystem {
    u64 key; /* device number and 1 */
    u32 rows[OPS]; /* first row and 1 */
};
struct all_filesystems {
    struct filesystem filesystem[FILESYSTEMS];
};
MAP(filesystems, ARRAY, u32, struct all_filesystems, 1);

/* Whether files there are files: on a block device, in memory, on another host, or those of
 * such a file system seen through another. Not /proc, /sys and their like, nor what the
 * kernel mounts for itself (pipes, memfd). */
ONCE int holds_files(u64 block)
{
    struct super_block___file *sb = (void *)block;
    u64 flags = 0, magic = 0;
    void *device = NULL;
    FIELD(flags, sb->s_flags);
    if (flags >> 22 & 1)
        return 0;
    FIELD(device, sb->s_bdev);
    if (device)
        return 1;
    FIELD(magic, sb->s_magic);
    switch (magic) {
    case 0x01021994: /* tmpfs */
    case 0x858458f6: /* ramfs */
    case 0x794c7630: /* overlay */
    case 0x9123683e: /* btrfs */
    case 0xca451a4e: /* bcachefs */
    case 0x2fc12fc1: /* ZFS */
    case 0x65735546: /* FUSE, virtiofs */
    case 0x01021997: /* 9p */
    case 0x6969: /* NFS */
    case 0xfe534d42: /* SMB */
    case 0xff534d42: /* CIFS */
    case 0x00c36400: /* Ceph */
        return 1;
    }
    return 0;
}

/* The place of a file system, which is made if it is new; NO_FS: not one that holds files. */
ONCE u32 filesystem_of(u64 block, u32 device)
{
    u64 key = (u64)device + 1, was;
    u32 place = 0, zero = 0;
    struct all_filesystems *all = map_lookup(&filesystems, &zero);
    if (!all)
        return NO_FS;
#pragma nounroll
    for (u32 i = 0; i < 8; i++) {
        place = (((device * 2654435761u) >> 24) + i) & (FILESYSTEMS - 1);
        place |= FIRST_FS;
        was = all->filesystem[place].key;
        if (!was) {
            if (!holds_files(block))
                return NO_FS;
            was = __sync_val_compare_and_swap(&all->filesystem[place & 255].key, 0, key);
            if (!was)
                return place;
        }
        /* Another processor may have met it at the same moment. */
        if (was == key)
            return place;
    }
    return holds_files(block) ? OTHER_FS : NO_FS;
}

/* Which file an open file is; whether it is a regular one or a directory of a file system. */
ONCE int is_file(u64 file, struct named *named)
{
    struct file *f = (void *)file;
    struct super_block___file *sb = NULL;
    u64 inode = 0;
    u16 mode = 0;
    if (!file || !named)
        return 0;
    FIELD(inode, f->f_inode);
    FIELD(mode, ((struct inode___file *)inode)->i_mode);
    mode &= 0170000;
    if (mode != 0100000 && mode != 0040000)
        return 0;
    FIELD(sb, ((struct inode___file *)inode)->i_sb);
    named->device = 0;
    FIELD(named->device, sb->s_dev);
    named->fs = filesystem_of((u64)sb, named->device);
    if (named->fs == NO_FS)
        return 0;
    named->dentry = 0;
    FIELD(named->dentry, f->f_path.dentry);
    named->id = number_of(inode, named->dentry, named->device);
    named->length = 0;
    return 1;
}

/* ---- names and paths ---- */

/* A number for the name of `length` bytes in `scratch`. */
ONCE u64 hash_name(u32 length)
{
    u32 zero = 0;
    u64 hash = length;
    struct path_record *record = map_lookup(&scratch, &zero);
    if (!record || length > GIVEN_ROOM)
        return 0;
    /* Words are taken whole: nothing of a longer name before may follow. */
    *(u64 *)&record->text[length] = 0;
#pragma nounroll
    for (u32 i = 0; i < GIVEN_ROOM; i += 8) {
        if (i >= length)
            break;
        hash = mix(hash, *(u64 *)&record->text[i]);
    }
    return hash;
}

/* The file that a program names, from the directory `from` or its working one if that is
 * below 0. The kernel has just read the name, so it is in memory. */
ONCE int is_name(u64 name, int from, struct named *named)
{
    u32 zero = 0;
    long length;
    struct task_struct *task = current_task();
    struct path_record *record = map_lookup(&scratch, &zero);
    if (!record || !named)
        return 0;
    named->fs = BY_NAME;
    named->device = 0;
    named->dentry = 0;
    named->length = 0;
    named->id = 1;
    length = read_user_text(record->text, GIVEN_ROOM, (void *)name);
    if (length <= 0 || length > GIVEN_ROOM)
        return 1;
    named->length = length;
    named->id = hash_name(length);
    if (record->text[0] != '/') {
        if (from >= 0) {
            struct file *f = (void *)file_at(from);
            FIELD(named->dentry, f->f_path.dentry);
        } else {
            struct fs_struct *fs = NULL;
            FIELD(fs, ((struct task_struct___file *)task)->fs);
            FIELD(named->dentry, fs->pwd.dentry);
        }
        named->id = number_of(named->id, named->dentry, 0);
        if (named->dentry) {
            struct super_block___file *sb = NULL;
            FIELD(sb, ((struct dentry *)named->dentry)->d_sb);
            FIELD(named->device, sb->s_dev);
        }
    }
    named->id |= 1;
    return 1;
}

/* Tells the path of a file, if that was not told. */
ONCE int tell_path(struct named *named)
{
    u32 zero = 0, place, at;
    u64 *told;
    struct path_record *record = map_lookup(&scratch, &zero);
    if (!record || !named)
        return 0;
    place = (u32)(named->id >> 17) & (TOLD - 1);
    told = map_lookup(&told_files, &place);
    if (!told || *told == named->id)
        return 0;
    at = named->length;
    if (!at && !named->dentry)
        return 0;
    record->record = FILE;
    record->flags = at ? IS_GIVEN : 0;
    record->id = named->id;
    record->device = named->device;
    if (named->dentry)
        at = names_of(named->dentry, at & 1023);
    if (send_path(record, at))
        *told = named->id;
    return 0;
}
