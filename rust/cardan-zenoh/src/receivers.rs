// SPDX-License-Identifier: Apache-2.0
//! Receivers that read nothing, or next to nothing, while others wait. Zenoh sends a message to one receiver after the
//! other, and ends one when a message has waited for it for five seconds. The kernel knows of all at once which bytes have
//! arrived there, so that they are ended together, and sooner.
use std::collections::{BTreeMap, HashMap};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// For a start. Each time that some were ended halves it, until nobody has been for a while.
const PATIENCE: Duration = Duration::from_secs(2);
const LEAST_PATIENCE: Duration = Duration::from_millis(500);
const A_WHILE: Duration = Duration::from_secs(60);
/// Bytes a second. A receiver that reads this much is slow, which is allowed.
const SLOW: u64 = 32 << 10;

/// A TCP connection of this process. Zenoh has no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The kernel's number of the socket, which no other has as long as it is open.
    pub inode: u64,
    fd: i32,
    /// Bytes that have arrived there, and whether more are to follow.
    pub acked: u64,
    pub sends: bool,
}

/// Finds those that others wait for.
#[derive(Debug)]
pub struct Watch {
    seen: HashMap<u64, (u64, Instant)>,
    patience: Duration,
    ended: Option<Instant>,
}

impl Default for Watch {
    fn default() -> Self {
        Watch { seen: HashMap::new(), patience: PATIENCE, ended: None }
    }
}

impl Watch {
    /// Whether it is worth a look that something has been sent for this long.
    pub fn worth(&mut self, now: Instant, sending: Duration) -> bool {
        if self.ended.is_some_and(|at| now - at >= A_WHILE) {
            *self = Watch::default();
        }
        let worth = sending >= self.patience / 2;
        if !worth {
            self.seen.clear();
        }
        worth
    }

    /// Which of all connections have to end. With only one, nobody else waits.
    pub fn look(&mut self, now: Instant, all: &[Connection]) -> Vec<Connection> {
        let least = SLOW * self.patience.as_millis() as u64 / 1000;
        self.seen.retain(|inode, _| all.iter().any(|one| one.inode == *inode && one.sends));
        let mut stuck = vec![];
        for one in all.iter().filter(|one| one.sends && all.len() > 1) {
            let (acked, since) = self.seen.entry(one.inode).or_insert((one.acked, now));
            if one.acked - *acked >= least {
                (*acked, *since) = (one.acked, now);
            } else if now - *since >= self.patience {
                stuck.push(*one);
            }
        }
        if !stuck.is_empty() {
            self.patience = (self.patience / 2).max(LEAST_PATIENCE);
            self.ended = Some(now);
            self.seen.clear();
        }
        stuck
    }
}

/// The message that is being sent now.
#[derive(Debug, Default)]
pub struct Receivers {
    sending: Mutex<BTreeMap<u64, Instant>>,
    next: AtomicU64,
}

struct Sending<'a>(&'a Receivers, u64);

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.0.sending.lock().unwrap().remove(&self.1);
    }
}

impl Receivers {
    /// Does what can wait for a receiver.
    pub fn send<T>(&self, what: impl FnOnce() -> T) -> T {
        let number = self.next.fetch_add(1, Relaxed);
        self.sending.lock().unwrap().insert(number, Instant::now());
        let _sending = Sending(self, number);
        what()
    }

    /// Ends those that others wait for, and returns how many they were.
    pub fn end_stuck(&self, watch: &mut Watch) -> usize {
        let now = Instant::now();
        let oldest = self.sending.lock().unwrap().values().min().copied();
        if !watch.worth(now, oldest.map_or(Duration::ZERO, |at| now - at)) {
            return 0;
        }
        watch.look(now, &connections()).iter().filter(|one| end(one)).count()
    }
}

fn number_of(fd: i32) -> Option<u64> {
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

extern "C" {
    fn getsockopt(fd: i32, level: i32, name: i32, value: *mut u8, length: *mut u32) -> i32;
}

/// The progress of a TCP connection. None: it is not TCP, or it only listens.
fn progress_of(fd: i32) -> Option<(u64, bool)> {
    const IPPROTO_TCP: i32 = 6;
    const TCP_INFO: i32 = 11;
    const ESTABLISHED: u8 = 1;
    const CLOSE_WAIT: u8 = 8;
    // struct tcp_info: its start is the same on all kernels from 4.6 on.
    const UNACKED: usize = 24;
    const BYTES_ACKED: usize = 120;
    const NOT_SENT: usize = 144;
    let mut info = [0u8; 148];
    let mut length = info.len() as u32;
    // SAFETY: the kernel writes at most `length` bytes.
    if unsafe { getsockopt(fd, IPPROTO_TCP, TCP_INFO, info.as_mut_ptr(), &mut length) } != 0 {
        return None;
    }
    if length < info.len() as u32 || ![ESTABLISHED, CLOSE_WAIT].contains(&info[0]) {
        return None;
    }
    let word = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().expect("four"));
    let acked = u64::from_ne_bytes(info[BYTES_ACKED..BYTES_ACKED + 8].try_into().expect("eight"));
    Some((acked, word(UNACKED) != 0 || word(NOT_SENT) != 0))
}

/// Those of this process.
fn connections() -> Vec<Connection> {
    let Ok(files) = std::fs::read_dir("/proc/self/fd") else { return vec![] };
    let fds = files.filter_map(|file| file.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let all = fds.filter_map(|fd| {
        let inode = number_of(fd)?;
        let (acked, sends) = progress_of(fd)?;
        Some(Connection { inode, fd, acked, sends })
    });
    all.collect()
}

/// Zenoh finds its socket closed, and waits no longer. false: it has gone meanwhile.
fn end(one: &Connection) -> bool {
    // SAFETY: the descriptor is only copied. If it has been closed, there is an error; if it is another one now, its number
    // tells.
    let Ok(copy) = unsafe { BorrowedFd::borrow_raw(one.fd) }.try_clone_to_owned() else { return false };
    let same = number_of(copy.as_raw_fd()) == Some(one.inode);
    same && TcpStream::from(copy).shutdown(Shutdown::Both).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::TcpListener;

    const fn at(inode: u64, acked: u64, sends: bool) -> Connection {
        Connection { inode, fd: -1, acked, sends }
    }

    fn stuck(watch: &mut Watch, now: Instant, all: &[Connection]) -> Vec<u64> {
        watch.look(now, all).iter().map(|one| one.inode).collect()
    }

    #[test]
    fn those_that_read_nothing_end_together_and_sooner_each_time() {
        let mut watch = Watch::default();
        let mut now = Instant::now();
        let mut patience = PATIENCE;
        for time in 0..6u64 {
            let first = 10 * time;
            // The first reads, the second has read all, the third reads slowly, the others nothing.
            let all = |more: u64| {
                [at(1, 1_000_000 * more, true), at(2, 7, false), at(3, SLOW * more, true)]
                    .into_iter()
                    .chain((first..first + 5).map(|n| at(100 + n, 9, true)))
                    .collect::<Vec<_>>()
            };
            assert!(stuck(&mut watch, now, &all(0)).is_empty());
            assert!(stuck(&mut watch, now + patience / 2, &all(3)).is_empty(), "not yet");
            let ended = stuck(&mut watch, now + patience, &all(6));
            assert_eq!(ended, (first..first + 5).map(|n| 100 + n).collect::<Vec<_>>());
            now += patience;
            patience = (patience / 2).max(LEAST_PATIENCE);
        }
        assert!(!watch.worth(now, PATIENCE / 16), "a message waits for a moment");
        assert!(watch.worth(now, PATIENCE / 2));
        assert!(!watch.worth(now + A_WHILE, PATIENCE / 4), "as at the start");
    }

    #[test]
    fn a_peer_that_keeps_no_other_waiting_is_not_ended() {
        let (mut watch, now) = (Watch::default(), Instant::now());
        for seconds in 0..100 {
            assert!(stuck(&mut watch, now + Duration::from_secs(seconds), &[at(1, 9, true)]).is_empty());
        }
        let two = [at(1, 9, true), at(2, 9, false)];
        assert!(stuck(&mut watch, now, &two).is_empty());
        assert!(!watch.worth(now, Duration::ZERO), "all of it has been sent since");
        assert!(stuck(&mut watch, now + PATIENCE, &two).is_empty());
    }

    #[test]
    fn a_socket_whose_receiver_reads_nothing_is_found_and_ended() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut there = TcpStream::connect(server.local_addr().unwrap()).unwrap();
        let mut here = server.accept().unwrap().0;
        let own = number_of(here.as_raw_fd()).unwrap();
        let mine = || connections().into_iter().find(|one| one.inode == own);
        here.set_nonblocking(true).unwrap();
        while !matches!(here.write(&[0; 65536]), Err(e) if e.kind() == ErrorKind::WouldBlock) {}
        let found = mine().expect("it is found");
        assert!(found.sends);
        assert!(!end(&Connection { inode: own + 1, ..found }), "it is another one");
        assert!(end(&found));
        let mut rest = vec![];
        there.read_to_end(&mut rest).expect("it ends");
        assert!(mine().is_none());
    }
}
