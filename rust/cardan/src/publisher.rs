// SPDX-License-Identifier: Apache-2.0
use std::os::raw::c_void;
use std::ptr::NonNull;

use crate::{c_option, c_text, ffi, pointer, Access, Error, Sample};

/// The options of a publisher. `type_name` is required.
#[derive(Debug, Clone, Default)]
pub struct PublisherOptions<'a> {
    /// Empty: `$CARDAN_DOMAIN`, or "default".
    pub domain: &'a str,
    /// As "sensor_msgs/msg/Image".
    pub type_name: &'a str,
    /// The type's ros2msg text. Empty: the message of Cardan or of ROS 2 with that name.
    pub definition: &'a str,
    /// The largest message as CDR, in bytes. Memory is committed for slots in use only.
    pub max_bytes: usize,
    /// The most memory that a message of `max_bytes` may need, in bytes; 0: any. A type whose elements are larger there than
    /// as CDR can need many times as much.
    pub max_memory: usize,
    /// Samples kept for slow and late subscribers. 0: 1.
    pub depth: u32,
    /// Publishing waits for reliable subscribers, at most 100 ms.
    pub reliable: bool,
    /// For a bridge: networks that the messages came through, separated by spaces.
    pub via: &'a str,
    pub access: Access,
}

/// Publishes a topic.
#[derive(Debug)]
pub struct Publisher(NonNull<ffi::Publisher>);

// SAFETY: the C interface binds a publisher to no thread; `&mut self` keeps publishing to one at a time.
unsafe impl Send for Publisher {}

impl Publisher {
    /// Any thread; blocks below 1 ms.
    pub fn new(topic: &str, options: &PublisherOptions) -> Result<Self, Error> {
        let topic = c_text(topic)?;
        let texts = [
            c_option(options.domain)?,
            c_option(options.type_name)?,
            c_option(options.definition)?,
            c_option(options.via)?,
        ];
        let given = ffi::PublisherOptions {
            struct_size: std::mem::size_of::<ffi::PublisherOptions>(),
            domain: pointer(&texts[0]),
            type_name: pointer(&texts[1]),
            definition: pointer(&texts[2]),
            max_bytes: options.max_bytes,
            depth: options.depth,
            reliable: options.reliable.into(),
            via: pointer(&texts[3]),
            access: options.access as i32,
            max_memory: options.max_memory,
        };
        // SAFETY: all texts live until the call has returned.
        let made = unsafe { ffi::cardan_advertise(topic.as_ptr(), &given) };
        NonNull::new(made).map(Publisher).ok_or_else(Error::last)
    }

    /// Publishes a message given as CDR (XCDR1, either byte order), copied once into a slot. `source_ns`: the message's
    /// own stamp, or 0. Fails if the bytes are not of the type or too large, or all slots are held. Never blocks, unless
    /// the topic is reliable.
    pub fn publish(&mut self, cdr: &[u8], source_ns: i64) -> Result<(), Error> {
        // SAFETY: the bytes are read during the call only.
        let code = unsafe { ffi::cardan_publish(self.0.as_ptr(), cdr.as_ptr().cast::<c_void>(), cdr.len(), source_ns) };
        match code {
            0 => Ok(()),
            _ => Err(Error { full: code == -2, ..Error::last() }),
        }
    }

    /// The next message rests on this sample: it is as old as the oldest one that is named (`Sample::origin_ns()`).
    pub fn rests_on(&mut self, sample: &Sample) {
        // SAFETY: both live.
        unsafe { ffi::cardan_rests_on(self.0.as_ptr(), sample.raw()) }
    }

    /// The next message was this old when it arrived from another computer; None: nobody knows how old. For bridges.
    pub fn arrived_with_age(&mut self, age_ns: Option<i64>) {
        // SAFETY: the publisher lives.
        unsafe { ffi::cardan_arrived_with_age(self.0.as_ptr(), age_ns.unwrap_or(-1)) }
    }

    /// Subscribers attached now. Takes a mutex.
    pub fn subscribers(&self) -> usize {
        // SAFETY: the publisher lives.
        unsafe { ffi::cardan_subscribers(self.0.as_ptr()) }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { ffi::cardan_unadvertise(self.0.as_ptr()) }
    }
}
