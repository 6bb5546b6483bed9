// SPDX-License-Identifier: Apache-2.0
//! Cardan's topics and services from Rust, as CDR, the wire form of ROS 2. A received message's payload, such as an image's pixels,
//! is a slice of the publisher's memory; nothing is copied.
//!
//! ```no_run
//! # fn main() -> Result<(), cardan::Error> {
//! cardan::stop_on_signals();
//! let mut front = cardan::Subscriber::new("/camera/front", &Default::default())?;
//! while let cardan::Taken::Sample(sample) = front.wait(None)? {
//!     println!("{} bytes at {:p}", sample.payload().len(), sample.payload());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! It is a thin layer over `cardan/cardan.h`, whose comments say what each function costs and whether it blocks.
mod ffi;
mod publisher;
mod service;
mod subscriber;

use std::ffi::{CStr, CString};
use std::fmt;

pub use publisher::{Publisher, PublisherOptions};
pub use service::{Asked, Client, Introspection, Question, Server, ServiceOptions, Ticket};
pub use subscriber::{Sample, Subscriber, SubscriberOptions, Taken};

/// Cause and remedy of a failure, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    words: String,
    full: bool,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// This thread's last failure in the library.
    fn last() -> Self {
        // SAFETY: the pointer is never null, and valid until this thread's next call.
        let words = unsafe { CStr::from_ptr(ffi::cardan_error()) };
        Error { words: words.to_string_lossy().into_owned(), full: false }
    }

    /// All slots are held: the message is lost, and nothing is wrong with it.
    pub fn is_full(&self) -> bool {
        self.full
    }
}

/// Which users: those whose publications a subscriber accepts, or that may subscribe to a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// The same user only.
    #[default]
    Owner = 0,
    /// Users that share the publisher's group.
    Group = 1,
    /// Every user that can reach the run directory.
    Everyone = 2,
    /// As the policy file says.
    Policy = 3,
}

/// A text for C. A text with a zero byte is refused, because C would read only its first part.
fn c_text(words: &str) -> Result<CString, Error> {
    CString::new(words).map_err(|_| Error { words: format!("{words:?} has a zero byte — remove it"), full: false })
}

/// The same; empty: null.
fn c_option(words: &str) -> Result<Option<CString>, Error> {
    if words.is_empty() {
        return Ok(None);
    }
    c_text(words).map(Some)
}

fn pointer(words: &Option<CString>) -> *const std::os::raw::c_char {
    words.as_ref().map_or(std::ptr::null(), |w| w.as_ptr())
}

/// The publications of a domain (empty: the usual one), as the JSON text that `cardan_topics_json()` describes.
/// Any thread. Blocks as long as processes need to answer, at most a second for each that is stopped.
pub fn topics_json(domain: &str) -> Result<String, Error> {
    let domain = c_option(domain)?;
    // SAFETY: the text is ours until cardan_free().
    unsafe { taken(ffi::cardan_topics_json(pointer(&domain))) }
}

/// The description of a type whose SHA-256 is the type's hash in ROS 2 (REP-2016). `definition`: its ros2msg text; empty:
/// the message of Cardan or of ROS 2 with that name. Any thread; never blocks.
pub fn type_description(type_name: &str, definition: &str) -> Result<String, Error> {
    let (name, definition) = (c_text(type_name)?, c_option(definition)?);
    // SAFETY: both texts live until the call has returned; the result is ours until cardan_free().
    unsafe { taken(ffi::cardan_type_description(name.as_ptr(), pointer(&definition))) }
}

/// # Safety
/// `words` must come from a function that gives a text away, or be null.
unsafe fn taken(words: *mut std::os::raw::c_char) -> Result<String, Error> {
    if words.is_null() {
        return Err(Error::last());
    }
    let copy = CStr::from_ptr(words).to_string_lossy().into_owned();
    ffi::cardan_free(words);
    Ok(copy)
}

/// SIGINT and SIGTERM end every wait with [`Taken::Stopped`]. Call it once, early.
pub fn stop_on_signals() {
    // SAFETY: no arguments.
    unsafe { ffi::cardan_stop_on_signals() }
}

/// The same from the program. Any thread; never blocks.
pub fn request_stop() {
    // SAFETY: no arguments.
    unsafe { ffi::cardan_request_stop() }
}

/// Whether a stop was requested. Any thread; never blocks.
pub fn stopping() -> bool {
    // SAFETY: no arguments.
    unsafe { ffi::cardan_stopping() != 0 }
}
