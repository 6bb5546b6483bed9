// SPDX-License-Identifier: Apache-2.0
use std::ffi::CStr;
use std::os::raw::c_char;
use std::os::unix::io::RawFd;
use std::ptr::NonNull;
use std::time::Duration;

use crate::{c_option, c_text, ffi, pointer, Access, Error};

/// The options of a subscriber. The C interface chooses values for empty texts and zeros.
#[derive(Debug, Clone, Default)]
pub struct SubscriberOptions<'a> {
    /// Empty: `$CARDAN_DOMAIN`, or "default".
    pub domain: &'a str,
    /// As "sensor_msgs/msg/Image". Empty: the type of the topic's first publisher.
    pub type_name: &'a str,
    /// The type's ros2msg text. Empty: the message of Cardan or of ROS 2 with that name.
    pub definition: &'a str,
    /// Samples held at once, 1 to 200. Each costs the publisher a slot. 0: 1.
    pub holds: u32,
    /// Samples that wait at most. 0: the topic's depth.
    pub depth: u32,
    /// A reliable publisher does not wait for this subscriber.
    pub best_effort: bool,
    /// Is woken after all others.
    pub background: bool,
    /// For a bridge: publications that came through this network are not wanted.
    pub not_via: &'a str,
    pub access: Access,
}

/// Receives a topic from all its publishers. One thread at a time takes.
#[derive(Debug)]
pub struct Subscriber(NonNull<ffi::Subscriber>);

// SAFETY: the C interface binds a subscriber to no thread; `&mut self` keeps taking to one at a time.
unsafe impl Send for Subscriber {}

/// The result of [`Subscriber::take`] and [`Subscriber::wait`].
#[derive(Debug)]
pub enum Taken {
    Sample(Sample),
    /// There is no new sample; wait: the time is up.
    Nothing,
    /// [`crate::request_stop`] was called, or a signal came.
    Stopped,
    /// As many samples are held as were announced: drop one.
    Limit,
}

impl Subscriber {
    /// Fails if the type is unknown (without `type_name`, the topic must have a publisher), or there is no run directory.
    /// Any thread. Blocks while publishers are found, usually below 1 ms, at most a second for a process that is stopped.
    pub fn new(topic: &str, options: &SubscriberOptions) -> Result<Self, Error> {
        let topic = c_text(topic)?;
        let texts = [
            c_option(options.domain)?,
            c_option(options.type_name)?,
            c_option(options.definition)?,
            c_option(options.not_via)?,
        ];
        let given = ffi::SubscriberOptions {
            struct_size: std::mem::size_of::<ffi::SubscriberOptions>(),
            domain: pointer(&texts[0]),
            type_name: pointer(&texts[1]),
            definition: pointer(&texts[2]),
            holds: options.holds,
            depth: options.depth,
            best_effort: options.best_effort.into(),
            background: options.background.into(),
            not_via: pointer(&texts[3]),
            access: options.access as i32,
        };
        // SAFETY: all texts live until the call has returned.
        let made = unsafe { ffi::cardan_subscribe(topic.as_ptr(), &given) };
        NonNull::new(made).map(Subscriber).ok_or_else(Error::last)
    }

    /// The newest sample with depth 1, otherwise the oldest that is left. An error is a message that was malformed, which
    /// is skipped. Never blocks.
    pub fn take(&mut self) -> Result<Taken, Error> {
        let mut sample = std::ptr::null_mut();
        // SAFETY: the subscriber lives, and this thread has it alone.
        let code = unsafe { ffi::cardan_take(self.0.as_ptr(), &mut sample) };
        Self::taken(code, sample)
    }

    /// The same, and waits for a sample, at most `timeout` if one is given.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Taken, Error> {
        let nanoseconds = timeout.map_or(-1, |t| t.as_nanos().min(i64::MAX as u128) as i64);
        let mut sample = std::ptr::null_mut();
        // SAFETY: as in take().
        let code = unsafe { ffi::cardan_wait(self.0.as_ptr(), nanoseconds, &mut sample) };
        Self::taken(code, sample)
    }

    fn taken(code: i32, sample: *mut ffi::Sample) -> Result<Taken, Error> {
        match (code, NonNull::new(sample)) {
            (ffi::SAMPLE, Some(sample)) => Ok(Taken::Sample(Sample::new(sample))),
            (ffi::NOTHING, _) => Ok(Taken::Nothing),
            (ffi::STOPPED, _) => Ok(Taken::Stopped),
            (ffi::LIMIT, _) => Ok(Taken::Limit),
            _ => Err(Error::last()),
        }
    }

    /// Readable when a sample may be there. It belongs to the subscriber. None: no descriptor is left.
    pub fn fd(&mut self) -> Option<RawFd> {
        // SAFETY: the subscriber lives.
        Some(unsafe { ffi::cardan_fd(self.0.as_ptr()) }).filter(|fd| *fd >= 0)
    }

    /// Samples lost so far. Takes a mutex.
    pub fn missed(&self) -> u64 {
        // SAFETY: the subscriber lives.
        unsafe { ffi::cardan_missed(self.0.as_ptr()) }
    }

    /// Publishers attached now. Takes a mutex.
    pub fn publishers(&self) -> usize {
        // SAFETY: the subscriber lives.
        unsafe { ffi::cardan_publishers(self.0.as_ptr()) }
    }

    /// As "sensor_msgs/msg/Image".
    pub fn type_name(&self) -> String {
        // SAFETY: valid as long as the subscriber.
        unsafe { text(ffi::cardan_type(self.0.as_ptr())) }
    }

    /// The type as ros2msg text.
    pub fn definition(&self) -> String {
        // SAFETY: valid as long as the subscriber.
        unsafe { text(ffi::cardan_definition(self.0.as_ptr())) }
    }
}

/// # Safety
/// `words` must be a text of C.
unsafe fn text(words: *const c_char) -> String {
    CStr::from_ptr(words).to_string_lossy().into_owned()
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more. Its samples stay valid.
        unsafe { ffi::cardan_unsubscribe(self.0.as_ptr()) }
    }
}

/// A message: `prefix + payload + suffix` are its CDR bytes. It outlives its subscriber; the slot is free again when it is
/// dropped. The publisher does not change a slot that is held. Do not read publishers of users that you do not trust
/// (`access`): a hostile one could.
#[derive(Debug)]
pub struct Sample {
    raw: NonNull<ffi::Sample>,
    frame: ffi::Frame,
}

// SAFETY: immutable; cardan_sample_frame() and cardan_release() are for any thread.
unsafe impl Send for Sample {}
// SAFETY: the same.
unsafe impl Sync for Sample {}

impl Sample {
    pub(crate) fn new(raw: NonNull<ffi::Sample>) -> Self {
        let mut frame = ffi::Frame::empty();
        // SAFETY: the sample lives, and the frame's pointers are valid as long as it does. It fails for a wrong size alone.
        unsafe { ffi::cardan_sample_frame(raw.as_ptr(), &mut frame) };
        Sample { raw, frame }
    }

    /// The CDR header of four bytes and what comes before the payload.
    pub fn prefix(&self) -> &[u8] {
        // SAFETY: valid until the sample is released.
        unsafe { slice(self.frame.prefix, self.frame.prefix_size) }
    }
    /// The largest list of numbers, in the publisher's memory. Empty if the type has none.
    pub fn payload(&self) -> &[u8] {
        // SAFETY: the same.
        unsafe { slice(self.frame.payload, self.frame.payload_size) }
    }
    pub fn suffix(&self) -> &[u8] {
        // SAFETY: the same.
        unsafe { slice(self.frame.suffix, self.frame.suffix_size) }
    }
    /// Bytes of the whole message.
    pub fn size(&self) -> usize {
        self.frame.prefix_size + self.frame.payload_size + self.frame.suffix_size
    }
    /// The whole message, copied.
    pub fn to_vec(&self) -> Vec<u8> {
        // SAFETY: the sample lives.
        unsafe { self.frame.to_vec() }
    }
    /// In its publisher's stream, from 1.
    pub fn sequence(&self) -> u64 {
        self.frame.sequence
    }
    /// Samples lost right before this one.
    pub fn missed(&self) -> u64 {
        self.frame.missed
    }
    /// CLOCK_MONOTONIC, nanoseconds.
    pub fn publish_ns(&self) -> i64 {
        self.frame.publish_ns
    }
    /// The publisher's own stamp; 0: none.
    pub fn source_ns(&self) -> i64 {
        self.frame.source_ns
    }
    /// CLOCK_MONOTONIC, nanoseconds: the oldest publication that the message rests on; None: not known.
    pub fn origin_ns(&self) -> Option<i64> {
        (self.frame.origin_ns != 0).then_some(self.frame.origin_ns)
    }
    pub(crate) fn raw(&self) -> *const ffi::Sample {
        self.raw.as_ptr()
    }
    /// Random number of the publisher.
    pub fn publisher(&self) -> u64 {
        self.frame.publisher
    }
}

/// # Safety
/// `bytes` must be `size` bytes that live as long as 'a, or null.
unsafe fn slice<'a>(bytes: *const u8, size: usize) -> &'a [u8] {
    if bytes.is_null() || size == 0 {
        return &[];
    }
    std::slice::from_raw_parts(bytes, size)
}

impl Drop for Sample {
    fn drop(&mut self) {
        // SAFETY: released once.
        unsafe { ffi::cardan_release(self.raw.as_ptr()) }
    }
}
