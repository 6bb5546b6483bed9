// SPDX-License-Identifier: Apache-2.0
//! What is carried, and what its carriers share.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::context::Context;
use crate::incoming::Incoming;
use crate::outgoing::Outgoing;

pub struct Topics {
    pub context: Arc<Context>,
    pub outgoing: Mutex<BTreeMap<String, Arc<Outgoing>>>,
    /// By their names beyond.
    pub incoming: Mutex<BTreeMap<String, Arc<Incoming>>>,
}

impl Topics {
    pub fn new(context: Context) -> Self {
        Topics { context: Arc::new(context), outgoing: Mutex::default(), incoming: Mutex::default() }
    }
}
