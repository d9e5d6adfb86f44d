//! Temperatures, from `/sys/class/hwmon/hwmon*`.
//!
//! ```text
//! hwmon2/name          coretemp
//! hwmon2/temp1_label   Package id 0
//! hwmon2/temp1_input   45000
//! hwmon2/temp1_fault   0
//! ```
//! Thousandths of a degree Celsius, perhaps below zero. Numbers of chips change from boot to
//! boot, so a chip is named by its name and its device.
//!
//! Some sensors are behind a slow bus: they are read at most once in two seconds, and
//! samples in between repeat that reading. Chips that appear later are not seen. `drivetemp`
//! is left out: its reading is a command to the disk that waits until the disk has finished
//! all others, and can keep it from spinning down.
//!
//! <https://docs.kernel.org/hwmon/sysfs-interface.html>

use std::collections::HashSet;
use std::io;
use std::path::Path;

use run::rows::TableId;
use run::{Sink, Word};

use crate::read::{Kept, number, once};
use crate::{Availability, Detail, Entry, Host, Source};

/// The source.
pub const ENTRY: Entry = Entry {
    name: "temperature",
    help: "temperatures of the machine's sensors (hwmon)",
    reads: "/sys/class/hwmon/hwmon*/temp*_input",
    link: "https://docs.kernel.org/hwmon/sysfs-interface.html",
    detail: Detail::Samples,
    open,
};

/// Seconds a reading is good for; a little less than two, as intervals jitter.
const LIFE: f64 = 1.95;
const NEEDS: &str = "a temperature sensor with its hwmon driver (coretemp, k10temp, nvme); \
                     virtual machines have none";

struct Sensor {
    input: Kept,
    /// Says 1 where the sensor is broken; few have it.
    fault: Option<Kept>,
    chip: String,
    label: String,
    words: Option<[Word; 2]>,
    /// The last reading, if it could be read.
    celsius: Option<f64>,
}

struct Temperature {
    sensors: Vec<Sensor>,
    buffer: Vec<u8>,
    /// Seconds since the sensors were read; none yet.
    age: Option<f64>,
    table: TableId,
}

fn open(host: &Host) -> Result<Box<dyn Source>, Availability> {
    Ok(Box::new(new(host)?))
}

fn new(host: &Host) -> Result<Temperature, Availability> {
    let class = host.sys("class/hwmon");
    let remedy = "run as root";
    let entries =
        std::fs::read_dir(&class).map_err(|e| Availability::of(&class, &e, NEEDS, remedy))?;
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut folders: Vec<String> = names.collect();
    folders.sort();
    let mut chips = HashSet::new();
    let mut sensors = Vec::new();
    for folder in folders {
        let path = class.join(&folder);
        let Some(name) = once(&path.join("name")).filter(|n| n != "drivetemp") else {
            continue;
        };
        // Two chips may have one name and no device: then their number has to tell.
        let mut chip = titled(&path, &name);
        if !chips.insert(chip.clone()) {
            chip = format!("{name}/{folder}");
            chips.insert(chip.clone());
        }
        sensors.extend(chip_sensors(&path, &chip));
    }
    if sensors.is_empty() {
        return Err(Availability::Unsupported {
            needs: NEEDS.into(),
        });
    }
    Ok(Temperature {
        sensors,
        buffer: Vec::new(),
        age: None,
        table: TableId::of("temperature"),
    })
}

/// A chip's name with its device's: `nvme/nvme0`, `coretemp/coretemp.1`.
fn titled(path: &Path, name: &str) -> String {
    let device = std::fs::read_link(path.join("device")).ok();
    let device = device.and_then(|d| Some(d.file_name()?.to_string_lossy().into_owned()));
    device.map_or_else(|| name.to_owned(), |d| format!("{name}/{d}"))
}

/// The temperature sensors of the chip in the folder `path`.
fn chip_sensors(path: &Path, chip: &str) -> Vec<Sensor> {
    let inputs = std::fs::read_dir(path).into_iter().flatten();
    let mut numbers: Vec<u64> = inputs
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let name = name.to_str()?.strip_prefix("temp")?;
            number(name.strip_suffix("_input")?.as_bytes())
        })
        .collect();
    numbers.sort_unstable();
    let mut labels = HashSet::new();
    let sensor = |n: u64| {
        let file = |what: &str| path.join(format!("temp{n}_{what}"));
        let label = once(&file("label")).filter(|l| !l.is_empty() && labels.insert(l.clone()));
        Some(Sensor {
            input: Kept::open(file("input")).ok()?,
            fault: Kept::open(file("fault")).ok(),
            chip: chip.to_owned(),
            label: label.unwrap_or_else(|| format!("temp{n}")),
            words: None,
            celsius: None,
        })
    };
    numbers.into_iter().filter_map(sensor).collect()
}

impl Source for Temperature {
    fn sample(&mut self, interval: Option<f64>, out: &mut Sink) -> io::Result<()> {
        let age = self.age.map(|age| age + interval.unwrap_or(0.0));
        let is_fresh = age.is_some_and(|age| age < LIFE);
        self.age = Some(age.filter(|_| is_fresh).unwrap_or(0.0));
        for sensor in &mut self.sensors {
            if !is_fresh {
                sensor.celsius = sensor.read(&mut self.buffer);
            }
            if let (Some(_), Some(celsius)) = (interval, sensor.celsius) {
                let words = *sensor
                    .words
                    .get_or_insert_with(|| [out.word(&sensor.chip), out.word(&sensor.label)]);
                out.row(self.table, &words, &[celsius]);
            }
        }
        Ok(())
    }
}

impl Sensor {
    /// Degrees; `None` if the sensor does not answer or says that it is broken.
    fn read(&self, buffer: &mut Vec<u8>) -> Option<f64> {
        if let Some(fault) = &self.fault {
            let fault = fault.read(buffer).ok()?;
            if fault.trim_ascii() != b"0" {
                return None;
            }
        }
        degrees(self.input.read(buffer).ok()?)
    }
}

/// Degrees of a file that holds thousandths.
fn degrees(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    let (sign, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (-1.0, digits),
        None => (1.0, text),
    };
    number(digits).map(|n| sign * n as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        let root = env!("CARGO_MANIFEST_DIR");
        Host::at(format!("{root}/fixtures/temperature/server"))
    }

    #[test]
    fn thousandths_with_and_without_a_sign() {
        assert_eq!(degrees(b"45250\n"), Some(45.25));
        assert_eq!(degrees(b"-5000\n"), Some(-5.0));
        for bad in [&b""[..], b"-", b"N/A", b"--5"] {
            assert_eq!(degrees(bad), None);
        }
    }

    #[test]
    fn every_sensor_that_works_has_a_row() {
        let mut source = new(&host()).unwrap();
        let mut out = Sink::new();
        source.sample(None, &mut out).unwrap();
        source.sample(Some(1.0), &mut out).unwrap();
        let rows = out.rows(TableId::of("temperature"));
        let shown: Vec<_> = (0..rows.len())
            .map(|i| {
                let word = |w: usize| out.words.text(rows.words[w][i]).unwrap();
                (word(0), word(1), rows.values[0][i])
            })
            .collect();
        // drivetemp is not asked, and the third sensor of the board says it is broken.
        assert_eq!(
            shown,
            [
                ("coretemp/coretemp.0", "Package id 0", 45.0),
                ("coretemp/coretemp.0", "Core 0", 44.0),
                ("coretemp/coretemp.0", "temp10", 43.5),
                ("acpitz", "temp1", 27.8),
                ("acpitz/hwmon2", "temp1", -5.0),
                ("board", "AUX", 30.0),
                ("board", "temp2", 31.0),
            ]
        );
    }

    #[test]
    fn a_reading_is_repeated_for_two_seconds() {
        let mut source = new(&host()).unwrap();
        let mut out = Sink::new();
        source.sample(None, &mut out).unwrap();
        // From now on the first sensor is another one's file, which says 44.
        let first = &mut source.sensors[0].input;
        *first = Kept::open(first.path().with_file_name("temp2_input")).unwrap();
        let mut first = |interval: f64| {
            out.clear();
            source.sample(Some(interval), &mut out).unwrap();
            out.rows(TableId::of("temperature")).values[0][0]
        };
        assert_eq!(
            [first(1.0), first(0.5), first(0.5), first(1.0)],
            [45.0, 45.0, 44.0, 44.0]
        );
    }

    #[test]
    fn absence_says_what_is_needed() {
        let absent = new(&Host::at("/nonexistent")).err().unwrap();
        assert!(matches!(absent, Availability::Unsupported { needs } if needs.contains("hwmon")));
    }
}
