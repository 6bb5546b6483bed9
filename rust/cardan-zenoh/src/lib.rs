// SPDX-License-Identifier: Apache-2.0
//! The common part of the program and its fuzzers. Not for others: it changes as they need it.
pub mod again;
pub mod announced;
pub mod answering;
pub mod answers;
pub mod bridge;
pub mod candidates;
pub mod clock;
pub mod context;
pub mod counts;
pub mod definitions;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
pub mod incoming;
pub mod keys;
pub mod log;
pub mod losses;
pub mod outgoing;
pub mod receivers;
pub mod ros;
pub mod ros_publisher;
pub mod rules;
pub mod stamp;
pub mod topics;
pub mod types;
pub mod ways;
