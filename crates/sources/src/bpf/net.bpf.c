/*
 * Segments on their way through an interface: how large, of how many packets, in whose time.
 *
 * queue (before the queueing discipline) - start_xmit (handed to the driver); receive (from the
 * driver, after joining). A segment is counted where it passes, once an interface.
 */
#include "control.h"
#include "net_space.h"
#include "rows.h"
#include "who_exec.h"

/* ---- what is read of the kernel's structs ---- */

struct device {
    struct device *parent;
} KERNEL;
struct rtnl_link_ops {
    const char *kind;
} KERNEL;
struct net_device {
    u32 flags;
    u16 hard_header_len;
    int ifindex;
    struct possible_net nd_net;
    char name[16];
    u16 type;
    struct device dev;
    const struct rtnl_link_ops *rtnl_link_ops;
} KERNEL;
struct sk_buff {
    struct net_device *dev;
    u32 len;
    u16 mac_header;
    u32 end;
    unsigned char *head;
    unsigned char *data;
} KERNEL;
struct skb_shared_info {
    u16 gso_size;
    u16 gso_segs;
} KERNEL;

/* ---- what is kept ---- */

#define INTERFACES 256
#define CONTEXTS 3
/* Where a segment is counted. Each way has its program, so each row has one writer. */
enum way { RECEIVE, TRANSMIT, QUEUE, RETURNED, WAYS };
enum context { IN_PROCESS, IN_SOFTIRQ, IN_KSOFTIRQD };

/*
 * Cells of a row. Of a size: how many segments, and above them the bytes beyond the lower end
 * of the cell. Of a number of packets: how many segments; apart from them, their bytes, which
 * on a fast link are too many for half a cell.
 */
#define SIZES 1024
#define PACKETS 512

struct interface {
    u64 key; /* of its name, number and namespace; written once */
    u32 touched; /* interval in which it was last counted */
    u32 ready; /* the rest is there */
    u32 row[WAYS * CONTEXTS]; /* row and 1 */
    u32 index;
    u32 space; /* number of its namespace */
    u32 flags;
    u16 type;
    u16 hardware;
    char name[16];
    char kind[16];
} __attribute__((aligned(64)));

/* One value, so that one call reads them all. The last takes what there is no room for. */
struct all_interfaces {
    struct interface interface[INTERFACES + 1];
};

struct net_event {
    u32 record;
    u16 interface;
    u8 way;
    u8 context;
    u64 time;
    u32 size;
    u32 packets;
    u64 group;
    u32 tgid;
    u32 weight;
};

/* Half of the places, and half of the rows, are for interfaces of our own namespace only: those
 * of others, however many, leave them room. */
MAP(interfaces, ARRAY, u32, struct all_interfaces, 1);
/* Whether a processor is in a soft interrupt: each in a line of its own, since these change at each
 * soft interrupt of the machine, of whatever kind. */
struct softirq {
    u32 in;
} __attribute__((aligned(64)));
MAP(softirqs, ARRAY, u32, struct softirq, 1);

/* ---- whose time ---- */

/* Interrupts are held off in a soft interrupt and in all of what is counted below, so that a
 * processor is in one at most; what is counted is not moved to another meanwhile. */
INLINE int softirq(u32 in)
{
    u32 here = cpu_number();
    struct softirq *softirq = map_lookup(&softirqs, &here);
    if (softirq)
        softirq->in = in;
    return 0;
}

/* Not only of the network: a timer sends again, a tasklet sends what waited. */
SEC("tp_btf/softirq_entry")
int net_softirq_entry(u64 *ctx)
{
    return softirq(1);
}

SEC("tp_btf/softirq_exit")
int net_softirq_exit(u64 *ctx)
{
    return softirq(0);
}

/* In whose time a segment passes here. */
INLINE u32 context_here(void)
{
    const u32 kernel_thread = 0x00200000;
    u32 here = cpu_number();
    struct softirq *softirq = map_lookup(&softirqs, &here);
    struct task_struct *task;
    if (!softirq || !softirq->in)
        return IN_PROCESS;
    task = current_task();
    if (!(task->flags & kernel_thread))
        return IN_SOFTIRQ;
    return *(u64 *)task->comm == 0x71726974666f736bULL /* ksoftirq */ ? IN_KSOFTIRQD : IN_SOFTIRQ;
}

/* ---- interfaces ---- */

/* Learns what the interface is. It runs once for each. */
INLINE void learn(u32 place, struct net_device *dev)
{
    u32 zero = 0;
    struct all_interfaces *all = map_lookup(&interfaces, &zero);
    struct interface *interface;
    struct rtnl_link_ops *ops = NULL;
    struct device *parent = NULL;
    const char *kind = NULL;
    if (!all)
        return;
    interface = &all->interface[place & (INTERFACES - 1)];
    read_kernel_text(interface->name, sizeof(interface->name), dev->name);
    read_kernel(&interface->index, sizeof(u32), &dev->ifindex);
    read_kernel(&interface->flags, sizeof(u32), &dev->flags);
    read_kernel(&interface->type, sizeof(u16), &dev->type);
    interface->space = space_of(&dev->nd_net.net);
    read_kernel(&parent, sizeof(parent), &dev->dev.parent);
    interface->hardware = parent != NULL;
    read_kernel(&ops, sizeof(ops), &dev->rtnl_link_ops);
    if (ops) {
        read_kernel(&kind, sizeof(kind), &ops->kind);
        read_kernel_text(interface->kind, sizeof(interface->kind), kind);
    }
    /* Other processors, and the recorder, see it after the rest. */
    __sync_fetch_and_add(&interface->ready, 1);
}

/* Added to a place: the interface is new there. */
#define NEW 0x10000

/* 1 if the interface with that key has the place, NEW if it has got it now, or 0. */
ONCE u32 has_place(u64 key, u32 place)
{
    u32 zero = 0;
    u64 was;
    struct interface *interface;
    struct all_interfaces *all = map_lookup(&interfaces, &zero);
    if (!all)
        return 0;
    interface = &all->interface[place & (INTERFACES - 1)];
    if (interface->key)
        return interface->key == key;
    was = __sync_val_compare_and_swap(&interface->key, 0, key);
    return !was ? NEW : was == key;
}

/* The place of the interface with that key; where there is no room, that of all others. Those of
 * our namespace have the first half. */
ONCE u32 find(u64 key, u32 ours)
{
    u32 half = ours ? 0 : INTERFACES / 2;
    u32 first = (u32)(key >> 40);
#pragma nounroll
    for (int i = 0; i < 8; i++) {
        u32 place = half + ((first + i) & (INTERFACES / 2 - 1));
        u32 has = has_place(key, place);
        if (has)
            return place + (has & NEW);
    }
    return INTERFACES;
}

/* An interface is another one when it is renamed or moved. */
INLINE u64 key_of(struct net_device *dev, u32 space)
{
    u64 *name = (u64 *)dev->name;
    u64 key;
    key = ((u64)space << 32 | (u32)dev->ifindex) * 0x9e3779b97f4a7c15ULL;
    key = (key ^ key >> 29 ^ name[0]) * 0xbf58476d1ce4e5b9ULL;
    key = (key ^ key >> 32 ^ name[1]) * 0x94d049bb133111ebULL;
    return (key ^ key >> 31) | 1;
}

/* ---- counting ---- */

ONCE int tally(u32 place, u32 way, u32 context, u32 size, u32 packets)
{
    u32 zero = 0, kind = (way & 3) * CONTEXTS + (context < CONTEXTS ? context : 0);
    u32 cell, number, limit, now = interval_now();
    struct all_interfaces *all = map_lookup(&interfaces, &zero);
    struct interface *interface;
    struct row *row;
    if (!all || place > INTERFACES)
        return 0;
    interface = &all->interface[place];
    limit = place < INTERFACES / 2 ? all_rows : all_rows / 2;
    number = place < INTERFACES ? row_at(&interface->row[kind], WAYS * CONTEXTS, limit) : 0;
    if (!number) {
        /* The first rows are those of all others. */
        interface = &all->interface[INTERFACES];
        number = interface->row[kind] = kind + 1;
    }
    if (interface->touched != now)
        interface->touched = now;
    row = row_here(number);
    if (!row)
        return 0;
    cell = grid(size);
    if (cell > SIZES - 1)
        cell = SIZES - 1;
    /* The grid's steps above 128 are powers of two wide. */
    number = cell < 128 ? 0 : size & ((1u << ((cell >> 6) - 1)) - 1);
    if (cell == SIZES - 1)
        number = size - (127u << 14);
    ADD(row->cell[WITHIN(cell, SIZES)], 1 | (u64)number << 32);
    cell = grid(packets);
    if (cell > PACKETS - 1)
        cell = PACKETS - 1;
    cell = WITHIN(cell, PACKETS);
    ADD(row->cell[SIZES + cell], 1);
    ADD(row->cell[SIZES + PACKETS + cell], size);
    return 0;
}

ONCE int tell(u32 place, u32 way, u32 context, u32 size, u32 packets)
{
    u64 now;
    u32 weight;
    struct net_event *event;
    struct task_struct *task;
    u32 tgid = 0;
    u64 group = 0;
    if (!with_events)
        return 0;
    now = ktime();
    weight = chosen(now);
    if (!weight)
        return 0;
    if (context != IN_SOFTIRQ) {
        /* Who was interrupted has nothing to do with it. */
        task = current_task();
        tgid = tell_process(task);
        group = tell_group(group_of(task));
    }
    event = ring_reserve(&ring, sizeof(*event), 0);
    if (!event) {
        count_lost();
        return 0;
    }
    event->record = EVENT;
    event->interface = place;
    event->way = way;
    event->context = context;
    event->time = now;
    event->size = size;
    event->packets = packets;
    event->group = group;
    event->tgid = tgid;
    event->weight = weight;
    ring_submit(event, ring_flags(sizeof(*event)));
    return 0;
}

/* How many packets the segment becomes, or was joined from. */
INLINE u32 packets_of(struct sk_buff *skb)
{
    struct skb_shared_info *info = (void *)(skb->head + skb->end);
    u16 packets = 0, size = 0;
    read_kernel(&packets, sizeof(packets), &info->gso_segs);
    if (packets)
        return packets;
    read_kernel(&size, sizeof(size), &info->gso_size);
    /* A guest that hands over a large segment leaves the number to us. With its headers it may
     * come out one too large. */
    return size ? (skb->len + size - 1) / size : 1;
}

#define ETHERNET_HEADER 14
#define LOOPBACK 772

INLINE int see(struct sk_buff *skb, struct net_device *dev, u32 way)
{
    u32 packets = packets_of(skb), in = context_here();
    u32 size = skb->len, header = 0;
    u32 place, space = space_of(&dev->nd_net.net);
    u16 type = dev->type;
    place = find(key_of(dev, space), space == own_space);
    if (place & NEW) {
        place &= INTERFACES - 1;
        learn(place, dev);
    }
    if (way == RECEIVE) {
        /* The link's header is behind already. */
        header = (u32)(skb->data - skb->head) - skb->mac_header;
        if (type != LOOPBACK && header <= dev->hard_header_len)
            size += header;
    } else if (type == LOOPBACK && size >= ETHERNET_HEADER) {
        /* Its counters leave out a header that goes nowhere. */
        size -= ETHERNET_HEADER;
    }
    tally(place, way, in, size, packets);
    if (with_events && way != RETURNED)
        tell(place, way, in, size, packets);
    return 0;
}

SEC("tp_btf/net_dev_queue")
int net_queue(u64 *ctx)
{
    struct sk_buff *skb = (void *)ctx[0];
    struct net_device *dev = skb->dev;
    HERE(dev);
    return dev ? see(skb, dev, QUEUE) : 0;
}

SEC("tp_btf/net_dev_start_xmit")
int net_transmit(u64 *ctx)
{
    return see((void *)ctx[0], (void *)ctx[1], TRANSMIT);
}

/* The driver had no room and gave it back: it will be handed over again. */
SEC("tp_btf/net_dev_xmit")
int net_returned(u64 *ctx)
{
    const int busy = 0x10;
    if ((int)ctx[1] != busy)
        return 0;
    return see((void *)ctx[0], (void *)ctx[2], RETURNED);
}

SEC("tp_btf/netif_receive_skb")
int net_receive(u64 *ctx)
{
    struct sk_buff *skb = (void *)ctx[0];
    struct net_device *dev = skb->dev;
    HERE(dev);
    return dev ? see(skb, dev, RECEIVE) : 0;
}

char gpl[] SEC("license") = "GPL";
