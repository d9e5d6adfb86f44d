/*
 * Connections of TCP: who has them, how long connecting took, round-trip times, changes of state.
 *
 * The kernel's socket counts a connection's bytes and segments itself. They are read when the
 * connection ends, and of those that last before each sample by an iterator (tcp_each). So
 * nothing is done at each segment but to count its round-trip time.
 */
#include "control.h"
#include "rows.h"
#include "who.h"

/* ---- what is read of the kernel's structs ---- */

struct ns_common {
    u32 inum;
} KERNEL;
struct net {
    struct ns_common ns;
} KERNEL;
struct possible_net {
    struct net *net;
} KERNEL;
struct in6_addr {
    u8 bytes[16];
};
struct sock_common {
    u32 skc_daddr;
    u16 skc_dport;
    u16 skc_family;
    volatile unsigned char skc_state;
    struct possible_net skc_net;
    struct in6_addr skc_v6_daddr;
    unsigned long skc_flags;
} KERNEL;
struct sock {
    struct sock_common __sk_common;
    u16 sk_protocol;
} KERNEL;
struct inet_sock {
    u16 inet_sport;
} KERNEL;
struct tcp_sock {
    u32 segs_out;
    u32 segs_in;
    u32 total_retrans;
    u32 write_seq;
    u32 snd_una;
    u32 srtt_us;
    u64 bytes_acked;
    u64 bytes_received;
} KERNEL;

/* A TCP socket as such; NULL if it is none, or only what is left of one. */
static struct tcp_sock *(*tcp_of)(void *sk) = (void *)137;

#define TCP 6
#define INET 2
/* The kernel's names of the states. */
enum state {
    ESTABLISHED = 1,
    SYN_SENT,
    SYN_RECV,
    FIN_WAIT1,
    FIN_WAIT2,
    TIME_WAIT,
    CLOSE,
    CLOSE_WAIT,
    LAST_ACK,
    LISTEN,
    CLOSING
};

/* ---- what is kept ---- */

#define CHUNK 64
#define CHUNKS 256
#define REMOTES 256
/* Rows of all remotes that have none of their own. */
enum kind { RTT, CONNECT_TIME, KINDS };

/* Its place is its own until two samples have seen that it ended. */
struct connection {
    u64 key; /* of socket and ports; and 1 when it has ended */
    u32 serial; /* of the connections that had this place; the rest is there */
    u32 ended; /* interval in which it ended */
    u8 remote[16];
    u16 family;
    u16 remote_port;
    u16 local_port;
    u8 from_start; /* it was seen from its first segment on */
    u8 active; /* it was connected from here */
    u32 tgid;
    u32 retransmits;
    u64 group;
    u64 acked; /* bytes of data */
    u64 received;
    u32 sent_segments;
    u32 received_segments;
};
struct chunk {
    struct connection connection[CHUNK];
};
/* Interval in which a connection of a chunk last changed. */
struct all_touched {
    u32 chunk[CHUNKS];
};

/* A connection that is being made. It has a place only when it is there: its own port is not
 * chosen yet. */
struct attempt {
    u64 socket;
    u64 began;
    u64 group;
    u32 tgid;
};
#define ATTEMPTS 4096

struct remote {
    u64 key;
    u32 ready;
    u32 row; /* row and 1 */
    u32 touched;
    u16 family;
    u16 port;
    u8 address[16];
    u64 kind;
};
struct all_remotes {
    struct remote remote[REMOTES];
};

/* Of connections for which there was no place, when they end; one line a lane. */
struct others {
    u64 acked;
    u64 received;
    u64 sent_segments;
    u64 received_segments;
    u64 retransmits;
    u64 without_place;
} __attribute__((aligned(64)));

struct changes {
    u64 count[256];
};

struct tcp_event {
    u32 record;
    u16 family;
    u8 from;
    u8 to; /* 0: a segment was sent again */
    u64 time;
    u64 connect_time;
    u32 rtt;
    u16 remote_port;
    u16 local_port;
    u8 remote[16];
    u64 group;
    u32 tgid;
    u32 weight;
};

MAP(connections, ARRAY, u32, struct chunk, CHUNKS);
MAP(attempts, ARRAY, u32, struct attempt, ATTEMPTS);
MAP(touched, ARRAY, u32, struct all_touched, 1);
MAP(remotes, ARRAY, u32, struct all_remotes, 1);
MAP(others, ARRAY, u32, struct others, 64);
/* By the old state and the new; one line a lane. */
MAP(changes, ARRAY, u32, struct changes, 64);

/* The network namespace that is observed. */
const volatile u32 own_space = 0;

INLINE bool is_ours(struct sock_common *common)
{
    struct net *net = NULL;
    u32 space = 0;
    /* Copied: see HERE. */
    read_kernel(&net, sizeof(net), &common->skc_net.net);
    read_kernel(&space, sizeof(space), &net->ns.inum);
    return space == own_space;
}

/* ---- connections ---- */

INLINE struct connection *connection_at(u32 place)
{
    u32 number = (place >> 6) & (CHUNKS - 1);
    struct chunk *chunk = map_lookup(&connections, &number);
    if (!chunk)
        return NULL;
    HERE(chunk);
    return &chunk->connection[place & (CHUNK - 1)];
}

INLINE u64 mix(u64 key)
{
    key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ULL;
    return key ^ key >> 32;
}

/* The kernel uses a socket's memory again at once: the ports tell connections apart. `at` is
 * where the address of the socket is. */
INLINE u64 key_of(void *at, struct sock_common *common)
{
    u64 socket = 0;
    u16 port = 0;
    read_kernel(&socket, sizeof(socket), at);
    read_kernel(&port, sizeof(port), &((struct inet_sock *)common)->inet_sport);
    socket = mix(mix(socket) + ((u32)port << 16 | common->skc_dport));
    return (socket | 2) & ~1ULL;
}

#define NOWHERE 0xffffffff

/* The place of the connection of that key, or NOWHERE. Those of a chunk share its places. */
ONCE u32 find(u64 key)
{
    u32 home = (u32)(key >> 40) & (CHUNKS * CHUNK - 1);
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
        u32 place = (home & ~(CHUNK - 1)) | ((home + i) & (CHUNK - 1));
        struct connection *c = connection_at(place);
        if (c && c->key == key)
            return place;
    }
    return NOWHERE;
}

/* A place for a new connection. */
ONCE u32 make(u64 key)
{
    u32 home = (u32)(key >> 40) & (CHUNKS * CHUNK - 1), now = interval_now();
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
        u32 place = (home & ~(CHUNK - 1)) | ((home + i) & (CHUNK - 1));
        struct connection *c = connection_at(place);
        u64 was = c ? c->key : 2;
        bool free = !was || ((was & 1) && now - c->ended >= 2);
        if (c && free && __sync_val_compare_and_swap(&c->key, was, key) == was)
            return place;
    }
    return NOWHERE;
}

INLINE void touch(u32 place)
{
    u32 zero = 0, now = interval_now();
    struct all_touched *all = map_lookup(&touched, &zero);
    u32 *chunk;
    if (!all)
        return;
    chunk = &all->chunk[(place >> 6) & (CHUNKS - 1)];
    if (*chunk != now)
        *chunk = now;
}

INLINE void identify(struct connection *c, struct sock_common *common)
{
    c->family = common->skc_family;
    c->remote_port = common->skc_dport;
    read_kernel(&c->local_port, sizeof(u16), &((struct inet_sock *)common)->inet_sport);
    if (common->skc_family == INET)
        read_kernel(c->remote, 4, &common->skc_daddr);
    else
        read_kernel(c->remote, 16, &common->skc_v6_daddr);
}

/* Begins a connection; its place, or NOWHERE. */
INLINE u32 begin(u64 key, struct sock_common *common, bool from_start)
{
    u32 place = make(key);
    struct connection *c;
    if (place == NOWHERE) {
        u32 lane = cpu_number() & lane_mask;
        struct others *o = map_lookup(&others, &lane);
        if (o)
            ADD(o->without_place, 1);
        return NOWHERE;
    }
    c = connection_at(place);
    if (!c)
        return NOWHERE;
    __builtin_memset(c->remote, 0, sizeof(c->remote));
    identify(c, common);
    c->from_start = from_start;
    c->active = 0;
    c->tgid = 0;
    c->group = 0;
    c->acked = c->received = 0;
    c->sent_segments = c->received_segments = c->retransmits = 0;
    /* The recorder sees it after the rest. */
    __sync_fetch_and_add(&c->serial, 1);
    touch(place);
    return place;
}

/* What was counted, without what is no data: a SYN and a FIN count as a byte each. */
struct counted {
    u64 acked;
    u64 received;
    u32 sent;
    u32 got;
    u32 again;
};

INLINE void count(struct counted *n, struct sock_common *common, struct tcp_sock *tp, u32 state,
                  bool active)
{
    const u32 closing = 1 << FIN_WAIT1 | 1 << FIN_WAIT2 | 1 << CLOSING | 1 << LAST_ACK;
    bool fin_acked = (1 << state & closing) && tp->snd_una == tp->write_seq;
    /* SOCK_DONE: the other side's FIN came. */
    bool fin_came = common->skc_flags >> 1 & 1;
    n->acked = tp->bytes_acked;
    if (n->acked >= (u64)active + fin_acked)
        n->acked -= (u64)active + fin_acked;
    n->received = tp->bytes_received;
    if (n->received >= fin_came)
        n->received -= fin_came;
    n->again = tp->total_retrans;
    n->sent = tp->segs_out - n->again;
    n->got = tp->segs_in;
}

INLINE bool store(struct connection *c, struct counted *n)
{
    if (c->acked == n->acked && c->received == n->received && c->sent_segments == n->sent &&
        c->received_segments == n->got && c->retransmits == n->again)
        return 0;
    c->acked = n->acked;
    c->received = n->received;
    c->sent_segments = n->sent;
    c->received_segments = n->got;
    c->retransmits = n->again;
    return 1;
}

/* ---- whose connection it is ---- */

INLINE struct attempt *attempt_of(u64 socket)
{
    u32 place = (u32)(mix(socket) >> 40) & (ATTEMPTS - 1);
    return map_lookup(&attempts, &place);
}

/* Whoever connected; of an accepted one who first received, or else closed it. Tells who runs
 * now, for the attempt of that socket or the connection at that place. */
ONCE int own(u32 place, u64 socket)
{
    struct task_struct *task = current_task();
    u64 group = tell_group(group_of(task));
    u32 tgid = tell_process(task);
    struct connection *c;
    if (socket) {
        struct attempt *a = attempt_of(socket);
        if (a) {
            a->group = group;
            a->tgid = tgid;
        }
        return 0;
    }
    c = connection_at(place);
    if (!c)
        return 0;
    c->group = group;
    c->tgid = tgid;
    touch(place);
    return 0;
}

/* A process reads what came. */
SEC("tp_btf/tcp_rcv_space_adjust")
int tcp_read(u64 *ctx)
{
    struct sock *sk = (void *)ctx[0];
    u32 place = find(key_of(ctx, &sk->__sk_common));
    struct connection *c;
    if (place == NOWHERE)
        return 0;
    c = connection_at(place);
    if (c && !c->tgid)
        own(place, 0);
    return 0;
}

/* ---- distributions by remote ---- */

/* The place of what belongs to that remote, or REMOTES. */
ONCE u32 find_remote(u64 high, u64 low, u32 port, u32 kind)
{
    u64 key = mix(mix(mix(high) + low) + ((u64)kind << 32 | port)) | 1;
    u32 place = (u32)(key >> 40) & (REMOTES - 1), zero = 0;
    struct all_remotes *all = map_lookup(&remotes, &zero);
    if (!all)
        return REMOTES;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        struct remote *r = &all->remote[place];
        if (r->key == key)
            return place;
        if (!r->key) {
            u64 was = __sync_val_compare_and_swap(&r->key, 0, key);
            if (!was) {
                u64 *address = (u64 *)r->address;
                address[0] = high;
                address[1] = low;
                r->port = port;
                /* An address of version 4 is in the first four bytes. */
                r->family = kind >> 16;
                r->kind = kind & 0xffff;
                __sync_fetch_and_add(&r->ready, 1);
            }
            if (!was || was == key)
                return place;
        }
        place = (place + 1) & (REMOTES - 1);
    }
    return REMOTES;
}

ONCE int tally(u32 place, u32 kind, u32 cell)
{
    u32 zero = 0, now = interval_now(), number = 0;
    struct all_remotes *all = map_lookup(&remotes, &zero);
    struct row *row;
    if (!all)
        return 0;
    if (place < REMOTES) {
        struct remote *r = &all->remote[place];
        number = row_at(&r->row, KINDS, all_rows);
        if (r->touched != now)
            r->touched = now;
    }
    row = row_here(number ? number : (kind & 1) + 1);
    if (row)
        ADD(row->cell[WITHIN(cell, CELLS)], 1);
    return 0;
}

INLINE void spread(struct sock_common *common, u32 kind, u32 port, u32 cell)
{
    u64 address[2] = {};
    u32 family = common->skc_family;
    if (family == INET)
        address[0] = common->skc_daddr;
    else
        read_kernel(address, sizeof(address), &common->skc_v6_daddr);
    tally(find_remote(address[0], address[1], port, kind | family << 16), kind, cell);
}

/* A segment came on an established connection. */
SEC("tp_btf/tcp_probe")
int tcp_segment(u64 *ctx)
{
    struct sock *sk = (void *)ctx[0];
    struct tcp_sock *tp = tcp_of(sk);
    u32 rtt;
    if (!tp || !is_ours(&sk->__sk_common))
        return 0;
    /* Something came in: the connections are worth looking at. */
    count_mark(0);
    /* Eighths of a microsecond. */
    rtt = tp->srtt_us >> 3;
    if (tp->srtt_us)
        spread(&sk->__sk_common, RTT, 0, grid(rtt));
    return 0;
}

/* ---- changes of state ---- */

/* Where a change of state leads from: all that more than one branch needs. */
struct change {
    u32 from;
    u32 to;
    u64 socket;
    u64 now;
    u64 took; /* time to connect */
    u64 group; /* whose connection it is */
    u32 tgid;
    bool seen; /* the attempt was seen from its start */
};

INLINE void tell(struct sock_common *common, struct change *x, u32 rtt)
{
    u32 weight = chosen(x->now);
    struct tcp_event *event;
    if (!weight)
        return;
    event = ring_reserve(&ring, sizeof(*event), 0);
    if (!event) {
        count_lost();
        return;
    }
    event->record = EVENT;
    event->family = common->skc_family;
    event->from = x->from;
    event->to = x->to;
    event->time = x->now;
    event->connect_time = x->took;
    event->rtt = rtt;
    event->remote_port = common->skc_dport;
    read_kernel(&event->local_port, sizeof(u16), &((struct inet_sock *)common)->inet_sport);
    if (common->skc_family == INET)
        read_kernel(event->remote, 4, &common->skc_daddr);
    else
        read_kernel(event->remote, 16, &common->skc_v6_daddr);
    event->group = x->group;
    event->tgid = x->tgid;
    event->weight = weight;
    ring_submit(event, ring_flags());
}

/* Adds what a socket without a place did. */
INLINE void end_without(struct others *o, struct counted *n)
{
    ADD(o->acked, n->acked);
    ADD(o->received, n->received);
    ADD(o->sent_segments, n->sent);
    ADD(o->received_segments, n->got);
    ADD(o->retransmits, n->again);
}

/* Connecting begins, or ends. */
INLINE u32 attempt(struct change *x, struct sock_common *common, u64 *ctx)
{
    struct attempt *a = attempt_of(x->socket);
    struct connection *c;
    u32 place;
    if (!a)
        return NOWHERE;
    if (x->to == SYN_SENT) {
        a->socket = x->socket;
        a->began = x->now;
        own(0, x->socket);
        x->tgid = a->tgid;
        x->group = a->group;
        return NOWHERE;
    }
    if (a->socket == x->socket) {
        a->socket = 0;
        x->seen = 1;
        x->took = x->now - a->began;
        x->tgid = a->tgid;
        x->group = a->group;
    }
    if (x->to != ESTABLISHED)
        return NOWHERE;
    place = begin(key_of(ctx, common), common, 1);
    c = place == NOWHERE ? NULL : connection_at(place);
    if (c) {
        c->active = 1;
        c->group = x->group;
        c->tgid = x->tgid;
    }
    return place;
}

INLINE void end(u32 place, struct change *x, struct sock_common *common, struct tcp_sock *tp)
{
    struct connection *c = place == NOWHERE ? NULL : connection_at(place);
    struct counted n;
    if (c) {
        count(&n, common, tp, x->from, c->active);
        store(c, &n);
        c->ended = interval_now();
        /* Last: another connection may then take the place. */
        __sync_fetch_and_or(&c->key, 1);
        touch(place);
    } else {
        u32 lane = cpu_number() & lane_mask;
        struct others *o = map_lookup(&others, &lane);
        /* One that is not known although there was room began before we came. */
        if (!o || (!o->without_place && !x->seen))
            return;
        count(&n, common, tp, x->from, 0);
        end_without(o, &n);
    }
}

SEC("tp_btf/inet_sock_set_state")
int tcp_change(u64 *ctx)
{
    struct sock *sk = (void *)ctx[0];
    struct sock_common *common = &sk->__sk_common;
    struct change x = {.from = ctx[1] & 15, .to = ctx[2] & 15, .now = ktime()};
    u32 lane = cpu_number() & lane_mask, place;
    struct changes *all = map_lookup(&changes, &lane);
    struct connection *c = NULL;
    struct tcp_sock *tp;
    if (sk->sk_protocol != TCP || !is_ours(common) || !all)
        return 0;
    tp = tcp_of(sk);
    if (!tp)
        return 0;
    HERE(tp);
    ADD(all->count[WITHIN(x.from << 4 | x.to, 256)], 1);
    read_kernel(&x.socket, sizeof(x.socket), ctx);
    if (x.from == SYN_SENT || x.to == SYN_SENT) {
        place = attempt(&x, common, ctx);
    } else {
        u64 key = key_of(ctx, common);
        place = find(key);
        if (place == NOWHERE && x.to == ESTABLISHED)
            place = begin(key, common, 1);
    }
    if (place != NOWHERE)
        c = connection_at(place);
    /* A process closes it. */
    if (c && !c->tgid && ((x.from == ESTABLISHED && x.to == FIN_WAIT1) ||
                          (x.from == CLOSE_WAIT && x.to == LAST_ACK)))
        own(place, 0);
    if (c) {
        x.tgid = c->tgid;
        x.group = c->group;
    }
    if (x.took && x.to == ESTABLISHED)
        spread(common, CONNECT_TIME, common->skc_dport, grid(x.took));
    if (with_events)
        tell(common, &x, 0);
    if (x.to == CLOSE && x.from != LISTEN)
        end(place, &x, common, tp);
    return 0;
}

/* Only with events. */
SEC("tp_btf/tcp_retransmit_skb")
int tcp_again(u64 *ctx)
{
    struct sock *sk = (void *)ctx[0];
    struct tcp_sock *tp = tcp_of(sk);
    struct change x = {.now = ktime()};
    struct connection *c;
    u32 place;
    if (!tp || !is_ours(&sk->__sk_common))
        return 0;
    place = find(key_of(ctx, &sk->__sk_common));
    c = place == NOWHERE ? NULL : connection_at(place);
    if (c) {
        x.tgid = c->tgid;
        x.group = c->group;
    }
    tell(&sk->__sk_common, &x, tp->srtt_us >> 3);
    return 0;
}

/* ---- before each sample ---- */

/* Every socket of this network namespace, its lock held. */
SEC("iter/tcp")
int tcp_each(u64 *ctx)
{
    struct sock_common *common = (void *)ctx[1];
    struct tcp_sock *tp;
    struct connection *c = NULL;
    struct counted n;
    u64 key;
    u32 place, state;
    if (!common)
        return 0;
    state = common->skc_state & 15;
    if (state == LISTEN || state == CLOSE || state == SYN_RECV || state == SYN_SENT)
        return 0;
    tp = tcp_of(common);
    if (!tp)
        return 0;
    key = key_of(&ctx[1], common);
    place = find(key);
    if (place == NOWHERE)
        place = begin(key, common, 0);
    c = place == NOWHERE ? NULL : connection_at(place);
    if (!c)
        return 0;
    count(&n, common, tp, state, c->active);
    if (store(c, &n))
        touch(place);
    return 0;
}

char gpl[] SEC("license") = "GPL";
