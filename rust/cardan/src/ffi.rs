// SPDX-License-Identifier: Apache-2.0
//! `cardan/cardan.h`, by hand: forty functions need no generator. A test holds the structs against it.
use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
#[derive(Debug)]
pub struct Subscriber {
    _private: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct Sample {
    _private: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct Publisher {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Debug)]
pub struct Server {
    _private: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct Question {
    _private: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct Client {
    _private: [u8; 0],
}

#[repr(C)]
pub struct SubscriberOptions {
    pub struct_size: usize,
    pub domain: *const c_char,
    pub type_name: *const c_char,
    pub definition: *const c_char,
    pub holds: u32,
    pub depth: u32,
    pub best_effort: c_int,
    pub background: c_int,
    pub not_via: *const c_char,
    pub access: c_int,
}

#[repr(C)]
pub struct PublisherOptions {
    pub struct_size: usize,
    pub domain: *const c_char,
    pub type_name: *const c_char,
    pub definition: *const c_char,
    pub max_bytes: usize,
    pub depth: u32,
    pub reliable: c_int,
    pub via: *const c_char,
    pub access: c_int,
    pub max_memory: usize,
}

#[repr(C)]
pub struct ServiceOptions {
    pub struct_size: usize,
    pub domain: *const c_char,
    pub type_name: *const c_char,
    pub definition: *const c_char,
    pub answer_type: *const c_char,
    pub answer_definition: *const c_char,
    pub max_bytes: usize,
    pub max_answer_bytes: usize,
    pub pending: u32,
    pub holds: u32,
    pub access: c_int,
    pub introspection: c_int,
}

#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    pub struct_size: usize,
    pub prefix: *const u8,
    pub prefix_size: usize,
    pub payload: *const u8,
    pub payload_size: usize,
    pub suffix: *const u8,
    pub suffix_size: usize,
    pub sequence: u64,
    pub missed: u64,
    pub publish_ns: i64,
    pub source_ns: i64,
    pub publisher: u64,
    pub origin_ns: i64,
}

impl Frame {
    pub fn empty() -> Self {
        Frame {
            struct_size: std::mem::size_of::<Frame>(),
            prefix: std::ptr::null(),
            prefix_size: 0,
            payload: std::ptr::null(),
            payload_size: 0,
            suffix: std::ptr::null(),
            suffix_size: 0,
            sequence: 0,
            missed: 0,
            publish_ns: 0,
            source_ns: 0,
            publisher: 0,
            origin_ns: 0,
        }
    }

    /// # Safety
    /// Its message must be alive.
    pub unsafe fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.prefix_size + self.payload_size + self.suffix_size);
        for (bytes, size) in
            [(self.prefix, self.prefix_size), (self.payload, self.payload_size), (self.suffix, self.suffix_size)]
        {
            if !bytes.is_null() {
                all.extend_from_slice(std::slice::from_raw_parts(bytes, size));
            }
        }
        all
    }
}

pub const NOTHING: c_int = 0;
pub const SAMPLE: c_int = 1;
pub const STOPPED: c_int = 2;
pub const LIMIT: c_int = 3;

extern "C" {
    pub fn cardan_error() -> *const c_char;
    pub fn cardan_subscribe(topic: *const c_char, options: *const SubscriberOptions) -> *mut Subscriber;
    pub fn cardan_unsubscribe(subscriber: *mut Subscriber);
    pub fn cardan_take(subscriber: *mut Subscriber, sample: *mut *mut Sample) -> c_int;
    pub fn cardan_wait(subscriber: *mut Subscriber, timeout_ns: i64, sample: *mut *mut Sample) -> c_int;
    pub fn cardan_fd(subscriber: *mut Subscriber) -> c_int;
    pub fn cardan_missed(subscriber: *const Subscriber) -> u64;
    pub fn cardan_publishers(subscriber: *const Subscriber) -> usize;
    pub fn cardan_type(subscriber: *const Subscriber) -> *const c_char;
    pub fn cardan_definition(subscriber: *const Subscriber) -> *const c_char;
    pub fn cardan_sample_frame(sample: *const Sample, frame: *mut Frame) -> c_int;
    pub fn cardan_release(sample: *mut Sample);
    pub fn cardan_advertise(topic: *const c_char, options: *const PublisherOptions) -> *mut Publisher;
    pub fn cardan_publish(publisher: *mut Publisher, cdr: *const c_void, size: usize, source_ns: i64) -> c_int;
    pub fn cardan_rests_on(publisher: *mut Publisher, sample: *const Sample);
    pub fn cardan_arrived_with_age(publisher: *mut Publisher, age_ns: i64);
    pub fn cardan_subscribers(publisher: *const Publisher) -> usize;
    pub fn cardan_unadvertise(publisher: *mut Publisher);
    pub fn cardan_serve(service: *const c_char, options: *const ServiceOptions) -> *mut Server;
    pub fn cardan_wait_question(server: *mut Server, timeout_ns: i64, question: *mut *mut Question) -> c_int;
    pub fn cardan_server_fd(server: *mut Server) -> c_int;
    pub fn cardan_stop_serving(server: *mut Server);
    pub fn cardan_question_frame(question: *const Question, frame: *mut Frame) -> c_int;
    pub fn cardan_reply(question: *mut Question, cdr: *const c_void, size: usize) -> c_int;
    pub fn cardan_decline(question: *mut Question, why: *const c_char) -> c_int;
    pub fn cardan_question_cancelled(question: *const Question) -> c_int;
    pub fn cardan_free_question(question: *mut Question);
    pub fn cardan_open_client(service: *const c_char, options: *const ServiceOptions) -> *mut Client;
    pub fn cardan_ask(client: *mut Client, cdr: *const c_void, size: usize, timeout_ns: i64) -> u64;
    pub fn cardan_answer(client: *mut Client, number: u64, wait: c_int, answer: *mut *mut Sample) -> c_int;
    pub fn cardan_cancel(client: *mut Client, number: u64);
    pub fn cardan_call(
        client: *mut Client,
        cdr: *const c_void,
        size: usize,
        timeout_ns: i64,
        answer: *mut *mut Sample,
    ) -> c_int;
    pub fn cardan_client_fd(client: *mut Client) -> c_int;
    pub fn cardan_close_client(client: *mut Client);
    pub fn cardan_topics_json(domain: *const c_char) -> *mut c_char;
    pub fn cardan_type_description(type_name: *const c_char, definition: *const c_char) -> *mut c_char;
    pub fn cardan_free(text: *mut c_char);
    pub fn cardan_stop_on_signals();
    pub fn cardan_request_stop();
    pub fn cardan_stopping() -> c_int;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};
    use std::process::Command;

    /// The structs as the C compiler lays them out.
    #[test]
    fn structs_are_those_of_the_header() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
        let folder = std::env::temp_dir().join(format!("cardan-layout-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (source, program) = (folder.join("layout.c"), folder.join("layout"));
        let asked = [
            ("cardan_subscriber_options", "access"),
            ("cardan_subscriber_options", "not_via"),
            ("cardan_publisher_options", "access"),
            ("cardan_publisher_options", "via"),
            ("cardan_service_options", "introspection"),
            ("cardan_service_options", "max_bytes"),
            ("cardan_frame", "publisher"),
            ("cardan_frame", "origin_ns"),
            ("cardan_frame", "suffix_size"),
            ("cardan_frame", "struct_size"),
        ];
        let mut text = String::from("#include <stdio.h>\n#include \"cardan/cardan.h\"\nint main(void) {\n");
        for (name, field) in asked {
            text += &format!("printf(\"%zu %zu \", sizeof({name}), offsetof({name}, {field}));\n");
        }
        text += "return 0; }\n";
        std::fs::write(&source, text).unwrap();
        let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
        let built = Command::new(cc).arg(format!("-I{root}")).arg(&source).arg("-o").arg(&program).status().unwrap();
        assert!(built.success());
        let said = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let subscriber = size_of::<SubscriberOptions>();
        let publisher = size_of::<PublisherOptions>();
        let ours = [
            (subscriber, offset_of!(SubscriberOptions, access)),
            (subscriber, offset_of!(SubscriberOptions, not_via)),
            (publisher, offset_of!(PublisherOptions, access)),
            (publisher, offset_of!(PublisherOptions, via)),
            (size_of::<ServiceOptions>(), offset_of!(ServiceOptions, introspection)),
            (size_of::<ServiceOptions>(), offset_of!(ServiceOptions, max_bytes)),
            (size_of::<Frame>(), offset_of!(Frame, publisher)),
            (size_of::<Frame>(), offset_of!(Frame, origin_ns)),
            (size_of::<Frame>(), offset_of!(Frame, suffix_size)),
            (size_of::<Frame>(), offset_of!(Frame, struct_size)),
        ];
        let ours: String = ours.iter().map(|(s, o)| format!("{s} {o} ")).collect();
        assert_eq!(said, ours);
    }
}
