// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "demo/seen.hpp"

namespace cardan::street {

/// The classes of the COCO data set, in the order in which detectors number them.
inline constexpr std::array<std::string_view, 80> kCocoClasses = {
    "person",         "bicycle",    "car",           "motorcycle",    "airplane",     "bus",           "train",
    "truck",          "boat",       "traffic light", "fire hydrant",  "stop sign",    "parking meter", "bench",
    "bird",           "cat",        "dog",           "horse",         "sheep",        "cow",           "elephant",
    "bear",           "zebra",      "giraffe",       "backpack",      "umbrella",     "handbag",       "tie",
    "suitcase",       "frisbee",    "skis",          "snowboard",     "sports ball",  "kite",          "baseball bat",
    "baseball glove", "skateboard", "surfboard",     "tennis racket", "bottle",       "wine glass",    "cup",
    "fork",           "knife",      "spoon",         "bowl",          "banana",       "apple",         "sandwich",
    "orange",         "broccoli",   "carrot",        "hot dog",       "pizza",        "donut",         "cake",
    "chair",          "couch",      "potted plant",  "bed",           "dining table", "toilet",        "tv",
    "laptop",         "mouse",      "remote",        "keyboard",      "cell phone",   "microwave",     "oven",
    "toaster",        "sink",       "refrigerator",  "book",          "clock",        "vase",          "scissors",
    "teddy bear",     "hair drier", "toothbrush"};

/// The meaning of a thing that was seen, for the decision.
enum class SeenKind : std::uint8_t { Person, Vehicle, Other };

[[nodiscard]] constexpr SeenKind kind_of(std::string_view label) noexcept {
  if (label == kPedestrian || label == "person") return SeenKind::Person;
  for (const std::string_view vehicle : {"bicycle", "car", "motorcycle", "bus", "train", "truck"})
    if (label == vehicle) return SeenKind::Vehicle;
  return SeenKind::Other;
}

/// The static text that says the same as `label`, which need not live on; "object" for all others.
[[nodiscard]] constexpr std::string_view static_label(std::string_view label) noexcept {
  if (label == kPedestrian) return kPedestrian;
  for (const std::string_view known : kCocoClasses)
    if (label == known) return known;
  return "object";
}

}  // namespace cardan::street
