/*
 * Connections of TCP: who has them, how long connecting took, round-trip times, changes of state.
 *
 * The kernel's socket counts a connection's bytes and segments itself. They are read when the
 * connection ends, and of those that last before each sample by an iterator (tcp_each). So
 * nothing is done at each segment but to count its round-trip time.
 */
#include "tcp_connections.h"
#include "tcp_remotes.h"
#include "who_exec.h"

/* ---- what is kept ---- */

/* A connection that is being made. It has a place only when it is there: its own port is not
 * chosen yet. */
struct attempt {
    u64 socket;
    u64 began; /* 0: the place is free */
    u64 group;
    u32 tgid;
    u32 told_again; /* times that its first step was sent again, as far as events told of them */
};
#define ATTEMPTS 4096
/* How many places one may have, from that of its socket on, in one chunk. */
#define PROBES 32
struct attempts {
    struct attempt attempt[CHUNK];
};

struct changes {
    u64 count[256];
};

struct tcp_event {
    u32 record;
    u16 family;
    u8 from;
    u8 to; /* 0: segments were sent again */
    u64 time;
    u64 amount; /* the time to connect, or how many segments were sent again */
    u32 rtt;
    u16 remote_port;
    u16 local_port;
    u8 remote[16];
    u64 group;
    u32 tgid;
    u32 weight;
};

MAP(attempts, ARRAY, u32, struct attempts, ATTEMPTS / CHUNK);
/* By the old state and the new; one line a lane. */
MAP(changes, ARRAY, u32, struct changes, 64);

/* ---- whose connection it is ---- */

INLINE u32 home_of(u64 socket)
{
    return (u32)(scattered(socket) >> 40) & (ATTEMPTS - 1);
}

INLINE struct attempts *attempts_at(u32 place)
{
    u32 number = place / CHUNK;
    return map_lookup(&attempts, &number);
}

INLINE struct attempt *attempt_at(u32 place)
{
    struct attempts *all = attempts_at(place);
    return all ? &all->attempt[place % CHUNK] : NULL;
}

/* The place of the attempt of that socket, or NOWHERE. A chunk is looked up once, and the rounds
 * are written out: else the kernel checks ten times as many steps. */
ONCE u32 find_attempt(u64 socket)
{
    u32 home = home_of(socket);
    struct attempts *all = attempts_at(home);
    if (!all)
        return NOWHERE;
#pragma unroll
    for (u32 i = 0; i < PROBES; i++) {
        if (all->attempt[(home + i) % CHUNK].socket == socket)
            return place_after(home, i);
    }
    return NOWHERE;
}

/* A free one of the places where an attempt of that socket may be; else that of the oldest. */
ONCE u32 best_attempt(u64 socket)
{
    u32 home = home_of(socket), best = home;
    struct attempts *all = attempts_at(home);
    u64 first = ~0ULL;
    if (!all)
        return NOWHERE;
#pragma unroll
    for (u32 i = 0; i < PROBES; i++) {
        u64 began = all->attempt[(home + i) % CHUNK].began;
        if (began < first) {
            first = began;
            best = place_after(home, i);
        }
    }
    return best;
}

/* A place for an attempt that begins. Where there is none it is that of the oldest, of which then
 * nobody knows how long it took. */
ONCE u32 make_attempt(u64 socket, u64 now)
{
    u32 place = find_attempt(socket);
    struct attempt *a;
    u64 was = 1;
    if (place != NOWHERE)
        return place;
    /* Another processor may be faster, and take it. */
    for (int round = 0; round < 4 && was; round++) {
        place = best_attempt(socket);
        a = attempt_at(place);
        was = a ? a->began : 1;
        if (was)
            break;
        was = __sync_val_compare_and_swap(&a->began, 0, now);
    }
    a = attempt_at(place);
    if (!a)
        return NOWHERE;
    if (was) {
        untracked();
        a->began = now;
    }
    a->socket = socket;
    return place;
}

/* Whoever connected; of an accepted one who first received, or else closed it. Tells who runs
 * now, for the attempt or the connection at that place. */
ONCE int own(u32 place, u32 is_attempt)
{
    struct task_struct *task = current_task();
    u64 group = tell_group(group_of(task));
    u32 tgid = tell_process(task);
    struct connection *c;
    if (is_attempt) {
        struct attempt *a = attempt_at(place);
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
    u64 again; /* segments sent again */
    u64 group; /* whose connection it is */
    u32 tgid;
    bool seen; /* the attempt was seen from its start */
};

/* The port of this side, in the order in which it is sent. */
INLINE u16 local_port_of(struct sock_common *common)
{
    u16 port = 0;
    read_kernel(&port, sizeof(port), &((struct inet_sock *)common)->inet_sport);
    return port;
}

/* Changes of state and segments sent again are few beside round-trip times, and of each somebody may ask:
 * they make way only where they are many themselves. */
#define SELDOM 64

INLINE void tell(struct sock_common *common, u16 local_port, struct change *x, u32 rtt)
{
    u32 weight = chosen_of(x->now, rtt ? 1 : SELDOM);
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
    event->amount = x->to ? x->took : x->again;
    event->rtt = rtt;
    event->remote_port = common->skc_dport;
    event->local_port = local_port;
    if (common->skc_family == INET)
        read_kernel(event->remote, 4, &common->skc_daddr);
    else
        read_kernel(event->remote, 16, &common->skc_v6_daddr);
    event->group = x->group;
    event->tgid = x->tgid;
    event->weight = weight;
    ring_submit(event, ring_flags(sizeof(*event)));
}

/* Connecting begins, or ends. */
INLINE void attempt(struct change *x)
{
    bool begins = x->to == SYN_SENT;
    u32 place = begins ? make_attempt(x->socket, x->now) : find_attempt(x->socket);
    struct attempt *a = attempt_at(place);
    if (a && begins) {
        a->began = x->now;
        a->told_again = 0;
        own(place, 1);
    } else if (a) {
        x->seen = 1;
        x->took = x->now - a->began;
    }
    if (a) {
        x->tgid = a->tgid;
        x->group = a->group;
        /* Last: another may then take the place. */
        if (!begins) {
            *(volatile u64 *)&a->socket = 0;
            *(volatile u64 *)&a->began = 0;
        }
    }
}

INLINE void end(u32 place, struct change *x, struct sock_common *common, struct tcp_sock *tp)
{
    struct connection *c = place == NOWHERE ? NULL : connection_at(place);
    struct counted n;
    count(&n, common, tp, x->from, c ? c->active : 0);
    if (c) {
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
        end_without(o, &n);
    }
}

SEC("tp_btf/inet_sock_set_state")
int tcp_change(u64 *ctx)
{
    struct sock *sk = (void *)ctx[0];
    struct sock_common *common = &sk->__sk_common;
    struct change x = {.from = ctx[1] & 15, .to = ctx[2] & 15, .now = ktime()};
    u32 lane = cpu_number() & lane_mask, place = NOWHERE;
    bool connects = x.from == SYN_SENT || x.to == SYN_SENT;
    struct changes *all = map_lookup(&changes, &lane);
    struct connection *c = NULL;
    struct tcp_sock *tp;
    u64 key;
    if (sk->sk_protocol != TCP || !is_ours(common) || !all)
        return 0;
    tp = tcp_of(sk);
    if (!tp)
        return 0;
    HERE(tp);
    ADD(all->count[WITHIN(x.from << 4 | x.to, 256)], 1);
    read_kernel(&x.socket, sizeof(x.socket), ctx);
    key = key_of(ctx, common);
    if (connects)
        attempt(&x);
    else
        place = find(key);
    if (place == NOWHERE && x.to == ESTABLISHED)
        place = begin(key, common, tp, 1);
    if (place != NOWHERE)
        c = connection_at(place);
    if (c && connects) {
        c->active = 1;
        c->group = x.group;
        c->tgid = x.tgid;
    }
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
        tell(common, local_port_of(common), &x, 0);
    if (x.to == CLOSE && x.from != LISTEN)
        end(place, &x, common, tp);
    return 0;
}

/*
 * Segments are sent again. Only with events.
 *
 * One call sends a buffer of up to as many segments as the window takes, and on Linux 6.17 and
 * later the kernel also tells of calls that sent nothing, because the first time still waits in a
 * queue of our own. So what counts is how far the socket's counter went. Where nobody kept that,
 * it is the segments of the buffer.
 */
SEC("tp_btf/tcp_retransmit_skb")
int tcp_again(u64 *ctx)
{
    struct sock *sk = (void *)ctx[0];
    struct sk_buff *skb = (void *)ctx[1];
    struct tcp_sock *tp = tcp_of(sk);
    struct change x = {.now = ktime()};
    u32 place, now, *told = NULL;
    if (!tp || !is_ours(&sk->__sk_common))
        return 0;
    if (sk->__sk_common.skc_state == SYN_SENT) {
        struct attempt *a;
        u64 socket = 0;
        read_kernel(&socket, sizeof(socket), ctx);
        place = find_attempt(socket);
        a = attempt_at(place);
        if (a) {
            x.tgid = a->tgid;
            x.group = a->group;
            told = &a->told_again;
        }
    } else {
        struct connection *c;
        place = find(key_of(ctx, &sk->__sk_common));
        c = place == NOWHERE ? NULL : connection_at(place);
        if (c) {
            x.tgid = c->tgid;
            x.group = c->group;
            told = map_lookup(&told_again, &place);
        }
    }
    now = tp->total_retrans;
    if (told) {
        s32 more = now - *told;
        *told = now;
        x.again = more > 0 ? more : 0;
    } else {
        u16 segments = 0;
        read_kernel(&segments, sizeof(segments), &((struct tcp_skb_cb *)skb->cb)->tcp_gso_segs);
        x.again = segments;
    }
    if (x.again)
        tell(&sk->__sk_common, local_port_of(&sk->__sk_common), &x, tp->srtt_us >> 3);
    return 0;
}

/* The answer to a first step is sent again: there is no connection yet, and it is nobody's. Only
 * with events. */
SEC("tp_btf/tcp_retransmit_synack")
int tcp_answer_again(u64 *ctx)
{
    struct request_sock *request = (void *)ctx[1];
    struct sock_common *common = &request->__req_common;
    struct change x = {.now = ktime(), .again = 1};
    if (is_ours(common))
        tell(common, __builtin_bswap16(common->skc_num), &x, 0);
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
        place = begin(key, common, tp, 0);
    c = place == NOWHERE ? NULL : connection_at(place);
    if (!c)
        return 0;
    count(&n, common, tp, state, c->active);
    if (store(c, &n))
        touch(place);
    return 0;
}

char gpl[] SEC("license") = "GPL";
