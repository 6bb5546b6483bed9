// SPDX-License-Identifier: Apache-2.0
//! One topic on its way in. Zenoh's threads only put messages into its queue; a separate thread publishes them.
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use cardan::{Publisher, PublisherOptions};
use zenoh::bytes::ZBytes;
use zenoh::liveliness::LivelinessToken;
use zenoh::query::{ConsolidationMode, QueryTarget, ReplyKeyExpr};
use zenoh::sample::{Locality, Sample, SampleKind};
use zenoh::Wait;

use crate::announced::Announced;
use crate::answers::{answers, Room};
use crate::candidates::Candidates;
use crate::context::Context;
use crate::counts::{add, Counts};
use crate::losses::Losses;
use crate::rules::{Form, Pace, Rule};
use crate::stamp::{steady_now, via_with, Stamp};
use crate::ways::Ways;
use crate::{definitions, ros};

const LARGE: usize = 1 << 20;
const USUAL_DEPTH: u32 = 10;
const DEPTH_OF_LARGE: u32 = 2;
const MOST_DEPTH: u32 = 64;
const MOST_MEMORY: usize = 64 << 20;
/// Elements may be larger in memory than on the wire. The memory that a sender can make us commit is bounded all the same.
const MOST_GROWTH: usize = 4;
/// Messages of publishers to a late joiner may wait here.
const MOST_HISTORY: usize = 1024;
const ASK: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);
const GLANCE: Duration = Duration::from_millis(50);
/// Messages in a row that are not of the topic's type, after which another type that is announced has its turn.
const MOST_STRIKES: u32 = 3;
/// And no sooner than this after the last turn.
const TURN: Duration = Duration::from_secs(1);
/// Messages of a latched topic that are distinguished from those that come again.
const MOST_SEEN: usize = 256;

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
    pub rule: Rule,
    pub counts: Counts,
    pub losses: Mutex<Losses>,
    candidates: Mutex<Candidates>,
    strikes: AtomicU32,
    /// Of the type that is carried: messages that a late joiner gets.
    depth: AtomicU32,
    queue: Mutex<Queue>,
    bell: Condvar,
    stop: AtomicBool,
}

/// Of the thread that publishes.
struct Worker<'a> {
    topic: &'a Incoming,
    context: &'a Context,
    /// The type that it is carried as, and the key of its messages.
    one: &'a Announced,
    key: &'a str,
    definition: String,
    pace: Pace,
    ways: Ways<Publisher>,
    /// Publisher and number of the last messages.
    seen: VecDeque<(u64, u64)>,
    since: Instant,
}

impl Incoming {
    pub fn new(one: &Announced, rule: Rule) -> Self {
        let beyond = one.name.clone();
        let name = rule.beyond(&beyond);
        let mut candidates = Candidates::default();
        candidates.add(one);
        Incoming {
            beyond,
            name,
            rule,
            counts: Counts::default(),
            losses: Mutex::default(),
            candidates: Mutex::new(candidates),
            strikes: AtomicU32::new(0),
            depth: AtomicU32::new(0),
            queue: Mutex::default(),
            bell: Condvar::new(),
            stop: AtomicBool::new(false),
        }
    }

    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.bell.notify_all();
    }

    /// Somebody new publishes it. Returns whether as a type that nobody has announced before.
    pub fn announce(&self, one: &Announced) -> bool {
        let mut candidates = self.candidates.lock().unwrap();
        let is_new = candidates.add(one);
        if candidates.is_chosen(one) {
            self.depth.fetch_max(one.depth, Relaxed);
        }
        drop(candidates);
        self.join();
        is_new
    }

    /// A publisher has gone. Returns whether it was the last one.
    pub fn end_of(&self, one: &Announced) -> bool {
        let mut candidates = self.candidates.lock().unwrap();
        candidates.end(one);
        candidates.is_empty()
    }

    /// Of its publishers, those whose tokens are not among these have gone. Returns whether they were the last ones.
    pub fn end_all_but(&self, live: &HashSet<u64>) -> bool {
        let mut candidates = self.candidates.lock().unwrap();
        candidates.end_all_but(live) && candidates.is_empty()
    }

    /// Nobody publishes it.
    pub fn has_ended(&self) -> bool {
        self.candidates.lock().unwrap().is_empty()
    }

    /// Nothing has come yet.
    pub fn is_untouched(&self) -> bool {
        let Counts { carried, lost, refused, thinned, .. } = &self.counts;
        [carried, lost, refused, thinned].iter().all(|n| n.load(Relaxed) == 0)
    }

    pub fn type_name(&self) -> String {
        self.candidates.lock().unwrap().type_name()
    }

    fn join(&self) {
        self.queue.lock().unwrap().join = true;
        self.bell.notify_all();
    }

    /// A message is not of the type.
    fn strike(&self, why: String) {
        self.counts.refuse(why);
        self.strikes.fetch_add(1, Relaxed);
    }

    /// Whether the message is of another type than `one`, as its key says.
    fn is_other(&self, one: &Announced, key: &str) -> bool {
        let Some((type_name, hash)) = ros::type_of_key(key) else { return true };
        if type_name == one.type_name && hash == one.hash {
            return false;
        }
        // Other types are as other topics, unless a rule lets them in.
        if self.candidates.lock().unwrap().knows(&type_name, hash) {
            self.strike(format!("somebody publishes it as a {type_name} too"));
        }
        true
    }

    /// Zenoh's thread. Never blocks for long.
    fn arrived(&self, form: Form, own_domain: u64, one: &Announced, sample: &Sample) {
        if sample.kind() != SampleKind::Put || (form == Form::Rmw && self.is_other(one, sample.key_expr().as_str())) {
            return;
        }
        let stamp = stamp_of(form, sample);
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
        let depth = if self.rule.depth != 0 {
            self.rule.depth
        } else {
            self.depth.load(Relaxed).clamp(USUAL_DEPTH, MOST_DEPTH)
        };
        let depth = depth as usize;
        while queue.messages.len() > depth || (queue.bytes > 2 * self.rule.max_bytes() && queue.messages.len() > 1) {
            let Some(oldest) = queue.messages.pop_front() else { break };
            queue.bytes -= oldest.bytes.len();
            match &oldest.stamp {
                // A message with a number leaves a gap, and is counted there.
                Some(stamp) => self.losses.lock().unwrap().dropped(stamp),
                None => add(&self.counts.lost, 1),
            }
        }
        drop(queue);
        self.bell.notify_one();
    }

    /// Until it is stopped. `look_again` asks again for the announcements of a topic.
    pub fn run(self: &Arc<Self>, context: &Arc<Context>, look_again: &dyn Fn(&str)) {
        while !self.stop.load(Relaxed) {
            let chosen = self.candidates.lock().unwrap().choose();
            let Some(one) = chosen else { return };
            let Err(why) = self.carry(context, &one) else { continue };
            self.counts.note(why);
            let (others, again) = {
                let mut candidates = self.candidates.lock().unwrap();
                candidates.failed(&one);
                (candidates.has_another(&one), candidates.takes_another_look())
            };
            if again {
                look_again(&self.beyond);
            }
            std::thread::sleep(if others { LOOK } else { ASK });
        }
    }

    /// As one type, until it is stopped or another type takes its place.
    fn carry(self: &Arc<Self>, context: &Arc<Context>, one: &Announced) -> Result<(), String> {
        let definition = definitions::ask(context, one)?;
        let key = context.keys.data(&self.beyond, &one.type_name, &one.hash)?;
        let form = context.keys.form;
        self.strikes.store(0, Relaxed);
        self.depth.store(one.depth, Relaxed);
        self.join();
        let (own, domain, carried) = (self.clone(), context.domain, one.clone());
        let _subscriber = context
            .session
            .declare_subscriber(if form == Form::Rmw { ros::any_type(&key) } else { key.clone() })
            .allowed_origin(Locality::Remote)
            .callback(move |sample| own.arrived(form, domain, &carried, &sample))
            .wait()
            .map_err(|e| e.to_string())?;
        let _token = self.token(context, one)?;
        self.counts.note("");
        let worker = Worker {
            topic: self,
            context,
            one,
            key: &key,
            definition,
            pace: Pace::of(&self.rule),
            ways: Ways::new(&context.network),
            seen: VecDeque::new(),
            since: Instant::now(),
        };
        worker.publish_what_comes();
        Ok(())
    }

    /// By which ROS 2 knows that this bridge subscribes.
    fn token(&self, context: &Context, one: &Announced) -> Result<Option<LivelinessToken>, String> {
        if context.keys.form != Form::Rmw {
            return Ok(None);
        }
        let depth = if self.rule.depth != 0 { self.rule.depth } else { one.depth.clamp(USUAL_DEPTH, MOST_DEPTH) };
        let qos = ros::Qos { reliable: true, latched: one.depth > 0, depth };
        let token = context.node.endpoint(context.new_endpoint(), "MS", one, qos)?;
        context.session.liveliness().declare_token(token).wait().map(Some).map_err(|e| e.to_string())
    }
}

pub fn stamp_of(form: Form, sample: &Sample) -> Option<Stamp> {
    match form {
        Form::Rmw => ros::stamp_of(sample),
        _ => sample.attachment().and_then(|a| Stamp::decode(&a.to_bytes())),
    }
}

impl Worker<'_> {
    fn publish_what_comes(mut self) {
        let mut looked = Instant::now();
        // Messages that waited while others were asked: they come before anybody is asked again.
        let mut waited = 0;
        while !self.topic.stop.load(Relaxed) {
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if self.gives_way() {
                    return;
                }
            }
            let mut queue = self.topic.queue.lock().unwrap();
            if queue.messages.is_empty() && !queue.join {
                queue = self.topic.bell.wait_timeout(queue, LOOK).unwrap().0;
            }
            waited = waited.min(queue.messages.len());
            if waited == 0 && std::mem::take(&mut queue.join) {
                drop(queue);
                self.catch_up();
                waited = self.topic.queue.lock().unwrap().messages.len();
                continue;
            }
            waited = waited.saturating_sub(1);
            let message = queue.messages.pop_front();
            if let Some(message) = &message {
                queue.bytes -= message.bytes.len();
            }
            drop(queue);
            if let Some(message) = message {
                self.deliver(message, false);
            }
            let subscribers = self.ways.publishers().map(|p| p.subscribers() as u64).max();
            self.topic.counts.receivers.store(subscribers.unwrap_or(0), Relaxed);
        }
    }

    /// Whether another type has its turn: this one's messages have another type, or its publishers have gone.
    fn gives_way(&self) -> bool {
        let mut candidates = self.topic.candidates.lock().unwrap();
        let fails = self.topic.strikes.load(Relaxed) >= MOST_STRIKES && self.since.elapsed() >= TURN;
        if fails && candidates.has_another(self.one) {
            candidates.failed(self.one);
            return true;
        }
        candidates.has_ended(self.one)
    }

    /// Gets the last messages of the topic's publishers. Messages that come meanwhile wait in the queue, for a moment: somebody
    /// may be asked that never answers.
    fn catch_up(&mut self) {
        let (form, depth) = (self.context.keys.form, self.topic.depth.load(Relaxed));
        let where_they_are = match form {
            Form::Rmw if depth == 0 => return,
            Form::Rmw => ros::histories(self.key, depth.min(MOST_DEPTH)),
            _ => self.key.to_string(),
        };
        let most = self.topic.rule.max_bytes();
        let room = Room { answers: MOST_HISTORY, bytes: MOST_MEMORY.max(2 * most) };
        let (callback, found) = answers(room, move |sample| sample.payload().len() <= most);
        let asked = self
            .context
            .session
            .get(where_they_are)
            .accept_replies(if form == Form::Rmw { ReplyKeyExpr::Any } else { ReplyKeyExpr::MatchingQuery })
            .target(QueryTarget::All)
            .consolidation(ConsolidationMode::None)
            .allowed_destination(Locality::Remote)
            .timeout(ASK)
            .callback(callback)
            .wait();
        if asked.is_err() {
            return;
        }
        let began = Instant::now();
        loop {
            let answer = found.wait(GLANCE);
            if matches!(answer, Err(RecvTimeoutError::Disconnected)) || self.topic.stop.load(Relaxed) {
                return;
            }
            if began.elapsed() > LOOK {
                self.deliver_some(|s, losses| s.map_or(true, |s| losses.knows(s.publisher)));
            }
            let Ok(sample) = answer.map(|a| a.sample) else { continue };
            if sample.key_expr().as_str() != self.key {
                continue;
            }
            let Some(stamp) = stamp_of(form, &sample).filter(|s| s.domain != self.context.domain) else {
                continue;
            };
            let source_ns = if stamp.source_ns != 0 { stamp.source_ns } else { stamp.publish_ns };
            // A subscriber must not get an older message after this one.
            self.deliver_some(|s, _| s.is_some_and(|s| s.publisher == stamp.publisher && s.sequence < stamp.sequence));
            self.deliver(Message { bytes: sample.payload().clone(), stamp: Some(stamp), source_ns }, true);
        }
    }

    /// Of the messages that wait, those that are `chosen`.
    fn deliver_some(&mut self, chosen: impl Fn(Option<&Stamp>, &Losses) -> bool) {
        let most = self.topic.queue.lock().unwrap().messages.len();
        for _ in 0..most {
            let message = {
                let mut queue = self.topic.queue.lock().unwrap();
                let losses = self.topic.losses.lock().unwrap();
                let at = queue.messages.iter().position(|m| chosen(m.stamp.as_ref(), &losses));
                drop(losses);
                let Some(message) = at.and_then(|at| queue.messages.remove(at)) else { return };
                queue.bytes -= message.bytes.len();
                message
            };
            self.deliver(message, false);
        }
    }

    /// Whether it has not come before: a late joiner gets messages that come by themselves, too.
    fn is_new(&mut self, stamp: &Stamp, is_history: bool) -> bool {
        let mut losses = self.topic.losses.lock().unwrap();
        let in_order = if is_history { losses.arrived(stamp) } else { losses.arrived_live(stamp) };
        drop(losses);
        // A hostile peer can use another one's number, so a number alone refuses nothing that a publisher sends now.
        let one = (stamp.publisher, stamp.sequence);
        if (is_history && !in_order) || self.seen.contains(&one) {
            return false;
        }
        if is_history || (self.context.keys.form == Form::Rmw && self.topic.depth.load(Relaxed) > 0) {
            self.seen.push_back(one);
            if self.seen.len() > MOST_SEEN {
                self.seen.pop_front();
            }
        }
        true
    }

    fn deliver(&mut self, message: Message, is_history: bool) {
        let topic = self.topic;
        let counts = &topic.counts;
        if message.stamp.as_ref().is_some_and(|stamp| !self.is_new(stamp, is_history)) {
            return;
        }
        if !self.pace.passes(steady_now()) {
            add(&counts.thinned, 1);
            return;
        }
        let via = via_with(&self.context.network, message.stamp.as_ref());
        if via.len() > ros::MOST_VIA {
            return counts.refuse("a message names more networks that it came through than can be passed on");
        }
        let cdr = message.bytes.to_bytes();
        // Fragments are joined first.
        let copies = if matches!(cdr, Cow::Owned(_)) { 2 } else { 1 };
        let (rule, context, one, definition) = (&topic.rule, self.context, self.one, &self.definition);
        let make = |room: usize| {
            let usual = if room > LARGE { DEPTH_OF_LARGE } else { USUAL_DEPTH };
            // As deep as the original, where that costs little memory.
            let affordable = ((MOST_MEMORY / room) as u32).min(MOST_DEPTH);
            let usual = one.depth.min(affordable).max(usual);
            let options = PublisherOptions {
                domain: &context.rules.domain,
                type_name: &one.type_name,
                definition,
                max_bytes: room,
                max_memory: MOST_GROWTH * rule.max_bytes(),
                depth: if rule.depth != 0 { rule.depth } else { usual },
                reliable: rule.reliable.unwrap_or(false),
                via: &via,
                access: context.rules.access.access(),
            };
            Publisher::new(&topic.name, &options).map_err(|e| e.to_string())
        };
        let publisher = match self.ways.find(&via, cdr.len(), rule.max_bytes(), Instant::now(), make) {
            Ok(publisher) => publisher,
            Err(why) => return topic.strike(why),
        };
        if let Some(stamp) = &message.stamp {
            publisher.arrived_with_age((stamp.age_ns >= 0).then_some(stamp.age_ns));
        }
        match publisher.publish(&cdr, message.source_ns) {
            Err(why) if why.is_full() => {
                add(&counts.lost, 1);
                counts.note(why.to_string());
            }
            Err(why) => topic.strike(why.to_string()),
            Ok(()) => {
                topic.strikes.store(0, Relaxed);
                add(&counts.carried, 1);
                add(&counts.bytes, cdr.len() as u64);
                add(&counts.copied, copies * cdr.len() as u64);
            }
        }
    }
}
