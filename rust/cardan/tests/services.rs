// SPDX-License-Identifier: Apache-2.0
//! Against the library itself, in its own run directory.
use std::time::Duration;

use cardan::{Asked, Client, Server, ServiceOptions};

const PATIENCE: Duration = Duration::from_secs(60);

fn sums() -> ServiceOptions<'static> {
    ServiceOptions {
        type_name: "test_msgs/msg/Sum",
        definition: "int64 a\nint64 b\n",
        answer_type: "test_msgs/msg/Total",
        answer_definition: "int64 sum\n",
        max_bytes: 64,
        max_answer_bytes: 64,
        ..Default::default()
    }
}

fn cdr(numbers: &[i64]) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0];
    numbers.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    bytes
}

fn number(bytes: &[u8], index: usize) -> i64 {
    i64::from_le_bytes(bytes[4 + 8 * index..12 + 8 * index].try_into().unwrap())
}

fn question(server: &mut Server) -> cardan::Question {
    match server.wait(Some(PATIENCE)).unwrap() {
        Asked::Question(question) => question,
        other => panic!("{other:?}"),
    }
}

#[test]
fn questions_get_their_answers() {
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/run-services");
    std::fs::create_dir_all(folder).unwrap();
    if std::env::var_os("CARDAN_RUN_DIR").is_none() {
        std::env::set_var("CARDAN_RUN_DIR", folder);
    }
    let mut client = Client::new("/add", &sums()).unwrap();
    let why = client.call(&cdr(&[1, 2]), Duration::from_millis(5)).unwrap_err();
    assert!(why.to_string().contains("no server"), "{why}");

    let mut server = Server::new("/add", &sums()).unwrap();
    assert!(Server::new("/add", &sums()).unwrap_err().to_string().contains("already serves"));
    let serving = std::thread::spawn(move || {
        let mut asked = question(&mut server);
        let bytes = asked.to_vec();
        assert!(asked.reply(&[0, 1]).is_err(), "too short");
        asked.reply(&cdr(&[number(&bytes, 0) + number(&bytes, 1)])).unwrap();
        assert!(asked.decline("again").is_err());
        question(&mut server).decline("not today").unwrap();
        drop(question(&mut server));
        let kept = question(&mut server);
        drop(server);
        assert!(kept.is_cancelled());
    });
    let answer = client.call(&cdr(&[2, 3]), PATIENCE).unwrap().unwrap();
    assert_eq!(number(&answer.to_vec(), 0), 5);
    for words in ["not today", "dropped", "has ended"] {
        let why = client.call(&cdr(&[2, 3]), PATIENCE).unwrap_err();
        assert!(why.to_string().contains(words), "{why}");
    }
    serving.join().unwrap();

    let mut server = Server::new("/add", &sums()).unwrap();
    let ticket = loop {
        match client.ask(&cdr(&[1, 1]), PATIENCE) {
            Ok(ticket) => break ticket,
            Err(why) => assert!(why.to_string().contains("no server"), "{why}"),
        }
    };
    assert!(client.poll(ticket).unwrap().is_none());
    let asked = question(&mut server);
    client.cancel(ticket);
    let until = std::time::Instant::now() + PATIENCE;
    while !asked.is_cancelled() && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(asked.is_cancelled());
    assert!(matches!(server.take().unwrap(), Asked::Nothing));
    assert!(server.fd().is_some() && client.fd().is_some());
}
