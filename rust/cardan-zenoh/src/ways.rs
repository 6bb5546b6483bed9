// SPDX-License-Identifier: Apache-2.0
//! The publishers of one topic that comes in: one for each set of networks that its messages came through, because the loop
//! guard is a publisher's (`via`).
use std::time::{Duration, Instant};

/// In addition to the one for messages straight from the network here. Hostile peers can invent networks.
pub const MOST: usize = 4;
/// One that was not used for this time makes room for another.
const RESTS: Duration = Duration::from_secs(1);
/// Bytes.
const LEAST_ROOM: usize = 256;

#[derive(Debug)]
struct Way<P> {
    via: String,
    room: usize,
    used: Instant,
    publisher: P,
}

#[derive(Debug)]
pub struct Ways<P> {
    straight: String,
    all: Vec<Way<P>>,
}

impl<P> Ways<P> {
    /// `straight`: the network here.
    pub fn new(straight: &str) -> Self {
        Ways { straight: straight.into(), all: vec![] }
    }

    pub fn publishers(&self) -> impl Iterator<Item = &P> {
        self.all.iter().map(|w| &w.publisher)
    }

    /// The publisher for messages that came this way, with room for this number of bytes; `make` makes one with room for
    /// this many, at most `most` unless one message has more.
    pub fn find(
        &mut self,
        via: &str,
        bytes: usize,
        most: usize,
        now: Instant,
        make: impl FnOnce(usize) -> Result<P, String>,
    ) -> Result<&mut P, String> {
        if let Some(at) = self.all.iter().position(|w| w.via == via) {
            if self.all[at].room >= bytes {
                let way = &mut self.all[at];
                way.used = now;
                return Ok(&mut way.publisher);
            }
            self.all.remove(at); // its samples stay with the subscribers that hold them
        } else if via != self.straight {
            self.make_room(now)?;
        }
        let room = (2 * bytes).min(most).max(bytes).max(LEAST_ROOM);
        self.all.push(Way { via: via.into(), room, used: now, publisher: make(room)? });
        Ok(&mut self.all.last_mut().expect("just added").publisher)
    }

    fn make_room(&mut self, now: Instant) -> Result<(), String> {
        let others = || self.all.iter().enumerate().filter(|(_, w)| w.via != self.straight);
        if others().count() < MOST {
            return Ok(());
        }
        let rested = others().filter(|(_, w)| now.saturating_duration_since(w.used) >= RESTS);
        let Some((at, _)) = rested.min_by_key(|(_, w)| w.used) else {
            return Err(format!("messages came over more than {MOST} different ways"));
        };
        self.all.remove(at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ways: &mut Ways<usize>, via: &str, bytes: usize, now: Instant) -> Option<usize> {
        ways.find(via, bytes, 1000, now, Ok).ok().copied()
    }

    #[test]
    fn each_way_keeps_its_publisher_until_a_message_is_too_large() {
        let (mut ways, now) = (Ways::new("here"), Instant::now());
        assert_eq!(found(&mut ways, "here", 300, now), Some(600));
        assert_eq!(found(&mut ways, "here", 600, now), Some(600));
        assert_eq!(found(&mut ways, "here far", 10, now), Some(LEAST_ROOM));
        assert_eq!(found(&mut ways, "here", 700, now), Some(1000));
        assert_eq!(found(&mut ways, "here", 2000, now), Some(2000));
        assert_eq!(ways.publishers().count(), 2);
    }

    #[test]
    fn invented_networks_keep_nobody_out() {
        let (mut ways, start) = (Ways::new("here"), Instant::now());
        for n in 0..100 {
            let is_there = found(&mut ways, &format!("here net{n}"), 10, start).is_some();
            assert_eq!(is_there, n < MOST, "{n}");
        }
        assert!(found(&mut ways, "here", 10, start).is_some(), "what comes straight");
        let later = start + RESTS;
        assert!(found(&mut ways, "here net1", 10, later).is_some());
        assert!(found(&mut ways, "here honest", 10, later).is_some(), "one that rested makes room");
        assert!(ways.all.iter().any(|w| w.via == "here net1") && !ways.all.iter().any(|w| w.via == "here net0"));
        assert_eq!(ways.publishers().count(), MOST + 1);
    }

    #[test]
    fn one_that_cannot_be_made_takes_no_place() {
        let mut ways: Ways<usize> = Ways::new("here");
        assert_eq!(ways.find("here", 10, 1000, Instant::now(), |_| Err("no".into())).err().as_deref(), Some("no"));
        assert_eq!(ways.publishers().count(), 0);
    }
}
