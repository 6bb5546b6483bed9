// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dds/dds.h>

#include <string>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::bridge::dds {

/// Owns one of Cyclone's entities. Thread safety: as unique_ptr. The destructor waits until no listener runs.
class Entity {
 public:
  Entity() noexcept = default;
  explicit Entity(dds_entity_t handle) noexcept : handle_(handle) {}
  Entity(Entity&& other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
  Entity& operator=(Entity&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, 0);
    }
    return *this;
  }
  Entity(const Entity&) = delete;
  Entity& operator=(const Entity&) = delete;
  ~Entity() { reset(); }

  void reset() noexcept {
    if (handle_ > 0) (void)::dds_delete(handle_);
    handle_ = 0;
  }
  [[nodiscard]] dds_entity_t get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ > 0; }

 private:
  dds_entity_t handle_ = 0;
};

/// Throws Error (System) for one of Cyclone's error codes; otherwise returns it.
template <class Code>
Code checked(Code code, const std::string& what) {
  if (code < 0)
    throw Error(ErrorCode::System, "Cyclone DDS: cannot " + what + ": " + ::dds_strretcode(-code),
                "look at what it prints with CYCLONEDDS_URI='<Tracing><Verbosity>config</Verbosity></Tracing>'");
  return code;
}

}  // namespace cardan::bridge::dds
