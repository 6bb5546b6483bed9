// SPDX-License-Identifier: Apache-2.0
//! Names of topics as keys of Zenoh, and the liveliness tokens that announce them. Those of rmw_zenoh: ros.rs.
use zenoh::key_expr::keyexpr;

use crate::announced::Announced;
use crate::ros;
use crate::rules::Form;
use crate::stamp::number_of;

/// All that is Cardan's own lies below a chunk that no wildcard matches.
pub const CARDAN: &str = "@cardan";
const SLASH_OF_ROS2DDS: char = '§';
const SLASH: char = '%';
/// Of a token.
pub const MOST_BYTES: usize = 512;

/// A name as a key. Err: why Zenoh cannot have it.
pub fn checked_name(name: &str) -> Result<&str, String> {
    let bare = name.strip_prefix('/').unwrap_or(name);
    let good = keyexpr::new(bare).is_ok_and(|key| !key.is_wild());
    let reserved = |c: char| c == SLASH || c == SLASH_OF_ROS2DDS || c.is_control();
    if !good || bare.starts_with('@') || bare.contains("/@") || bare.contains(reserved) {
        return Err(format!("Zenoh does not allow the name {name:?} — give it another by 'rename'"));
    }
    Ok(bare)
}

/// Where a topic's messages are.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    pub form: Form,
    /// Of ROS 2.
    pub domain_id: u32,
}

impl Keys {
    /// The key of a topic's messages. Err: why Zenoh or ROS 2 cannot have that name. `type_name` and `hash` count for
    /// rmw_zenoh alone.
    pub fn data(&self, name: &str, type_name: &str, hash: &str) -> Result<String, String> {
        let bare = checked_name(name)?;
        match self.form {
            Form::Plain => Ok(bare.to_string()),
            Form::Cardan => Ok(format!("{CARDAN}/data/{bare}")),
            Form::Rmw => ros::data_key(self.domain_id, bare, type_name, hash),
        }
    }

    /// The tokens of all announcements, or of those of one topic.
    pub fn announcements(&self, name: Option<&str>) -> Vec<String> {
        let bare = name.map(|n| n.strip_prefix('/').unwrap_or(n));
        let chunk = |slash: char| bare.map_or("*".into(), |b| b.replace('/', &slash.to_string()));
        match self.form {
            Form::Plain => {
                let key = chunk(SLASH_OF_ROS2DDS);
                vec![format!("@/*/@ros2_lv/MP/{key}/*/*"), format!("@ros2_lv/*/MP/{key}/*/*")]
            }
            Form::Cardan => vec![format!("{CARDAN}/pub/*/*/{}/*/*/*", chunk(SLASH))],
            Form::Rmw => vec![ros::publishers(self.domain_id, name)],
        }
    }
}

/// The token of a topic that leaves. Those of rmw_zenoh: ros::Node.
pub fn announcement(form: Form, a: &Announced) -> String {
    let bare = a.name.strip_prefix('/').unwrap_or(&a.name);
    match form {
        // zenoh-plugin-ros2dds: no key, reliable (1), volatile (0), keep last (0).
        Form::Plain => format!(
            "@/{}/@ros2_lv/MP/{}/{}/:1:0:0,{}",
            a.zid,
            bare.replace('/', &SLASH_OF_ROS2DDS.to_string()),
            a.type_name.replace('/', &SLASH_OF_ROS2DDS.to_string()),
            a.depth.max(1)
        ),
        Form::Cardan => format!(
            "{CARDAN}/pub/{}/{:016x}/{}/{}/{:016x}/{}",
            a.zid,
            a.domain,
            bare.replace('/', &SLASH.to_string()),
            a.type_name.replace('/', &SLASH.to_string()),
            a.definition,
            a.depth
        ),
        Form::Rmw => String::new(),
    }
}

/// Whether it can be a message's type, as "std_msgs/msg/String".
pub fn is_type(name: &str) -> bool {
    name.matches('/').count() == 2 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '/')
}

/// None: it is not an announcement in this form, or names what cannot be a topic.
pub fn announced(form: Form, token: &str) -> Option<Announced> {
    // A chunk that fits any text must not become part of a question.
    if token.len() > MOST_BYTES || !keyexpr::new(token).is_ok_and(|key| !key.is_wild()) {
        return None;
    }
    let chunks: Vec<&str> = token.split('/').collect();
    let a = match (form, chunks.as_slice()) {
        (Form::Plain, ["@", zid, "@ros2_lv", "MP", key, type_name, _])
        | (Form::Plain, ["@ros2_lv", zid, "MP", key, type_name, _]) => Announced {
            zid: zid.to_string(),
            name: format!("/{}", key.replace(SLASH_OF_ROS2DDS, "/")),
            type_name: type_name.replace(SLASH_OF_ROS2DDS, "/"),
            ..Announced::default()
        },
        (Form::Cardan, ["@cardan", "pub", zid, domain, key, type_name, definition, depth]) => Announced {
            zid: zid.to_string(),
            name: format!("/{}", key.replace(SLASH, "/")),
            type_name: type_name.replace(SLASH, "/"),
            definition: u64::from_str_radix(definition, 16).ok()?,
            domain: u64::from_str_radix(domain, 16).ok()?,
            depth: depth.parse().ok()?,
            ..Announced::default()
        },
        (Form::Rmw, chunks) => ros::announced(chunks)?,
        _ => return None,
    };
    let a = Announced { token: number_of(token), ..a };
    (is_type(&a.type_name) && checked_name(&a.name).is_ok()).then_some(a)
}

/// Where a bridge answers for the definition of a type.
pub fn definition_key(zid: &str, definition: u64) -> String {
    format!("{CARDAN}/type/{zid}/{definition:016x}")
}

/// The same for all types.
pub fn definitions_key(zid: &str) -> String {
    format!("{CARDAN}/type/{zid}/*")
}

/// Where a bridge answers with its clock and its counts.
pub fn clock_key(zid: &str) -> String {
    format!("{CARDAN}/clock/{zid}")
}

/// The number of a Cardan domain: of its computer, its run directory and its name.
pub fn domain_number(boot_id: &str, run_directory: &str) -> u64 {
    number_of(&format!("{}\n{run_directory}", boot_id.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Announced {
        Announced {
            zid: "a1".into(),
            name: "/camera/front".into(),
            type_name: "sensor_msgs/msg/Image".into(),
            ..Announced::default()
        }
    }
    fn keys(form: Form) -> Keys {
        Keys { form, domain_id: 0 }
    }
    fn of(token: &str, a: Announced) -> Option<Announced> {
        Some(Announced { token: number_of(token), ..a })
    }

    #[test]
    fn plain_keys_are_those_of_zenoh_plugin_ros2dds() {
        assert_eq!(keys(Form::Plain).data("/camera/front", "", "").unwrap(), "camera/front");
        let token = announcement(Form::Plain, &Announced { depth: 4, ..image() });
        assert_eq!(token, "@/a1/@ros2_lv/MP/camera§front/sensor_msgs§msg§Image/:1:0:0,4");
        assert_eq!(announced(Form::Plain, &token), of(&token, image()));
        let older = token.replace("@/a1/@ros2_lv", "@ros2_lv/a1");
        assert_eq!(announced(Form::Plain, &older), of(&older, image()));
    }

    #[test]
    fn cardans_own_form_comes_back() {
        let a = Announced { definition: 7, domain: u64::MAX, depth: 16, ..image() };
        let token = announcement(Form::Cardan, &a);
        assert_eq!(announced(Form::Cardan, &token), of(&token, a));
        assert!(keyexpr::new(token.as_str()).is_ok());
    }

    #[test]
    fn the_tokens_of_one_topic_are_among_all() {
        for form in [Form::Plain, Form::Cardan, Form::Rmw] {
            let (all, one) = (keys(form).announcements(None), keys(form).announcements(Some("/camera/front")));
            assert_eq!(all.len(), one.len());
            for (wide, narrow) in all.iter().zip(&one) {
                let (wide, narrow) = (keyexpr::new(wide.as_str()).unwrap(), keyexpr::new(narrow.as_str()).unwrap());
                assert!(wide.includes(narrow) && !narrow.includes(wide), "{wide} {narrow}");
            }
        }
        let token = announcement(Form::Cardan, &image());
        let one = keys(Form::Cardan).announcements(Some("/camera/front")).remove(0);
        assert!(keyexpr::new(one.as_str()).unwrap().includes(keyexpr::new(token.as_str()).unwrap()));
    }

    #[test]
    fn names_that_are_no_keys_are_refused() {
        for name in ["/a*", "/a//b", "/", "", "/a/", "/$x", "/a?b", "/a#", "/@x", "/a/@b", "/a%b", "/a§b"] {
            assert!(keys(Form::Plain).data(name, "", "").is_err(), "{name}");
        }
        for control in ["/a\x1b[2Jb", "/a\nb"] {
            assert!(keys(Form::Cardan).data(control, "", "").is_err(), "{control:?}");
        }
    }

    #[test]
    fn hostile_tokens_are_ignored() {
        let long = format!("@/a/@ros2_lv/MP/{}/a§msg§B/:::", "x".repeat(MOST_BYTES));
        for token in [
            "",
            "@/a/@ros2_lv/MP/x/a§msg§B",
            "@/a/@ros2_lv/MS/x/a§msg§B/:::",
            "@/a/@ros2_lv/MP/x/..§..§etc/:::",
            "@/a/@ros2_lv/MP/**/a§msg§B/:::",
            "@/a/@ros2_lv/MP/§x/a§msg§B/:::",
            long.as_str(),
        ] {
            assert_eq!(announced(Form::Plain, token), None, "{token}");
        }
        assert_eq!(announced(Form::Cardan, "@cardan/pub/a/zz/x/a%msg%B/0/1"), None);
        // A question with such an id would go to every peer.
        assert!(announced(Form::Cardan, "@cardan/pub/a/1/x/a%msg%B/0/1").is_some());
        for wild in ["*", "**", "a$*"] {
            assert_eq!(announced(Form::Cardan, &format!("@cardan/pub/{wild}/1/x/a%msg%B/0/1")), None, "{wild}");
        }
    }
}
