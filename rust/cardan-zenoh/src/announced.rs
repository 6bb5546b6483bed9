// SPDX-License-Identifier: Apache-2.0
//! An announcement of a topic, whatever its form on the wire: keys.rs and ros.rs read it.

/// A token's statement about a topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Announced {
    /// Number of the token's text.
    pub token: u64,
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
    /// Of ROS 2, as "RIHS01_…". Empty: nobody says.
    pub hash: String,
}

/// An announcement, or its end.
#[derive(Debug)]
pub struct Change {
    pub one: Announced,
    pub gone: bool,
}
