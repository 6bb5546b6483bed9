// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Everything a program that publishes or subscribes needs. The adaptors that need other libraries are separate headers
/// in cardan/messages.
#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/base/log.hpp"
#include "cardan/base/realtime.hpp"
#include "cardan/messages/messages.hpp"
#include "cardan/runtime/cycle.hpp"
#include "cardan/transport/observer.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/stop.hpp"
#include "cardan/transport/subscriber.hpp"
#include "cardan/transport/topic.hpp"
#include "cardan/transport/wait_any.hpp"
