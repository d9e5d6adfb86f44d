//! A fast device: 300,000 random reads of 4 KiB a second over 1 GiB, 32 of them under way,
//! log-normal times in queue and device, of one process. What is random in it is so on purpose:
//! nothing takes more room.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use run::rows::TableId;
use run::{Nanos, Sink, Word};

use crate::random::Random;
use crate::{Load, START};

const DEPTH: usize = 32;
const SPAN: u64 = 1 << 30;
const SIZE: u64 = 4096;

/// A read under way; the one that ends first is the least.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    ends: Nanos,
    queue: Nanos,
    service: Nanos,
    offset: u64,
    distance: i64,
    nearest: i64,
    depth: u64,
}

pub(crate) struct Device {
    table: TableId,
    words: [Word; 10],
    under_way: BinaryHeap<Reverse<Read>>,
    ends: VecDeque<u64>,
    random: Random,
}

impl Device {
    pub(crate) fn new(sink: &mut Sink) -> Device {
        let words = [
            "loop0",
            "stacked",
            "read",
            "sync",
            "no",
            "no",
            "fio[1000@77]",
            "fio",
            "/bench",
            "/bench/file",
        ];
        Device {
            table: TableId::of("disk_event"),
            words: words.map(|w| sink.word(w)),
            under_way: BinaryHeap::new(),
            ends: VecDeque::from([0]),
            random: Random(0x5eed),
        }
    }

    fn issue(&mut self, time: Nanos) {
        let offset = (self.random.unit() * (SPAN / SIZE) as f64) as u64 * SIZE;
        let from = |end: &u64| offset as i64 - *end as i64;
        let distance = self.ends.back().map_or(0, from);
        let nearest = self.ends.iter().map(from).min_by_key(|d| d.unsigned_abs());
        self.ends.push_back(offset + SIZE);
        if self.ends.len() > 16 {
            self.ends.pop_front();
        }
        let queue = self.random.log_normal(2_000.0, 1.0);
        let service = self.random.log_normal(92_000.0, 0.5);
        let jitter = self.random.unit() * 6.0;
        self.under_way.push(Reverse(Read {
            ends: time + queue + service,
            queue,
            service,
            offset,
            distance,
            nearest: nearest.unwrap_or(0),
            depth: (self.under_way.len() + 1).saturating_sub(jitter as usize) as u64,
        }));
    }
}

impl Load for Device {
    fn run_until(&mut self, time: Nanos, sink: &mut Sink) -> u64 {
        let mut events = 0;
        while self.under_way.len() < DEPTH {
            self.issue(START);
        }
        while self.under_way.peek().is_some_and(|r| r.0.ends <= time) {
            let Some(Reverse(read)) = self.under_way.pop() else {
                break;
            };
            let values = [
                read.queue as f64 / 1e9,
                read.service as f64 / 1e9,
                SIZE as f64,
                read.offset as f64,
                read.distance as f64,
                read.nearest as f64,
                read.depth as f64,
                1.0,
            ];
            sink.events(self.table).event(read.ends, self.words, values);
            events += 1;
            // The program asks for the next one a little later; now and then for several.
            let pause = (self.random.unit() * 2000.0) as Nanos;
            self.issue(read.ends + pause);
        }
        events
    }
}
