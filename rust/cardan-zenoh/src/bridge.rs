// SPDX-License-Identifier: Apache-2.0
//! The whole: finds topics on both sides, starts and stops what carries them, and reports.
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{json, Value};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::query::{Query, Queryable};
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use crate::announced::{Announced, Change};
use crate::answers::{answers, Answers, Room};
use crate::clock::{self, Clocks};
use crate::context::Context;
use crate::counts::Report;
use crate::definitions;
use crate::incoming::Incoming;
use crate::keys::{announced, checked_name, clock_key, definitions_key, domain_number, MOST_BYTES};
use crate::outgoing::{Local, Outgoing};
use crate::receivers::Watch;
use crate::rules::{is_pattern, rule_for, Form, Rules};
use crate::stamp::wall_now;
use crate::topics::Topics;

/// Each topic has a thread.
const MOST_OUT: usize = 512;
const MOST_IN: usize = 256;
/// Names in one note.
const SHOWN: usize = 16;
/// Tokens of one topic that are looked at once.
const OF_TOPIC: Room = Room { answers: 1024, bytes: 1 << 20 };
const LOOK: Duration = Duration::from_millis(500);
const LOOK_AT_RECEIVERS: Duration = Duration::from_millis(50);
/// Between two looks at all that is announced, which unknown peers can cause, and for its answers.
const AGAIN: Duration = Duration::from_secs(5);
/// Tokens that such a look takes.
const OF_ALL: Room = Room { answers: 1 << 16, bytes: 32 << 20 };

/// The result of `cardan_topics_json()`.
#[derive(Deserialize)]
struct Found {
    run_directory: String,
    topics: Vec<FoundTopic>,
}
#[derive(Deserialize)]
struct FoundTopic {
    topic: String,
    #[serde(rename = "type")]
    type_name: String,
    depth: u32,
    /// One of its publications is for this user alone.
    owner: bool,
    via: Vec<String>,
}

fn look(domain: &str) -> Result<Found, String> {
    let text = cardan::topics_json(domain).map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

pub struct Bridge {
    topics: Arc<Topics>,
    clocks: Arc<Clocks>,
    stop: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    _declared: (Vec<Subscriber<()>>, Vec<Queryable<()>>, Vec<LivelinessToken>),
}

impl Bridge {
    pub fn new(session: Session, rules: Rules) -> Result<Bridge, String> {
        let network = if rules.network.is_empty() { "zenoh".into() } else { rules.network.clone() };
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let domain = domain_number(&(boot + &host), &look(&rules.domain)?.run_directory);
        let topics = Arc::new(Topics::new(Context::new(session, rules, network, domain)));
        let clocks = Arc::new(Clocks::default());
        let (found, tokens) = sync_channel(1024);
        let declared = declare(&topics, &clocks, &found).map_err(|e| e.to_string())?;
        let bridge = Bridge { topics, clocks, stop: Arc::default(), threads: Mutex::default(), _declared: declared };
        bridge.start(tokens);
        Ok(bridge)
    }

    fn start(&self, tokens: Receiver<Change>) {
        let (topics, stop) = (self.topics.clone(), self.stop.clone());
        self.spawn(move || find_topics(&topics, &stop));
        let topics = self.topics.clone();
        std::thread::spawn(move || follow(&topics, &tokens));
        let (topics, stop) = (self.topics.clone(), self.stop.clone());
        self.spawn(move || watch_receivers(&topics.context, &stop));
        let (topics, clocks, stop) = (self.topics.clone(), self.clocks.clone(), self.stop.clone());
        self.spawn(move || clocks.ask(&topics, &stop));
    }

    fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        self.threads.lock().unwrap().push(std::thread::spawn(work));
    }

    pub fn note(&self, about: &str, words: String) {
        self.topics.context.note(about, words);
    }

    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.topics.outgoing.lock().unwrap().values().for_each(|t| t.stop());
        self.topics.incoming.lock().unwrap().values().for_each(|t| t.stop());
    }

    pub fn report(&self) -> Value {
        let mut topics = vec![];
        for t in self.topics.outgoing.lock().unwrap().values() {
            topics.push(Report::of(&t.local.name, &t.beyond, &t.local.type_name, false, &t.counts));
        }
        let mut past = self.topics.context.past.lock().unwrap().clone();
        for t in self.topics.incoming.lock().unwrap().values() {
            let mut one = report_of(t);
            if let Some(before) = past.remove(&t.beyond) {
                one.add(&before);
            }
            topics.push(one);
        }
        topics.extend(past.into_values());
        let peers: Vec<Value> = self
            .clocks
            .best()
            .into_iter()
            .map(|(zid, m)| json!({"id": zid, "clock_offset_ns": m.offset_ns, "round_trip_ns": m.round_trip_ns}))
            .collect();
        json!({"time_ns": wall_now(), "bridge": self.title(), "network": self.topics.context.network,
            "topics": topics.iter().map(Report::json).collect::<Vec<_>>(), "peers": peers,
            "notes": self.topics.context.notes()})
    }

    fn title(&self) -> String {
        let info = self.topics.context.session.info();
        let links = info.routers_zid().wait().count() + info.peers_zid().wait().count();
        let form = match self.topics.context.rules.zenoh.form {
            Form::Plain => "plain keys".to_string(),
            Form::Cardan => "between computers with Cardan".to_string(),
            Form::Rmw => format!("ROS 2 domain {}", self.topics.context.keys.domain_id),
        };
        format!("Zenoh, {form}, connected to {links}, id {}", self.topics.context.zid)
    }
}

/// Ends receivers that read nothing while others wait.
fn watch_receivers(context: &Context, stop: &AtomicBool) {
    let (mut watch, mut times) = (Watch::default(), 0);
    while !stop.load(Relaxed) {
        std::thread::sleep(LOOK_AT_RECEIVERS);
        let ended = context.receivers.end_stuck(&mut watch);
        if ended != 0 {
            times += ended;
            context.note(
                "receivers",
                format!("receivers that read nothing were ended, so that others need not wait ({times} times)"),
            );
        }
    }
}

/// Lets topics in as they are announced.
fn follow(topics: &Arc<Topics>, tokens: &Receiver<Change>) {
    for one in named_topics(&topics.context) {
        let_in(topics, &one);
    }
    let mut looked = Instant::now();
    loop {
        match tokens.recv_timeout(LOOK) {
            Ok(Change { one, gone: true }) => forget(topics, &one),
            Ok(Change { one, .. }) => let_in(topics, &one),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        // Also while others announce without a pause: it is they that leave no place.
        if looked.elapsed() >= AGAIN && topics.context.left_out.swap(false, Relaxed) {
            look_at_all(topics);
            looked = Instant::now();
        }
    }
}

fn report_of(t: &Incoming) -> Report {
    let mut one = Report::of(&t.name, &t.beyond, &t.type_name(), true, &t.counts);
    one.lost = one.lost.saturating_add(t.losses.lock().unwrap().lost());
    one
}

type Declared = (Vec<Subscriber<()>>, Vec<Queryable<()>>, Vec<LivelinessToken>);

fn declare(topics: &Arc<Topics>, clocks: &Arc<Clocks>, found: &SyncSender<Change>) -> Result<Declared, zenoh::Error> {
    let context = &topics.context;
    let form = context.rules.zenoh.form;
    let (mut subscribers, mut queryables) = (vec![], vec![]);
    for tokens in context.keys.announcements(None) {
        let (own, clocks, found) = (context.clone(), clocks.clone(), found.clone());
        let seen = move |sample: Sample| token_changed(&own, &clocks, &found, &sample);
        let liveliness = context.session.liveliness();
        subscribers.push(liveliness.declare_subscriber(tokens).history(true).callback(seen).wait()?);
    }
    if form == Form::Cardan {
        let own = topics.clone();
        let asked = move |query: Query| {
            let (topics, received_ns) = (own.clone(), wall_now());
            own.context.answering.put(move || clock::answer(&topics, &query, received_ns));
        };
        queryables.push(context.session.declare_queryable(clock_key(&context.zid)).callback(asked).wait()?);
        let own = context.clone();
        let key = definitions_key(&context.zid);
        let asked = move |query: Query| {
            let context = own.clone();
            own.answering.put(move || definitions::answer(&context, &query));
        };
        queryables.push(context.session.declare_queryable(key).callback(asked).wait()?);
    }
    let node = (form == Form::Rmw).then(|| context.session.liveliness().declare_token(context.node.token()).wait());
    Ok((subscribers, queryables, node.transpose()?.into_iter().collect()))
}

/// A token's statement, if a rule names it: others can declare tokens without end.
fn wanted(context: &Context, sample: &Sample) -> Option<Announced> {
    let one = announced(context.keys.form, sample.key_expr().as_str())?;
    let own = one.zid == context.zid || one.domain == context.domain;
    (!own && rule_for(&context.rules.inward, &one.name, &one.type_name).is_some()).then_some(one)
}

/// Zenoh's thread.
fn token_changed(context: &Context, clocks: &Clocks, found: &SyncSender<Change>, sample: &Sample) {
    let Some(one) = wanted(context, sample) else { return };
    let gone = sample.kind() == SampleKind::Delete;
    if context.keys.form == Form::Cardan && !gone {
        clocks.add(&one.zid);
    }
    if found.try_send(Change { one, gone }).is_err() {
        context.note("tokens", "more topics are announced at once than can be looked at: some come in later");
        context.left_out.store(true, Relaxed);
    }
}

/// The announcements that these keys name.
fn announced_now(context: &Context, tokens: String, room: Room, timeout: Duration) -> Option<Answers> {
    let (callback, found) = answers(room, |sample| sample.key_expr().as_str().len() <= MOST_BYTES);
    context.session.liveliness().get(tokens).timeout(timeout).callback(callback).wait().ok().map(|()| found)
}

/// Asks again for the announcements of a topic: some had to be left out.
fn look_again(topics: &Arc<Topics>, name: &str) {
    let context = &topics.context;
    for tokens in context.keys.announcements(Some(name)) {
        let Some(found) = announced_now(context, tokens, OF_TOPIC, LOOK) else { continue };
        for one in found.filter_map(|answer| wanted(context, &answer.sample)).take(OF_TOPIC.answers) {
            let_in(topics, &one);
        }
    }
}

/// Asks again for all announcements: some had no place when they came, and of others the end was not seen.
fn look_at_all(topics: &Arc<Topics>) {
    let context = &topics.context;
    context.forget_note("tokens");
    context.forget_note("in");
    let mut live = HashSet::new();
    for tokens in context.keys.announcements(None) {
        let Some(found) = announced_now(context, tokens, OF_ALL, AGAIN) else { return };
        for one in found.filter_map(|answer| wanted(context, &answer.sample)).take(OF_ALL.answers) {
            live.insert(one.token);
            let_in(topics, &one);
        }
        // Without all answers, none is taken for gone.
        if !found.is_complete() || live.len() >= OF_ALL.answers {
            return;
        }
    }
    let mut all = topics.incoming.lock().unwrap();
    all.retain(|_, topic| {
        let goes = topic.end_all_but(&live) && topic.is_untouched();
        if goes {
            topic.stop();
        }
        !goes
    });
}

/// Topics that rules of `in` name together with their type: they need no announcement.
fn named_topics(context: &Context) -> Vec<Announced> {
    let form = context.keys.form;
    if form == Form::Cardan {
        return vec![]; // each topic there has a definition, which only its bridge knows
    }
    let mut all = vec![];
    for rule in &context.rules.inward {
        let [type_name] = rule.types.as_slice() else { continue };
        for name in rule.topics.iter().filter(|t| !is_pattern(t) && !is_pattern(type_name)) {
            let hash = match form {
                Form::Rmw => context.hashes.of(type_name, ""),
                _ => Ok(String::new()),
            };
            match hash {
                Ok(hash) => all.push(Announced {
                    name: name.clone(),
                    type_name: type_name.clone(),
                    hash,
                    ..Announced::default()
                }),
                Err(why) => context.note(name, format!("{name} does not come in: {why}")),
            }
        }
    }
    all
}

fn let_in(topics: &Arc<Topics>, one: &Announced) {
    let context = &topics.context;
    let Some(rule) = rule_for(&context.rules.inward, &one.name, &one.type_name) else { return };
    if let Err(why) = context.hashes.check(context.keys.form, one) {
        context.note_of_others(&one.name, why);
        return;
    }
    let mut all = topics.incoming.lock().unwrap();
    if let Some(known) = all.get(&one.name) {
        if known.rule != *rule {
            context.note_of_others(
                &one.name,
                format!(
                    "{} as {} has its own rule, but it comes in as a {} already",
                    one.name,
                    one.type_name,
                    known.type_name()
                ),
            );
        } else if known.announce(one) {
            let (name, kind, first) = (&one.name, &one.type_name, known.type_name());
            context.note_of_others(
                name,
                format!("{name} is announced as {kind} too; it stays a {first} as long as that works"),
            );
        }
        return;
    }
    let topic = Incoming::new(one, rule.clone());
    if topic.name.starts_with("/cardan/") {
        context.note_of_others(&one.name, format!("{} does not come in: /cardan/ is Cardan's own", one.name));
        return;
    }
    if all.len() >= MOST_IN {
        // One that nobody publishes any more makes room. Its publishers' tokens bring it back.
        if let Some(gone) = all.iter().find(|(_, t)| t.has_ended()).map(|(name, _)| name.clone()) {
            let gone = all.remove(&gone).expect("just found");
            gone.stop();
            context.keep(report_of(&gone));
        }
    }
    if all.len() >= MOST_IN {
        context.note("in", format!("at most {MOST_IN} topics come in: name them in 'in'"));
        context.left_out.store(true, Relaxed);
        return;
    }
    let topic = Arc::new(topic);
    let (own, running) = (topics.clone(), topic.clone());
    if context.spawn(move || running.run(&own.context, &|name| look_again(&own, name))) {
        all.insert(one.name.clone(), topic);
    } else {
        context.left_out.store(true, Relaxed);
    }
}

/// A token has ended. A topic of which nothing ever came makes room for others; of any other the counts stay.
fn forget(topics: &Topics, one: &Announced) {
    let mut all = topics.incoming.lock().unwrap();
    let Some(topic) = all.get(&one.name) else { return };
    if topic.end_of(one) && topic.is_untouched() {
        topic.stop();
        all.remove(&one.name);
    }
}

/// Looks for this computer's topics until `stop`.
fn find_topics(topics: &Arc<Topics>, stop: &AtomicBool) {
    let context = &topics.context;
    let mut running: BTreeMap<String, Local> = BTreeMap::new();
    while !stop.load(Relaxed) {
        match look(&context.rules.domain) {
            Ok(found) => {
                context.forget_note("look");
                update(topics, &mut running, found);
            }
            Err(why) => context.note("look", why),
        }
        std::thread::sleep(LOOK);
    }
}

/// Topics that do not leave, because their access is 'owner'.
fn note_kept(context: &Context, kept: &[String]) {
    if kept.is_empty() {
        return context.forget_note("kept");
    }
    let names = kept[..kept.len().min(SHOWN)].join(", ");
    let more = if kept.len() > SHOWN { format!(" and {} more", kept.len() - SHOWN) } else { String::new() };
    context.note(
        "kept",
        format!(
            "{names}{more}: not sent, because the access is 'owner', and everybody that connects may read what leaves \
             — name them in full in 'topics' (--topic), or set 'owner' in the rule (--owner)"
        ),
    );
}

fn update(topics: &Topics, running: &mut BTreeMap<String, Local>, found: Found) {
    let context = &topics.context;
    let (mut here, mut kept) = (BTreeSet::new(), vec![]);
    for topic in found.topics {
        let rules = &context.rules;
        let own = topic.via.contains(&context.network);
        if own || topic.topic.starts_with("/cardan/") || topic.type_name.is_empty() {
            continue;
        }
        let Some(rule) = rule_for(&rules.out, &topic.topic, &topic.type_name) else { continue };
        if topic.owner && !rule.sends_owners(&topic.topic) {
            kept.push(topic.topic);
            continue;
        }
        here.insert(topic.topic.clone());
        let local =
            Local { name: topic.topic, type_name: topic.type_name, depth: topic.depth, via: topic.via.join(" ") };
        let before = running.get(&local.name);
        if before.is_some_and(|b| b.type_name == local.type_name && b.via == local.via) {
            continue;
        }
        if let Err(why) = checked_name(&rule.beyond(&local.name)) {
            context.note(&local.name, why);
            continue;
        }
        let mut all = topics.outgoing.lock().unwrap();
        if all.len() >= MOST_OUT && before.is_none() {
            context.note("out", format!("at most {MOST_OUT} topics leave: name them in 'out'"));
            continue;
        }
        // A publisher that comes again continues with its topic's counts.
        let counts = all.get(&local.name).map(|old| old.counts.clone()).unwrap_or_default();
        let outgoing = Arc::new(Outgoing::new(local.clone(), rule.clone(), counts));
        let (own, carrying) = (context.clone(), outgoing.clone());
        if !context.spawn(move || carrying.run(&own)) {
            continue; // the next look tries again
        }
        if let Some(old) = all.insert(local.name.clone(), outgoing) {
            old.stop();
        }
        running.insert(local.name.clone(), local);
    }
    note_kept(context, &kept);
    // Their counts stay in the report; the thread ends.
    running.retain(|name, _| {
        let stays = here.contains(name);
        if !stays {
            if let Some(gone) = topics.outgoing.lock().unwrap().get(name) {
                gone.stop();
            }
        }
        stays
    });
}
