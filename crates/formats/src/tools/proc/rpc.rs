//! `/proc/net/rpc/nfs` (client) and `/proc/net/rpc/nfsd` (server).
//!
//! ```text
//! net 972 55 917 1
//! rpc 18628 0 0 0 0
//! proc3 22 2 112 0 2719 111 0 …
//! ```
//!
//! The client's file begins with `net`, the server's with `rc`. Operations stand in the order of
//! their numbers in RFC 1094, 1813 and 7530 to 8276; those of the client's version 4 in the
//! kernel's own order, which changed after the first 37: later ones are named by number.

use super::counted::put_grown;
use crate::counters::Counters;
use crate::out::{Out, Shape};
use crate::{Line, numbers};

const V2: &str = "NULL GETATTR SETATTR ROOT LOOKUP READLINK READ WRCACHE WRITE CREATE REMOVE \
                  RENAME LINK SYMLINK MKDIR RMDIR READDIR STATFS";
const V3: &str = "NULL GETATTR SETATTR LOOKUP ACCESS READLINK READ WRITE CREATE MKDIR SYMLINK \
                  MKNOD REMOVE RMDIR RENAME LINK READDIR READDIRPLUS FSSTAT FSINFO PATHCONF COMMIT";
const V4_CLIENT: &str = "NULL READ WRITE COMMIT OPEN OPEN_CONFIRM OPEN_NOATTR OPEN_DOWNGRADE \
                         CLOSE SETATTR FSINFO RENEW SETCLIENTID SETCLIENTID_CONFIRM LOCK LOCKT \
                         LOCKU ACCESS GETATTR LOOKUP LOOKUP_ROOT REMOVE RENAME LINK SYMLINK \
                         CREATE PATHCONF STATFS READLINK READDIR SERVER_CAPS DELEGRETURN GETACL \
                         SETACL FS_LOCATIONS RELEASE_LOCKOWNER SECINFO";
/// From number 3 on.
const V4: &str = "ACCESS CLOSE COMMIT CREATE DELEGPURGE DELEGRETURN GETATTR GETFH LINK LOCK \
                  LOCKT LOCKU LOOKUP LOOKUPP NVERIFY OPEN OPENATTR OPEN_CONFIRM OPEN_DOWNGRADE \
                  PUTFH PUTPUBFH PUTROOTFH READ READDIR READLINK REMOVE RENAME RENEW RESTOREFH \
                  SAVEFH SECINFO SETATTR SETCLIENTID SETCLIENTID_CONFIRM VERIFY WRITE \
                  RELEASE_LOCKOWNER BACKCHANNEL_CTL BIND_CONN_TO_SESSION EXCHANGE_ID \
                  CREATE_SESSION DESTROY_SESSION FREE_STATEID GET_DIR_DELEGATION GETDEVICEINFO \
                  GETDEVICELIST LAYOUTCOMMIT LAYOUTGET LAYOUTRETURN SECINFO_NO_NAME SEQUENCE \
                  SET_SSV TEST_STATEID WANT_DELEGATION DESTROY_CLIENTID RECLAIM_COMPLETE ALLOCATE \
                  COPY COPY_NOTIFY DEALLOCATE IO_ADVISE LAYOUTERROR LAYOUTSTATS OFFLOAD_CANCEL \
                  OFFLOAD_STATUS READ_PLUS SEEK WRITE_SAME CLONE GETXATTR SETXATTR LISTXATTRS \
                  REMOVEXATTR";

pub(super) struct Rpc {
    pub(super) counters: Counters,
    client: Shape,
    ops: Shape,
    bytes: Shape,
    nfsd: Shape,
    /// This reading's lines are the server's.
    server: bool,
    /// Packets, errors, connections, cache hits; threads.
    of_server: [f64; 5],
}

pub(super) fn is_rpc(first: &[u8]) -> bool {
    matches!(
        first,
        b"net"
            | b"rpc"
            | b"proc2"
            | b"proc3"
            | b"proc4"
            | b"proc4ops"
            | b"rc"
            | b"fh"
            | b"io"
            | b"th"
            | b"ra"
            | b"wdeleg_getattr"
    )
}

impl Rpc {
    pub(super) fn new() -> Rpc {
        Rpc {
            counters: Counters::default(),
            client: Shape::of("nfs", &["ops"]),
            ops: Shape::of("nfsd_ops", &["ops"]),
            bytes: Shape::of("nfsd_bytes", &["bytes"]),
            nfsd: Shape::of(
                "nfsd",
                &[
                    "packets",
                    "rpc_errors",
                    "connections",
                    "cache_hits",
                    "threads",
                ],
            ),
            server: false,
            of_server: [f64::NAN; 5],
        }
    }

    /// The line that comes is the server's, or the client's.
    pub(super) fn is_of(&mut self, server: bool) {
        self.server = server;
    }

    pub(super) fn line(&mut self, all: &[&[u8]], out: &mut Out) -> Line {
        let Some(n) = numbers(all[1..].iter().copied()).filter(|n| !n.is_empty()) else {
            return Line::Unknown;
        };
        let at = |place: usize| n.get(place).copied().unwrap_or(f64::NAN);
        // `rc` is the first of them, and may be lost.
        self.server |= matches!(all[0], b"rc" | b"fh" | b"io" | b"th" | b"ra");
        match all[0] {
            b"rc" => {
                self.of_server[3] = at(0);
                self.others(all[0], &["reply cache misses", "uncached"], &n, 1, out);
            }
            b"fh" => self.others(all[0], &["stale handles"], &n, 0, out),
            b"io" => {
                let (n, first) = self.grown(b"io", n, out);
                for (direction, at) in [("read", 0), ("write", 1)] {
                    let bytes = n.get(at).copied().unwrap_or(f64::NAN);
                    let words = [out.word(direction.as_bytes())];
                    put_grown(out, &self.bytes, &words, &[bytes], first);
                }
            }
            b"th" => self.of_server[4] = at(0),
            // Sizes of what is read ahead; kernels of today print zeros.
            b"ra" => return Line::Noise,
            b"net" if self.server => {
                self.of_server[0] = at(0);
                self.of_server[2] = at(3);
                self.others(all[0], &["packets by UDP", "packets by TCP"], &n, 1, out);
            }
            b"rpc" if self.server => self.of_server[1] = at(1),
            b"net" => {
                let names = ["packets", "packets by UDP", "packets by TCP", "connections"];
                self.others(b"nfs net", &names, &n, 0, out);
            }
            b"rpc" => {
                let names = ["calls", "retransmissions", "refreshes"];
                self.others(b"nfs rpc", &names, &n, 0, out);
            }
            b"wdeleg_getattr" => self.others(all[0], &["wdeleg_getattr"], &n, 0, out),
            b"proc4" if self.server => self.others(all[0], &["null", "compounds"], &n, 1, out),
            procedures => return self.procedures(procedures, &n, out),
        }
        Line::Data
    }

    fn grown(&mut self, key: &[u8], now: Vec<f64>, out: &mut Out) -> (Vec<f64>, bool) {
        let side: &[u8] = if self.server { b"nfsd " } else { b"nfs " };
        self.counters
            .grown_or_whole(&[side, key].concat(), now, out)
    }

    /// Counters without a place in the catalog: how far they grew.
    fn others(&mut self, key: &[u8], names: &[&str], n: &[f64], skip: usize, out: &mut Out) {
        let (n, first) = self.grown(key, n.to_vec(), out);
        let instance: &[u8] = if self.server { b"nfsd" } else { b"nfs" };
        let instance = out.word(instance);
        if !first || out.is_since_boot() {
            for (name, value) in names.iter().zip(n.iter().skip(skip)) {
                out.other_grown(name, "count", instance, *value);
            }
        }
    }

    /// How many there are, and a number of each.
    fn procedures(&mut self, label: &[u8], n: &[f64], out: &mut Out) -> Line {
        let (version, names, skipped) = match label {
            b"proc2" => ("v2", V2, 0),
            b"proc3" => ("v3", V3, 0),
            b"proc4" => ("v4", V4_CLIENT, 0),
            _ => ("v4", V4, 3),
        };
        if n.first().copied() != Some((n.len() - 1) as f64) {
            // More numbers than it says, or fewer.
            return Line::Unknown;
        }
        let (n, first) = self.grown(label, n.get(1..).unwrap_or_default().to_vec(), out);
        let names: Vec<&str> = names.split_whitespace().collect();
        let all = out.word(b"(all)");
        for (i, ops) in n.iter().enumerate() {
            let name = i.checked_sub(skipped).and_then(|i| names.get(i));
            let op = match name {
                Some(name) => format!("{version} {name}"),
                None if *ops == 0.0 => continue,
                None => format!("{version} #{i}"),
            };
            let op = out.word(op.as_bytes());
            if self.server {
                put_grown(out, &self.ops, &[op], &[*ops], first);
            } else {
                put_grown(out, &self.client, &[all, op], &[*ops], first);
            }
        }
        Line::Data
    }

    pub(super) fn finish_reading(&mut self, out: &mut Out) {
        let of_server = std::mem::replace(&mut self.of_server, [f64::NAN; 5]);
        if of_server.iter().any(|v| !v.is_nan()) {
            self.server = true;
            let threads = of_server[4];
            let (mut n, first) = self.grown(b"machine", of_server[..4].to_vec(), out);
            n.push(threads);
            put_grown(out, &self.nfsd, &[], &n, first);
        }
        self.server = false;
    }
}
