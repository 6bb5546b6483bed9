// SPDX-License-Identifier: Apache-2.0
//! A topic on its way out as a publisher of rmw_zenoh: tokens, numbers, and for a latched topic what zenoh-ext's advanced
//! subscribers expect of a publisher that keeps its last messages.
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::Duration;

use cardan::Sample;
use zenoh::bytes::Encoding;
use zenoh::liveliness::LivelinessToken;
use zenoh::query::Query;
use zenoh::time::{Timestamp, TimestampId, NTP64};
use zenoh::Wait;

use crate::announced::Announced;
use crate::context::Context;
use crate::ros::{encoding, gid, history_key, Attachment, Qos};
use crate::stamp::{steady_now, wall_now};

/// Messages whose numbers are remembered, for late joiners.
const MOST_NUMBERS: usize = 256;
/// ns: the wall clock was set by this much.
const SET: u64 = 100_000_000;

/// The numbers of messages, from 1, in the order in which somebody first gets them. All of this computer's publishers of a
/// topic are one publisher of ROS 2.
#[derive(Debug, Default)]
struct Numbers {
    last: i64,
    known: HashMap<(u64, u64), i64>,
    order: VecDeque<(u64, u64)>,
}

impl Numbers {
    fn of(&mut self, publisher: u64, sequence: u64) -> i64 {
        let message = (publisher, sequence);
        if let Some(number) = self.known.get(&message) {
            return *number;
        }
        self.last += 1;
        self.known.insert(message, self.last);
        self.order.push_back(message);
        if self.order.len() > MOST_NUMBERS {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
        self.last
    }
}

/// The data that goes along with a message.
pub struct Mark {
    pub attachment: Vec<u8>,
    pub encoding: Encoding,
    /// Of a latched topic: by it an advanced subscriber knows what it has already.
    pub timestamp: Option<Timestamp>,
}

pub struct RosPublisher {
    gid: [u8; 16],
    encoding: Encoding,
    latched: bool,
    history_key: String,
    id: TimestampId,
    /// The wall clock minus the steady one, as long as nobody sets the wall clock: a message has one time, whenever it is
    /// sent.
    offset_ns: AtomicI64,
    numbers: Mutex<Numbers>,
    last_ns: Mutex<i64>,
    _tokens: Vec<LivelinessToken>,
}

impl RosPublisher {
    /// `data_key`: of the topic. Its tokens last as long as it does.
    pub fn new(context: &Context, announced: &Announced, qos: Qos, data_key: &str, via: &str) -> Result<Self, String> {
        let token = context.node.endpoint(context.new_endpoint(), "MP", announced, qos)?;
        let history_key = history_key(data_key, &context.zid);
        let gid = gid(&token);
        let mut tokens = vec![token];
        if qos.latched {
            tokens.push(history_key.clone());
        }
        let liveliness = context.session.liveliness();
        let declared: Result<_, _> = tokens.into_iter().map(|t| liveliness.declare_token(t).wait()).collect();
        Ok(RosPublisher {
            gid,
            encoding: encoding(context.domain, via)?,
            latched: qos.latched,
            history_key,
            id: context.session.zid().into(),
            offset_ns: AtomicI64::new(wall_now() - steady_now()),
            numbers: Mutex::default(),
            last_ns: Mutex::new(0),
            _tokens: declared.map_err(|e: zenoh::Error| e.to_string())?,
        })
    }

    /// Where it answers with its last messages. None: it keeps none.
    pub fn history_key(&self) -> Option<&str> {
        self.latched.then_some(&self.history_key)
    }

    /// Follows a wall clock that was set; small differences are its drift.
    fn offset_ns(&self) -> i64 {
        let (now, known) = (wall_now() - steady_now(), self.offset_ns.load(Relaxed));
        if now.abs_diff(known) < SET {
            return known;
        }
        self.offset_ns.store(now, Relaxed);
        now
    }

    fn mark(&self, sample: &Sample, published_ns: i64) -> Mark {
        let sequence = self.numbers.lock().unwrap().of(sample.publisher(), sample.sequence());
        let own_ns = sample.publish_ns() + self.offset_ns();
        let source_ns = if sample.source_ns() != 0 { sample.source_ns() } else { own_ns };
        let time = NTP64::from(Duration::from_nanos(published_ns.max(0) as u64));
        Mark {
            attachment: Attachment { sequence, source_ns, gid: self.gid }.encode(),
            encoding: self.encoding.clone(),
            timestamp: self.latched.then(|| Timestamp::new(time, self.id)),
        }
    }

    /// For a message that is sent now. Their times grow, as an advanced subscriber expects: of two publishers here one can
    /// come later with an older message.
    pub fn now(&self, sample: &Sample) -> Mark {
        let mut last_ns = self.last_ns.lock().unwrap();
        *last_ns = (sample.publish_ns() + self.offset_ns()).max(*last_ns + 1);
        self.mark(sample, *last_ns)
    }

    /// For a message that a late joiner asks for.
    pub fn again(&self, sample: &Sample) -> Mark {
        self.mark(sample, sample.publish_ns() + self.offset_ns())
    }
}

/// How many messages a late joiner asks for at most.
pub fn asked_for(query: &Query) -> Option<u32> {
    query.parameters().get("_max")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_its_number() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.of(7, 100), 1);
        assert_eq!(numbers.of(8, 100), 2);
        assert_eq!(numbers.of(7, 100), 1, "for a late joiner");
        assert_eq!(numbers.of(7, 103), 3, "what was left out on purpose leaves no gap");
        for sequence in 0..10_000 {
            numbers.of(9, sequence);
        }
        assert_eq!((numbers.known.len(), numbers.order.len()), (MOST_NUMBERS, MOST_NUMBERS));
        assert_eq!(numbers.of(9, 9_999), 10_003);
    }
}
