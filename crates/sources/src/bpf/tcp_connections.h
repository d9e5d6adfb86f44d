/*
 * Connections: each has a place while it lasts, with what its socket has counted.
 */
#pragma once
#include "control.h"
#include "tcp_sockets.h"

#define CHUNK 64
#define CHUNKS 256

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

/* Of connections for which there was no place, when they end; one line a lane. */
struct others {
    u64 acked;
    u64 received;
    u64 sent_segments;
    u64 received_segments;
    u64 retransmits;
    u64 without_place;
} __attribute__((aligned(64)));

MAP(connections, ARRAY, u32, struct chunk, CHUNKS);
/* Segments that a connection sent again, as far as events have told of them, by its place. */
MAP(told_again, ARRAY, u32, u32, CHUNKS * CHUNK);
MAP(touched, ARRAY, u32, struct all_touched, 1);
MAP(others, ARRAY, u32, struct others, 64);

INLINE struct chunk *chunk_at(u32 place)
{
    u32 number = place / CHUNK % CHUNKS;
    return map_lookup(&connections, &number);
}

INLINE struct connection *connection_at(u32 place)
{
    struct chunk *chunk = chunk_at(place);
    if (!chunk)
        return NULL;
    HERE(chunk);
    return &chunk->connection[place % CHUNK];
}

/* The place so many behind it, in the same chunk. */
INLINE u32 place_after(u32 place, u32 more)
{
    return place / CHUNK * CHUNK | (place + more) % CHUNK;
}

INLINE u64 scattered(u64 key)
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
    socket = scattered(scattered(socket) + ((u32)port << 16 | common->skc_dport));
    return (socket | 2) & ~1ULL;
}

#define NOWHERE 0xffffffff

/* The place of the connection of that key, or NOWHERE. Those of a chunk share its places. */
ONCE u32 find(u64 key)
{
    u32 home = (u32)(key >> 40) & (CHUNKS * CHUNK - 1);
    struct chunk *chunk = chunk_at(home);
    if (!chunk)
        return NOWHERE;
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
        if (chunk->connection[(home + i) % CHUNK].key == key)
            return place_after(home, i);
    }
    return NOWHERE;
}

/* A place for a new connection. */
ONCE u32 make(u64 key)
{
    u32 home = (u32)(key >> 40) & (CHUNKS * CHUNK - 1), now = interval_now();
    struct chunk *chunk = chunk_at(home);
    if (!chunk)
        return NOWHERE;
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
        struct connection *c = &chunk->connection[(home + i) % CHUNK];
        u64 was = c->key;
        bool free = !was || ((was & 1) && now - c->ended >= 2);
        if (free && __sync_val_compare_and_swap(&c->key, was, key) == was)
            return place_after(home, i);
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
INLINE u32 begin(u64 key, struct sock_common *common, struct tcp_sock *tp, bool from_start)
{
    u32 place = make(key), *again;
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
    again = with_events ? map_lookup(&told_again, &place) : NULL;
    if (again)
        *again = tp->total_retrans;
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

/* Adds what a socket without a place did. */
INLINE void end_without(struct others *o, struct counted *n)
{
    ADD(o->acked, n->acked);
    ADD(o->received, n->received);
    ADD(o->sent_segments, n->sent);
    ADD(o->received_segments, n->got);
    ADD(o->retransmits, n->again);
}
