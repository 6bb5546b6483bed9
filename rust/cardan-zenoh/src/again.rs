// SPDX-License-Identifier: Apache-2.0
//! A panic in Zenoh, which an unknown peer can cause by malformed bytes, leaves its locks poisoned: nothing would be carried any
//! more, and nobody would see it. So the program starts itself again in its place: the same process and pipes, the same rules.
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};
use std::os::raw::{c_char, c_int, c_uint};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Before it starts again: a peer that causes one panic after the other must not use up a processor.
const PAUSE: Duration = Duration::from_secs(1);
const WORD: &str = "again";

extern "C" {
    fn memfd_create(name: *const c_char, flags: c_uint) -> c_int;
    fn _exit(code: c_int) -> !;
}

static CARRIES: AtomicBool = AtomicBool::new(false);

/// The state that one run leaves to the next: the rules, in a file in memory that stays open.
#[derive(Debug, Clone, Copy)]
pub struct Again {
    rules: RawFd,
    pub times: u32,
}

impl Again {
    /// As this process was started. None: for the first time.
    pub fn of_arguments() -> Option<Again> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        match words.as_slice() {
            [word, rules, times] if word == WORD => {
                Some(Again { rules: rules.parse().ok()?, times: times.parse().ok()? })
            }
            _ => None,
        }
    }

    pub fn first(rules: &str) -> io::Result<Again> {
        // SAFETY: the name is a text of C.
        let made = unsafe { memfd_create(c"cardan-zenoh".as_ptr(), 0) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just made, and is nobody else's.
        let mut file = unsafe { File::from_raw_fd(made) };
        file.write_all(rules.as_bytes())?;
        Ok(Again { rules: file.into_raw_fd(), times: 0 })
    }

    pub fn rules(&self) -> io::Result<String> {
        // SAFETY: this process has it from the run before.
        let mut file = unsafe { File::from_raw_fd(self.rules) };
        file.rewind()?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let _ = file.into_raw_fd(); // stays open
        Ok(text)
    }

    /// From now on a panic, of whatever thread, is one run's end and the next one's start. Before `carries()` of the first run it ends the
    /// program: it would come again.
    pub fn on_panic(self) {
        let (started, program, usual) = (Instant::now(), std::env::current_exe(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |info| {
            usual(info);
            if let (Ok(program), true) = (&program, self.times > 0 || CARRIES.load(Relaxed)) {
                std::thread::sleep(PAUSE.saturating_sub(started.elapsed()));
                let words = [WORD.to_string(), self.rules.to_string(), self.times.saturating_add(1).to_string()];
                let failed = Command::new(program).args(words).exec();
                eprintln!("cardan-zenoh does not start again: {failed}");
            }
            // SAFETY: ends the process. The other work of exit() could wait for a lock that the panic left.
            unsafe { _exit(101) };
        }));
    }
}

pub fn carries() {
    CARRIES.store(true, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_run_has_the_same_rules() {
        let again = Again::first("{\"out\": []}\n").unwrap();
        for _ in 0..2 {
            assert_eq!(again.rules().unwrap(), "{\"out\": []}\n");
        }
        assert!(Again::of_arguments().is_none());
    }
}
