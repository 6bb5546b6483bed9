// SPDX-License-Identifier: Apache-2.0
//! iceoryx2 as its own examples use it: a publish-subscribe service of slices with safe overflow and a buffer of two
//! samples, and an event service that is notified after each send. `blocking_wait()` is its way to sleep.
use core::ffi::{c_char, CStr};
use core::mem::MaybeUninit;

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use iceoryx2::sample::Sample;
use iceoryx2::sample_mut_uninit::SampleMutUninit;
use iceoryx2::service::port_factory::{event, publish_subscribe};

type Service = ipc::Service;
type Failure = Box<dyn std::error::Error>;

/// Of each side in one run of the bench.
const MOST: usize = 64;

struct Services {
    frames: publish_subscribe::PortFactory<Service, [u64], ()>,
    event: event::PortFactory<Service>,
    _node: Node<Service>,
}

impl Services {
    fn open(topic: &str) -> Result<Self, Failure> {
        let node = NodeBuilder::new().signal_handling_mode(SignalHandlingMode::Disabled).create::<Service>()?;
        let frames = node
            .service_builder(&topic.try_into()?)
            .publish_subscribe::<[u64]>()
            .enable_safe_overflow(true)
            .subscriber_max_buffer_size(2)
            .history_size(0)
            .max_publishers(MOST)
            .max_subscribers(MOST)
            .max_nodes(2 * MOST)
            .open_or_create()?;
        let event = node
            .service_builder(&topic.try_into()?)
            .event()
            .max_notifiers(MOST)
            .max_listeners(MOST)
            .max_nodes(2 * MOST)
            .open_or_create()?;
        Ok(Self { frames, event, _node: node })
    }
}

// The fields are dropped in this order: samples before their ports, ports before their services.
pub struct Writer {
    filling: Option<SampleMutUninit<Service, [MaybeUninit<u64>], ()>>,
    publisher: Publisher<Service, [u64], ()>,
    notifier: Notifier<Service>,
    services: Services,
    words: usize,
}

pub struct Reader {
    held: Option<Sample<Service, [u64], ()>>,
    subscriber: Subscriber<Service, [u64], ()>,
    listener: Listener<Service>,
    services: Services,
    spins: bool,
}

fn writer(topic: &str, words: usize) -> Result<Writer, Failure> {
    let services = Services::open(topic)?;
    let publisher = services.frames.publisher_builder().initial_max_slice_len(words).create()?;
    let notifier = services.event.notifier_builder().create()?;
    Ok(Writer { filling: None, publisher, notifier, services, words })
}

fn reader(topic: &str, spins: bool) -> Result<Reader, Failure> {
    let services = Services::open(topic)?;
    let subscriber = services.frames.subscriber_builder().create()?;
    let listener = services.event.listener_builder().create()?;
    Ok(Reader { held: None, subscriber, listener, services, spins })
}

fn text<'a>(name: *const c_char) -> &'a str {
    // SAFETY: the bench gives a string that outlives the call.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("")
}

fn handed<T>(made: Result<T, Failure>) -> *mut T {
    match made {
        Ok(value) => Box::into_raw(Box::new(value)),
        Err(why) => {
            eprintln!("iceoryx2: {why}");
            core::ptr::null_mut()
        }
    }
}

/// Null: it cannot be made, and the reason is on standard error.
#[no_mangle]
pub extern "C" fn cardan_bench_iceoryx2_writer(topic: *const c_char, words: usize) -> *mut Writer {
    handed(writer(text(topic), words))
}

#[no_mangle]
pub extern "C" fn cardan_bench_iceoryx2_reader(topic: *const c_char, spins: bool) -> *mut Reader {
    handed(reader(text(topic), spins))
}

#[no_mangle]
pub extern "C" fn cardan_bench_iceoryx2_readers(writer: &Writer) -> usize {
    let dynamic = writer.services.frames.dynamic_config();
    dynamic.number_of_subscribers().min(writer.services.event.dynamic_config().number_of_listeners())
}

#[no_mangle]
pub extern "C" fn cardan_bench_iceoryx2_writers(reader: &Reader) -> usize {
    let dynamic = reader.services.frames.dynamic_config();
    dynamic.number_of_publishers().min(reader.services.event.dynamic_config().number_of_notifiers())
}

/// Null: no sample is free.
#[no_mangle]
pub extern "C" fn cardan_bench_iceoryx2_loan(writer: &mut Writer) -> *mut u64 {
    writer.filling = writer.publisher.loan_slice_uninit(writer.words).ok();
    writer.filling.as_mut().map_or(core::ptr::null_mut(), |sample| sample.payload_mut().as_mut_ptr().cast())
}

#[no_mangle]
pub extern "C" fn cardan_bench_iceoryx2_publish(writer: &mut Writer) {
    if let Some(sample) = writer.filling.take() {
        // SAFETY: the bench has filled every word.
        let _ = unsafe { sample.assume_init() }.send();
        let _ = writer.notifier.notify();
    }
}

/// Waits for the next frame. Null: it cannot wait.
#[no_mangle]
pub extern "C" fn cardan_bench_iceoryx2_next(reader: &mut Reader, words: &mut usize) -> *const u64 {
    loop {
        match reader.subscriber.receive() {
            Ok(Some(sample)) => {
                *words = sample.payload().len();
                let at = sample.payload().as_ptr();
                reader.held = Some(sample);
                return at;
            }
            Ok(None) if reader.spins => core::hint::spin_loop(),
            Ok(None) => {
                if reader.listener.blocking_wait(|_| {}).is_err() {
                    return core::ptr::null();
                }
            }
            Err(_) => return core::ptr::null(),
        }
    }
}

#[no_mangle]
pub extern "C" fn cardan_bench_iceoryx2_release(reader: &mut Reader) {
    reader.held = None;
}

/// # Safety
/// `writer` is of cardan_bench_iceoryx2_writer(), and not used afterwards.
#[no_mangle]
pub unsafe extern "C" fn cardan_bench_iceoryx2_end_writer(writer: *mut Writer) {
    drop(unsafe { Box::from_raw(writer) });
}

/// # Safety
/// `reader` is of cardan_bench_iceoryx2_reader(), and not used afterwards.
#[no_mangle]
pub unsafe extern "C" fn cardan_bench_iceoryx2_end_reader(reader: *mut Reader) {
    drop(unsafe { Box::from_raw(reader) });
}
