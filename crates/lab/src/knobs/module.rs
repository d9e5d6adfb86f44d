//! `module:MODULE.PARAM`: parameters of kernel modules, such as those of ZFS, NFS and sunrpc.

use std::path::Path;
use std::sync::Arc;

use super::{Allow, Family, Field, Opened, entries, leads_away, no_field};
use crate::KnobError;
use crate::kernel_file::{self, FileSpot, Holds};
use crate::spot::Identity;

pub(super) const FAMILY: Family = Family {
    prefix: "module",
    form: "module:MODULE.PARAM",
    about: "A parameter of a kernel module: zfs, sunrpc, nfs and others",
    link: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    fields: &[Field {
        name: "*",
        about: "`modinfo -p MODULE` tells; many take effect only for what is opened afterwards",
        reset_by: "the module being loaded anew",
        rank: 1,
    }],
    open,
    list,
};

const DIR: &str = "/sys/module";

fn open(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    let (module, parameter) = rest.split_once('.').ok_or_else(|| KnobError::Unknown {
        name: name.to_owned(),
        why: "it names no parameter".into(),
        hint: "for example module:zfs.zfs_arc_max".into(),
    })?;
    if leads_away(module) || leads_away(parameter) || parameter.contains('/') {
        return Err(no_field(name, parameter, FAMILY.fields));
    }
    // The kernel's names have no hyphens, modprobe's may.
    let owner = Path::new(DIR).join(module.replace('-', "_"));
    let path = owner.join("parameters").join(parameter);
    if !path.exists() {
        return Err(KnobError::Missing {
            name: name.to_owned(),
            path: path.display().to_string(),
            hint: format!("`sonde knobs module:{module}` lists its parameters, if it is loaded"),
        });
    }
    let spot = FileSpot {
        path,
        holds: Holds::Plain,
        owner,
        more: Identity::new(),
        companions: Vec::new(),
        write: kernel_file::write,
    };
    let field = &FAMILY.fields[0];
    Ok(Opened {
        field,
        spot: Arc::new(spot),
    })
}

fn list(rest: &str) -> Vec<String> {
    let (wanted, parameter) = rest.split_once('.').unwrap_or((rest, ""));
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut names = Vec::new();
    for module in entries(DIR).into_iter().filter(|m| m.starts_with(wanted)) {
        let dir = Path::new(DIR).join(&module).join("parameters");
        let found = entries(&dir).into_iter();
        let found =
            found.filter(|p| p.starts_with(parameter) && super::can_be_written(&dir.join(p)));
        names.extend(found.map(|p| format!("module:{module}.{p}")));
    }
    names
}
