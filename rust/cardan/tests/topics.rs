// SPDX-License-Identifier: Apache-2.0
//! Against the library itself. Each test has its own domain; the run directory lies in cargo's folder unless
//! CARDAN_RUN_DIR names one.
use std::sync::Once;
use std::time::Duration;

use cardan::{Access, Publisher, PublisherOptions, Sample, Subscriber, SubscriberOptions, Taken};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

fn run_directory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("CARDAN_RUN_DIR").is_none() {
            let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/run");
            std::fs::create_dir_all(folder).unwrap();
            std::env::set_var("CARDAN_RUN_DIR", folder);
        }
    });
}

/// A std_msgs/msg/String as CDR.
fn text(words: &str) -> Vec<u8> {
    let mut cdr = vec![0, 1, 0, 0];
    cdr.extend((words.len() as u32 + 1).to_le_bytes());
    cdr.extend(words.as_bytes());
    cdr.push(0);
    cdr
}

/// A sensor_msgs/msg/Image of `pixels` bytes, as CDR.
fn image(pixels: usize) -> Vec<u8> {
    let mut cdr = vec![0, 1, 0, 0];
    cdr.extend([0; 8]); // stamp
    cdr.extend(1u32.to_le_bytes()); // frame_id ""
    cdr.extend([0; 4]);
    cdr.extend(1u32.to_le_bytes()); // height
    cdr.extend((pixels as u32).to_le_bytes()); // width
    cdr.extend(6u32.to_le_bytes());
    cdr.extend(b"mono8\0\0\0"); // encoding, is_bigendian, padding
    cdr.extend((pixels as u32).to_le_bytes()); // step
    cdr.extend((pixels as u32).to_le_bytes());
    cdr.extend((0..pixels).map(|i| (i % 251) as u8));
    cdr
}

fn text_publisher(domain: &str, depth: u32, via: &str) -> Publisher {
    run_directory();
    let options = PublisherOptions {
        domain,
        type_name: "std_msgs/msg/String",
        definition: "string data",
        max_bytes: 256,
        depth,
        via,
        ..Default::default()
    };
    Publisher::new("/text", &options).unwrap()
}

fn sample(subscriber: &mut Subscriber) -> Sample {
    match subscriber.wait(PATIENCE).unwrap() {
        Taken::Sample(sample) => sample,
        other => panic!("no sample but {other:?}"),
    }
}

#[test]
fn a_message_is_as_old_as_the_oldest_that_it_rests_on() {
    let mut publisher = text_publisher("origin", 4, "");
    let options = SubscriberOptions { domain: "origin", holds: 4, ..Default::default() };
    let mut subscriber = Subscriber::new("/text", &options).unwrap();
    publisher.publish(&text("picture"), 0).unwrap();
    let picture = sample(&mut subscriber);
    assert_eq!(picture.origin_ns(), Some(picture.publish_ns()));
    publisher.rests_on(&picture);
    publisher.publish(&text("command"), 0).unwrap();
    let command = sample(&mut subscriber);
    assert_eq!(command.origin_ns(), picture.origin_ns());
    publisher.publish(&text("fresh"), 0).unwrap();
    let fresh = sample(&mut subscriber);
    assert_eq!(fresh.origin_ns(), Some(fresh.publish_ns()));
}

#[test]
fn published_messages_arrive_in_order() {
    let mut publisher = text_publisher("order", 4, "");
    let options = SubscriberOptions { domain: "order", ..Default::default() };
    let mut subscriber = Subscriber::new("/text", &options).unwrap();
    assert_eq!(subscriber.type_name(), "std_msgs/msg/String");
    assert_eq!(subscriber.definition().trim(), "string data");
    assert_eq!(subscriber.publishers(), 1);
    assert_eq!(publisher.subscribers(), 1);
    assert!(subscriber.fd().is_some());
    publisher.publish(&text("one"), 7).unwrap();
    publisher.publish(&text("two"), 0).unwrap();
    let first = sample(&mut subscriber);
    assert_eq!(first.to_vec(), text("one"));
    assert_eq!((first.sequence(), first.source_ns()), (1, 7));
    assert_ne!(first.publisher(), 0);
    assert!(first.publish_ns() > 0);
    drop(first);
    assert_eq!(sample(&mut subscriber).to_vec(), text("two"));
    assert!(matches!(subscriber.take().unwrap(), Taken::Nothing));
    assert_eq!(subscriber.missed(), 0);
}

#[test]
fn pixels_are_the_publishers_memory_and_outlive_the_subscriber() {
    run_directory();
    let cdr = image(100_000);
    let mut publisher = Publisher::new(
        "/camera",
        &PublisherOptions {
            domain: "pixels",
            type_name: "sensor_msgs/msg/Image",
            max_bytes: cdr.len(),
            depth: 3,
            ..Default::default()
        },
    )
    .unwrap();
    let options = SubscriberOptions { domain: "pixels", holds: 2, ..Default::default() };
    let mut subscriber = Subscriber::new("/camera", &options).unwrap();
    let mut second = Subscriber::new("/camera", &options).unwrap();
    publisher.publish(&cdr, 0).unwrap();
    let taken = sample(&mut subscriber);
    drop(subscriber);
    assert_eq!(taken.payload().len(), 100_000);
    assert_eq!(taken.payload().as_ptr() as usize % 4096, 0, "where the slot is");
    assert_eq!(taken.to_vec(), cdr);
    let same = sample(&mut second);
    assert_eq!(same.payload(), taken.payload());
    std::thread::spawn(move || assert_eq!(taken.size(), cdr.len())).join().unwrap();
}

#[test]
fn as_many_are_held_as_announced() {
    let mut publisher = text_publisher("limit", 8, "");
    let options = SubscriberOptions { domain: "limit", ..Default::default() };
    let mut subscriber = Subscriber::new("/text", &options).unwrap();
    for _ in 0..4 {
        publisher.publish(&text("x"), 0).unwrap();
    }
    let held = (sample(&mut subscriber), sample(&mut subscriber));
    assert!(matches!(subscriber.take().unwrap(), Taken::Limit));
    drop(held);
    assert!(matches!(subscriber.take().unwrap(), Taken::Sample(_)));
}

#[test]
fn a_late_subscriber_gets_the_last_ones() {
    let mut publisher = text_publisher("late", 2, "");
    for i in 1..=5 {
        publisher.publish(&text(&i.to_string()), 0).unwrap();
    }
    let options = SubscriberOptions { domain: "late", ..Default::default() };
    let mut subscriber = Subscriber::new("/text", &options).unwrap();
    assert_eq!(sample(&mut subscriber).sequence(), 4);
    assert_eq!(sample(&mut subscriber).sequence(), 5);
}

#[test]
fn messages_from_a_network_are_declined_for_it() {
    let mut publisher = text_publisher("via", 4, "zenoh");
    let options = |not_via| SubscriberOptions { domain: "via", not_via, ..Default::default() };
    let mut own = Subscriber::new("/text", &options("zenoh")).unwrap();
    let mut other = Subscriber::new("/text", &options("dds:0")).unwrap();
    publisher.publish(&text("x"), 0).unwrap();
    sample(&mut other);
    assert!(matches!(own.take().unwrap(), Taken::Nothing));
    let json = cardan::topics_json("via").unwrap();
    assert!(json.contains(r#""via":["zenoh"]"#), "{json}");
}

#[test]
fn errors_name_cause_and_remedy() {
    let mut publisher = text_publisher("errors", 1, "");
    let wrong = publisher.publish(&[0, 1, 0, 0, 9, 0, 0, 0], 0).unwrap_err();
    assert!(wrong.to_string().contains("not a std_msgs/msg/String"), "{wrong}");
    let options = SubscriberOptions { domain: "errors", access: Access::Everyone, ..Default::default() };
    let nobody = Subscriber::new("/nobody", &options).unwrap_err();
    assert!(nobody.to_string().contains("nobody publishes"), "{nobody}");
    let zero = Subscriber::new("/a\0b", &options).unwrap_err();
    assert!(zero.to_string().contains("zero byte"), "{zero}");
}

#[test]
fn a_type_is_described_as_ros_2_does() {
    let text = cardan::type_description("std_msgs/msg/String", "string data").unwrap();
    assert!(text.starts_with("{\"type_description\": {\"type_name\": \"std_msgs/msg/String\", \"fields\""), "{text}");
    let own = cardan::type_description("sensor_msgs/msg/Image", "").unwrap();
    assert!(own.contains("\"nested_type_name\": \"std_msgs/msg/Header\""), "{own}");
    assert!(cardan::type_description("no/msg/Such", "").is_err());
    assert!(cardan::type_description("a/msg/B", "string").is_err());
}
