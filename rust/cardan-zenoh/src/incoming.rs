// SPDX-License-Identifier: Apache-2.0
//! One topic on its way in. Zenoh's threads only put messages into its queue; a thread of its own publishes them.
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use cardan::{Publisher, PublisherOptions};
use zenoh::bytes::ZBytes;
use zenoh::query::{ConsolidationMode, QueryTarget};
use zenoh::sample::{Locality, Sample, SampleKind};
use zenoh::Wait;

use crate::context::Context;
use crate::counts::{add, Counts};
use crate::keys::{data_key, definition_key, Announced};
use crate::losses::Losses;
use crate::rules::{Pace, Rule};
use crate::stamp::{number_of, steady_now, Stamp};

const LARGE: usize = 1 << 20;
const USUAL_DEPTH: u32 = 10;
const DEPTH_OF_LARGE: u32 = 2;
const MOST_DEPTH: u32 = 64;
const MOST_MEMORY: usize = 64 << 20;
/// Publishers of one topic that differ in the networks that their messages came through.
const MOST_WAYS: usize = 4;
const MOST_DEFINITION: usize = 64 << 10;
const ASK: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

/// Types that only a name announces, beside those that Cardan has of its own.
const USUAL_TYPES: [(&str, &str); 5] = [
    ("std_msgs/msg/Bool", "bool data"),
    ("std_msgs/msg/Float32", "float32 data"),
    ("std_msgs/msg/Float64", "float64 data"),
    ("std_msgs/msg/Int32", "int32 data"),
    ("std_msgs/msg/String", "string data"),
];

struct Message {
    bytes: ZBytes,
    stamp: Option<Stamp>,
    source_ns: i64,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    bytes: usize,
    /// Somebody new publishes the topic: ask for its last messages.
    join: bool,
}

pub struct Incoming {
    pub beyond: String,
    pub name: String,
    pub announced: Announced,
    pub rule: Rule,
    pub counts: Counts,
    pub losses: Mutex<Losses>,
    queue: Mutex<Queue>,
    bell: Condvar,
    stop: AtomicBool,
}

struct Way {
    via: String,
    room: usize,
    publisher: Publisher,
}

/// Of the thread that publishes.
struct Worker<'a> {
    topic: &'a Incoming,
    context: &'a Context,
    definition: String,
    pace: Pace,
    ways: Vec<Way>,
}

impl Incoming {
    pub fn new(announced: Announced, rule: Rule) -> Self {
        let beyond = announced.name.clone();
        let name = rule.beyond(&beyond);
        Incoming {
            beyond,
            name,
            announced,
            rule,
            counts: Counts::default(),
            losses: Mutex::default(),
            queue: Mutex::default(),
            bell: Condvar::new(),
            stop: AtomicBool::new(false),
        }
    }

    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.bell.notify_all();
    }

    /// Somebody new publishes it.
    pub fn join(&self) {
        self.queue.lock().unwrap().join = true;
        self.bell.notify_all();
    }

    /// Zenoh's thread. Never blocks for long.
    fn arrived(&self, own_domain: u64, sample: &Sample) {
        if sample.kind() != SampleKind::Put {
            return;
        }
        let stamp = sample.attachment().and_then(|a| Stamp::decode(&a.to_bytes()));
        if stamp.as_ref().is_some_and(|s| s.domain == own_domain) {
            return; // a bridge of this computer's domain sent it
        }
        let size = sample.payload().len();
        if size > self.rule.max_bytes() {
            self.counts.refuse(format!(
                "a message has {size} bytes, and the rule lets at most {} in (max_mib)",
                self.rule.max_bytes()
            ));
            return;
        }
        let told = sample.timestamp().map(|t| t.get_time().to_duration().as_nanos() as i64);
        let source_ns = match &stamp {
            Some(s) if s.source_ns != 0 => s.source_ns,
            Some(s) => s.publish_ns,
            None => told.unwrap_or(0),
        };
        let message = Message { bytes: sample.payload().clone(), stamp, source_ns };
        let mut queue = self.queue.lock().unwrap();
        queue.bytes += size;
        queue.messages.push_back(message);
        let depth =
            if self.rule.depth != 0 { self.rule.depth } else { self.announced.depth.clamp(USUAL_DEPTH, MOST_DEPTH) };
        let depth = depth as usize;
        while queue.messages.len() > depth || (queue.bytes > 2 * self.rule.max_bytes() && queue.messages.len() > 1) {
            let Some(oldest) = queue.messages.pop_front() else { break };
            queue.bytes -= oldest.bytes.len();
            // What has a number leaves a gap, and is counted there.
            if oldest.stamp.is_none() {
                add(&self.counts.lost, 1);
            }
        }
        drop(queue);
        self.bell.notify_one();
    }

    /// Until it is stopped.
    pub fn run(self: &Arc<Self>, context: &Arc<Context>) {
        while !self.stop.load(Relaxed) {
            match self.carry(context) {
                Ok(()) => return,
                Err(why) => self.counts.note(why),
            }
            std::thread::sleep(ASK);
        }
    }

    fn carry(self: &Arc<Self>, context: &Arc<Context>) -> Result<(), String> {
        let definition = self.definition(context)?;
        let key = data_key(context.rules.zenoh.form, &self.beyond)?;
        let (own, domain) = (self.clone(), context.domain);
        let _subscriber = context
            .session
            .declare_subscriber(key)
            .allowed_origin(Locality::Remote)
            .callback(move |sample| own.arrived(domain, &sample))
            .wait()
            .map_err(|e| e.to_string())?;
        self.counts.note("");
        let worker = Worker { topic: self, context, definition, pace: Pace::of(&self.rule), ways: vec![] };
        worker.publish_what_comes();
        Ok(())
    }

    /// As the announcing bridge says. Empty: Cardan's own message of that name.
    fn definition(&self, context: &Context) -> Result<String, String> {
        if self.announced.definition == 0 {
            let usual = USUAL_TYPES.iter().find(|(name, _)| *name == self.announced.type_name);
            return Ok(usual.map_or("", |(_, text)| *text).into());
        }
        let key = definition_key(&self.announced.zid, self.announced.definition);
        let asked = context.session.get(key).timeout(ASK).wait();
        let replies = asked.map_err(|e| e.to_string())?;
        while let Ok(reply) = replies.recv() {
            let Ok(sample) = reply.into_result() else { continue };
            if sample.payload().len() > MOST_DEFINITION {
                continue;
            }
            let text = sample.payload().try_to_string().map(|t| t.into_owned());
            if let Some(text) = text.ok().filter(|t| number_of(t) == self.announced.definition) {
                return Ok(text);
            }
        }
        Err(format!(
            "bridge {} does not say what a {} is — it is asked again",
            self.announced.zid, self.announced.type_name
        ))
    }
}

impl Worker<'_> {
    fn publish_what_comes(mut self) {
        while !self.topic.stop.load(Relaxed) {
            let mut queue = self.topic.queue.lock().unwrap();
            if queue.messages.is_empty() && !queue.join {
                queue = self.topic.bell.wait_timeout(queue, LOOK).unwrap().0;
            }
            if std::mem::take(&mut queue.join) {
                drop(queue);
                self.catch_up();
                continue;
            }
            let message = queue.messages.pop_front();
            if let Some(message) = &message {
                queue.bytes -= message.bytes.len();
            }
            drop(queue);
            if let Some(message) = message {
                self.deliver(message);
            }
            let subscribers = self.ways.iter().map(|w| w.publisher.subscribers() as u64).max();
            self.topic.counts.receivers.store(subscribers.unwrap_or(0), Relaxed);
        }
    }

    /// Gets the last messages of who publishes the topic. What comes meanwhile waits in the queue.
    fn catch_up(&mut self) {
        let Ok(key) = data_key(self.context.rules.zenoh.form, &self.topic.beyond) else {
            return;
        };
        let asked = self
            .context
            .session
            .get(key)
            .target(QueryTarget::All)
            .consolidation(ConsolidationMode::None)
            .allowed_destination(Locality::Remote)
            .timeout(ASK)
            .wait();
        let Ok(replies) = asked else { return };
        while let Ok(reply) = replies.recv() {
            let Ok(sample) = reply.into_result() else { continue };
            let stamp = sample.attachment().and_then(|a| Stamp::decode(&a.to_bytes()));
            let Some(stamp) = stamp.filter(|s| s.domain != self.context.domain) else {
                continue;
            };
            if sample.payload().len() > self.topic.rule.max_bytes() {
                continue;
            }
            let source_ns = if stamp.source_ns != 0 { stamp.source_ns } else { stamp.publish_ns };
            self.deliver(Message { bytes: sample.payload().clone(), stamp: Some(stamp), source_ns });
        }
    }

    fn deliver(&mut self, message: Message) {
        let topic = self.topic;
        let counts = &topic.counts;
        if let Some(stamp) = &message.stamp {
            if !topic.losses.lock().unwrap().arrived(stamp) {
                return;
            }
        }
        if !self.pace.passes(steady_now()) {
            add(&counts.thinned, 1);
            return;
        }
        let mut via = self.context.network.clone();
        for network in message.stamp.iter().flat_map(|s| s.via.split(' ')) {
            if !network.is_empty() && network != self.context.network {
                via += " ";
                via += network;
            }
        }
        let cdr = message.bytes.to_bytes();
        // What came in fragments is joined first.
        let copies = if matches!(cdr, Cow::Owned(_)) { 2 } else { 1 };
        let way = match self.way(&via, cdr.len()) {
            Ok(way) => way,
            Err(why) => return counts.refuse(why),
        };
        match way.publisher.publish(&cdr, message.source_ns) {
            Err(why) if why.is_full() => {
                add(&counts.lost, 1);
                counts.note(why.to_string());
            }
            Err(why) => counts.refuse(why.to_string()),
            Ok(()) => {
                add(&counts.carried, 1);
                add(&counts.bytes, cdr.len() as u64);
                add(&counts.copied, copies * cdr.len() as u64);
            }
        }
    }

    /// The publisher for messages that came this way, with room for so many bytes.
    fn way(&mut self, via: &str, bytes: usize) -> Result<&mut Way, String> {
        let known = self.ways.iter().position(|w| w.via == via);
        if let Some(at) = known {
            if self.ways[at].room >= bytes {
                return Ok(&mut self.ways[at]);
            }
            self.ways.remove(at); // its samples stay with the subscribers that hold them
        } else if self.ways.len() == MOST_WAYS {
            return Err(format!("messages came over more than {MOST_WAYS} different ways"));
        }
        let topic = self.topic;
        let rule = &topic.rule;
        let room = (2 * bytes).min(rule.max_bytes()).max(bytes).max(256);
        let usual = if room > LARGE { DEPTH_OF_LARGE } else { USUAL_DEPTH };
        // As deep as the original, where that costs little memory.
        let affordable = ((MOST_MEMORY / room) as u32).min(MOST_DEPTH);
        let usual = topic.announced.depth.min(affordable).max(usual);
        let options = PublisherOptions {
            domain: &self.context.rules.domain,
            type_name: &self.topic.announced.type_name,
            definition: &self.definition,
            max_bytes: room,
            depth: if rule.depth != 0 { rule.depth } else { usual },
            reliable: rule.reliable.unwrap_or(false),
            via,
            access: self.context.rules.access.access(),
        };
        let publisher = Publisher::new(&self.topic.name, &options).map_err(|e| e.to_string())?;
        self.ways.push(Way { via: via.into(), room, publisher });
        Ok(self.ways.last_mut().expect("just added"))
    }
}
