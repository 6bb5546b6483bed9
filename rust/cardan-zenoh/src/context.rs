// SPDX-License-Identifier: Apache-2.0
//! What all parts of the bridge share.
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use zenoh::Session;

use crate::incoming::Incoming;
use crate::outgoing::Outgoing;
use crate::rules::Rules;

pub struct Context {
    pub session: Session,
    pub rules: Rules,
    /// The loop guard's name for what is on the other side.
    pub network: String,
    /// Own number as a Cardan domain.
    pub domain: u64,
    pub zid: String,
    /// Of types that leave, by their numbers.
    pub definitions: Mutex<HashMap<u64, String>>,
    pub outgoing: Mutex<BTreeMap<String, Arc<Outgoing>>>,
    /// By their names beyond.
    pub incoming: Mutex<BTreeMap<String, Arc<Incoming>>>,
    notes: Mutex<BTreeMap<String, String>>,
}

/// Others can cause notes.
const MOST_NOTES: usize = 64;

impl Context {
    pub fn new(session: Session, rules: Rules, network: String, domain: u64) -> Self {
        let zid = session.zid().to_string();
        Context {
            session,
            rules,
            network,
            domain,
            zid,
            definitions: Mutex::default(),
            outgoing: Mutex::default(),
            incoming: Mutex::default(),
            notes: Mutex::default(),
        }
    }

    /// A sentence that a user should read, in place of the one before about the same thing.
    pub fn note(&self, about: &str, words: impl Into<String>) {
        let mut notes = self.notes.lock().unwrap();
        if notes.len() < MOST_NOTES || notes.contains_key(about) {
            notes.insert(about.into(), words.into());
        }
    }

    pub fn forget_note(&self, about: &str) {
        self.notes.lock().unwrap().remove(about);
    }

    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().values().cloned().collect()
    }
}
