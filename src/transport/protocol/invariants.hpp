// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The invariants of the protocols: number, short name, sentence. This list is the only definition. The documents
/// (docs/protocols), the order table, the models and the comments use these numbers and these words;
/// scripts/check_invariants.sh (the test `invariants`) compares them.
///   X(number, name, sentence)
// clang-format off
#define CARDAN_INVARIANTS(X)                                                                                          \
  X(I1, "whole", "A taken sample is what its publisher wrote, from the take to the drop.")                            \
  X(I2, "not refilled", "A slot that a living subscriber holds is never refilled.")                                   \
  X(I3, "nothing lost", "At the end the cursor is at the last publication.")                                          \
  X(I4, "counted exactly", "Every publication after the attach is taken once or counted missed once, in order.")      \
  X(I5, "a free slot", "With depth + loans + 1 + Σ(holds + threads) slots the publisher never waits for one.")        \
  X(I6, "not unmapped", "A page is not unmapped while the other side can look at it.")                                \
  X(I7, "given back", "A subscriber that dropped all samples has all counters at 0.")                                 \
  X(I8, "lock-free", "A reader that must try again was overtaken by a publication, also when the publisher is dead.") \
  X(I9, "observed whole", "A copy that an observer accepts is whole.")                                                \
  X(I10, "woken", "No thread sleeps while something newer than its cursor is published.")                             \
  X(I11, "spin bounded", "Every living thread gets the last publication and learns of the end, however the publisher ended.") \
  X(I12, "end last", "The samples of a dead publisher are taken before its end is reported.")                         \
  X(I13, "event heard", "No thread sleeps on an event.")                                                              \
  X(I14, "idle is free", "`waiting` is the number of threads that wait, also after time-outs: an idle subscriber costs no ring.") \
  X(I15, "reliable", "A reliable subscriber loses nothing after `start` except what was overwritten while it was demoted.") \
  X(I16, "fair demotion", "Only a subscriber that stops taking is demoted, if the time-out is longer than everything else.") \
  X(I17, "one time-out", "A subscriber that stopped costs one time-out, not one a publication.")                      \
  X(I18, "not for the dead", "No publisher waits for a dead subscriber until the time-out.")                          \
  X(I19, "own kept", "A slot that the publisher's own process keeps is not refilled.")                                \
  X(I20, "own done", "Its own readers' accesses to a slot happened before it is refilled.")                           \
  X(I21, "no false liar", "An honest subscriber is never taken for a liar.")                                          \
  X(I22, "liars count", "The holds of a liar count until its connection is closed and its entry is cleared.")         \
  X(I23, "descriptor rung", "A descriptor that a reader emptied before it looked is rung for the next publication.")  \
  X(I24, "port closed", "After `remove()` nobody pushes to the port.")                                                \
  X(I25, "worker woken", "The worker sees work that is made ready under the group's lock before the word is exchanged.") \
  X(I26, "cheap wake", "A wake-up of a worker that does not sleep costs no system call.")                             \
  X(I27, "event whole", "An event that an observer accepts is what its thread wrote.")                                \
  X(I28, "overwritten counted", "Every event after an observer's first look is accepted once or counted overwritten once, in order.") \
  X(I29, "one thread a ring", "At most one living thread writes to a ring.")                                          \
  X(I30, "trace ends", "Tracing is on only while an observer that has asked for it is connected.")               \
  X(I31, "sides apart", "No reader is in a side while the writer changes it.")                                        \
  X(I32, "change seen", "A read that begins after a change has returned sees that change.")                           \
  X(I33, "taken once", "A question is taken at most once.") \
  X(I34, "answer private", "An answer reaches only the client that asked.") \
  X(I35, "client of a question", "A server finds the client of a question by the stream from which it was taken.") \
  X(I36, "end told last", "After the end of a session its questions fail, once all answers that were published are taken.") \
  X(I37, "own session", "A server never sees a question of an earlier session.") \
  X(I38, "no late delivery", "A question that is overdue or cancelled when it is taken is not delivered.") \
  X(I39, "nothing untaken overwritten", "No question and no answer is overwritten before it was taken, unless its reader lies.")
// clang-format on
