// SPDX-License-Identifier: Apache-2.0
//! The topics that are carried, and the common part of their carriers.
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
