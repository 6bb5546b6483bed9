// SPDX-License-Identifier: Apache-2.0
//! Zenoh's own log. Peers can cause a line with each message that they send, so only some of them are written, to standard
//! error: standard output is for reports. With RUST_LOG, all that it names are.
use std::io::{self, Write};
use std::sync::mpsc::{sync_channel, SyncSender};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tracing_subscriber::filter::{EnvFilter, LevelFilter};

const MOST_LINES: u32 = 5;
const PERIOD: Duration = Duration::from_secs(10);
const MOST_LETTERS: usize = 512;

#[derive(Debug, Default)]
struct Limit {
    began: Option<Instant>,
    lines: u32,
    left_out: u64,
}

impl Limit {
    /// Whether a line may be written now; then how many were left out before it.
    fn passes(&mut self, now: Instant) -> Option<u64> {
        if self.began.map_or(true, |began| now.saturating_duration_since(began) >= PERIOD) {
            (self.began, self.lines) = (Some(now), 0);
        }
        if self.lines == MOST_LINES {
            self.left_out += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

/// Text of others can be of any length, and can steer a terminal.
fn printable(text: &str) -> String {
    text.trim_end().chars().take(MOST_LETTERS).map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Where Zenoh's threads write. They never wait for the reader of standard error: a separate thread does.
struct Lines {
    limit: Mutex<Limit>,
    ready: SyncSender<String>,
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut limit = self.limit.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(left_out) = limit.passes(Instant::now()) {
            let before = if left_out == 0 { String::new() } else { format!(" ({left_out} lines were left out before)") };
            let said = format!("zenoh: {}{before}\n", printable(&String::from_utf8_lossy(line)));
            if self.ready.try_send(said).is_err() {
                limit.left_out += left_out + 1;
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub fn start() {
    let of_format = tracing_subscriber::fmt().with_ansi(false);
    if std::env::var_os("RUST_LOG").is_some() {
        let _ = of_format.with_env_filter(EnvFilter::from_default_env()).with_writer(io::stderr).try_init();
        return;
    }
    let (ready, lines) = sync_channel::<String>(16);
    std::thread::spawn(move || {
        while let Ok(line) = lines.recv() {
            let _ = io::stderr().write_all(line.as_bytes());
        }
    });
    let lines: &'static Lines = Box::leak(Box::new(Lines { limit: Mutex::default(), ready }));
    let _ = of_format.without_time().with_max_level(LevelFilter::ERROR).with_writer(move || lines).try_init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_others_cause_are_few() {
        let (ready, written) = sync_channel(1000);
        let mut lines = &Lines { limit: Mutex::default(), ready };
        for n in 0..100_000 {
            assert_eq!(lines.write(format!("\u{1b}[31mline {n} {}\n", "x".repeat(10_000)).as_bytes()).unwrap(), n.to_string().len() + 10_012);
        }
        let all: Vec<String> = written.try_iter().collect();
        assert_eq!(all.len(), MOST_LINES as usize);
        for line in &all {
            assert!(line.starts_with("zenoh: ?[31mline ") && line.chars().filter(|c| c.is_control()).count() == 1);
            assert!(line.len() < MOST_LETTERS + 20);
        }
    }

    #[test]
    fn lines_that_were_left_out_are_counted() {
        let (mut limit, began) = (Limit::default(), Instant::now());
        for _ in 0..MOST_LINES {
            assert_eq!(limit.passes(began), Some(0));
        }
        for _ in 0..7 {
            assert_eq!(limit.passes(began + PERIOD / 2), None);
        }
        assert_eq!(limit.passes(began + PERIOD), Some(7));
        assert_eq!(limit.passes(began + PERIOD), Some(0));
    }

    #[test]
    fn a_writer_does_not_wait_for_the_reader() {
        let (ready, written) = sync_channel(1);
        let mut lines = &Lines { limit: Mutex::default(), ready };
        for n in 0..3 {
            lines.write_all(format!("{n}\n").as_bytes()).unwrap();
        }
        assert_eq!(written.try_iter().collect::<Vec<_>>(), ["zenoh: 0\n"]);
        lines.write_all(b"3\n").unwrap();
        assert_eq!(written.try_iter().collect::<Vec<_>>(), ["zenoh: 3 (2 lines were left out before)\n"]);
    }
}
