/*
 * What tests of programs share that are compiled for this machine: the kernel's helpers are functions
 * here. A test has its maps (`look`), its clock, and its checks.
 */
#pragma once
#include "kernel.h"

extern int printf(const char *format, ...);
extern int strcmp(const char *a, const char *b);
extern char *strncpy(char *to, const char *from, unsigned long room);
extern unsigned long strlen(const char *text);
extern void *memcpy(void *to, const void *from, unsigned long length);
extern void *calloc(unsigned long count, unsigned long size);

/* No kernel, and so no field of one. */
#define __builtin_preserve_field_info(field, what) 0

static void *look(void *map, const void *key);
static u64 clock(void);

static u32 processor(void)
{
    return 0;
}

static long copy(void *to, u32 size, const void *from)
{
    memcpy(to, from, size);
    return 0;
}

static long copy_text(void *to, u32 size, const void *from)
{
    if (!from)
        return -1;
    strncpy(to, from, size);
    return strlen(from) + 1;
}

static int failed;
#define IS(what, expected)                                                                        \
    do {                                                                                          \
        s64 is = (s64)(what), wanted = (s64)(expected);                                           \
        if (is != wanted) {                                                                       \
            printf("%s is %lld, not %lld\n", #what, is, wanted);                                  \
            failed = 1;                                                                           \
        }                                                                                         \
    } while (0)

struct check {
    const char *name;
    void (*run)(void);
};

/* Runs the check of that name, of a list that ends with one without; answers with the status of the
 * program. */
static int run(const struct check *checks, int count, char **words)
{
    map_lookup = look;
    ktime = clock;
    cpu_number = processor;
    read_kernel = copy;
    read_kernel_text = copy_text;
    for (; checks->name; checks++) {
        if (count > 1 && !strcmp(words[1], checks->name)) {
            checks->run();
            return failed;
        }
    }
    printf("there is no such check\n");
    return 1;
}
