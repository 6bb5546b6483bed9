// SPDX-License-Identifier: Apache-2.0
//! The common state of all parts of the bridge.
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::Mutex;

use zenoh::Session;

use crate::answering::Answering;
use crate::counts::Report;
use crate::keys::Keys;
use crate::receivers::Receivers;
use crate::ros::Node;
use crate::rules::Rules;
use crate::types::Hashes;

pub struct Context {
    pub session: Session,
    pub rules: Rules,
    /// The loop guard's name for what is on the other side.
    pub network: String,
    /// Own number as a Cardan domain.
    pub domain: u64,
    pub zid: String,
    pub keys: Keys,
    /// The bridge in ROS 2.
    pub node: Node,
    endpoints: AtomicU32,
    pub hashes: Hashes,
    pub answering: Answering,
    pub receivers: Receivers,
    /// Of types that leave, by their numbers.
    pub definitions: Mutex<HashMap<u64, String>>,
    /// Counts of those that have gone, so that no loss is forgotten.
    pub past: Mutex<BTreeMap<String, Report>>,
    /// Announcements, or their ends, were left out.
    pub left_out: AtomicBool,
    notes: Mutex<BTreeMap<String, String>>,
}

const NODE: &str = "cardan_bridge";
const MOST_NOTES: usize = 64;
/// That others cause, by what they announce. They leave room for what a user has to know.
const MOST_OF_OTHERS: usize = 32;
const MOST_PAST: usize = 1024;

impl Context {
    pub fn new(session: Session, rules: Rules, network: String, domain: u64) -> Self {
        let zid = session.zid().to_string();
        let of_ros = &rules.zenoh;
        let name = if of_ros.node.is_empty() { NODE.into() } else { of_ros.node.clone() };
        let node = Node { domain_id: of_ros.domain_id, zid: zid.clone(), domain, name };
        let keys = Keys { form: of_ros.form, domain_id: of_ros.domain_id };
        Context {
            session,
            rules,
            network,
            domain,
            zid,
            keys,
            node,
            endpoints: AtomicU32::new(1),
            hashes: Hashes::default(),
            answering: Answering::start(),
            receivers: Receivers::default(),
            definitions: Mutex::default(),
            past: Mutex::default(),
            left_out: AtomicBool::new(false),
            notes: Mutex::default(),
        }
    }

    /// Keeps the counts of a topic that goes. Hostile peers can invent topics: of too many, the rest are one.
    pub fn keep(&self, mut last: Report) {
        let mut past = self.past.lock().unwrap();
        if past.len() >= MOST_PAST && !past.contains_key(&last.beyond) {
            last.topic = "(others)".into();
            last.beyond = last.topic.clone();
        }
        last.receivers = 0;
        if let Some(before) = past.get(&last.beyond) {
            last.add(before);
        }
        past.insert(last.beyond.clone(), last);
    }

    /// Starts a thread for a topic. false: the system gives no more of them, which is a note and ends nothing.
    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) -> bool {
        let started = std::thread::Builder::new().spawn(work);
        match &started {
            Ok(_) => self.forget_note("threads"),
            Err(why) => {
                self.note("threads", format!("a topic is not carried: no thread for it ({why}) — see ulimit -u"))
            }
        }
        started.is_ok()
    }

    /// The number of another endpoint of the node.
    pub fn new_endpoint(&self) -> u32 {
        self.endpoints.fetch_add(1, Relaxed)
    }

    /// A sentence that a user should read, in place of the one before about the same thing.
    pub fn note(&self, about: &str, words: impl Into<String>) {
        put(&mut self.notes.lock().unwrap(), about, words.into(), MOST_NOTES);
    }

    /// The same about what others announce.
    pub fn note_of_others(&self, about: &str, words: impl Into<String>) {
        put(&mut self.notes.lock().unwrap(), about, words.into(), MOST_OF_OTHERS);
    }

    pub fn forget_note(&self, about: &str) {
        self.notes.lock().unwrap().remove(about);
    }

    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().values().cloned().collect()
    }
}

fn put(notes: &mut BTreeMap<String, String>, about: &str, words: String, most: usize) {
    if notes.len() < most || notes.contains_key(about) {
        notes.insert(about.into(), words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_caused_by_others_leave_room_for_those_that_a_user_needs() {
        let mut notes = BTreeMap::new();
        for n in 0..1000 {
            put(&mut notes, &format!("/evil{n}"), "unknown".into(), MOST_OF_OTHERS);
        }
        assert_eq!(notes.len(), MOST_OF_OTHERS);
        put(&mut notes, "threads", "none".into(), MOST_NOTES);
        put(&mut notes, "/evil0", "known".into(), MOST_OF_OTHERS);
        assert_eq!((notes["threads"].as_str(), notes["/evil0"].as_str()), ("none", "known"));
    }
}
