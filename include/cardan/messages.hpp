// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// All standard messages. The adaptors that need other libraries (eigen.hpp, pcl.hpp) are not included.
#include "cardan/cdr.hpp"
#include "cardan/image.hpp"
#include "cardan/local_message.hpp"
#include "cardan/messages/clock.hpp"
#include "cardan/messages/cycle_hint.hpp"
#include "cardan/messages/detections.hpp"
#include "cardan/messages/geometry.hpp"
#include "cardan/messages/header.hpp"
#include "cardan/messages/recorder_statistics.hpp"
#include "cardan/messages/sensors.hpp"
#include "cardan/messages/transforms.hpp"
#include "cardan/point_cloud.hpp"
