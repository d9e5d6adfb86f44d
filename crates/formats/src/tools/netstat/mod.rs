//! `netstat`: `-s`, and `-i` of several systems.

pub(crate) mod interfaces;
mod names;
pub(crate) mod protocols;

#[cfg(test)]
mod tests {
    use crate::recognise::{Head, Unrecognised, recognise};

    #[test]
    fn both_in_one_file_are_taken_for_neither() {
        let interfaces = "Iface  MTU  RX-OK RX-ERR RX-DRP RX-OVR  TX-OK TX-ERR TX-DRP TX-OVR Flg\n\
                          eth0  1500     10      0      0 0          20      0      0      0 BMRU\n";
        let protocols = "Ip:\n    70300 total packets received\n    0 forwarded\nTcp:\n    \
                         3735 active connection openings\n    5 connection resets received\n";
        for text in [
            [interfaces, protocols].concat(),
            [protocols, interfaces].concat(),
        ] {
            let found = recognise(&Head::new(text.as_bytes()));
            assert!(matches!(found, Err(Unrecognised::Several(..))), "{text}");
        }
        for text in [interfaces, protocols] {
            assert!(recognise(&Head::new(text.as_bytes())).is_ok(), "{text}");
        }
    }
}
