//! What stands in where the program was built without eBPF.

macro_rules! absent {
    ($module:ident, $name:literal) => {
        /// The source, left out.
        pub mod $module {
            use crate::{Availability, Detail, Entry};

            /// The source.
            pub const ENTRY: Entry = Entry {
                name: $name,
                help: "left out of this build",
                reads: "nothing",
                link: "https://docs.kernel.org/bpf/",
                detail: Detail::Distributions,
                open: |_| {
                    Err(Availability::Unsupported {
                        needs: "a build with the cargo feature `ebpf`".into(),
                    })
                },
            };
        }
    };
}

absent!(disk, "bpf-disk");
absent!(net, "bpf-net");
absent!(tcp, "bpf-tcp");
absent!(nfs, "bpf-nfs");
absent!(nfs_client, "bpf-nfs-client");
absent!(file, "bpf-file");
absent!(cpu, "bpf-cpu");

/// There is nothing to prepare.
pub struct Prepared;

/// There is nothing to prepare.
pub fn prepare() -> Prepared {
    Prepared
}

/// There is nothing to measure.
pub struct Measuring;

/// There is nothing to measure.
pub fn measure() -> Option<Measuring> {
    None
}
