// SPDX-License-Identifier: Apache-2.0
#![no_main]
cardan_zenoh::fuzz_program!(cardan_zenoh::fuzz::ATTACHMENTS);
