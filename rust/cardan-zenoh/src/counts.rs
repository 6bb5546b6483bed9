// SPDX-License-Identifier: Apache-2.0
//! The bridge's counts of the messages of one topic in one direction.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;

use serde_json::{json, Value};

#[derive(Debug, Default)]
pub struct Counts {
    /// Messages that Zenoh took, or this computer's subscribers.
    pub carried: AtomicU64,
    /// Of those, as CDR.
    pub bytes: AtomicU64,
    /// Bytes that the bridge itself copied for them.
    pub copied: AtomicU64,
    /// Left out on purpose.
    pub thinned: AtomicU64,
    pub lost: AtomicU64,
    /// Malformed, too large, or of another type.
    pub refused: AtomicU64,
    pub receivers: AtomicU64,
    note: Mutex<String>,
}

pub fn add(to: &AtomicU64, n: u64) {
    to.fetch_add(n, Relaxed);
}

impl Counts {
    /// Why nothing is carried; empty: all is well.
    pub fn note(&self, words: impl Into<String>) {
        *self.note.lock().unwrap() = words.into();
    }

    pub fn refuse(&self, why: impl Into<String>) {
        add(&self.refused, 1);
        self.note(why);
    }
}

/// One line of the report.
#[derive(Debug, Clone)]
pub struct Report {
    pub topic: String,
    pub beyond: String,
    pub type_name: String,
    pub inward: bool,
    pub receivers: u64,
    pub carried: u64,
    pub bytes: u64,
    pub copied: u64,
    pub thinned: u64,
    pub lost: u64,
    pub refused: u64,
    pub note: String,
}

impl Report {
    pub fn of(topic: &str, beyond: &str, type_name: &str, inward: bool, c: &Counts) -> Self {
        Report {
            topic: topic.into(),
            beyond: beyond.into(),
            type_name: type_name.into(),
            inward,
            receivers: c.receivers.load(Relaxed),
            carried: c.carried.load(Relaxed),
            bytes: c.bytes.load(Relaxed),
            copied: c.copied.load(Relaxed),
            thinned: c.thinned.load(Relaxed),
            lost: c.lost.load(Relaxed),
            refused: c.refused.load(Relaxed),
            note: c.note.lock().unwrap().clone(),
        }
    }

    /// Adds the counts of another time of the same topic.
    pub fn add(&mut self, before: &Report) {
        let sum = |to: &mut u64, more: u64| *to = to.saturating_add(more);
        sum(&mut self.carried, before.carried);
        sum(&mut self.bytes, before.bytes);
        sum(&mut self.copied, before.copied);
        sum(&mut self.thinned, before.thinned);
        sum(&mut self.lost, before.lost);
        sum(&mut self.refused, before.refused);
    }

    pub fn direction(&self) -> &'static str {
        if self.inward {
            "in"
        } else {
            "out"
        }
    }

    pub fn json(&self) -> Value {
        let mut one = json!({"topic": self.topic, "beyond": self.beyond, "type": self.type_name,
            "direction": self.direction(), "receivers": self.receivers, "carried": self.carried, "bytes": self.bytes,
            "copied_bytes": self.copied, "thinned": self.thinned, "lost": self.lost, "refused": self.refused});
        if !self.note.is_empty() {
            one["note"] = json!(self.note);
        }
        one
    }
}
