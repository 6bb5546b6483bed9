// SPDX-License-Identifier: Apache-2.0
//! Between bridges of Cardan: how far the other computer's clock is ahead, and which messages it has sent last. Each asks
//! each other one once a second.
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zenoh::query::{ConsolidationMode, Query, QueryTarget};
use zenoh::Wait;

use crate::answers::{self, Room};
use crate::keys::clock_key;
use crate::stamp::wall_now;
use crate::topics::Topics;

const PERIOD: Duration = Duration::from_secs(1);
const ASK: Duration = Duration::from_secs(2);
/// Of this number of measurements, the one with the shortest way counts.
const MEASUREMENTS: usize = 16;
const MOST_PEERS: usize = 16;
const MOST_SILENCE: u32 = 30;
const MOST_ANSWER: usize = 256 << 10;
const ROOM: Room = Room { answers: 16, bytes: 1 << 20 };

#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    received_ns: i64,
    sent_ns: i64,
    streams: Vec<Told>,
}

/// The last message of one publisher.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    topic: String,
    publisher: u64,
    sequence: u64,
    thinned: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// By this much the other clock is ahead of ours.
    pub offset_ns: i64,
    pub round_trip_ns: i64,
}

/// Of the four times of a question and its answer. None: they contradict each other.
fn measured(asked: i64, received: i64, sent: i64, answered: i64) -> Option<Measured> {
    let there = received.checked_sub(asked)?;
    let back = sent.checked_sub(answered)?;
    let round_trip_ns = answered.checked_sub(asked)?.checked_sub(sent.checked_sub(received)?)?;
    (round_trip_ns >= 0)
        .then_some(Measured { offset_ns: ((i128::from(there) + i128::from(back)) / 2) as i64, round_trip_ns })
}

#[derive(Debug, Default)]
struct Peer {
    measured: VecDeque<Measured>,
    /// Questions in a row without an answer.
    silent: u32,
}

#[derive(Debug, Default)]
pub struct Clocks {
    peers: Mutex<BTreeMap<String, Peer>>,
}

impl Clocks {
    /// Another bridge of Cardan was seen.
    pub fn add(&self, zid: &str) {
        let mut peers = self.peers.lock().unwrap();
        if peers.len() < MOST_PEERS {
            peers.entry(zid.into()).or_default();
        }
    }

    /// The best measurement of each bridge.
    pub fn best(&self) -> Vec<(String, Measured)> {
        let peers = self.peers.lock().unwrap();
        let best = |peer: &Peer| peer.measured.iter().min_by_key(|m| m.round_trip_ns).copied();
        peers.iter().filter_map(|(zid, peer)| Some((zid.clone(), best(peer)?))).collect()
    }

    fn zids(&self) -> Vec<String> {
        self.peers.lock().unwrap().keys().cloned().collect()
    }

    fn note(&self, zid: &str, one: Measured) {
        if let Some(peer) = self.peers.lock().unwrap().get_mut(zid) {
            peer.measured.push_back(one);
            if peer.measured.len() > MEASUREMENTS {
                peer.measured.pop_front();
            }
        }
    }

    /// A bridge that does not answer for long has gone. Its next announcement adds it again.
    fn count_silence(&self, zid: &str, answered: bool) {
        let mut peers = self.peers.lock().unwrap();
        let Some(peer) = peers.get_mut(zid) else { return };
        peer.silent = if answered { 0 } else { peer.silent + 1 };
        if peer.silent == MOST_SILENCE {
            peers.remove(zid);
        }
    }

    /// Asks until `stop`: all of them at once, so that one that never answers costs the others nothing.
    pub fn ask(&self, topics: &Topics, stop: &AtomicBool) {
        while !stop.load(Relaxed) {
            let asked: Vec<_> = self.zids().into_iter().filter_map(|zid| Asked::of(topics, zid)).collect();
            for one in asked {
                let has_answered =
                    one.found.map(|answer| self.read(topics, &one, &answer)).filter(|good| *good).count() > 0;
                self.count_silence(&one.zid, has_answered);
            }
            std::thread::sleep(PERIOD);
        }
    }

    /// Whether it is an answer.
    fn read(&self, topics: &Topics, asked: &Asked, came: &answers::Answer) -> bool {
        let Ok(answer) = serde_json::from_slice::<Answer>(&came.sample.payload().to_bytes()) else { return false };
        if let Some(one) = measured(asked.at_ns, answer.received_ns, answer.sent_ns, came.arrived_ns) {
            self.note(&asked.zid, one);
        }
        let incoming = topics.incoming.lock().unwrap();
        for told in answer.streams {
            if let Some(topic) = incoming.get(&told.topic) {
                let mut losses = topic.losses.lock().unwrap();
                losses.told(told.publisher, told.sequence, told.thinned);
            }
        }
        true
    }
}

struct Asked {
    zid: String,
    at_ns: i64,
    found: answers::Answers,
}

impl Asked {
    fn of(topics: &Topics, zid: String) -> Option<Asked> {
        let (callback, found) = answers::answers(ROOM, |sample| sample.payload().len() <= MOST_ANSWER);
        let at_ns = wall_now();
        // Of all that answer: another peer must not speak in place of the bridge.
        let get = topics.context.session.get(clock_key(&zid)).target(QueryTarget::All);
        let asked = get.consolidation(ConsolidationMode::None).timeout(ASK).callback(callback).wait();
        asked.ok().map(|()| Asked { zid, at_ns, found })
    }
}

/// Answers such a question, which came at that time.
pub fn answer(topics: &Topics, query: &Query, received_ns: i64) {
    let mut streams = vec![];
    for topic in topics.outgoing.lock().unwrap().values() {
        for (publisher, sent) in topic.sent.lock().unwrap().iter() {
            streams.push(Told {
                topic: topic.beyond.clone(),
                publisher: *publisher,
                sequence: sent.sequence,
                thinned: sent.thinned,
            });
        }
    }
    let answer = Answer { received_ns, sent_ns: wall_now(), streams };
    if let Ok(text) = serde_json::to_vec(&answer) {
        let _ = topics.context.receivers.send(|| query.reply(query.key_expr().clone(), text).wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_told_from_the_way() {
        // The other clock is 1000 ahead; 30 there, 5 in between, 50 back.
        let m = measured(100, 1130, 1135, 185).unwrap();
        assert_eq!(m.round_trip_ns, 80);
        assert_eq!(m.offset_ns, 990);
    }

    #[test]
    fn nonsense_is_not_a_measurement() {
        assert_eq!(measured(100, 0, 1000, 185), None);
        assert_eq!(measured(100, i64::MIN, i64::MAX, 185), None);
    }

    #[test]
    fn a_peer_that_is_silent_for_long_is_forgotten() {
        let clocks = Clocks::default();
        clocks.add("a");
        for n in 0..2 * MOST_SILENCE {
            clocks.count_silence("a", n == MOST_SILENCE / 2);
            let forgotten = clocks.zids().is_empty();
            assert_eq!(forgotten, n >= MOST_SILENCE / 2 + MOST_SILENCE, "{n}");
        }
    }

    #[test]
    fn the_shortest_way_counts() {
        let clocks = Clocks::default();
        clocks.add("a");
        for round_trip_ns in [50, 20, 90] {
            let offset_ns = round_trip_ns * 10;
            clocks.note("a", Measured { offset_ns, round_trip_ns });
        }
        clocks.note("unknown", Measured { offset_ns: 1, round_trip_ns: 1 });
        let best = clocks.best();
        assert_eq!(best.len(), 1);
        assert_eq!(best[0].1.offset_ns, 200);
    }
}
