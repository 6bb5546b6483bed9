// SPDX-License-Identifier: Apache-2.0
//! The messages of rmw_zenoh, ROS 2's middleware over Zenoh: keys, the liveliness tokens by which `ros2 topic list` knows
//! nodes and endpoints, and the attachment of each message.
use sha2::{Digest, Sha256};
use zenoh::bytes::Encoding;
use zenoh::sample::Sample;

use crate::announced::Announced;
use crate::stamp::{good_via, Stamp};

const SPACE: &str = "@ros2_lv";
const SLASH: char = '%';
/// Of the keys and tokens of zenoh-ext's advanced publishers, which rmw_zenoh uses for latched topics.
const ADVANCED: &str = "@adv";
/// An enclave that only bridges of Cardan have; the number of their domain follows.
const OUR_ENCLAVE: &str = "%cardan%";
/// The schema that Cardan's bridges add to a message's encoding. rmw_zenoh does not look at it.
const MARK: &str = "cardan=";
/// Zenoh's own limit; its library panics beyond it.
const MOST_SCHEMA: usize = 255;
/// Networks, as text, that the schema has room for besides the mark, the domain and a space.
pub const MOST_VIA: usize = MOST_SCHEMA - MARK.len() - 17;
/// rmw_zenoh's own depth, which a token leaves out.
const USUAL_DEPTH: u32 = 42;
const HASH: &str = "RIHS01_";
const HASH_DIGITS: usize = 64;

/// "sensor_msgs/msg/Image" → "sensor_msgs::msg::dds_::Image_"
pub fn dds_type(type_name: &str) -> Result<String, String> {
    match type_name.split('/').collect::<Vec<_>>().as_slice() {
        [package, "msg", name] if is_word(package) && is_word(name) => Ok(format!("{package}::msg::dds_::{name}_")),
        _ => Err(format!("ROS 2 does not allow the type {type_name:?}")),
    }
}

/// The other way. None: it is not a message's type.
pub fn ros_type(dds: &str) -> Option<String> {
    match dds.split("::").collect::<Vec<_>>().as_slice() {
        [package, "msg", "dds_", name] if is_word(package) => {
            let name = name.strip_suffix('_')?;
            is_word(name).then(|| format!("{package}/msg/{name}"))
        }
        _ => None,
    }
}

fn is_word(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_hash(hash: &str) -> bool {
    hash.strip_prefix(HASH).is_some_and(|digits| {
        digits.len() == HASH_DIGITS && digits.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
    })
}

/// The hash of a type by which ROS 2 tells two descriptions of one name apart.
pub fn hash_of(description: &str) -> String {
    Sha256::digest(description).iter().fold(HASH.to_string(), |text, byte| text + &format!("{byte:02x}"))
}

/// `bare`: without the first slash.
pub fn data_key(domain_id: u32, bare: &str, type_name: &str, hash: &str) -> Result<String, String> {
    if !bare.split('/').all(is_word) {
        return Err(format!("ROS 2 does not allow the name \"/{bare}\" — give it another by 'rename'"));
    }
    if !is_hash(hash) {
        return Err(format!("ROS 2 has no hash for {type_name}"));
    }
    Ok(format!("{domain_id}/{bare}/{}/{hash}", dds_type(type_name)?))
}

/// The same for messages of every type under that name: a publisher of another one is seen.
pub fn any_type(data_key: &str) -> String {
    let mut chunks = data_key.rsplitn(3, '/');
    format!("{}/*/*", chunks.nth(2).unwrap_or_default())
}

/// The type and the hash that a message's key names.
pub fn type_of_key(key: &str) -> Option<(String, &str)> {
    let mut chunks = key.rsplit('/');
    let hash = chunks.next()?;
    Some((ros_type(chunks.next()?)?, hash))
}

/// Where an advanced publisher of this session answers with its last messages, and its token. Its messages are told apart
/// by their time stamps ("uhlc").
pub fn history_key(data_key: &str, zid: &str) -> String {
    format!("{data_key}/{ADVANCED}/pub/{zid}/uhlc/_")
}

/// Where all of them answer.
pub fn histories(data_key: &str, depth: u32) -> String {
    format!("{data_key}/{ADVANCED}/**?_max={depth}")
}

/// The tokens of publishers.
pub fn publishers(domain_id: u32, name: Option<&str>) -> String {
    let name = name.map_or("*".into(), mangled);
    format!("{SPACE}/{domain_id}/*/*/*/MP/*/*/*/{name}/*/*/*")
}

fn mangled(name: &str) -> String {
    name.replace('/', &SLASH.to_string())
}

/// A token's statement about a publisher. None: it is not a publisher's, or names what ROS 2 does not allow.
pub fn announced(chunks: &[&str]) -> Option<Announced> {
    let [SPACE, _, zid, _, _, "MP", enclave, _, _, name, dds, hash, qos] = chunks else { return None };
    let name = name.replace(SLASH, "/");
    let qos = Qos::decode(qos)?;
    let own = enclave.strip_prefix(OUR_ENCLAVE).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    (name.strip_prefix('/')?.split('/').all(is_word) && is_hash(hash)).then_some(())?;
    Some(Announced {
        zid: zid.to_string(),
        name,
        type_name: ros_type(dds)?,
        domain: own.unwrap_or(0),
        depth: if qos.latched { qos.depth } else { 0 },
        hash: hash.to_string(),
        ..Announced::default()
    })
}

/// The parts of a quality of service that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Qos {
    pub reliable: bool,
    /// Transient local: a late joiner gets the last messages.
    pub latched: bool,
    pub depth: u32,
}

impl Qos {
    /// Reliability, durability, history and depth, deadline, lifespan, liveliness: what is rmw_zenoh's usual is left out.
    pub fn encode(&self) -> String {
        let depth = if self.depth == USUAL_DEPTH { String::new() } else { self.depth.to_string() };
        let (reliability, durability) = (if self.reliable { "" } else { "2" }, if self.latched { "1" } else { "" });
        format!("{reliability}:{durability}:,{depth}:,:,:,,")
    }

    pub fn decode(text: &str) -> Option<Qos> {
        let parts: Vec<&str> = text.split(':').collect();
        let [reliability, durability, history, _, _, _, ..] = parts.as_slice() else { return None };
        let (_, depth) = history.split_once(',')?;
        let depth = if depth.is_empty() { USUAL_DEPTH } else { depth.parse().ok()? };
        Some(Qos { reliable: *reliability != "2", latched: *durability == "1", depth })
    }
}

/// The bridge as a node of ROS 2.
#[derive(Debug, Clone)]
pub struct Node {
    pub domain_id: u32,
    pub zid: String,
    /// Number of Cardan's domain.
    pub domain: u64,
    pub name: String,
}

impl Node {
    fn start(&self, id: u32, kind: &str) -> String {
        let Node { domain_id, zid, domain, name } = self;
        format!("{SPACE}/{domain_id}/{zid}/0/{id}/{kind}/{OUR_ENCLAVE}{domain:016x}/{SLASH}/{name}")
    }

    /// The node's own token.
    pub fn token(&self) -> String {
        self.start(0, "NN")
    }

    /// Of an endpoint: `kind` is "MP" for a publisher, "MS" for a subscriber. `id` is its own in this session.
    pub fn endpoint(&self, id: u32, kind: &str, a: &Announced, qos: Qos) -> Result<String, String> {
        let (start, name) = (self.start(id, kind), mangled(&a.name));
        Ok(format!("{start}/{name}/{}/{}/{}", dds_type(&a.type_name)?, a.hash, qos.encode()))
    }
}

/// The number of an endpoint, as rmw_zenoh derives it from its token.
pub fn gid(token: &str) -> [u8; 16] {
    xxhash_rust::xxh3::xxh3_128(token.as_bytes()).to_le_bytes()
}

/// The attachment of each message of rmw_zenoh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    pub sequence: i64,
    pub source_ns: i64,
    pub gid: [u8; 16],
}

impl Attachment {
    pub const BYTES: usize = 33;

    pub fn encode(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(Self::BYTES);
        all.extend_from_slice(&self.sequence.to_le_bytes());
        all.extend_from_slice(&self.source_ns.to_le_bytes());
        all.push(self.gid.len() as u8);
        all.extend_from_slice(&self.gid);
        all
    }

    /// None: it has another form.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| bytes[at..at + 8].try_into().unwrap();
        (bytes.len() == Self::BYTES && bytes[16] == 16).then(|| Attachment {
            sequence: i64::from_le_bytes(word(0)),
            source_ns: i64::from_le_bytes(word(8)),
            gid: bytes[17..].try_into().unwrap(),
        })
    }
}

/// The encoding of what this bridge sends: its domain, and the networks that the messages came through before. Err: there
/// is no room for those, and without them the messages could come back.
pub fn encoding(domain: u64, via: &str) -> Result<Encoding, String> {
    let schema = format!("{MARK}{domain:016x} {via}");
    if schema.len() > MOST_SCHEMA {
        return Err("its messages came through more networks than can be named".into());
    }
    Ok(Encoding::APPLICATION_CDR.with_schema(schema))
}

/// The statement of a bridge of Cardan there: its domain and those networks. None: it is not one.
fn origin(encoding: &Encoding) -> Option<(u64, String)> {
    let schema = encoding.schema().filter(|s| s.len() <= MOST_SCHEMA)?;
    let text = std::str::from_utf8(schema.as_slice()).ok()?;
    let (domain, via) = text.strip_prefix(MARK)?.split_once(' ')?;
    good_via(via).then_some((u64::from_str_radix(domain, 16).ok()?, via.to_string()))
}

/// Where a message comes from. None: it has no number.
pub fn stamp_of(sample: &Sample) -> Option<Stamp> {
    let (domain, via) = origin(sample.encoding()).unwrap_or_default();
    let attached = sample.attachment().filter(|a| a.len() == Attachment::BYTES);
    let attached = attached.and_then(|a| Attachment::decode(&a.to_bytes()));
    if attached.is_none() && domain == 0 {
        return None;
    }
    let Attachment { sequence, source_ns, gid } =
        attached.unwrap_or(Attachment { sequence: 0, source_ns: 0, gid: [0; 16] });
    Some(Stamp {
        domain,
        publisher: u64::from_le_bytes(gid[..8].try_into().unwrap()),
        sequence: u64::try_from(sequence).unwrap_or(0),
        thinned: 0,
        publish_ns: source_ns,
        source_ns,
        age_ns: 0, // rmw_zenoh has no place for it
        via,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{announced as of_token, Keys};
    use crate::rules::Form;
    use zenoh::key_expr::keyexpr;

    const IMAGE_HASH: &str = "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47";

    fn image() -> Announced {
        Announced {
            zid: "a1".into(),
            name: "/camera/front".into(),
            type_name: "sensor_msgs/msg/Image".into(),
            hash: IMAGE_HASH.into(),
            ..Announced::default()
        }
    }
    fn node() -> Node {
        Node { domain_id: 7, zid: "a1".into(), domain: 0xabc, name: "cardan_bridge".into() }
    }
    const VOLATILE: Qos = Qos { reliable: true, latched: false, depth: 10 };

    #[test]
    fn keys_are_those_of_rmw_zenoh() {
        let keys = Keys { form: Form::Rmw, domain_id: 7 };
        let key = keys.data("/camera/front", "sensor_msgs/msg/Image", IMAGE_HASH).unwrap();
        assert_eq!(key, format!("7/camera/front/sensor_msgs::msg::dds_::Image_/{IMAGE_HASH}"));
        assert_eq!(any_type(&key), "7/camera/front/*/*");
        assert_eq!(type_of_key(&key), Some(("sensor_msgs/msg/Image".into(), IMAGE_HASH)));
        for name in ["/a b", "/a-b", "/1a", "/a//b", "/a/", "/a%b", "/@a", "/a*", "/a\x1b[2Jb", "/ä"] {
            assert!(keys.data(name, "sensor_msgs/msg/Image", IMAGE_HASH).is_err(), "{name:?}");
        }
        for type_name in ["Image", "a/b/c/Image", "sensor_msgs/srv/Image", "sensor_msgs/msg/", "a/msg/B/*"] {
            assert!(keys.data("/a", type_name, IMAGE_HASH).is_err(), "{type_name}");
        }
        for hash in ["", "RIHS01_", "*", &IMAGE_HASH[1..], &IMAGE_HASH.to_uppercase()] {
            assert!(keys.data("/a", "sensor_msgs/msg/Image", hash).is_err(), "{hash}");
        }
    }

    #[test]
    fn a_hash_is_that_of_ros_2() {
        let string = concat!(
            r#"{"type_description": {"type_name": "std_msgs/msg/String", "fields": [{"name": "data", "type": "#,
            r#"{"type_id": 17, "capacity": 0, "string_capacity": 0, "nested_type_name": ""}}]}, "#,
            r#""referenced_type_descriptions": []}"#
        );
        assert_eq!(hash_of(string), "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
    }

    #[test]
    fn tokens_come_back() {
        let node = node();
        assert_eq!(node.token(), "@ros2_lv/7/a1/0/0/NN/%cardan%0000000000000abc/%/cardan_bridge");
        let token = node.endpoint(3, "MP", &image(), VOLATILE).unwrap();
        assert_eq!(
            token,
            format!(
                "@ros2_lv/7/a1/0/3/MP/%cardan%0000000000000abc/%/cardan_bridge/%camera%front/\
                 sensor_msgs::msg::dds_::Image_/{IMAGE_HASH}/::,10:,:,:,,"
            )
        );
        let read = of_token(Form::Rmw, &token).unwrap();
        assert_eq!(read, Announced { domain: 0xabc, token: read.token, ..image() });
        let wanted = publishers(7, Some("/camera/front"));
        assert!(keyexpr::new(wanted.as_str()).unwrap().includes(keyexpr::new(token.as_str()).unwrap()));
        let latched = node.endpoint(3, "MP", &image(), Qos { latched: true, depth: 42, ..VOLATILE }).unwrap();
        assert_eq!(of_token(Form::Rmw, &latched).unwrap().depth, 42);
        let others = token.replace("%cardan%0000000000000abc", "%");
        assert_eq!(of_token(Form::Rmw, &others).unwrap().domain, 0);
    }

    #[test]
    fn hostile_tokens_are_ignored() {
        let good = node().endpoint(3, "MP", &image(), VOLATILE).unwrap();
        assert!(of_token(Form::Rmw, &good).is_some());
        for (from, to) in [
            ("MP", "MS"),
            ("MP", "NN"),
            ("%camera%front", "camera"),
            ("%camera%front", "%"),
            ("%camera%front", "%..%..%etc"),
            ("%camera%front", "%camera%%front"),
            ("%camera%front", "%came\x1b[2Jra"),
            ("%camera%front", "%camera\nfront"),
            ("%camera%front", "**"),
            ("dds_::Image_", "dds_::Image"),
            ("dds_::Image_", "dds_::_"),
            ("sensor_msgs", "sensor\u{7f}msgs"),
            ("::msg::", "::srv::"),
            ("RIHS01", "RIHS02"),
            ("d31d41", "D31D41"),
            ("d31d41", "d31d4"),
            ("::,10:,:,:,,", ""),
            ("::,10:,:,:,,", "::,99999999999:,:,:,,"),
            ("::,10:,:,:,,", "::,-1:,:,:,,"),
            ("::,10:,:,:,,", "::"),
        ] {
            let token = good.replacen(from, to, 1);
            assert_ne!(token, good, "{from} {to}");
            assert_eq!(of_token(Form::Rmw, &token), None, "{token:?}");
        }
        assert_eq!(of_token(Form::Rmw, &good.replace("/%/", &format!("/%{}/", "x".repeat(600)))), None);
        assert_eq!(of_token(Form::Rmw, &good[..good.rfind('/').unwrap()]), None);
    }

    #[test]
    fn qualities_of_service_are_read_as_rmw_zenoh_writes_them() {
        assert_eq!(Qos::decode("2::,5:,:,:,,"), Some(Qos { reliable: false, latched: false, depth: 5 }));
        assert_eq!(Qos::decode(":1:,1:,:,:,,"), Some(Qos { reliable: true, latched: true, depth: 1 }));
        assert_eq!(Qos::decode("::,:,:,:,,"), Some(Qos { reliable: true, latched: false, depth: 42 }));
        for qos in [VOLATILE, Qos { reliable: false, latched: true, depth: 42 }] {
            assert_eq!(Qos::decode(&qos.encode()), Some(qos));
        }
    }

    /// Numbers of PyPI's xxhash.
    #[test]
    fn a_gid_is_the_hash_of_the_token() {
        assert_eq!(gid(""), GID_OF_NOTHING);
        assert_eq!(gid(&node().token()), GID_OF_NODE);
        assert_eq!(gid(&node().endpoint(3, "MP", &image(), VOLATILE).unwrap()), GID_OF_PUBLISHER);
    }
    const GID_OF_NOTHING: [u8; 16] = 0x99aa06d3014798d86001c324468d497fu128.to_le_bytes();
    const GID_OF_NODE: [u8; 16] = 0xb7b920f354753af921db1606268a4d30u128.to_le_bytes();
    const GID_OF_PUBLISHER: [u8; 16] = 0x959cf94c823ea5308fc66561d9e6609eu128.to_le_bytes();

    #[test]
    fn attachments_come_back_and_others_are_ignored() {
        let attachment = Attachment { sequence: 1, source_ns: -2, gid: *b"0123456789abcdef" };
        let bytes = attachment.encode();
        assert_eq!(bytes.len(), Attachment::BYTES);
        assert_eq!(Attachment::decode(&bytes), Some(attachment));
        for size in (0..64).filter(|n| *n != Attachment::BYTES) {
            assert_eq!(Attachment::decode(&vec![16; size]), None);
        }
        let mut other = bytes.clone();
        other[16] = 17;
        assert_eq!(Attachment::decode(&other), None);
    }

    #[test]
    fn the_encoding_says_who_sent_it() {
        let said = |domain, via: &str| origin(&encoding(domain, via).unwrap());
        assert_eq!(said(0xabc, "dds:0 zenoh"), Some((0xabc, "dds:0 zenoh".into())));
        assert_eq!(said(1, ""), Some((1, String::new())));
        assert_eq!(said(1, &"x".repeat(MOST_VIA)), Some((1, "x".repeat(MOST_VIA))));
        assert!(encoding(1, &"x".repeat(MOST_VIA + 1)).is_err());
        assert_eq!(origin(&Encoding::APPLICATION_CDR), None);
        for evil in ["cardan=", "cardan=zz a", "cardan=1", "cardan=1 a=b", "cardan=1 a\nb", "cardan=1 \x1b[2J"] {
            assert_eq!(origin(&Encoding::APPLICATION_CDR.with_schema(evil)), None, "{evil:?}");
        }
        let long = Encoding::APPLICATION_CDR.with_schema(format!("cardan=1 {}", "x".repeat(1000)));
        assert_eq!(origin(&long), None);
    }
}
