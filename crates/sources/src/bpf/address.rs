//! Addresses as the kernel keeps them, for people.

use std::net::{Ipv4Addr, Ipv6Addr};

/// `AF_INET`.
const VERSION_4: u16 = 2;

/// The text of an address of that family, in the order in which it is sent. One of version 4
/// on a socket of version 6 is one of version 4.
pub(super) fn text(family: u16, bytes: [u8; 16]) -> String {
    if family == VERSION_4 {
        return Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).to_string();
    }
    let long = Ipv6Addr::from(bytes);
    long.to_ipv4_mapped()
        .map_or_else(|| long.to_string(), |short| short.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_people_write_them() {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&[10, 9, 8, 2]);
        assert_eq!(text(2, bytes), "10.9.8.2");
        let mut mapped = [0; 16];
        mapped[10..].copy_from_slice(&[255, 255, 127, 0, 0, 1]);
        assert_eq!(text(10, mapped), "127.0.0.1");
        let mut long = [0; 16];
        (long[0], long[1], long[15]) = (0xfe, 0x80, 7);
        assert_eq!(text(10, long), "fe80::7");
    }
}
