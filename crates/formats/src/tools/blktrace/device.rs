//! Names of block devices by their numbers.

/// The name of a device with a number that always means the same; `259,0` of others, which the
/// kernel gives out as devices come.
pub(crate) fn name(device: u32) -> String {
    let (major, minor) = (device >> 20, device & 0xfffff);
    // Disks of one driver have several majors, with 16 disks each.
    let first = match major {
        8 => Some(0),
        65..=71 => Some((major - 64) * 16),
        128..=135 => Some((major - 120) * 16),
        _ => None,
    };
    if let Some(first) = first {
        let disk = letters(first + minor / 16);
        return match minor % 16 {
            0 => format!("sd{disk}"),
            part => format!("sd{disk}{part}"),
        };
    }
    match major {
        1 => format!("ram{minor}"),
        7 => format!("loop{minor}"),
        9 => format!("md{minor}"),
        _ => format!("{major},{minor}"),
    }
}

/// a, b … z, aa, ab …
fn letters(mut number: u32) -> String {
    let mut text = Vec::new();
    loop {
        text.push(b'a' + (number % 26) as u8);
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    text.iter().rev().map(|b| char::from(*b)).collect()
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn numbers_that_always_mean_the_same() {
        let of = |major: u32, minor: u32| name(major << 20 | minor);
        assert_eq!(of(8, 0), "sda");
        assert_eq!(of(8, 17), "sdb1");
        assert_eq!(of(65, 160), "sdaa");
        assert_eq!(of(128, 0), "sddy");
        assert_eq!(of(9, 127), "md127");
        assert_eq!(of(259, 3), "259,3");
    }
}
