// SPDX-License-Identifier: Apache-2.0
//! The attachment of Cardan's bridges to each message: where it comes from, its number and its times. Others ignore it.
use std::time::{SystemTime, UNIX_EPOCH};

/// Little-endian, in this order, after the mark: four bytes, seven words of eight bytes, the networks as text.
const MARK: &[u8; 4] = b"CDN2";
const FIXED: usize = 4 + 7 * 8;
const MOST_VIA: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Number of Cardan's domain on its computer: what comes from the own one is not let in again.
    pub domain: u64,
    /// Number of the publisher; `sequence` counts on as long as it is the same.
    pub publisher: u64,
    pub sequence: u64,
    /// Messages of this publisher that the sender has left out on purpose so far.
    pub thinned: u64,
    /// Wall clock of the sender's computer.
    pub publish_ns: i64,
    /// The publisher's own stamp; 0: none.
    pub source_ns: i64,
    /// How old it was when it was sent; negative: nobody knows.
    pub age_ns: i64,
    /// Networks that it came through before, separated by spaces.
    pub via: String,
}

impl Stamp {
    pub fn encode(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(FIXED + self.via.len());
        all.extend_from_slice(MARK);
        for word in [self.domain, self.publisher, self.sequence, self.thinned] {
            all.extend_from_slice(&word.to_le_bytes());
        }
        for word in [self.publish_ns, self.source_ns, self.age_ns] {
            all.extend_from_slice(&word.to_le_bytes());
        }
        all.extend_from_slice(self.via.as_bytes());
        all
    }

    /// None: it is not ours, or malformed.
    pub fn decode(bytes: &[u8]) -> Option<Stamp> {
        if bytes.len() < FIXED || bytes.len() > FIXED + MOST_VIA || &bytes[..4] != MARK {
            return None;
        }
        let word = |n: usize| {
            let at = 4 + 8 * n;
            u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
        };
        let via = std::str::from_utf8(&bytes[FIXED..]).ok()?;
        if !good_via(via) {
            return None;
        }
        Some(Stamp {
            domain: word(0),
            publisher: word(1),
            sequence: word(2),
            thinned: word(3),
            publish_ns: word(4) as i64,
            source_ns: word(5) as i64,
            age_ns: word(6) as i64,
            via: via.into(),
        })
    }
}

/// Whether it can be a publisher's `via`: names and single spaces alone.
pub fn good_via(via: &str) -> bool {
    via.len() <= MOST_VIA && !via.chars().any(|c| c.is_control() || c == '=')
}

/// The networks that a message came through, this one first.
pub fn via_with(network: &str, stamp: Option<&Stamp>) -> String {
    let mut via = network.to_string();
    for other in stamp.iter().flat_map(|s| s.via.split(' ')).filter(|other| !other.is_empty() && *other != network) {
        via += " ";
        via += other;
    }
    via
}

/// Nanoseconds since 1970.
pub fn wall_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
}

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
}

/// CLOCK_MONOTONIC, nanoseconds: the clock of a sample's `publish_ns`.
pub fn steady_now() -> i64 {
    const CLOCK_MONOTONIC: i32 = 1;
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: writes the struct, which has the layout of timespec on 64-bit Linux.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut time) };
    time.seconds * 1_000_000_000 + time.nanoseconds
}

/// 64 bits of FNV-1a: names a domain or a definition; nothing relies on it against an attacker.
pub fn number_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_as_it_was() {
        let stamp = Stamp {
            domain: 1,
            publisher: u64::MAX,
            sequence: 3,
            thinned: 4,
            publish_ns: -5,
            source_ns: 6,
            age_ns: -7,
            via: "dds:0 zenoh".into(),
        };
        assert_eq!(Stamp::decode(&stamp.encode()), Some(stamp));
    }

    #[test]
    fn attachments_that_are_not_ours_are_ignored() {
        let good = Stamp::default().encode();
        assert!(Stamp::decode(&good).is_some());
        assert!(Stamp::decode(&good[..good.len() - 1]).is_none());
        assert!(Stamp::decode(b"").is_none());
        let mut other = good.clone();
        other[0] = b'X';
        assert!(Stamp::decode(&other).is_none());
        for evil in ["a\nb", "\0", "a=b"] {
            let mut bytes = good.clone();
            bytes.extend_from_slice(evil.as_bytes());
            assert!(Stamp::decode(&bytes).is_none(), "{evil:?}");
        }
        let mut long = good.clone();
        long.resize(good.len() + MOST_VIA + 1, b'a');
        assert!(Stamp::decode(&long).is_none());
        let mut broken = good;
        broken.push(0xff);
        assert!(Stamp::decode(&broken).is_none());
    }

    #[test]
    fn the_steady_clock_advances() {
        let first = steady_now();
        assert!(first > 0 && steady_now() >= first);
    }
}
