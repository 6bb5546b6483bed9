// SPDX-License-Identifier: Apache-2.0
//! Types that a name announces: messages of Cardan and of ROS 2.
use std::collections::HashMap;
use std::sync::Mutex;

use crate::announced::Announced;
use crate::ros;
use crate::rules::Form;
use crate::stamp::number_of;

/// The hashes of types in ROS 2. One computes each once.
#[derive(Debug, Default)]
pub struct Hashes(Mutex<HashMap<(String, u64), String>>);

impl Hashes {
    /// Err: the type has none. `definition` empty: the message of Cardan or of ROS 2 with that name.
    pub fn of(&self, type_name: &str, definition: &str) -> Result<String, String> {
        let key = (type_name.to_string(), number_of(definition));
        if let Some(known) = self.0.lock().unwrap().get(&key) {
            return Ok(known.clone());
        }
        let description = cardan::type_description(type_name, definition).map_err(|e| e.to_string())?;
        let hash = ros::hash_of(&description);
        self.0.lock().unwrap().insert(key, hash.clone()); // only of types that are here: they are few
        Ok(hash)
    }

    /// Whether what is announced can be published here. Err: why not.
    pub fn check(&self, form: Form, one: &Announced) -> Result<(), String> {
        if form == Form::Cardan {
            return Ok(()); // its bridge says what it is
        }
        let Announced { name, type_name, .. } = one;
        let hash = self.of(type_name, "").map_err(|_| {
            format!("{name} is announced as {type_name}, which is not known here: it does not come in as that")
        })?;
        if form == Form::Rmw && hash != one.hash {
            return Err(format!("{name} is announced with another definition of {type_name}: it does not come in"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(type_name: &str, hash: &str) -> Announced {
        Announced { name: "/a".into(), type_name: type_name.into(), hash: hash.into(), ..Announced::default() }
    }

    /// As ROS 2 Jazzy has them.
    #[test]
    fn hashes_are_those_of_ros_2() {
        let hashes = Hashes::default();
        for (name, hash) in [
            ("std_msgs/msg/String", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"),
            ("std_msgs/msg/Empty", "RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312"),
            ("sensor_msgs/msg/Image", "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47"),
            ("geometry_msgs/msg/Twist", "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a"),
            ("tf2_msgs/msg/TFMessage", "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"),
        ] {
            assert_eq!(hashes.of(name, "").as_deref(), Ok(hash), "{name}");
            assert_eq!(hashes.check(Form::Rmw, &announced(name, hash)), Ok(()));
            assert!(hashes.check(Form::Rmw, &announced(name, "RIHS01_")).is_err());
            assert_eq!(hashes.check(Form::Plain, &announced(name, "")), Ok(()));
        }
    }

    #[test]
    fn types_that_are_not_known_are_refused_where_only_names_announce_them() {
        let hashes = Hashes::default();
        for n in 0..1000 {
            let one = announced(&format!("evil/msg/T{n}"), "");
            assert!(hashes.check(Form::Plain, &one).is_err() && hashes.check(Form::Rmw, &one).is_err());
            assert_eq!(hashes.check(Form::Cardan, &one), Ok(()));
        }
        assert!(hashes.0.lock().unwrap().is_empty());
    }
}
