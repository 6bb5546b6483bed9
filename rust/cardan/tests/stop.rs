// SPDX-License-Identifier: Apache-2.0
//! A separate program, because a stop ends every wait of its process.
use cardan::{Subscriber, SubscriberOptions, Taken};

#[test]
fn a_stop_ends_a_wait() {
    if std::env::var_os("CARDAN_RUN_DIR").is_none() {
        let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/run");
        std::fs::create_dir_all(folder).unwrap();
        std::env::set_var("CARDAN_RUN_DIR", folder);
    }
    let options = SubscriberOptions { domain: "stop", type_name: "sensor_msgs/msg/Image", ..Default::default() };
    let mut subscriber = Subscriber::new("/camera", &options).unwrap();
    assert!(!cardan::stopping());
    let stopper = std::thread::spawn(cardan::request_stop);
    assert!(matches!(subscriber.wait(None).unwrap(), Taken::Stopped));
    assert!(cardan::stopping());
    stopper.join().unwrap();
}
