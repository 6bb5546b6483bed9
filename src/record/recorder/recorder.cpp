// SPDX-License-Identifier: Apache-2.0
#include "cardan/recorder.hpp"

#include <utility>

#include "src/record/recorder/implementation.hpp"

namespace cardan::record {

Recorder::Recorder(RecorderOptions options) : implementation_(std::make_unique<Implementation>(std::move(options))) {}
Recorder::~Recorder() = default;
void Recorder::stop() { implementation_->stop(); }
void Recorder::pause(bool paused) { implementation_->pause(paused); }
bool Recorder::paused() const noexcept { return implementation_->paused(); }
void Recorder::split() { implementation_->split(); }
void Recorder::trigger() { implementation_->trigger(); }
bool Recorder::ended() const noexcept { return implementation_->ended(); }
RecorderReport Recorder::report() const { return implementation_->report(); }

}  // namespace cardan::record
