// SPDX-License-Identifier: Apache-2.0
//! Between bridges of Cardan: the definition of a type that one announces and the other does not know.
use std::time::Duration;

use zenoh::query::{ConsolidationMode, Query, QueryTarget};
use zenoh::Wait;

use crate::announced::Announced;
use crate::answers::{answers, Room};
use crate::context::Context;
use crate::keys::definition_key;
use crate::stamp::number_of;

const MOST_BYTES: usize = 64 << 10;
const ROOM: Room = Room { answers: 64, bytes: 1 << 20 };
const PATIENCE: Duration = Duration::from_secs(2);

/// As the announcing bridge says. Empty: the message of Cardan or of ROS 2 with that name.
pub fn ask(context: &Context, one: &Announced) -> Result<String, String> {
    if one.definition == 0 {
        return Ok(String::new());
    }
    let key = definition_key(&one.zid, one.definition);
    let (callback, found) = answers(ROOM, |sample| sample.payload().len() <= MOST_BYTES);
    // Of all that answer: another peer must not speak in place of the bridge.
    let get = context.session.get(key).target(QueryTarget::All).consolidation(ConsolidationMode::None);
    get.timeout(PATIENCE).callback(callback).wait().map_err(|e| e.to_string())?;
    let good = |text: &String| number_of(text) == one.definition;
    let text =
        found.filter_map(|answer| answer.sample.payload().try_to_string().ok().map(|t| t.into_owned())).find(good);
    text.ok_or_else(|| format!("bridge {} does not say what a {} is — it is asked again", one.zid, one.type_name))
}

/// Answers such a question.
pub fn answer(context: &Context, query: &Query) {
    let number = query.key_expr().as_str().rsplit('/').next().and_then(|n| u64::from_str_radix(n, 16).ok());
    // Nobody else waits for the definitions while this one waits for its client.
    let text = number.and_then(|n| context.definitions.lock().unwrap().get(&n).cloned());
    if let Some(text) = text {
        let _ = context.receivers.send(|| query.reply(query.key_expr().clone(), text).wait());
    }
}
