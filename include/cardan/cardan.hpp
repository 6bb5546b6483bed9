// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Everything a program that publishes or subscribes needs. The adaptors that need other libraries are separate headers
/// in src/messages.
#include "cardan/clock.hpp"
#include "cardan/cycle.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/messages.hpp"
#include "cardan/observer.hpp"
#include "cardan/publisher.hpp"
#include "cardan/realtime.hpp"
#include "cardan/stop.hpp"
#include "cardan/subscriber.hpp"
#include "cardan/topic.hpp"
#include "cardan/wait_any.hpp"
