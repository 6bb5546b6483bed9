// SPDX-License-Identifier: Apache-2.0
//! Carries Cardan's topics to and from Zenoh. `cardan bridge zenoh` starts it: the rules come as one line of JSON on
//! standard input, whose end ends the program; each second a report goes to standard output as one line of JSON.
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{sync_channel, RecvTimeoutError};
use std::time::{Duration, Instant};

use zenoh::{Config, Session, Wait};

use cardan_zenoh::again::{carries, Again};
use cardan_zenoh::rules::{Rule, Rules};
use cardan_zenoh::{bridge, log};

const MOST_RULES: u64 = 4 << 20;
const TURN: Duration = Duration::from_millis(100);
const REPORT: Duration = Duration::from_secs(1);
/// For an address that is taken.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes: no message between bridges is larger.
const OWN_MESSAGES: usize = 1 << 20;
/// Connections that have not identified themselves yet, and for how long.
const MOST_SILENT: usize = 1000;
const PATIENCE_WITH_SILENT: Duration = Duration::from_secs(3);
const WHERE: &str = "tcp/127.0.0.1:7447";
/// Settings of ours where Zenoh's own file says nothing else.
const MESSAGE: &str = "transport/link/rx/max_message_size";
const PENDING: &str = "transport/unicast/accept_pending";
const OURS: [&str; 3] = [MESSAGE, PENDING, "transport/unicast/accept_timeout"];

/// An address where Zenoh waits as long for the start of TLS as for its own.
fn with_patience(address: &str) -> String {
    const KEY: &str = "tls_handshake_timeout_ms";
    if !address.starts_with("tls/") || address.contains(KEY) {
        return address.into();
    }
    let separator = if address.contains('#') { ';' } else { '#' };
    format!("{address}{separator}{KEY}={}", PATIENCE_WITH_SILENT.as_millis())
}

/// Zenoh's settings: its own file, and what the rules say. By itself it listens on loopback, or connects as a client, and
/// looks for nobody by multicast.
fn configuration(all: &Rules) -> Result<Config, String> {
    let rules = &all.zenoh;
    let told = |e: zenoh::Error| e.to_string();
    let own = rules.config.is_empty();
    let mut config = if own {
        Config::default()
    } else {
        Config::from_file(&rules.config).map_err(|e| format!("{}: {e} — check Zenoh's file", rules.config))?
    };
    let listens = !rules.listen.is_empty() || (own && rules.connect.is_empty());
    let listen = if rules.listen.is_empty() && listens { vec![WHERE.to_string()] } else { rules.listen.clone() };
    let usual = Config::default();
    let chosen: Vec<&str> =
        OURS.into_iter().filter(|key| config.get_json(key).ok() == usual.get_json(key).ok()).collect();
    let mut set = |key: &str, value: String| config.insert_json5(key, &value).map_err(told);
    if own {
        set("scouting/multicast/enabled", "false".into())?;
        // A listener passes messages on between those that connect.
        set("mode", if listens { "\"router\"" } else { "\"client\"" }.into())?;
        set("connect/timeout_ms", "-1".into())?;
        set("connect/exit_on_failure", "false".into())?;
    }
    if own || !listen.is_empty() {
        let all: Vec<String> = listen.iter().map(|one| with_patience(one)).collect();
        set("listen/endpoints", serde_json::json!(all).to_string())?;
    }
    // The memory of a message in fragments before a rule sees it; a little above its limit it is refused and counted. A
    // bridge that listens passes the messages of others on, too.
    let passed_on = if listens || !own { Rule::default().max_bytes() } else { 0 };
    let most = all.inward.iter().map(Rule::max_bytes).max().unwrap_or(0).max(passed_on);
    for key in chosen {
        // An unknown peer can open silent connections: there is room for others, and soon for more.
        let value = match key {
            MESSAGE => 2 * most + OWN_MESSAGES,
            PENDING => MOST_SILENT,
            _ => PATIENCE_WITH_SILENT.as_millis() as usize,
        };
        set(key, value.to_string())?;
    }
    if !rules.mode.is_empty() {
        set("mode", serde_json::json!(rules.mode).to_string())?;
    }
    if !rules.connect.is_empty() {
        set("connect/endpoints", serde_json::json!(rules.connect).to_string())?;
    }
    Ok(config)
}

/// Opens the session. A client waits for its router; a stop ends that. None: stopped.
fn open(config: Config, ended: &dyn Fn() -> bool) -> Result<Option<Session>, String> {
    let (tell, told) = sync_channel(1);
    std::thread::spawn(move || tell.send(zenoh::open(config).wait()));
    while !ended() {
        match told.recv_timeout(TURN) {
            Ok(Ok(session)) => return Ok(Some(session)),
            Ok(Err(why)) => {
                return Err(format!(
                    "Zenoh does not start: {why} — is the address taken or wrong? Another bridge or router is joined with --connect {WHERE}"
                ))
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("Zenoh ended while it started".into()),
        }
    }
    Ok(None)
}

fn rules_of_input() -> std::io::Result<String> {
    let mut line = String::new();
    std::io::stdin().lock().take(MOST_RULES).read_line(&mut line)?;
    Ok(line)
}

fn run() -> Result<(), String> {
    let (again, line) = match Again::of_arguments() {
        Some(again) => (again, again.rules().map_err(|e| e.to_string())?),
        None => {
            let line = rules_of_input().map_err(|e| e.to_string())?;
            (Again::first(&line).map_err(|e| e.to_string())?, line)
        }
    };
    again.on_panic();
    let rules: Rules = serde_json::from_str(&line)
        .map_err(|e| format!("these are not rules: {e} — start it by cardan bridge zenoh"))?;
    cardan::stop_on_signals();
    std::thread::spawn(|| {
        let mut rest = std::io::stdin().lock();
        let mut some = [0u8; 64];
        while matches!(rest.read(&mut some), Ok(n) if n > 0) {}
        cardan::request_stop();
    });
    let began = Instant::now();
    let opened = loop {
        match open(configuration(&rules)?, &cardan::stopping) {
            // Of a bridge that was killed, its program here may still be ending.
            Err(why) if why.contains("Address already in use") && began.elapsed() < PATIENCE => {
                std::thread::sleep(TURN)
            }
            other => break other?,
        }
    };
    let Some(session) = opened else {
        return Ok(());
    };
    let bridge = bridge::Bridge::new(session, rules)?;
    carries();
    if again.times > 0 {
        bridge.note(
            "again",
            format!(
                "Zenoh failed ({} times), perhaps by malformed bytes: the bridge was started again, and its counts too",
                again.times
            ),
        );
    }
    let mut shown: Option<Instant> = None;
    while !cardan::stopping() {
        if shown.map_or(true, |at| at.elapsed() >= REPORT) {
            shown = Some(Instant::now());
            report(&bridge)?;
        }
        std::thread::sleep(TURN);
    }
    bridge.stop();
    report(&bridge)
}

fn report(bridge: &bridge::Bridge) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", bridge.report()).map_err(|e| e.to_string())
}

#[repr(C)]
struct Limit {
    soft: u64,
    hard: u64,
}

extern "C" {
    fn getrlimit(what: i32, limit: *mut Limit) -> i32;
    fn setrlimit(what: i32, limit: *const Limit) -> i32;
}

/// As many descriptors as the system allows: connections of unknown peers must not use up those of topics.
fn allow_descriptors() {
    const RLIMIT_NOFILE: i32 = 7;
    let mut limit = Limit { soft: 0, hard: 0 };
    // SAFETY: the struct has the layout of rlimit on 64-bit Linux.
    unsafe {
        if getrlimit(RLIMIT_NOFILE, &mut limit) == 0 {
            limit.soft = limit.hard;
            setrlimit(RLIMIT_NOFILE, &limit);
        }
    }
}

fn main() {
    allow_descriptors();
    log::start();
    let code = match run() {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("{why}");
            1
        }
    };
    // At once: a thread may wait in Zenoh for a network that is gone.
    std::process::exit(code);
}
