// SPDX-License-Identifier: Apache-2.0
//! The whole: finds topics on both sides, starts and stops what carries them, and reports.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{json, Value};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::query::{Query, Queryable};
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use crate::clock::{self, Clocks};
use crate::context::Context;
use crate::counts::Report;
use crate::incoming::Incoming;
use crate::keys::{announced, announcements, clock_key, data_key, definition_key, domain_number, Announced};
use crate::outgoing::{answer_questions, Local, Outgoing, Question};
use crate::rules::{is_pattern, rule_for, Form, Rules};
use crate::stamp::wall_now;

/// Each topic has a thread.
const MOST_OUT: usize = 512;
const MOST_IN: usize = 256;
const LOOK: Duration = Duration::from_millis(500);

/// What `cardan_topics_json()` gives.
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
    via: Vec<String>,
}

fn look(domain: &str) -> Result<Found, String> {
    let text = cardan::topics_json(domain).map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

pub struct Bridge {
    context: Arc<Context>,
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
        let context = Arc::new(Context::new(session, rules, network, domain));
        let clocks = Arc::new(Clocks::default());
        let (found, tokens) = sync_channel(1024);
        let declared = declare(&context, &clocks, &found).map_err(|e| e.to_string())?;
        let bridge = Bridge { context, clocks, stop: Arc::default(), threads: Mutex::default(), _declared: declared };
        bridge.start(tokens);
        Ok(bridge)
    }

    fn start(&self, tokens: Receiver<Announced>) {
        let (ask, questions) = sync_channel::<Question>(64);
        let (context, stop) = (self.context.clone(), self.stop.clone());
        self.spawn(move || find_topics(&context, &stop, &ask));
        let context = self.context.clone();
        std::thread::spawn(move || answer_questions(&context, &questions));
        let context = self.context.clone();
        std::thread::spawn(move || {
            for one in named_topics(&context) {
                let_in(&context, &one);
            }
            while let Ok(one) = tokens.recv() {
                let_in(&context, &one);
            }
        });
        let (context, clocks, stop) = (self.context.clone(), self.clocks.clone(), self.stop.clone());
        self.spawn(move || clocks.ask(&context, &stop));
    }

    fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        self.threads.lock().unwrap().push(std::thread::spawn(work));
    }

    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
        self.context.outgoing.lock().unwrap().values().for_each(|t| t.stop());
        self.context.incoming.lock().unwrap().values().for_each(|t| t.stop());
    }

    pub fn report(&self) -> Value {
        let mut topics = vec![];
        for t in self.context.outgoing.lock().unwrap().values() {
            topics.push(Report::of(&t.local.name, &t.beyond, &t.local.type_name, false, &t.counts));
        }
        for t in self.context.incoming.lock().unwrap().values() {
            let mut one = Report::of(&t.name, &t.beyond, &t.announced.type_name, true, &t.counts);
            one.lost += t.losses.lock().unwrap().lost();
            topics.push(one);
        }
        let peers: Vec<Value> = self
            .clocks
            .best()
            .into_iter()
            .map(|(zid, m)| json!({"id": zid, "clock_offset_ns": m.offset_ns, "round_trip_ns": m.round_trip_ns}))
            .collect();
        json!({"time_ns": wall_now(), "bridge": self.title(), "network": self.context.network,
            "topics": topics.iter().map(Report::json).collect::<Vec<_>>(), "peers": peers,
            "notes": self.context.notes()})
    }

    fn title(&self) -> String {
        let info = self.context.session.info();
        let links = info.routers_zid().wait().count() + info.peers_zid().wait().count();
        let form = match self.context.rules.zenoh.form {
            Form::Plain => "plain keys",
            Form::Cardan => "between computers with Cardan",
        };
        format!("Zenoh, {form}, connected to {links}, id {}", self.context.zid)
    }
}

type Declared = (Vec<Subscriber<()>>, Vec<Queryable<()>>, Vec<LivelinessToken>);

fn declare(
    context: &Arc<Context>,
    clocks: &Arc<Clocks>,
    found: &SyncSender<Announced>,
) -> Result<Declared, zenoh::Error> {
    let form = context.rules.zenoh.form;
    let (mut subscribers, mut queryables) = (vec![], vec![]);
    for tokens in announcements(form) {
        let (own, clocks, found) = (context.clone(), clocks.clone(), found.clone());
        let seen = move |sample: Sample| token_changed(&own, &clocks, &found, &sample);
        let liveliness = context.session.liveliness();
        subscribers.push(liveliness.declare_subscriber(tokens).history(true).callback(seen).wait()?);
    }
    if form == Form::Cardan {
        let own = context.clone();
        let asked = move |query: Query| clock::answer(&own, &query);
        queryables.push(context.session.declare_queryable(clock_key(&context.zid)).callback(asked).wait()?);
        let own = context.clone();
        let key = definition_key(&context.zid, 0).replace("0000000000000000", "*");
        let asked = move |query: Query| {
            let number = query.key_expr().as_str().rsplit('/').next().map(|n| u64::from_str_radix(n, 16));
            let definitions = own.definitions.lock().unwrap();
            if let Some(text) = number.and_then(|n| definitions.get(&n.ok()?)) {
                let _ = query.reply(query.key_expr().clone(), text.as_str()).wait();
            }
        };
        queryables.push(context.session.declare_queryable(key).callback(asked).wait()?);
    }
    Ok((subscribers, queryables, vec![]))
}

/// Zenoh's thread. Only what a rule names goes further: others can declare tokens without end.
fn token_changed(context: &Context, clocks: &Clocks, found: &SyncSender<Announced>, sample: &Sample) {
    let form = context.rules.zenoh.form;
    let Some(one) = announced(form, sample.key_expr().as_str()) else { return };
    if one.zid == context.zid || one.domain == context.domain {
        return;
    }
    if rule_for(&context.rules.inward, &one.name, &one.type_name).is_none() {
        return;
    }
    if sample.kind() == SampleKind::Delete {
        return;
    }
    if form == Form::Cardan {
        clocks.add(&one.zid);
    }
    if found.try_send(one).is_err() {
        context.note("tokens", "more topics are announced at once than can be looked at: some do not come in");
    }
}

/// Topics that rules of `in` name together with their type: they need no announcement.
fn named_topics(context: &Context) -> Vec<Announced> {
    if context.rules.zenoh.form == Form::Cardan {
        return vec![]; // each topic there has a definition, which only its bridge knows
    }
    let mut all = vec![];
    for rule in &context.rules.inward {
        let [type_name] = rule.types.as_slice() else { continue };
        for name in rule.topics.iter().filter(|t| !is_pattern(t) && !is_pattern(type_name)) {
            all.push(Announced {
                zid: String::new(),
                name: name.clone(),
                type_name: type_name.clone(),
                definition: 0,
                domain: 0,
                depth: 0,
            });
        }
    }
    all
}

fn let_in(context: &Arc<Context>, one: &Announced) {
    let Some(rule) = rule_for(&context.rules.inward, &one.name, &one.type_name) else { return };
    let mut all = context.incoming.lock().unwrap();
    if let Some(known) = all.get(&one.name) {
        if known.announced.type_name == one.type_name {
            known.join();
        } else {
            let (name, kind, first) = (&one.name, &one.type_name, &known.announced.type_name);
            context.note(name, format!("{name} is announced as {kind} too, and stays a {first}"));
        }
        return;
    }
    let topic = Incoming::new(one.clone(), rule.clone());
    if topic.name.starts_with("/cardan/") {
        context.note(&one.name, format!("{} does not come in: /cardan/ is Cardan's own", one.name));
        return;
    }
    if all.len() >= MOST_IN {
        context.note("in", format!("at most {MOST_IN} topics come in: name them in 'in'"));
        return;
    }
    let topic = Arc::new(topic);
    topic.join();
    all.insert(one.name.clone(), topic.clone());
    let context = context.clone();
    std::thread::spawn(move || topic.run(&context));
}

/// Looks for this computer's topics until `stop`.
fn find_topics(context: &Arc<Context>, stop: &AtomicBool, ask: &SyncSender<Question>) {
    let mut running: BTreeMap<String, Local> = BTreeMap::new();
    while !stop.load(Relaxed) {
        match look(&context.rules.domain) {
            Ok(found) => {
                context.forget_note("look");
                update(context, &mut running, found, ask);
            }
            Err(why) => context.note("look", why),
        }
        std::thread::sleep(LOOK);
    }
}

fn update(context: &Arc<Context>, running: &mut BTreeMap<String, Local>, found: Found, ask: &SyncSender<Question>) {
    let mut here = BTreeSet::new();
    for topic in found.topics {
        let rules = &context.rules;
        let own = topic.via.contains(&context.network);
        if own || topic.topic.starts_with("/cardan/") || topic.type_name.is_empty() {
            continue;
        }
        let Some(rule) = rule_for(&rules.out, &topic.topic, &topic.type_name) else { continue };
        here.insert(topic.topic.clone());
        let local =
            Local { name: topic.topic, type_name: topic.type_name, depth: topic.depth, via: topic.via.join(" ") };
        let before = running.get(&local.name);
        if before.is_some_and(|b| b.type_name == local.type_name && b.via == local.via) {
            continue;
        }
        if let Err(why) = data_key(rules.zenoh.form, &rule.beyond(&local.name)) {
            context.note(&local.name, why);
            continue;
        }
        let mut all = context.outgoing.lock().unwrap();
        if all.len() >= MOST_OUT && before.is_none() {
            context.note("out", format!("at most {MOST_OUT} topics leave: name them in 'out'"));
            continue;
        }
        // A publisher that comes again goes on with its topic's counts.
        let counts = all.get(&local.name).map(|old| old.counts.clone()).unwrap_or_default();
        let outgoing = Arc::new(Outgoing::new(local.clone(), rule.clone(), counts));
        if let Some(old) = all.insert(local.name.clone(), outgoing.clone()) {
            old.stop();
        }
        running.insert(local.name.clone(), local);
        let (own, ask) = (context.clone(), ask.clone());
        std::thread::spawn(move || outgoing.run(&own, &ask));
    }
    // Their counts stay in the report; the thread ends.
    running.retain(|name, _| {
        let stays = here.contains(name);
        if !stays {
            if let Some(gone) = context.outgoing.lock().unwrap().get(name) {
                gone.stop();
            }
        }
        stays
    });
}
