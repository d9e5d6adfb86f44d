/*
 * What the programs share: types, the kernel's helpers by number, maps, the histogram grid.
 *
 * No generated vmlinux.h: each program declares the few fields it reads; the loader finds
 * where they are on the running kernel (CO-RE).
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
/* A struct of the kernel: the places of its fields are found when loading. */
#define KERNEL __attribute__((preserve_access_index))
#define NULL ((void *)0)
/* A function that the kernel checks once, not at each call: loading is several times faster. */
#define ONCE __attribute__((noinline))

/* Helpers: numbers as in the kernel's include/uapi/linux/bpf.h. */
static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*map_delete)(void *map, const void *key) = (void *)3;
static u64 (*ktime)(void) = (void *)5;
static u32 (*cpu_number)(void) = (void *)8;
static long (*map_push)(void *map, const void *value, u64 flags) = (void *)87;
static long (*map_pop)(void *map, void *value) = (void *)88;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static long (*read_kernel_text)(void *to, u32 size, const void *from) = (void *)115;
static long (*ring_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;
static void *(*ring_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*ring_submit)(void *data, u64 flags) = (void *)132;
static u64 (*ring_query)(void *ring, u64 what) = (void *)134;
static struct task_struct *(*current_task)(void) = (void *)158;

/* Kinds of maps. */
#define HASH 1
#define ARRAY 2
#define PERCPU_ARRAY 6
#define LRU_HASH 9
#define QUEUE_MAP 22
#define RING 27

#define UINT(name, value) int(*name)[value]
#define TYPE(name, value) typeof(value) *name

/* A map of `count` values; the loader may make it larger. */
#define MAP(name, kind, key_type, value_type, count)                                              \
    struct {                                                                                      \
        UINT(type, kind);                                                                         \
        UINT(max_entries, count);                                                                 \
        TYPE(key, key_type);                                                                      \
        TYPE(value, value_type);                                                                  \
    } name SEC(".maps")

/* A map of up to `count` values, of which the one that came first is taken first. */
#define FIFO(name, value_type, count)                                                             \
    struct {                                                                                      \
        UINT(type, QUEUE_MAP);                                                                    \
        UINT(max_entries, count);                                                                 \
        UINT(value_size, sizeof(value_type));                                                     \
    } name SEC(".maps")

/*
 * Keeps the compiler from reading the pointer later, where many paths meet. The kernel checks
 * each reading of a pointer from an argument of the hook by a search through all names of its
 * types (1.5 ms on Linux 6.18), once for every path that leads there.
 */
#define HERE(pointer) asm volatile("" : "+r"(pointer))

/* A number that is below `limit` (a power of two), in a form in which the kernel sees that. */
#define WITHIN(number, limit)                                                                     \
    ({                                                                                            \
        u32 it = number;                                                                          \
        HERE(it);                                                                                 \
        it & ((limit) - 1);                                                                       \
    })

/* The lower half of a pointer, which may be calculated with. */
#define LOWER_HALF(pointer)                                                                       \
    ({                                                                                            \
        u32 half;                                                                                 \
        asm volatile("%0 = %1" : "=w"(half) : "w"((u32)(u64)(pointer)));                          \
        half;                                                                                     \
    })

/* Whether the running kernel has the field. */
#define HAS(field) __builtin_preserve_field_info(field, 2)
/* Its bytes there. */
#define WIDTH(field) __builtin_preserve_field_info(field, 1)

/*
 * Cells are written by one program of one lane only: a lane is a processor, or several where
 * there are many (then additions are atomic). A program cannot interrupt itself on its
 * processor (the kernel leaves the inner one out and counts it as missed).
 */
const volatile u32 lanes = 1;
const volatile u32 lane_mask = 0;
const volatile bool lanes_shared = 1;

#define ADD(place, amount)                                                                        \
    do {                                                                                          \
        if (lanes_shared)                                                                         \
            __sync_fetch_and_add(&(place), amount);                                               \
        else                                                                                      \
            (place) += (amount);                                                                  \
    } while (0)

/* Cells of a histogram; the last takes all that is larger. 2,048 end at 2^37. */
#define CELLS 2048

/*
 * Of a number whose bits below the highest are all set, where the highest is: there is no
 * instruction for that. Multiplied by a constant of which each five bits in a row are others (a
 * de Bruijn sequence), each such number has five others at the top.
 */
#define EACH_FIVE 0x07c4acddu
/* In a section named so that it is in none of constants that may be joined: those are not loaded. */
static const u8 highest[32] SEC(".rodata") = {
    0, 9, 1, 10, 13, 21, 2, 29, 11, 14, 16, 18, 22, 25, 3, 30,
    8, 12, 20, 28, 15, 17, 24, 7, 19, 27, 23, 6, 26, 5, 4, 31,
};

/*
 * The grid of crates/run/src/grid.rs: below 128 exact, then 64 steps a power of two. Without
 * branches, and not as a function of its own: where the kernel guards its returns (spectre, SRSO),
 * to call one takes longer than this.
 */
INLINE u32 grid(u64 value)
{
    const u64 most = (1ULL << 37) - 1;
    u32 bits, shift, cell;
    if (value > most)
        value = most;
    bits = (u32)(value >> 6) | 1;
    bits |= bits >> 1;
    bits |= bits >> 2;
    bits |= bits >> 4;
    bits |= bits >> 8;
    bits |= bits >> 16;
    shift = highest[bits * EACH_FIVE >> 27];
    cell = (shift << 6) + (u32)(value >> shift);
    /* The kernel is to see the bound, whatever the compiler knows. */
    HERE(cell);
    return cell & (CELLS - 1);
}
