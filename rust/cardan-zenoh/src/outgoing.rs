// SPDX-License-Identifier: Apache-2.0
//! One topic on its way out. Its own thread takes its messages, so that a slow network delays no other topic: it
//! waits in Zenoh, and what comes meanwhile waits in the publisher's memory, where the oldest give way.
use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use cardan::{Sample, Subscriber, SubscriberOptions, Taken};
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::query::Query;
use zenoh::sample::Locality;
use zenoh::Wait;

use crate::announced::Announced;
use crate::context::Context;
use crate::counts::{add, Counts};
use crate::keys::announcement;
use crate::ros::Qos;
use crate::ros_publisher::{asked_for, RosPublisher};
use crate::rules::{Congestion, Form, Pace, Rule};
use crate::stamp::{number_of, steady_now, wall_now, Stamp};

const LOOK: Duration = Duration::from_millis(200);
/// A peer that comes back soon, as a tool that is called again, finds the subscription here open. A peer that comes and goes
/// without end costs the publisher no handshake each time.
const LINGER: Duration = Duration::from_secs(2);
/// Below this a copy is cheaper than a reference to the slot.
const SMALL: usize = 4096;
const MOST_PUBLISHERS: usize = 64;
/// The most that a late joiner gets.
const MOST_HISTORY: usize = 64;
/// ROS 2 keeps the last of them for late joiners, where they are on /tf_static.
const TRANSFORMS: &str = "tf2_msgs/msg/TFMessage";

/// This computer's statement about a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    pub name: String,
    pub type_name: String,
    pub depth: u32,
    pub via: String,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    pub sequence: u64,
    pub thinned: u64,
    publish_ns: i64,
}

pub struct Outgoing {
    pub local: Local,
    pub rule: Rule,
    pub beyond: String,
    pub counts: Arc<Counts>,
    /// The last message of each publisher.
    pub sent: Mutex<HashMap<u64, Sent>>,
    stop: AtomicBool,
}

/// The slot, as bytes that Zenoh may keep.
struct Slot(Sample);

impl AsRef<[u8]> for Slot {
    fn as_ref(&self) -> &[u8] {
        self.0.payload()
    }
}

/// The message as Zenoh sends it, and how many bytes were copied for it. A large payload is the slot itself.
pub fn bytes_of(sample: Sample) -> (ZBytes, usize) {
    if sample.payload().len() < SMALL {
        let all = sample.to_vec();
        let copied = all.len();
        return (all.into(), copied);
    }
    let mut writer = ZBytes::writer();
    let (prefix, suffix) = (sample.prefix().to_vec(), sample.suffix().to_vec());
    writer.append(prefix.clone().into());
    writer.append(Bytes::from_owner(Slot(sample)).into());
    let _ = writer.write_all(&suffix);
    (writer.finish(), prefix.len() + suffix.len())
}

impl Outgoing {
    pub fn new(local: Local, rule: Rule, counts: Arc<Counts>) -> Self {
        let beyond = rule.beyond(&local.name);
        Outgoing { local, rule, beyond, counts, sent: Mutex::default(), stop: AtomicBool::new(false) }
    }

    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Late joiners get the last messages: always between bridges of Cardan, else if the rule says so.
    fn has_history(&self, form: Form) -> bool {
        let usual = form == Form::Rmw && self.local.type_name == TRANSFORMS && self.local.name.ends_with("/tf_static");
        form == Form::Cardan || self.rule.latched.unwrap_or(usual)
    }

    fn subscriber(&self, context: &Context, depth: u32) -> Result<Subscriber, cardan::Error> {
        Subscriber::new(
            &self.local.name,
            &SubscriberOptions {
                domain: &context.rules.domain,
                holds: 1,
                depth,
                best_effort: self.rule.congestion == Congestion::Drop,
                background: self.rule.congestion == Congestion::Drop,
                not_via: &context.network,
                access: context.rules.access.access(),
                ..Default::default()
            },
        )
    }

    fn stamp(&self, context: &Context, sample: &Sample, thinned: u64) -> Stamp {
        Stamp {
            domain: context.domain,
            publisher: sample.publisher(),
            sequence: sample.sequence(),
            thinned,
            publish_ns: sample.publish_ns() + (wall_now() - steady_now()),
            source_ns: sample.source_ns(),
            age_ns: sample.origin_ns().map_or(-1, |origin| (steady_now() - origin).max(0)),
            via: self.local.via.clone(),
        }
    }

    /// Until it is stopped.
    pub fn run(self: &Arc<Self>, context: &Arc<Context>) {
        while !self.stop.load(Relaxed) {
            match self.carry(context) {
                Ok(()) => return,
                Err(why) => self.counts.note(why),
            }
            std::thread::sleep(LOOK);
        }
    }

    fn carry(self: &Arc<Self>, context: &Arc<Context>) -> Result<(), String> {
        let form = context.keys.form;
        let told = |e: zenoh::Error| e.to_string();
        let (definition, hash) = self.definition(context)?;
        let key = context.keys.data(&self.beyond, &self.local.type_name, &hash)?;
        let announced = Announced {
            zid: context.zid.clone(),
            name: self.beyond.clone(),
            type_name: self.local.type_name.clone(),
            definition,
            domain: context.domain,
            depth: self.local.depth,
            hash,
            ..Announced::default()
        };
        let publisher = context
            .session
            .declare_publisher(key.clone())
            .congestion_control(CongestionControl::Block)
            .priority(self.rule.priority.of_zenoh())
            .allowed_destination(Locality::Remote)
            .wait()
            .map_err(told)?;
        let (changed, changes) = sync_channel(1);
        let _listener =
            publisher.matching_listener().callback(move |_| _ = changed.try_send(())).wait().map_err(told)?;
        let ros = match form {
            Form::Rmw => {
                let depth = if self.rule.depth != 0 { self.rule.depth } else { self.local.depth.max(1) };
                let qos = Qos { reliable: true, latched: self.has_history(form), depth };
                Some(Arc::new(RosPublisher::new(context, &announced, qos, &key, &self.local.via)?))
            }
            _ => None,
        };
        let _queryable = if self.has_history(form) {
            let answered = ros.as_ref().and_then(|r| r.history_key()).unwrap_or(&key).to_string();
            let (topic, key, ros, own) = (self.clone(), key.clone(), ros.clone(), context.clone());
            let asked = move |query: Query| {
                let (topic, key, ros, context) = (topic.clone(), key.clone(), ros.clone(), own.clone());
                own.answering.put(move || topic.answer(&context, &key, ros.as_deref(), &query));
            };
            let made = context.session.declare_queryable(answered).callback(asked).wait();
            Some(made.map_err(told)?)
        } else {
            None
        };
        let _token = match form {
            Form::Rmw => None, // it has its own
            _ => {
                let token = context.session.liveliness().declare_token(announcement(form, &announced)).wait();
                Some(token.map_err(told)?)
            }
        };
        self.counts.note("");
        self.send_while_wanted(context, &publisher, ros.as_deref(), &changes)
    }

    /// Gives the type's definition to bridges that ask, and returns its number, and for ROS 2 its hash.
    fn definition(&self, context: &Context) -> Result<(u64, String), String> {
        let subscriber = self.subscriber(context, 1).map_err(|e| e.to_string())?;
        let definition = subscriber.definition();
        let number = number_of(&definition);
        let hash = match context.keys.form {
            Form::Rmw => context.hashes.of(&self.local.type_name, &definition)?,
            _ => String::new(),
        };
        context.definitions.lock().unwrap().insert(number, definition);
        Ok((number, hash))
    }

    fn send_while_wanted(
        &self,
        context: &Context,
        publisher: &Publisher,
        ros: Option<&RosPublisher>,
        changes: &Receiver<()>,
    ) -> Result<(), String> {
        let mut pace = Pace::of(&self.rule);
        let mut subscriber: Option<Subscriber> = None;
        let is_matching = || publisher.matching_status().wait().is_ok_and(|s| s.matching());
        let mut matching = false;
        let mut wanted: Option<Instant> = None; // lately
        let mut opened_ns = 0;
        let mut look: Option<Instant> = None;
        while !self.stop.load(Relaxed) {
            if changes.try_recv().is_ok() || look.map_or(true, |at| at.elapsed() >= LOOK) {
                look = Some(Instant::now());
                matching = is_matching();
                self.counts.receivers.store(matching.into(), Relaxed);
                wanted = if matching { look } else { wanted.filter(|at| at.elapsed() < LINGER) };
            }
            if wanted.is_none() {
                subscriber = None;
                let _ = changes.recv_timeout(LOOK);
                look = None;
                continue;
            }
            let from = match &mut subscriber {
                Some(open) => open,
                None => {
                    opened_ns = steady_now();
                    // The newest is wanted when the time has come.
                    let depth = if pace.period_ns != 0 { 1 } else { self.rule.depth };
                    let open = self.subscriber(context, depth).map_err(|e| e.to_string())?;
                    subscriber.insert(open)
                }
            };
            let early = pace.due_ns - steady_now();
            if pace.period_ns != 0 && early > 0 {
                std::thread::sleep(Duration::from_nanos(early as u64).min(LOOK));
                continue;
            }
            match from.wait(Some(LOOK)) {
                Ok(Taken::Sample(sample)) => {
                    if !matching && changes.try_recv().is_ok() {
                        (matching, look) = (is_matching(), None);
                    }
                    if matching && self.is_new(context, &sample, opened_ns) {
                        pace.passes(steady_now());
                        self.send(context, publisher, ros, sample);
                    }
                }
                Ok(Taken::Stopped) => return Ok(()),
                Ok(_) => {}
                Err(why) => self.counts.refuse(why.to_string()),
            }
        }
        Ok(())
    }

    /// A subscription starts with the publisher's last messages. They are sent once, and only where they are wanted.
    fn is_new(&self, context: &Context, sample: &Sample, opened_ns: i64) -> bool {
        let sent = self.sent.lock().unwrap();
        if sent.get(&sample.publisher()).is_some_and(|s| sample.sequence() <= s.sequence) {
            return false;
        }
        sample.publish_ns() >= opened_ns || self.has_history(context.keys.form)
    }

    fn send(&self, context: &Context, publisher: &Publisher, ros: Option<&RosPublisher>, sample: Sample) {
        let thinned = self.count_gap(&sample);
        let stamp = self.stamp(context, &sample, thinned).encode();
        let mark = ros.map(|r| r.now(&sample));
        let size = sample.size() as u64;
        let (payload, copied) = bytes_of(sample);
        let put = publisher.put(payload);
        let sent = context.receivers.send(|| match mark {
            None => put.attachment(stamp).wait(),
            Some(m) if m.timestamp.is_none() => put.encoding(m.encoding).attachment(m.attachment).wait(),
            Some(m) => put.encoding(m.encoding).attachment(m.attachment).timestamp(m.timestamp).wait(),
        });
        match sent {
            Ok(()) => {
                add(&self.counts.carried, 1);
                add(&self.counts.bytes, size);
                add(&self.counts.copied, copied as u64);
            }
            Err(why) => {
                add(&self.counts.lost, 1);
                self.counts.note(why.to_string());
            }
        }
    }

    /// The messages that were left out before this one: on purpose, as far as the rate wants it, else lost. Returns the former of
    /// this publisher so far.
    fn count_gap(&self, sample: &Sample) -> u64 {
        let mut all = self.sent.lock().unwrap();
        if all.len() >= MOST_PUBLISHERS && !all.contains_key(&sample.publisher()) {
            let oldest = all.iter().min_by_key(|(_, s)| s.publish_ns).map(|(p, _)| *p);
            if let Some(publisher) = oldest {
                all.remove(&publisher);
            }
        }
        let before = all.get(&sample.publisher()).copied();
        let sent = all.entry(sample.publisher()).or_default();
        let period = self.rule.period_ns();
        if period == 0 {
            add(&self.counts.lost, sample.missed());
        } else if let Some(before) = before {
            let gap = sample.sequence() - before.sequence - 1;
            let periods = (sample.publish_ns() - before.publish_ns) / period;
            // A rate that does not divide the publisher's gives up to two periods between two messages.
            let lost = if periods >= 3 { gap.min(periods as u64 - 1) } else { 0 };
            sent.thinned += gap - lost;
            add(&self.counts.thinned, gap - lost);
            add(&self.counts.lost, lost);
        }
        sent.sequence = sample.sequence();
        sent.publish_ns = sample.publish_ns();
        sent.thinned
    }

    /// For a late joiner.
    fn answer(&self, context: &Context, key: &str, ros: Option<&RosPublisher>, query: &Query) {
        if let Err(why) = self.answer_with_last(context, key, ros, query) {
            self.counts.note(why);
        }
    }

    /// The publisher's last messages are taken from its memory, so the bridge keeps none.
    fn answer_with_last(
        &self,
        context: &Context,
        key: &str,
        ros: Option<&RosPublisher>,
        query: &Query,
    ) -> Result<(), String> {
        let asked = asked_for(query).filter(|_| ros.is_some()).unwrap_or(0);
        let depth = [self.rule.depth, asked].into_iter().filter(|d| *d != 0).min().unwrap_or(0);
        let mut subscriber = self.subscriber(context, depth).map_err(|e| e.to_string())?;
        for _ in 0..MOST_HISTORY {
            let Ok(Taken::Sample(sample)) = subscriber.take() else {
                return Ok(());
            };
            let sent = self.sent.lock().unwrap().get(&sample.publisher()).copied();
            let stamp = self.stamp(context, &sample, sent.map_or(0, |s| s.thinned)).encode();
            let mark = ros.map(|r| r.again(&sample));
            let reply = query.reply(key, bytes_of(sample).0);
            let replied = context.receivers.send(|| match mark {
                None => reply.attachment(stamp).wait(),
                Some(m) => reply.encoding(m.encoding).attachment(m.attachment).timestamp(m.timestamp).wait(),
            });
            replied.map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardan::{Publisher, PublisherOptions};

    /// A sensor_msgs/msg/Image with one row of this many pixels.
    fn image(pixels: u32) -> Vec<u8> {
        let mut cdr = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for word in [1, 0, 1, pixels, 6] {
            cdr.extend(u32::to_le_bytes(word)); // frame_id "", height, width, the encoding's length
        }
        cdr.extend(b"mono8\0\0\0");
        cdr.extend(pixels.to_le_bytes());
        cdr.extend(pixels.to_le_bytes());
        cdr.extend((0..pixels).map(|i| (i % 251) as u8));
        cdr
    }

    #[test]
    fn a_large_payload_is_the_slot_itself_and_is_given_back() {
        let folder = std::env::temp_dir().join(format!("cardan-zenoh-slot-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::env::set_var("CARDAN_RUN_DIR", &folder);
        let cdr = image(100_000);
        let offered = PublisherOptions {
            type_name: "sensor_msgs/msg/Image",
            max_bytes: cdr.len(),
            depth: 8,
            ..Default::default()
        };
        let mut publisher = Publisher::new("/camera", &offered).unwrap();
        let mut subscriber = Subscriber::new("/camera", &SubscriberOptions::default()).unwrap();
        let mut take = || {
            publisher.publish(&cdr, 0).unwrap();
            match subscriber.wait(Some(Duration::from_secs(60))).unwrap() {
                Taken::Sample(sample) => Some(sample),
                _ => None,
            }
        };
        let sample = take().unwrap();
        let (slot, size) = (sample.payload().as_ptr(), sample.payload().len());
        let (bytes, copied) = bytes_of(sample);
        assert!(bytes.slices().any(|s| s.as_ptr() == slot && s.len() == size), "by reference");
        assert_eq!(copied, cdr.len() - size);
        assert_eq!(bytes.to_bytes(), cdr);
        let clone = bytes.clone();
        drop(bytes);
        let second = take().unwrap();
        assert!(take().is_none(), "one is held by Zenoh, one by us, which are all that were announced");
        drop(clone);
        assert!(take().is_some(), "Zenoh's was given back");
        drop(second);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
