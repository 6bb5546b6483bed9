// SPDX-License-Identifier: Apache-2.0
//! Answers that this bridge gives. An answer to a peer that does not read waits for up to five seconds, so threads of
//! our own give them; Zenoh's threads, which everybody needs, only put questions into a queue.
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, Mutex};

/// Beyond them there is no answer. A peer that needs one asks again.
const MOST_QUESTIONS: usize = 64;
const THREADS: usize = 4;

type Question = Box<dyn FnOnce() + Send>;

#[derive(Debug, Clone)]
pub struct Answering(SyncSender<Question>);

impl Answering {
    pub fn start() -> Self {
        let (put, questions) = sync_channel(MOST_QUESTIONS);
        let questions = Arc::new(Mutex::new(questions));
        for _ in 0..THREADS {
            let questions = questions.clone();
            std::thread::spawn(move || answer(&questions));
        }
        Answering(put)
    }

    /// Zenoh's thread: never waits.
    pub fn put(&self, question: impl FnOnce() + Send + 'static) {
        drop(self.0.try_send(Box::new(question)));
    }
}

fn answer(questions: &Mutex<Receiver<Question>>) {
    loop {
        let next = questions.lock().unwrap().recv();
        let Ok(question) = next else { return };
        question();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::sync::mpsc::channel;

    /// Asks without end and reads nothing: costs one thread. All others are answered.
    #[test]
    fn a_peer_that_does_not_read_keeps_no_other_waiting() {
        let answering = Answering::start();
        let (release, held) = channel::<()>();
        answering.put(move || _ = held.recv());
        let (tell, told) = channel();
        for n in 0..MOST_QUESTIONS / 2 {
            let tell = tell.clone();
            answering.put(move || tell.send(n).unwrap());
        }
        drop(tell);
        assert_eq!(told.iter().count(), MOST_QUESTIONS / 2);
        drop(release);
    }

    #[test]
    fn of_too_many_questions_the_rest_are_dropped() {
        let answering = Answering::start();
        let (release, held) = channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let answered = Arc::new(AtomicUsize::new(0));
        for _ in 0..10_000 {
            let (held, answered) = (held.clone(), answered.clone());
            answering.put(move || {
                let _ = held.lock().unwrap().recv();
                answered.fetch_add(1, Relaxed);
            });
        }
        drop(release);
        let (tell, told) = channel();
        while told.try_recv().is_err() {
            let tell = tell.clone();
            answering.put(move || _ = tell.send(()));
            std::thread::yield_now();
        }
        assert!(answered.load(Relaxed) <= MOST_QUESTIONS + 2 * THREADS);
    }
}
