//! Names of NFS procedures and operations, by number.

/// Version 2: RFC 1094.
pub const V2: [&str; 18] = [
    "NULL",
    "GETATTR",
    "SETATTR",
    "ROOT",
    "LOOKUP",
    "READLINK",
    "READ",
    "WRITECACHE",
    "WRITE",
    "CREATE",
    "REMOVE",
    "RENAME",
    "LINK",
    "SYMLINK",
    "MKDIR",
    "RMDIR",
    "READDIR",
    "STATFS",
];

/// Version 3: RFC 1813.
pub const V3: [&str; 22] = [
    "NULL",
    "GETATTR",
    "SETATTR",
    "LOOKUP",
    "ACCESS",
    "READLINK",
    "READ",
    "WRITE",
    "CREATE",
    "MKDIR",
    "SYMLINK",
    "MKNOD",
    "REMOVE",
    "RMDIR",
    "RENAME",
    "LINK",
    "READDIR",
    "READDIRPLUS",
    "FSSTAT",
    "FSINFO",
    "PATHCONF",
    "COMMIT",
];

/// Version 4: numbers 3 to 39 from RFC 7530, to 58 from RFC 5661, to 71 from RFC 7862, to 75
/// from RFC 8276. There are no operations 0, 1 and 2.
pub const V4: [&str; 76] = [
    "",
    "",
    "",
    "ACCESS",
    "CLOSE",
    "COMMIT",
    "CREATE",
    "DELEGPURGE",
    "DELEGRETURN",
    "GETATTR",
    "GETFH",
    "LINK",
    "LOCK",
    "LOCKT",
    "LOCKU",
    "LOOKUP",
    "LOOKUPP",
    "NVERIFY",
    "OPEN",
    "OPENATTR",
    "OPEN_CONFIRM",
    "OPEN_DOWNGRADE",
    "PUTFH",
    "PUTPUBFH",
    "PUTROOTFH",
    "READ",
    "READDIR",
    "READLINK",
    "REMOVE",
    "RENAME",
    "RENEW",
    "RESTOREFH",
    "SAVEFH",
    "SECINFO",
    "SETATTR",
    "SETCLIENTID",
    "SETCLIENTID_CONFIRM",
    "VERIFY",
    "WRITE",
    "RELEASE_LOCKOWNER",
    "BACKCHANNEL_CTL",
    "BIND_CONN_TO_SESSION",
    "EXCHANGE_ID",
    "CREATE_SESSION",
    "DESTROY_SESSION",
    "FREE_STATEID",
    "GET_DIR_DELEGATION",
    "GETDEVICEINFO",
    "GETDEVICELIST",
    "LAYOUTCOMMIT",
    "LAYOUTGET",
    "LAYOUTRETURN",
    "SECINFO_NO_NAME",
    "SEQUENCE",
    "SET_SSV",
    "TEST_STATEID",
    "WANT_DELEGATION",
    "DESTROY_CLIENTID",
    "RECLAIM_COMPLETE",
    "ALLOCATE",
    "COPY",
    "COPY_NOTIFY",
    "DEALLOCATE",
    "IO_ADVISE",
    "LAYOUTERROR",
    "LAYOUTSTATS",
    "OFFLOAD_CANCEL",
    "OFFLOAD_STATUS",
    "READ_PLUS",
    "SEEK",
    "WRITE_SAME",
    "CLONE",
    "GETXATTR",
    "SETXATTR",
    "LISTXATTRS",
    "REMOVEXATTR",
];

/// A line of the statistics that counts operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `proc2`.
    V2,
    /// `proc3`.
    V3,
    /// `proc4`: only NULL. The other, COMPOUND, is an envelope; its operations are counted
    /// by themselves, and both together would count the same work twice.
    V4Null,
    /// `proc4ops`.
    V4,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 4] = [Family::V2, Family::V3, Family::V4Null, Family::V4];

    /// Of the line that begins with `key`.
    pub fn of(key: &[u8]) -> Option<Family> {
        match key {
            b"proc2" => Some(Family::V2),
            b"proc3" => Some(Family::V3),
            b"proc4" => Some(Family::V4Null),
            b"proc4ops" => Some(Family::V4),
            _ => None,
        }
    }

    /// How many of its numbers are counted: all that there may ever be, or the first.
    pub fn limit(self) -> usize {
        match self {
            Family::V4Null => 1,
            _ => 256,
        }
    }

    /// Version and name of operation `number`: `v3 READ`; `v4 76` where it has no name here.
    pub fn name(self, number: usize) -> String {
        let (version, names): (u8, &[&str]) = match self {
            Family::V2 => (2, &V2),
            Family::V3 => (3, &V3),
            Family::V4Null => (4, &["NULL"]),
            Family::V4 => (4, &V4),
        };
        match names.get(number) {
            Some(name) if !name.is_empty() => format!("v{version} {name}"),
            _ => format!("v{version} {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_their_places() {
        // One from each RFC, and the ends.
        for (family, number, expected) in [
            (Family::V2, 6, "v2 READ"),
            (Family::V2, 17, "v2 STATFS"),
            (Family::V3, 7, "v3 WRITE"),
            (Family::V3, 21, "v3 COMMIT"),
            (Family::V4Null, 0, "v4 NULL"),
            (Family::V4, 3, "v4 ACCESS"),
            (Family::V4, 9, "v4 GETATTR"),
            (Family::V4, 18, "v4 OPEN"),
            (Family::V4, 25, "v4 READ"),
            (Family::V4, 38, "v4 WRITE"),
            (Family::V4, 39, "v4 RELEASE_LOCKOWNER"),
            (Family::V4, 42, "v4 EXCHANGE_ID"),
            (Family::V4, 53, "v4 SEQUENCE"),
            (Family::V4, 58, "v4 RECLAIM_COMPLETE"),
            (Family::V4, 59, "v4 ALLOCATE"),
            (Family::V4, 71, "v4 CLONE"),
            (Family::V4, 75, "v4 REMOVEXATTR"),
            (Family::V4, 76, "v4 76"),
            (Family::V4, 2, "v4 2"),
        ] {
            assert_eq!(family.name(number), expected);
        }
    }
}
