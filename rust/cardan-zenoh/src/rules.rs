// SPDX-License-Identifier: Apache-2.0
//! The rules as `cardan bridge zenoh` hands them on: the form of bridge.schema.json, checked already, with every list
//! written as a list.
use std::ffi::CString;
use std::os::raw::{c_char, c_int};

use serde::de::IgnoredAny;
use serde::Deserialize;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code)] // what other bridges read
pub struct Rules {
    #[serde(rename = "$schema")]
    pub schema: IgnoredAny,
    pub domain: String,
    /// The name of the network, for the loop guard.
    pub network: String,
    pub access: AccessName,
    pub out: Vec<Rule>,
    /// An allow-list: what no rule names does not come in.
    #[serde(rename = "in")]
    pub inward: Vec<Rule>,
    pub zenoh: ZenohRules,
    pub dds: IgnoredAny,
    pub foxglove: IgnoredAny,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessName {
    #[default]
    Owner,
    Group,
    Everyone,
    Policy,
}

impl AccessName {
    pub fn access(self) -> cardan::Access {
        match self {
            AccessName::Owner => cardan::Access::Owner,
            AccessName::Group => cardan::Access::Group,
            AccessName::Everyone => cardan::Access::Everyone,
            AccessName::Policy => cardan::Access::Policy,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    pub topics: Vec<String>,
    pub types: Vec<String>,
    pub exclude: Vec<String>,
    pub rename: String,
    pub namespace: String,
    pub max_hz: f64,
    pub reliable: Option<bool>,
    pub depth: u32,
    pub latched: Option<bool>,
    pub max_mib: u64,
    /// Also topics of access 'owner' that fit by a pattern only.
    pub owner: bool,
    pub priority: Priority,
    pub congestion: Congestion,
}

impl Default for Rule {
    fn default() -> Self {
        Rule {
            topics: vec!["*".into()],
            types: vec![],
            exclude: vec![],
            rename: String::new(),
            namespace: String::new(),
            max_hz: 0.0,
            reliable: None,
            depth: 0,
            latched: None,
            max_mib: 64,
            owner: false,
            priority: Priority::default(),
            congestion: Congestion::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    RealTime,
    InteractiveHigh,
    InteractiveLow,
    DataHigh,
    #[default]
    Data,
    DataLow,
    Background,
}

impl Priority {
    pub fn of_zenoh(self) -> zenoh::qos::Priority {
        use zenoh::qos::Priority as P;
        match self {
            Priority::RealTime => P::RealTime,
            Priority::InteractiveHigh => P::InteractiveHigh,
            Priority::InteractiveLow => P::InteractiveLow,
            Priority::DataHigh => P::DataHigh,
            Priority::Data => P::Data,
            Priority::DataLow => P::DataLow,
            Priority::Background => P::Background,
        }
    }
}

/// The reaction to a network that is slower than the publisher.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Congestion {
    /// The oldest message that waits is lost.
    #[default]
    Drop,
    /// A reliable publisher waits for the bridge, at most as long as its own time-out.
    Block,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    #[default]
    Plain,
    Cardan,
    Rmw,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZenohRules {
    pub form: Form,
    /// Zenoh's own file (JSON5): TLS, access control, and all else.
    pub config: String,
    pub mode: String,
    pub connect: Vec<String>,
    pub listen: Vec<String>,
    /// Of ROS 2: the domain, and the bridge's name as a node.
    pub domain_id: u32,
    pub node: String,
}

extern "C" {
    fn fnmatch(pattern: *const c_char, text: *const c_char, flags: c_int) -> c_int;
}

/// As every bridge compares names: `*` is any text, `?` one letter.
pub fn fits(pattern: &str, name: &str) -> bool {
    const FNM_NOESCAPE: c_int = 2;
    let (Ok(pattern), Ok(name)) = (CString::new(pattern), CString::new(name)) else {
        return false;
    };
    // SAFETY: two texts of C that live until the call has returned.
    unsafe { fnmatch(pattern.as_ptr(), name.as_ptr(), FNM_NOESCAPE) == 0 }
}

fn fits_one(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|p| fits(p, name))
}

pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The first rule that fits. `type_name` empty: only the name is compared.
pub fn rule_for<'a>(rules: &'a [Rule], topic: &str, type_name: &str) -> Option<&'a Rule> {
    rules.iter().find(|rule| {
        fits_one(&rule.topics, topic)
            && !fits_one(&rule.exclude, topic)
            && (type_name.is_empty() || rule.types.is_empty() || fits_one(&rule.types, type_name))
    })
}

impl Rule {
    /// Whether it sends a topic of access 'owner'. Its receiver may be another user.
    pub fn sends_owners(&self, topic: &str) -> bool {
        self.owner || self.topics.iter().any(|name| name == topic)
    }

    /// The topic's name on the other side.
    pub fn beyond(&self, topic: &str) -> String {
        if self.rename.is_empty() {
            format!("{}{topic}", self.namespace)
        } else {
            self.rename.clone()
        }
    }

    pub fn period_ns(&self) -> i64 {
        if self.max_hz > 0.0 {
            (1e9 / self.max_hz).round() as i64
        } else {
            0
        }
    }

    pub fn max_bytes(&self) -> usize {
        (self.max_mib as usize) << 20
    }
}

/// When the next message may pass (`max_hz`). By time, not by count: a rate that does not divide the publisher's is kept
/// on average.
#[derive(Debug, Default)]
pub struct Pace {
    pub period_ns: i64,
    pub due_ns: i64,
}

impl Pace {
    pub fn of(rule: &Rule) -> Self {
        Pace { period_ns: rule.period_ns(), due_ns: 0 }
    }

    /// Whether one may pass now; counts it if so.
    pub fn passes(&mut self, now: i64) -> bool {
        if self.period_ns == 0 {
            return true;
        }
        if now < self.due_ns {
            return false;
        }
        let late = now - self.due_ns;
        self.due_ns = if late < self.period_ns { self.due_ns + self.period_ns } else { now + self.period_ns };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules: Rules = serde_json::from_str(
            r#"{"out": [{"topics": ["/camera/*"], "max_hz": 10, "priority": "data_low"},
                        {"topics": ["*"], "exclude": ["/raw/*"], "namespace": "/v1"}],
                "in": [{"topics": ["/cmd"], "types": ["geometry_msgs/msg/*"], "congestion": "block"}],
                "zenoh": {"form": "cardan", "connect": ["tcp/10.0.0.2:7447"]}, "dds": {"domain_id": 3}}"#,
        )
        .unwrap();
        let camera = rule_for(&rules.out, "/camera/front", "x").unwrap();
        assert_eq!((camera.max_hz, camera.priority), (10.0, Priority::DataLow));
        assert_eq!(camera.beyond("/camera/front"), "/camera/front");
        let imu = rule_for(&rules.out, "/imu", "x").unwrap();
        assert_eq!(imu.beyond("/imu"), "/v1/imu");
        assert!(rule_for(&rules.out, "/raw/a", "x").is_none());
        assert!(rule_for(&rules.inward, "/cmd", "geometry_msgs/msg/Twist").is_some());
        assert!(rule_for(&rules.inward, "/cmd", "std_msgs/msg/String").is_none());
        assert!(rule_for(&rules.inward, "/other", "").is_none());
        assert_eq!(rules.zenoh.form, Form::Cardan);
    }

    #[test]
    fn topics_of_their_owner_alone_leave_by_their_name_or_by_owner() {
        let rules: Rules =
            serde_json::from_str(r#"{"out": [{"topics": ["/a*", "/camera"]}, {"topics": ["*"], "owner": true}]}"#)
                .unwrap();
        assert!(rules.out[0].sends_owners("/camera"));
        assert!(!rules.out[0].sends_owners("/arm"));
        assert!(rules.out[1].sends_owners("/arm"));
        assert!(!Rule::default().sends_owners("/arm"));
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_str::<Rules>(r#"{"outt": []}"#).is_err());
        assert!(serde_json::from_str::<Rules>(r#"{"out": [{"max_hertz": 1}]}"#).is_err());
    }

    #[test]
    fn a_rate_that_does_not_divide_is_kept_on_average() {
        let mut pace = Pace { period_ns: 100, due_ns: 0 };
        // A message each 70 for 7000: 70 of them may pass at 1/100.
        let passed = (0..100).filter(|n| pace.passes(1_000_000 + n * 70)).count();
        assert!((69..=71).contains(&passed), "{passed}");
    }
}
