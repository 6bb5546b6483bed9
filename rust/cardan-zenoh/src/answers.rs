// SPDX-License-Identifier: Apache-2.0
//! Answers to this bridge's questions. Zenoh hands them over from its own threads, and tokens also from the thread that
//! asks, while the session is locked. A callback that waited for room could therefore wait forever, and everybody else
//! with it. These callbacks never wait: what finds no room is left out.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

use zenoh::query::Reply;
use zenoh::sample::Sample;

use crate::stamp::wall_now;

/// The most that may wait to be read.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    pub answers: usize,
    pub bytes: usize,
}

#[derive(Debug)]
pub struct Answer {
    pub sample: Sample,
    /// Wall clock.
    pub arrived_ns: i64,
}

#[derive(Debug, Default)]
struct Waiting {
    answers: AtomicUsize,
    bytes: AtomicUsize,
    incomplete: AtomicBool,
}

impl Waiting {
    fn enter(&self, room: Room, bytes: usize) -> bool {
        let before = (self.answers.fetch_add(1, Relaxed), self.bytes.fetch_add(bytes, Relaxed));
        let fits = before.0 < room.answers && before.1.saturating_add(bytes) <= room.bytes;
        if !fits {
            self.leave(bytes);
            self.incomplete.store(true, Relaxed);
        }
        fits
    }

    fn leave(&self, bytes: usize) {
        self.answers.fetch_sub(1, Relaxed);
        self.bytes.fetch_sub(bytes, Relaxed);
    }
}

/// Ends when Zenoh has the last answer, or at the question's time-out.
#[derive(Debug)]
pub struct Answers {
    came: Receiver<Answer>,
    waiting: Arc<Waiting>,
}

fn size_of(sample: &Sample) -> usize {
    sample.key_expr().as_str().len() + sample.payload().len() + sample.attachment().map_or(0, |a| a.len())
}

/// The callback for Zenoh, and where its answers are read. An answer that is not `wanted` takes no room; that is asked in Zenoh's
/// thread.
pub fn answers(
    room: Room,
    wanted: impl Fn(&Sample) -> bool + Send + Sync + 'static,
) -> (impl Fn(Reply) + Send + Sync + 'static, Answers) {
    let (tell, came) = channel();
    let waiting = Arc::new(Waiting::default());
    let shared = waiting.clone();
    let callback = move |reply: Reply| match reply.into_result() {
        Ok(sample) if !wanted(&sample) => {}
        Ok(sample) => {
            if shared.enter(room, size_of(&sample)) {
                let _ = tell.send(Answer { sample, arrived_ns: wall_now() });
            }
        }
        Err(_) => shared.incomplete.store(true, Relaxed),
    };
    (callback, Answers { came, waiting })
}

impl Answers {
    pub fn wait(&self, timeout: Duration) -> Result<Answer, RecvTimeoutError> {
        let answer = self.came.recv_timeout(timeout)?;
        self.waiting.leave(size_of(&answer.sample));
        Ok(answer)
    }

    /// So far none was left out, and Zenoh told of no failure.
    pub fn is_complete(&self) -> bool {
        !self.waiting.incomplete.load(Relaxed)
    }
}

impl Iterator for &Answers {
    type Item = Answer;

    fn next(&mut self) -> Option<Answer> {
        let answer = self.came.recv().ok()?;
        self.waiting.leave(size_of(&answer.sample));
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zenoh::{Config, Session, Wait};

    const WIDE: Room = Room { answers: 100_000, bytes: 100 << 20 };

    /// A session that nobody else can reach.
    fn session() -> Session {
        let mut config = Config::default();
        for (key, value) in
            [("scouting/multicast/enabled", "false"), ("listen/endpoints", "[]"), ("mode", "\"router\"")]
        {
            config.insert_json5(key, value).unwrap();
        }
        zenoh::open(config).wait().unwrap()
    }

    /// Zenoh gives all of them before `wait()` returns: of a channel with room for fewer, that would be never.
    #[test]
    fn any_number_of_tokens_comes_while_their_thread_asks() {
        const TOKENS: usize = 1000;
        let session = session();
        let liveliness = session.liveliness();
        let tokens: Vec<_> =
            (0..TOKENS).map(|n| liveliness.declare_token(format!("token/{n:04}")).wait().unwrap()).collect();
        for (room, expected) in
            [(WIDE, TOKENS), (Room { answers: 100, ..WIDE }, 100), (Room { bytes: 100, ..WIDE }, 10)]
        {
            let (callback, answers) = answers(room, |_| true);
            liveliness.get("token/*").timeout(Duration::from_secs(600)).callback(callback).wait().unwrap();
            assert_eq!(answers.count(), expected);
            assert_eq!(answers.is_complete(), expected == TOKENS);
        }
        let (callback, unwanted) = answers(WIDE, |s| s.key_expr().as_str() == "token/0007");
        liveliness.get("token/*").timeout(Duration::from_secs(600)).callback(callback).wait().unwrap();
        assert_eq!(unwanted.map(|a| a.sample.key_expr().to_string()).collect::<Vec<_>>(), ["token/0007"]);
        assert!(unwanted.is_complete());
        drop(tokens);
    }

    #[test]
    fn answers_that_were_read_make_room() {
        let (waiting, room) = (Waiting::default(), Room { answers: 3, bytes: 100 });
        for _ in 0..10 {
            assert!(waiting.enter(room, 40) && waiting.enter(room, 60) && !waiting.enter(room, 1));
            waiting.leave(60);
            assert!(waiting.enter(room, 20) && waiting.enter(room, 20) && !waiting.enter(room, 1));
            assert!(!waiting.enter(room, usize::MAX));
            [40, 20, 20].into_iter().for_each(|bytes| waiting.leave(bytes));
        }
        assert_eq!((waiting.answers.load(Relaxed), waiting.bytes.load(Relaxed)), (0, 0));
    }
}
