// SPDX-License-Identifier: Apache-2.0
//! Counts, where messages arrive, what was lost since they were published: each has its number in its publisher's
//! stream, and the count of what was left out on purpose.
use std::collections::HashMap;

use crate::stamp::Stamp;

/// A hostile sender can invent publishers: the one that was silent longest is forgotten.
pub const MOST_PUBLISHERS: usize = 64;
/// No message comes later by this number of others: the one before was invented, by a hostile peer with this publisher's number.
const MOST_LATE: u64 = 1024;

#[derive(Debug, Default)]
struct Stream {
    last: u64,
    thinned: u64,
    /// Published, and not arrived when the sender gave its count: lost, unless they still come.
    missing: u64,
    told: u64,
    used: u64,
}

#[derive(Debug, Default)]
pub struct Losses {
    streams: HashMap<u64, Stream>,
    /// Of publishers of which nothing was delivered yet: number and count of the first message that was dropped here.
    early: HashMap<u64, (u64, u64)>,
    clock: u64,
    lost: u64,
}

impl Losses {
    /// The same of a message that comes by itself, as far as its publisher's number can be trusted at all.
    pub fn arrived_live(&mut self, stamp: &Stamp) -> bool {
        let ahead = self.streams.get(&stamp.publisher).map_or(0, |s| s.last.saturating_sub(stamp.sequence));
        if ahead > MOST_LATE {
            self.streams.remove(&stamp.publisher); // so that gaps count again, from here on
        }
        if let Some((first, thinned)) = self.early.remove(&stamp.publisher) {
            let gap = stamp.sequence.saturating_sub(first);
            self.lost = self.lost.saturating_add(gap.saturating_sub(stamp.thinned.saturating_sub(thinned)));
        }
        self.arrived(stamp)
    }

    /// Whether one of its messages has come.
    pub fn knows(&self, publisher: u64) -> bool {
        self.streams.contains_key(&publisher)
    }

    /// The message was dropped here before it was delivered. Later ones of its publisher count it as a gap, unless it is
    /// from before the first one: then the first one counts it, if that comes by itself.
    pub fn dropped(&mut self, stamp: &Stamp) {
        if self.knows(stamp.publisher) {
            return;
        }
        if self.early.len() >= MOST_PUBLISHERS && !self.early.contains_key(&stamp.publisher) {
            self.lost = self.lost.saturating_add(1);
            return;
        }
        let first = self.early.entry(stamp.publisher).or_insert((stamp.sequence, stamp.thinned));
        if stamp.sequence < first.0 {
            *first = (stamp.sequence, stamp.thinned);
        }
    }

    /// Whether the message is new. An older one has come twice, as part of what a late joiner gets.
    pub fn arrived(&mut self, stamp: &Stamp) -> bool {
        self.clock += 1;
        let clock = self.clock;
        if let Some(stream) = self.streams.get_mut(&stamp.publisher) {
            stream.used = clock;
            if stamp.sequence <= stream.last {
                return false;
            }
            let gap = stamp.sequence - stream.last - 1;
            let thinned = stamp.thinned.saturating_sub(stream.thinned);
            self.lost = self.lost.saturating_add(gap.saturating_sub(thinned));
            stream.last = stamp.sequence;
            stream.thinned = stamp.thinned;
            stream.missing = 0;
            return true;
        }
        if self.streams.len() >= MOST_PUBLISHERS {
            let oldest = self.streams.iter().min_by_key(|(_, s)| s.used);
            if let Some(oldest) = oldest.map(|(publisher, _)| *publisher) {
                self.forget(oldest);
            }
        }
        self.early.remove(&stamp.publisher); // a late joiner's stream starts here
        let stream = Stream { last: stamp.sequence, thinned: stamp.thinned, used: clock, ..Default::default() };
        self.streams.insert(stamp.publisher, stream);
        true
    }

    fn forget(&mut self, publisher: u64) {
        if let Some(stream) = self.streams.remove(&publisher) {
            self.lost = self.lost.saturating_add(stream.missing);
        }
    }

    /// The sender says which number it sent last. Messages of the time before that have not arrived by now are missing.
    pub fn told(&mut self, publisher: u64, sequence: u64, thinned: u64) {
        let Some(stream) = self.streams.get_mut(&publisher) else {
            return;
        };
        let due = stream.told.min(sequence);
        if due > stream.last {
            let thinned = thinned.saturating_sub(stream.thinned);
            stream.missing = (due - stream.last).saturating_sub(thinned);
        }
        stream.told = sequence;
    }

    /// Publishers that are remembered.
    pub fn remembered(&self) -> usize {
        self.streams.len() + self.early.len()
    }

    pub fn lost(&self) -> u64 {
        self.streams.values().fold(self.lost, |sum, s| sum.saturating_add(s.missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(publisher: u64, sequence: u64, thinned: u64) -> Stamp {
        Stamp { publisher, sequence, thinned, ..Default::default() }
    }

    #[test]
    fn gaps_are_losses_unless_they_were_meant() {
        let mut losses = Losses::default();
        assert!(losses.arrived(&stamp(1, 10, 0)));
        assert!(losses.arrived(&stamp(1, 11, 0)));
        assert_eq!(losses.lost(), 0);
        assert!(losses.arrived(&stamp(1, 15, 0)));
        assert_eq!(losses.lost(), 3);
        assert!(losses.arrived(&stamp(1, 20, 3)));
        assert_eq!(losses.lost(), 4, "of four, three were left out on purpose");
        assert!(!losses.arrived(&stamp(1, 20, 3)), "twice");
        assert!(!losses.arrived(&stamp(1, 12, 3)), "late");
        assert_eq!(losses.lost(), 4);
    }

    #[test]
    fn each_publisher_counts_for_itself() {
        let mut losses = Losses::default();
        losses.arrived(&stamp(1, 10, 0));
        losses.arrived(&stamp(2, 1000, 0));
        losses.arrived(&stamp(1, 11, 0));
        losses.arrived(&stamp(2, 1001, 0));
        assert_eq!(losses.lost(), 0);
    }

    #[test]
    fn losses_at_the_end_are_counted_and_late_messages_are_not() {
        let mut losses = Losses::default();
        losses.arrived(&stamp(1, 10, 0));
        losses.told(1, 14, 0);
        assert_eq!(losses.lost(), 0, "they may be on their way");
        losses.told(1, 14, 0);
        assert_eq!(losses.lost(), 4);
        losses.told(1, 14, 0);
        assert_eq!(losses.lost(), 4, "counted once");
        losses.arrived(&stamp(1, 11, 0));
        assert_eq!(losses.lost(), 0, "the link was slow");
        losses.told(1, 14, 1);
        assert_eq!(losses.lost(), 2, "one of three was left out on purpose");
        losses.told(9, 100, 0);
        assert_eq!(losses.lost(), 2, "nobody knows that publisher");
    }

    #[test]
    fn drops_before_the_first_message_are_counted() {
        let mut losses = Losses::default();
        losses.dropped(&stamp(1, 10, 0));
        losses.dropped(&stamp(1, 11, 0));
        losses.dropped(&stamp(1, 14, 2)); // two were left out on purpose
        assert_eq!(losses.lost(), 0, "they may still come as a late joiner's");
        losses.arrived_live(&stamp(1, 15, 2));
        assert_eq!(losses.lost(), 3);
        losses.dropped(&stamp(1, 16, 2));
        losses.arrived_live(&stamp(1, 17, 2));
        assert_eq!(losses.lost(), 4, "counted once");
        losses.dropped(&stamp(2, 10, 0));
        losses.dropped(&stamp(2, 14, 0));
        losses.arrived(&stamp(2, 12, 0));
        losses.arrived(&stamp(2, 13, 0));
        assert_eq!(losses.lost(), 4, "a late joiner's stream starts with its first message");
        losses.arrived_live(&stamp(2, 15, 0));
        assert_eq!(losses.lost(), 5);
        for publisher in 100..100_000 {
            losses.dropped(&stamp(publisher, 0, 0));
        }
        assert!(losses.early.len() <= MOST_PUBLISHERS);
        assert_eq!(losses.lost(), 5 + 99_900 - MOST_PUBLISHERS as u64);
    }

    /// A hostile peer's stamps are added as far as a number reaches; in a debug build an overflow would panic.
    #[test]
    fn invented_numbers_stop_at_the_largest() {
        let mut losses = Losses::default();
        for publisher in 0..3 {
            losses.arrived(&stamp(publisher, 0, 0));
            losses.arrived(&stamp(publisher, u64::MAX, 0));
        }
        assert_eq!(losses.lost(), u64::MAX);
        for publisher in 3..6 {
            losses.arrived(&stamp(publisher, 0, 0));
            losses.told(publisher, u64::MAX, 0);
            losses.told(publisher, u64::MAX, 0);
        }
        assert_eq!(losses.lost(), u64::MAX);
    }

    /// One message of a hostile peer must not make all that the publisher sends look late.
    #[test]
    fn an_invented_number_does_not_stay() {
        let mut losses = Losses::default();
        losses.arrived_live(&stamp(1, 10, 0));
        losses.arrived_live(&stamp(1, 1_000_000, 0));
        let invented = losses.lost();
        assert!(!losses.arrived(&stamp(1, 11, 0)), "a late joiner gets no such");
        assert!(losses.arrived_live(&stamp(1, 11, 0)));
        assert!(losses.arrived_live(&stamp(1, 12, 0)));
        assert!(!losses.arrived_live(&stamp(1, 12, 0)), "twice");
        assert_eq!(losses.lost(), invented);
        losses.arrived_live(&stamp(1, 14, 0));
        assert_eq!(losses.lost(), invented.saturating_add(1));
    }

    #[test]
    fn invented_publishers_cost_little_memory() {
        let mut losses = Losses::default();
        for publisher in 0..100_000 {
            losses.arrived(&stamp(publisher, u64::MAX - 1, 0));
            losses.arrived(&stamp(publisher, u64::MAX, u64::MAX));
        }
        assert!(losses.streams.len() <= MOST_PUBLISHERS);
        assert_eq!(losses.lost(), 0);
    }
}
