// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cardan/any_type.hpp"
#include "cardan/detail/declaring.hpp"
#include "cardan/fusion_policy.hpp"
#include "cardan/topic.hpp"
#include "python/src/held.hpp"

namespace cardan::python {

/// An input of a fusion.
struct FusedTopic {
  std::string topic;
  std::shared_ptr<AnyType> type;
  Held cls;
  TopicOptions options;
};

/// As Context::fuse(): `callback` is called with one message of each topic, None for one that the set does without.
/// `keeps`: sets that the component keeps beyond what waits in the fusion. Throws Error.
void fuse(detail::ComponentCore& core, const FusionPolicy& policy, const FuseOptions& options,
          const std::vector<FusedTopic>& topics, std::uint32_t keeps, Held callback);

/// `FusionPolicy`: what primary(), approximate() and exact() of Python make.
void bind_fusion(nanobind::module_& m);

}  // namespace cardan::python
