// SPDX-License-Identifier: Apache-2.0
use std::os::raw::c_void;
use std::os::unix::io::RawFd;
use std::ptr::NonNull;
use std::time::Duration;

use crate::{c_option, c_text, ffi, pointer, Access, Error, Sample};

/// The contract of a service, the same on both sides, and options of one side. Both types are required; the C interface
/// chooses values for empty texts and zeros.
#[derive(Debug, Clone, Default)]
pub struct ServiceOptions<'a> {
    /// Empty: `$CARDAN_DOMAIN`, or "default".
    pub domain: &'a str,
    /// Of a question.
    pub type_name: &'a str,
    /// The type's ros2msg text. Empty: the message of Cardan or of ROS 2 with that name.
    pub definition: &'a str,
    /// Of an answer.
    pub answer_type: &'a str,
    pub answer_definition: &'a str,
    /// The largest question as CDR, in bytes; for a client.
    pub max_bytes: usize,
    /// The largest answer as CDR, in bytes; for a server.
    pub max_answer_bytes: usize,
    /// Questions of one client without an answer, 1 to 64. 0: 4.
    pub pending: u32,
    /// A server: questions kept at once (0: 8); a client: answers (0: 1).
    pub holds: u32,
    pub access: Access,
    /// Of a server. Contents need `max_bytes` and `max_answer_bytes`.
    pub introspection: Introspection,
}

/// Whether a server publishes its questions and answers on `<service>/_service_event`, for recorders. This user alone
/// can read it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Introspection {
    #[default]
    Off = 0,
    /// Their times, clients and numbers.
    Metadata = 1,
    /// Also the messages.
    Contents = 2,
}

/// Calls `open` with the options as C has them.
fn with_options<T>(
    service: &str,
    options: &ServiceOptions,
    open: unsafe extern "C" fn(*const std::os::raw::c_char, *const ffi::ServiceOptions) -> *mut T,
) -> Result<NonNull<T>, Error> {
    let service = c_text(service)?;
    let texts = [
        c_option(options.domain)?,
        c_option(options.type_name)?,
        c_option(options.definition)?,
        c_option(options.answer_type)?,
        c_option(options.answer_definition)?,
    ];
    let given = ffi::ServiceOptions {
        struct_size: std::mem::size_of::<ffi::ServiceOptions>(),
        domain: pointer(&texts[0]),
        type_name: pointer(&texts[1]),
        definition: pointer(&texts[2]),
        answer_type: pointer(&texts[3]),
        answer_definition: pointer(&texts[4]),
        max_bytes: options.max_bytes,
        max_answer_bytes: options.max_answer_bytes,
        pending: options.pending,
        holds: options.holds,
        access: options.access as i32,
        introspection: options.introspection as i32,
    };
    // SAFETY: all texts live until the call has returned.
    let made = unsafe { open(service.as_ptr(), &given) };
    NonNull::new(made).ok_or_else(Error::last)
}

fn nanoseconds(time: Duration) -> i64 {
    time.as_nanos().min(i64::MAX as u128) as i64
}

/// The result of [`Server::take`] and [`Server::wait`].
#[derive(Debug)]
pub enum Asked {
    Question(Question),
    /// take(): no question has come. wait(): the time is up.
    Nothing,
    /// [`crate::request_stop`] was called, or a signal came.
    Stopped,
    /// As many questions are kept as were announced: answer one.
    Limit,
}

/// Answers the questions of a service.
#[derive(Debug)]
pub struct Server(NonNull<ffi::Server>);

// SAFETY: the C interface binds a server to no thread; `&mut self` keeps taking to one at a time.
unsafe impl Send for Server {}

impl Server {
    /// Fails if a type is unknown, or the service has a server. Any thread; blocks for about 1 ms.
    pub fn new(service: &str, options: &ServiceOptions) -> Result<Self, Error> {
        with_options(service, options, ffi::cardan_serve).map(Server)
    }

    /// The oldest question of all clients. An error is a question that was malformed, which is declined. Never blocks.
    pub fn take(&mut self) -> Result<Asked, Error> {
        self.next(0)
    }

    /// The same, and waits for a question, at most `timeout` if one is given.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Asked, Error> {
        self.next(timeout.map_or(-1, |t| nanoseconds(t).max(1)))
    }

    fn next(&mut self, timeout_ns: i64) -> Result<Asked, Error> {
        let mut question = std::ptr::null_mut();
        // SAFETY: the server lives, and this thread has it alone.
        let code = unsafe { ffi::cardan_wait_question(self.0.as_ptr(), timeout_ns, &mut question) };
        match (code, NonNull::new(question)) {
            (ffi::SAMPLE, Some(question)) => Ok(Asked::Question(Question::new(question))),
            (ffi::NOTHING, _) => Ok(Asked::Nothing),
            (ffi::STOPPED, _) => Ok(Asked::Stopped),
            (ffi::LIMIT, _) => Ok(Asked::Limit),
            _ => Err(Error::last()),
        }
    }

    /// Readable when a question may be there. It belongs to the server. None: no descriptor is left.
    pub fn fd(&mut self) -> Option<RawFd> {
        // SAFETY: the server lives.
        Some(unsafe { ffi::cardan_server_fd(self.0.as_ptr()) }).filter(|fd| *fd >= 0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more. Its questions stay valid.
        unsafe { ffi::cardan_stop_serving(self.0.as_ptr()) }
    }
}

/// A question that a server has taken. It is answered or declined once; one that is dropped is declined.
#[derive(Debug)]
pub struct Question {
    raw: NonNull<ffi::Question>,
    frame: ffi::Frame,
}

// SAFETY: the C interface binds a question to no thread; answering consumes it.
unsafe impl Send for Question {}

impl Question {
    fn new(raw: NonNull<ffi::Question>) -> Self {
        let mut frame = ffi::Frame::empty();
        // SAFETY: the question lives, and the frame's pointers are valid as long as it does. It fails for a wrong size alone.
        unsafe { ffi::cardan_question_frame(raw.as_ptr(), &mut frame) };
        Question { raw, frame }
    }

    /// The question as CDR, copied.
    pub fn to_vec(&self) -> Vec<u8> {
        // SAFETY: valid until the question is freed.
        unsafe { self.frame.to_vec() }
    }

    /// Answers with a message given as CDR, copied once into a slot. On an error the question is kept: the bytes are not of
    /// the type or too large, another answer to this client is being filled ([`Error::is_full`]), or nobody waits for it.
    /// May wait for another answer to the same client.
    pub fn reply(&mut self, cdr: &[u8]) -> Result<(), Error> {
        // SAFETY: the bytes are read during the call only.
        let code = unsafe { ffi::cardan_reply(self.raw.as_ptr(), cdr.as_ptr().cast::<c_void>(), cdr.len()) };
        match code {
            0 => Ok(()),
            _ => Err(Error { full: code == -2, ..Error::last() }),
        }
    }

    /// The client gets no answer, but the reason.
    pub fn decline(&mut self, why: &str) -> Result<(), Error> {
        let why = c_text(why)?;
        // SAFETY: the text lives until the call has returned.
        match unsafe { ffi::cardan_decline(self.raw.as_ptr(), why.as_ptr()) } {
            0 => Ok(()),
            _ => Err(Error::last()),
        }
    }

    /// Nobody waits for the answer any more. Never blocks.
    pub fn is_cancelled(&self) -> bool {
        // SAFETY: the question lives.
        unsafe { ffi::cardan_question_cancelled(self.raw.as_ptr()) != 0 }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        // SAFETY: freed once.
        unsafe { ffi::cardan_free_question(self.raw.as_ptr()) }
    }
}

/// Asks the questions of a service. It finds the server, also one that starts later or again.
#[derive(Debug)]
pub struct Client(NonNull<ffi::Client>);

// SAFETY: the C interface binds a client to no thread; `&mut self` keeps asking to one at a time.
unsafe impl Send for Client {}

/// The number of a question that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(u64);

impl Client {
    /// Any thread; blocks for some milliseconds, at most 1 s when the server does not answer.
    pub fn new(service: &str, options: &ServiceOptions) -> Result<Self, Error> {
        with_options(service, options, ffi::cardan_open_client).map(Client)
    }

    /// Asks with a message given as CDR. The time-out travels with the question. Never blocks.
    pub fn ask(&mut self, cdr: &[u8], timeout: Duration) -> Result<Ticket, Error> {
        // SAFETY: the bytes are read during the call only.
        let number =
            unsafe { ffi::cardan_ask(self.0.as_ptr(), cdr.as_ptr().cast::<c_void>(), cdr.len(), nanoseconds(timeout)) };
        if number == 0 {
            return Err(Error::last());
        }
        Ok(Ticket(number))
    }

    /// The answer, after which the ticket is done; None: it is not there yet. Never blocks.
    pub fn poll(&mut self, ticket: Ticket) -> Result<Option<Sample>, Error> {
        self.answer(ticket, 0)
    }

    /// Waits for the answer, at most until the question's time-out. None: a stop was requested.
    pub fn wait(&mut self, ticket: Ticket) -> Result<Option<Sample>, Error> {
        self.answer(ticket, 1)
    }

    fn answer(&mut self, ticket: Ticket, wait: i32) -> Result<Option<Sample>, Error> {
        let mut answer = std::ptr::null_mut();
        // SAFETY: the client lives, and this thread has it alone.
        let code = unsafe { ffi::cardan_answer(self.0.as_ptr(), ticket.0, wait, &mut answer) };
        Self::taken(code, answer)
    }

    fn taken(code: i32, answer: *mut ffi::Sample) -> Result<Option<Sample>, Error> {
        match (code, NonNull::new(answer)) {
            (ffi::SAMPLE, Some(answer)) => Ok(Some(Sample::new(answer))),
            (ffi::NOTHING | ffi::STOPPED, _) => Ok(None),
            _ => Err(Error::last()),
        }
    }

    /// The answer is not wanted any more.
    pub fn cancel(&mut self, ticket: Ticket) {
        // SAFETY: the client lives.
        unsafe { ffi::cardan_cancel(self.0.as_ptr(), ticket.0) }
    }

    /// Asks, and waits for the answer, first for a server. None: a stop was requested.
    pub fn call(&mut self, cdr: &[u8], timeout: Duration) -> Result<Option<Sample>, Error> {
        let mut answer = std::ptr::null_mut();
        // SAFETY: the bytes are read during the call only.
        let code = unsafe {
            ffi::cardan_call(
                self.0.as_ptr(),
                cdr.as_ptr().cast::<c_void>(),
                cdr.len(),
                nanoseconds(timeout),
                &mut answer,
            )
        };
        Self::taken(code, answer)
    }

    /// Readable when the outcome of a question may be known. It belongs to the client. None: no descriptor is left.
    pub fn fd(&mut self) -> Option<RawFd> {
        // SAFETY: the client lives.
        Some(unsafe { ffi::cardan_client_fd(self.0.as_ptr()) }).filter(|fd| *fd >= 0)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more. Its answers stay valid.
        unsafe { ffi::cardan_close_client(self.0.as_ptr()) }
    }
}
