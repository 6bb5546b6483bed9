// SPDX-License-Identifier: Apache-2.0
//! Zenoh between peers over tcp/127.0.0.1, without scouting: each writer listens and names its address in a file, and
//! each reader connects to all of them. Priority RealTime, express, and Drop on congestion. With shared memory the frame
//! is filled in a buffer of Zenoh's provider; without, in a vector that Zenoh takes over.
use core::ffi::{c_char, c_void, CStr};
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::shm::{BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder, ZShmMut};
use zenoh::{Session, Wait};

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Deliver = extern "C" fn(context: *mut c_void, words: *const u64, count: usize);

/// Frames in the provider's memory at once.
const BUFFERS: usize = 6;
const MEET_WITHIN: Duration = Duration::from_secs(10);

enum Frame {
    Shared(ZShmMut),
    Own(Vec<u64>),
}

// The fields are dropped in this order.
pub struct Writer {
    filling: Option<Frame>,
    publisher: Publisher<'static>,
    provider: Option<ShmProvider<PosixShmProviderBackend>>,
    _session: Session,
    words: usize,
}

pub struct Reader {
    _subscriber: Subscriber<()>,
    session: Session,
}

struct Context(*mut c_void);
// SAFETY: the bench's context is made for the thread that delivers.
unsafe impl Send for Context {}
unsafe impl Sync for Context {}
impl Context {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

fn open(listen: bool, addresses: &[String], shared: bool) -> Result<Session, Failure> {
    let mut config = zenoh::Config::default();
    for (key, value) in [
        ("mode", "\"peer\"".to_string()),
        ("scouting/multicast/enabled", "false".to_string()),
        ("scouting/gossip/enabled", "false".to_string()),
        ("transport/shared_memory/enabled", shared.to_string()),
        ("listen/endpoints", if listen { "[\"tcp/127.0.0.1:0\"]".to_string() } else { "[]".to_string() }),
        (
            "connect/endpoints",
            format!("[{}]", addresses.iter().map(|a| format!("\"{a}\"")).collect::<Vec<_>>().join(",")),
        ),
    ] {
        config.insert_json5(key, &value)?;
    }
    zenoh::open(config).wait()
}

fn key_of(topic: &str) -> String {
    topic.trim_matches('/').replace('/', "_")
}

fn writer(topic: &str, file: &str, words: usize, shared: bool) -> Result<Writer, Failure> {
    let session = open(true, &[], shared)?;
    let provider = if shared {
        Some(ShmProviderBuilder::default_backend(BUFFERS * (words * 8 + 4096) + (1 << 16)).wait()?)
    } else {
        None
    };
    let publisher = session
        .declare_publisher(key_of(topic))
        .congestion_control(CongestionControl::Drop)
        .priority(Priority::RealTime)
        .express(true)
        .wait()?;
    let address = session.info().locators().wait().into_iter().next().ok_or("it listens nowhere")?;
    // Renamed, so that a reader sees all of it or nothing.
    let unfinished = format!("{file}.part");
    std::fs::write(&unfinished, address.to_string())?;
    std::fs::rename(&unfinished, file)?;
    Ok(Writer { filling: None, publisher, provider, _session: session, words })
}

fn reader(topic: &str, files: &str, shared: bool, deliver: Deliver, context: *mut c_void) -> Result<Reader, Failure> {
    let until = Instant::now() + MEET_WITHIN;
    let mut addresses = Vec::new();
    for file in files.split(';').filter(|file| !file.is_empty()) {
        loop {
            match std::fs::read_to_string(file) {
                Ok(address) => break addresses.push(address),
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
                Err(why) => return Err(format!("no publisher has named its address: {why}").into()),
            }
        }
    }
    let session = open(false, &addresses, shared)?;
    let context = Context(context);
    let mut copy: Vec<u64> = Vec::new();
    let subscriber = session
        .declare_subscriber(key_of(topic))
        .callback_mut(move |sample| {
            let bytes = sample.payload().to_bytes(); // borrowed where it is one piece
                                                     // SAFETY: any bits are a u64.
            let (before, words, after) = unsafe { bytes.align_to::<u64>() };
            if before.is_empty() && after.is_empty() {
                deliver(context.get(), words.as_ptr(), words.len());
                return;
            }
            copy.clear();
            copy.extend(bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())));
            deliver(context.get(), copy.as_ptr(), copy.len());
        })
        .wait()?;
    Ok(Reader { _subscriber: subscriber, session })
}

fn text<'a>(name: *const c_char) -> &'a str {
    // SAFETY: the bench gives a string that outlives the call.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("")
}

fn handed<T>(made: Result<T, Failure>) -> *mut T {
    match made {
        Ok(value) => Box::into_raw(Box::new(value)),
        Err(why) => {
            eprintln!("zenoh: {why}");
            core::ptr::null_mut()
        }
    }
}

/// Null: it cannot be made, and the reason is on standard error. The address goes to `file`.
#[no_mangle]
pub extern "C" fn cardan_bench_zenoh_writer(
    topic: *const c_char,
    file: *const c_char,
    words: usize,
    shared: bool,
) -> *mut Writer {
    handed(writer(text(topic), text(file), words, shared))
}

/// Connects to the writers whose `files` (separated by `;`) come within ten seconds, and delivers their frames on a
/// thread of Zenoh's.
#[no_mangle]
pub extern "C" fn cardan_bench_zenoh_reader(
    topic: *const c_char,
    files: *const c_char,
    shared: bool,
    deliver: Deliver,
    context: *mut c_void,
) -> *mut Reader {
    handed(reader(text(topic), text(files), shared, deliver, context))
}

/// Whether a reader has subscribed.
#[no_mangle]
pub extern "C" fn cardan_bench_zenoh_is_heard(writer: &Writer) -> bool {
    writer.publisher.matching_status().wait().is_ok_and(|status| status.matching())
}

/// How many processes it is connected to.
#[no_mangle]
pub extern "C" fn cardan_bench_zenoh_connections(writer: &Writer) -> usize {
    writer._session.info().peers_zid().wait().count()
}

#[no_mangle]
pub extern "C" fn cardan_bench_zenoh_writers(reader: &Reader) -> usize {
    reader.session.info().peers_zid().wait().count()
}

/// Null: no memory.
#[no_mangle]
pub extern "C" fn cardan_bench_zenoh_loan(writer: &mut Writer) -> *mut u64 {
    let bytes = writer.words * 8;
    writer.filling = match &writer.provider {
        Some(provider) => provider.alloc(bytes).with_policy::<BlockOn<GarbageCollect>>().wait().ok().map(Frame::Shared),
        None => {
            let mut words: Vec<MaybeUninit<u64>> = Vec::with_capacity(writer.words);
            // SAFETY: MaybeUninit needs no value, and the bench fills every word.
            unsafe { words.set_len(writer.words) };
            Some(Frame::Own(unsafe { core::mem::transmute::<Vec<MaybeUninit<u64>>, Vec<u64>>(words) }))
        }
    };
    match &mut writer.filling {
        Some(Frame::Shared(buffer)) => buffer.as_mut_ptr().cast(),
        Some(Frame::Own(words)) => words.as_mut_ptr(),
        None => core::ptr::null_mut(),
    }
}

#[no_mangle]
pub extern "C" fn cardan_bench_zenoh_publish(writer: &mut Writer) {
    let payload = match writer.filling.take() {
        Some(Frame::Shared(buffer)) => ZBytes::from(buffer),
        Some(Frame::Own(words)) => {
            let mut words = core::mem::ManuallyDrop::new(words);
            // SAFETY: the bytes of the same vector. Its allocation has a larger alignment than that of bytes, which the
            // system's allocator does not look at when it frees.
            ZBytes::from(unsafe {
                Vec::from_raw_parts(words.as_mut_ptr().cast::<u8>(), words.len() * 8, words.capacity() * 8)
            })
        }
        None => return,
    };
    let _ = writer.publisher.put(payload).wait();
}

/// # Safety
/// `writer` is of cardan_bench_zenoh_writer(), and not used afterwards.
#[no_mangle]
pub unsafe extern "C" fn cardan_bench_zenoh_end_writer(writer: *mut Writer) {
    drop(unsafe { Box::from_raw(writer) });
}

/// # Safety
/// `reader` is of cardan_bench_zenoh_reader(), and not used afterwards. Nothing is delivered after the return.
#[no_mangle]
pub unsafe extern "C" fn cardan_bench_zenoh_end_reader(reader: *mut Reader) {
    drop(unsafe { Box::from_raw(reader) });
}
