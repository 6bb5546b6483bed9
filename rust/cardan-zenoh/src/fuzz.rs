// SPDX-License-Identifier: Apache-2.0
//! The bridge's input from unknown peers, for fuzzers: functions of some bytes that return, whatever the bytes are, and panic
//! where something does not hold that has to. scripts/fuzz.sh runs them under libFuzzer (fuzz/); the test here feeds them what
//! is known.
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use zenoh::bytes::Encoding;
use zenoh::key_expr::{keyexpr, KeyExpr};
use zenoh::sample::{Sample, SampleBuilder};

use crate::announced::Announced;
use crate::candidates::{Candidates, MOST, MOST_TOKENS};
use crate::incoming::stamp_of;
use crate::keys::{announced, announcement, checked_name, clock_key, definition_key, is_type, Keys, MOST_BYTES};
use crate::losses::{Losses, MOST_PUBLISHERS};
use crate::ros::{self, Node, Qos};
use crate::rules::{fits, Form};
use crate::stamp::{good_via, number_of, via_with, Stamp};
use crate::ways::{self, Ways};

pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Inputs to begin with, which reach far.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

pub const KEYS: Target = Target { name: "zenoh_keys", run: keys, seeds: keys_to_begin_with };
pub const ANNOUNCEMENTS: Target =
    Target { name: "zenoh_announcements", run: announcements, seeds: announcements_to_begin_with };
pub const ATTACHMENTS: Target =
    Target { name: "zenoh_attachments", run: attachments, seeds: attachments_to_begin_with };

impl Target {
    /// CARDAN_FUZZ_SEEDS=FOLDER: the program only writes its inputs to begin with there.
    pub fn write_seeds(&self) {
        let Some(folder) = std::env::var_os("CARDAN_FUZZ_SEEDS") else { return };
        for (n, seed) in (self.seeds)().iter().enumerate() {
            let path = std::path::Path::new(&folder).join(format!("seed-{n}"));
            std::fs::write(path, seed).expect("a folder for seeds");
        }
        std::process::exit(0);
    }
}

/// A program that libFuzzer calls.
#[macro_export]
macro_rules! fuzz_program {
    ($target:expr) => {
        #[no_mangle]
        extern "C" fn LLVMFuzzerInitialize(_: *mut i32, _: *mut *mut *mut u8) -> i32 {
            $target.write_seeds();
            0
        }
        #[no_mangle]
        extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> i32 {
            // SAFETY: libFuzzer gives `size` bytes; without bytes the address is not used.
            ($target.run)(if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, size) } });
            0
        }
    };
}

const FORMS: [Form; 3] = [Form::Plain, Form::Cardan, Form::Rmw];
const HASH: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

/// Takes an input apart from its beginning; after its end come zeros.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (these, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        these
    }
    fn number<const N: usize>(&mut self) -> u64 {
        self.bytes(N).iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
    }
    fn form(&mut self) -> Form {
        FORMS[self.number::<1>() as usize % 3]
    }
}

fn is_one_key(text: &str) -> bool {
    keyexpr::new(text).is_ok_and(|key| !key.is_wild())
}

fn includes(wide: &[String], token: &str) -> bool {
    let token = keyexpr::new(token).expect("a token is a key");
    wide.iter().any(|one| keyexpr::new(one.as_str()).expect("a question is a key").includes(token))
}

/// Names of topics and types, from a run directory or from the network.
fn keys(data: &[u8]) {
    let mut input = Input(data);
    let form = input.form();
    let Ok(text) = std::str::from_utf8(input.0) else { return };
    let (name, type_name) = text.split_once('\n').unwrap_or((text, "std_msgs/msg/String"));
    let keys = Keys { form, domain_id: 7 };
    if let Ok(key) = keys.data(name, type_name, HASH) {
        assert!(is_one_key(&key), "{key:?}");
        if form == Form::Rmw {
            let (back, hash) = ros::type_of_key(&key).expect("its own key");
            assert!(back == type_name && hash == HASH);
            assert!(keyexpr::new(ros::any_type(&key).as_str()).unwrap().includes(keyexpr::new(key.as_str()).unwrap()));
            assert!(is_one_key(&ros::history_key(&key, "a1")));
        }
        let name = if name.starts_with('/') { name.to_string() } else { format!("/{name}") };
        let one = Announced {
            zid: "a1".into(),
            name,
            type_name: type_name.into(),
            hash: HASH.into(),
            domain: 5,
            definition: 6,
            depth: 4,
            ..Announced::default()
        };
        if is_type(type_name) {
            comes_back(keys, &one);
        }
    }
    if let Some(type_name) = ros::ros_type(text) {
        assert_eq!(ros::dds_type(&type_name).as_deref(), Ok(text));
    }
    if let Some(qos) = Qos::decode(text) {
        assert_eq!(Qos::decode(&qos.encode()), Some(qos));
    }
}

/// Outgoing topics are announced so that another bridge reads the same.
fn comes_back(keys: Keys, one: &Announced) {
    let token = match keys.form {
        Form::Rmw => {
            let node = Node { domain_id: keys.domain_id, zid: one.zid.clone(), domain: one.domain, name: "n".into() };
            let qos = Qos { reliable: true, latched: true, depth: one.depth };
            node.endpoint(3, "MP", one, qos).expect("a name that has a key")
        }
        form => announcement(form, one),
    };
    if token.len() > MOST_BYTES {
        return; // nobody reads it
    }
    assert!(includes(&keys.announcements(None), &token), "{token:?}");
    assert!(includes(&keys.announcements(Some(&one.name)), &token), "{token:?}");
    let read = announced(keys.form, &token).expect("another bridge reads it");
    assert_eq!((&read.name, &read.type_name, &read.zid), (&one.name, &one.type_name, &one.zid));
    assert!(keys.form == Form::Plain || (read.domain == one.domain && read.depth == one.depth));
}

/// One token of somebody else. None: it is ignored.
fn read_token(keys: Keys, token: &str) -> Option<Announced> {
    let one = announced(keys.form, token)?;
    assert!(token.len() <= MOST_BYTES && is_one_key(token));
    assert_eq!(one.token, number_of(token));
    assert!(one.name.starts_with('/') && checked_name(&one.name).is_ok(), "{one:?}");
    assert!(!one.name.chars().chain(one.type_name.chars()).any(char::is_control), "{one:?}");
    // With these it is asked: a wildcard would ask everybody.
    assert!(is_one_key(&definition_key(&one.zid, one.definition)), "{one:?}");
    assert!(is_one_key(&clock_key(&one.zid)), "{one:?}");
    if let Ok(key) = keys.data(&one.name, &one.type_name, &one.hash) {
        assert!(is_one_key(&key), "{key:?}");
    }
    for question in keys.announcements(Some(&one.name)) {
        assert!(keyexpr::new(question.as_str()).is_ok(), "{question:?}");
    }
    assert!(fits("*", &one.name));
    Some(one)
}

/// Announcements that come and go, line by line: `+TOKEN`, `-TOKEN`, `!` (what is carried does not work), `=` (those of the
/// last lines, and no others, are there).
fn announcements(data: &[u8]) {
    const LAST: usize = 4;
    let mut input = Input(data);
    let keys = Keys { form: input.form(), domain_id: 0 };
    let mut topics: BTreeMap<String, Candidates> = BTreeMap::new();
    let mut last: Vec<Announced> = vec![];
    for line in input.0.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()) {
        let Some(sign) = line.chars().next() else { continue };
        let one = read_token(keys, &line[sign.len_utf8()..]);
        match (sign, one) {
            ('+', Some(one)) => {
                let topic = topics.entry(one.name.clone()).or_default();
                topic.add(&one);
                last.insert(0, one);
                last.truncate(LAST);
            }
            ('-', Some(one)) => {
                if let Some(topic) = topics.get_mut(&one.name) {
                    topic.end(&one);
                }
            }
            ('!', _) => topics.values_mut().for_each(|topic| {
                let tried = topic.choose().expect("announced once");
                assert!(topic.is_chosen(&tried) && topic.type_name() == tried.type_name);
                topic.failed(&tried);
                assert!(!topic.has_ended(&tried) || topic.has_another(&tried));
                topic.takes_another_look();
            }),
            ('=', _) => {
                let live: HashSet<u64> = last.iter().map(|one| one.token).collect();
                topics.values_mut().for_each(|topic| _ = topic.end_all_but(&live));
            }
            _ => {}
        }
        for topic in topics.values_mut() {
            let (types, tokens) = topic.sizes();
            assert!((1..=MOST).contains(&types) && tokens <= MOST_TOKENS);
        }
    }
}

fn sample(input: &mut Input) -> Sample {
    let (attached, named, size) = (input.number::<2>() as usize, input.number::<1>() as usize, input.number::<1>());
    let (attachment, schema) = (input.bytes(attached), input.bytes(named));
    let encoding = Encoding::APPLICATION_CDR.with_schema(String::from_utf8_lossy(schema));
    let made = SampleBuilder::put(KeyExpr::try_from("a").unwrap(), input.bytes(size as usize)).encoding(encoding);
    made.attachment((attached > 0).then_some(attachment)).into()
}

/// Messages with what their senders attach, and what other bridges tell of them.
fn attachments(data: &[u8]) {
    const NETWORK: &str = "zenoh";
    let mut input = Input(data);
    let form = input.form();
    let (mut losses, mut ways, start) = (Losses::default(), Ways::new(NETWORK), Instant::now());
    for n in 0..u64::MAX {
        if input.0.is_empty() {
            return;
        }
        let what = input.number::<1>();
        if what == 0 {
            losses.told(input.number::<1>(), input.number::<8>(), input.number::<8>());
            continue;
        }
        let sample = sample(&mut input);
        let stamp = stamp_of(form, &sample);
        let via = via_with(NETWORK, stamp.as_ref());
        assert_eq!(via.split(' ').filter(|one| *one == NETWORK).count(), 1, "{via:?}");
        if let Some(stamp) = &stamp {
            assert!(good_via(&stamp.via));
            assert_eq!(Stamp::decode(&stamp.encode()).as_ref(), Some(stamp));
            match what % 3 {
                0 => losses.dropped(stamp),
                1 => _ = losses.arrived(stamp),
                _ => _ = losses.arrived_live(stamp),
            }
        }
        let now = start + Duration::from_millis(what * n.min(1 << 20));
        let size = sample.payload().len();
        if let Ok(room) = ways.find(&via, size, 128, now, |room| Ok::<_, String>(room)) {
            assert!(*room >= size);
        }
        assert!(losses.remembered() <= 2 * MOST_PUBLISHERS && ways.publishers().count() <= ways::MOST + 1);
        losses.lost();
    }
}

fn keys_to_begin_with() -> Vec<Vec<u8>> {
    let texts =
        ["/camera/front", "/a\nsensor_msgs/msg/Image", "std_msgs::msg::dds_::String_", "2:1:,5:,:,:,,", "/@a/%b§"];
    (0..3).flat_map(|form| texts.map(|text| [&[form], text.as_bytes()].concat())).collect()
}

fn announcements_to_begin_with() -> Vec<Vec<u8>> {
    let tokens = [
        "@/a1/@ros2_lv/MP/camera§front/sensor_msgs§msg§Image/:1:0:0,4".to_string(),
        "@ros2_lv/a1/MP/cmd/std_msgs§msg§String/:::".into(),
        "@cardan/pub/a1/0000000000000005/camera%front/sensor_msgs%msg%Image/0000000000000007/4".into(),
        format!("@ros2_lv/0/a1/0/3/MP/%/%/node/%cmd/std_msgs::msg::dds_::String_/{HASH}/::,10:,:,:,,"),
        format!(
            "@ros2_lv/0/a1/0/3/MP/%cardan%00000000000000ab/%/node/%map/std_msgs::msg::dds_::Bool_/{HASH}/:1:,:,:,:,,"
        ),
    ];
    let of = |token: &String| {
        let other = token.replace("String", "Bool").replace("Image", "Imu").replace("a1", "b2");
        format!("+{token}\n+{other}\n!\n-{token}\n!\n=\n-{other}\n!\n").into_bytes()
    };
    (0..3).flat_map(|form| tokens.iter().map(move |token| [vec![form], of(token)].concat())).collect()
}

fn attachments_to_begin_with() -> Vec<Vec<u8>> {
    let stamp = Stamp { domain: 1, publisher: 2, sequence: 3, via: "dds:0 zenoh".into(), ..Stamp::default() };
    let ros = ros::Attachment { sequence: 4, source_ns: 5, gid: *b"0123456789abcdef" };
    let message = |what: u8, attachment: &[u8], schema: &[u8]| {
        let sizes = [what, attachment.len() as u8, 0, schema.len() as u8, 4];
        [&sizes, attachment, schema, b"\0\x01\0\0"].concat()
    };
    let all = [
        message(1, &stamp.encode(), b""),
        message(2, &Stamp { sequence: 9, ..stamp.clone() }.encode(), b""),
        message(3, &Stamp { publisher: 7, ..stamp }.encode(), b""),
        message(2, &ros.encode(), b"cardan=00000000000000ab dds:0"),
        message(1, &ros.encode(), b""),
        [vec![0, 2], 12u64.to_le_bytes().into(), vec![0; 8]].concat(),
    ]
    .concat();
    (0..3).map(|form| [vec![form], all.clone()].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Vec<Vec<u8>> {
        let folder = format!("{}/../../tests/fuzz/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(folder).into_iter().flatten();
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }

    /// Each input, its beginnings, and the same with single bytes changed.
    #[test]
    fn known_inputs_harm_nobody() {
        for target in [KEYS, ANNOUNCEMENTS, ATTACHMENTS] {
            for input in (target.seeds)().into_iter().chain(known(target.name)) {
                for at in 0..=input.len() {
                    (target.run)(&input[..at]);
                    for byte in [b'\n', b'*', 0xff] {
                        let mut other = input.clone();
                        other.insert(at, byte);
                        (target.run)(&other);
                        other.remove((at + 1) % other.len());
                        (target.run)(&other);
                    }
                }
            }
        }
    }

    #[test]
    fn many_of_everything_cost_little() {
        let token = |n: usize| format!("+@cardan/pub/{n:x}/5/cmd/a%msg%T{}/{n:x}/{n}\n", n % 50);
        let lines: String = (0..2000).map(token).collect();
        announcements(&[b"\x01", lines.as_bytes()].concat());
        let message = |n: u64| {
            let stamp =
                Stamp { publisher: n, sequence: u64::MAX - n, via: format!("net{n}"), ..Stamp::default() }.encode();
            [&[(n % 250) as u8 + 1, stamp.len() as u8, 0, 0, 0], stamp.as_slice()].concat()
        };
        attachments(&[vec![0], (0..2000).flat_map(message).collect()].concat());
    }
}
