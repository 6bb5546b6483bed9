// SPDX-License-Identifier: Apache-2.0
//! Names of topics as keys of Zenoh, and the liveliness tokens that announce them.
use zenoh::key_expr::keyexpr;

use crate::rules::Form;
use crate::stamp::number_of;

/// All that is Cardan's own lies below a chunk that no wildcard matches.
pub const CARDAN: &str = "@cardan";
const SLASH_OF_ROS2DDS: char = '§';
const SLASH: char = '%';
const MOST_BYTES: usize = 512;

/// The key of a topic's messages. Err: why Zenoh cannot have that name.
pub fn data_key(form: Form, name: &str) -> Result<String, String> {
    let bare = name.strip_prefix('/').unwrap_or(name);
    let good = keyexpr::new(bare).is_ok_and(|key| !key.is_wild());
    let reserved = |c: char| c == SLASH || c == SLASH_OF_ROS2DDS || c.is_control();
    if !good || bare.starts_with('@') || bare.contains("/@") || bare.contains(reserved) {
        return Err(format!("Zenoh does not allow the name {name:?} — give it another by 'rename'"));
    }
    Ok(match form {
        Form::Plain => bare.to_string(),
        Form::Cardan => format!("{CARDAN}/data/{bare}"),
    })
}

/// What a token says of a topic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Announced {
    pub zid: String,
    /// With its slash.
    pub name: String,
    pub type_name: String,
    /// Number of the type's definition, which the announcing bridge gives; 0: Cardan's own message of that name is meant.
    pub definition: u64,
    /// Of Cardan's domain; 0: it is not a bridge of Cardan.
    pub domain: u64,
    /// Messages that a late joiner gets; 0: nobody says.
    pub depth: u32,
}

/// Messages that a plain subscriber finds by name alone.
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
    }
}

/// The tokens of all announcements in this form.
pub fn announcements(form: Form) -> Vec<String> {
    match form {
        Form::Plain => vec!["@/*/@ros2_lv/MP/*/*/*".into(), "@ros2_lv/*/MP/*/*/*".into()],
        Form::Cardan => vec![format!("{CARDAN}/pub/*/*/*/*/*/*")],
    }
}

/// None: it is not an announcement in this form, or names what cannot be a topic.
pub fn announced(form: Form, token: &str) -> Option<Announced> {
    if token.len() > MOST_BYTES {
        return None;
    }
    let chunks: Vec<&str> = token.split('/').collect();
    let a = match (form, chunks.as_slice()) {
        (Form::Plain, ["@", zid, "@ros2_lv", "MP", key, type_name, _])
        | (Form::Plain, ["@ros2_lv", zid, "MP", key, type_name, _]) => Announced {
            zid: zid.to_string(),
            name: format!("/{}", key.replace(SLASH_OF_ROS2DDS, "/")),
            type_name: type_name.replace(SLASH_OF_ROS2DDS, "/"),
            definition: 0,
            domain: 0,
            depth: 0,
        },
        (Form::Cardan, ["@cardan", "pub", zid, domain, key, type_name, definition, depth]) => Announced {
            zid: zid.to_string(),
            name: format!("/{}", key.replace(SLASH, "/")),
            type_name: type_name.replace(SLASH, "/"),
            definition: u64::from_str_radix(definition, 16).ok()?,
            domain: u64::from_str_radix(domain, 16).ok()?,
            depth: depth.parse().ok()?,
        },
        _ => return None,
    };
    let type_is_one = a.type_name.matches('/').count() == 2
        && a.type_name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '/');
    (type_is_one && data_key(form, &a.name).is_ok()).then_some(a)
}

/// Where a bridge answers for the definition of a type.
pub fn definition_key(zid: &str, definition: u64) -> String {
    format!("{CARDAN}/type/{zid}/{definition:016x}")
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
            definition: 0,
            domain: 0,
            depth: 0,
        }
    }

    #[test]
    fn plain_keys_are_those_of_zenoh_plugin_ros2dds() {
        assert_eq!(data_key(Form::Plain, "/camera/front").unwrap(), "camera/front");
        let token = announcement(Form::Plain, &Announced { depth: 4, ..image() });
        assert_eq!(token, "@/a1/@ros2_lv/MP/camera§front/sensor_msgs§msg§Image/:1:0:0,4");
        assert_eq!(announced(Form::Plain, &token), Some(image()));
        let older = token.replace("@/a1/@ros2_lv", "@ros2_lv/a1");
        assert_eq!(announced(Form::Plain, &older), Some(image()));
    }

    #[test]
    fn cardans_own_form_comes_back() {
        let a = Announced { definition: 7, domain: u64::MAX, depth: 16, ..image() };
        let token = announcement(Form::Cardan, &a);
        assert_eq!(announced(Form::Cardan, &token), Some(a));
        assert!(keyexpr::new(token.as_str()).is_ok());
    }

    #[test]
    fn names_that_are_no_keys_are_refused() {
        for name in ["/a*", "/a//b", "/", "", "/a/", "/$x", "/a?b", "/a#", "/@x", "/a/@b", "/a%b", "/a§b"] {
            assert!(data_key(Form::Plain, name).is_err(), "{name}");
        }
        for control in ["/a\x1b[2Jb", "/a\nb"] {
            assert!(data_key(Form::Cardan, control).is_err(), "{control:?}");
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
    }
}
