/*
 * What is read of the kernel's sockets.
 */
#pragma once
#include "net_space.h"

struct in6_addr {
    u8 bytes[16];
};
struct sock_common {
    u32 skc_daddr;
    u16 skc_dport;
    u16 skc_num;
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
/* A connection that is only asked for. */
struct request_sock {
    struct sock_common __req_common;
} KERNEL;
struct sk_buff {
    char cb[48];
} KERNEL;
/* TCP's part of a buffer. */
struct tcp_skb_cb {
    u16 tcp_gso_segs;
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

INLINE bool is_ours(struct sock_common *common)
{
    return space_of(&common->skc_net.net) == own_space;
}
