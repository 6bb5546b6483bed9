// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "src/runtime/runtime.hpp"
#include "src/transport/endpoint/chain_role.hpp"

namespace cardan {

std::uint32_t Runtime::chain_beginning(const std::string& topic) const noexcept {
  const auto begins = [&](const config::Chain& chain) { return chain.from == topic; };
  return std::any_of(options_.chains.begin(), options_.chains.end(), begins) ? detail::ChainRole::key(topic) : 0;
}

std::vector<std::string> Runtime::hops() const {
  std::vector<std::string> all = options_.hops;
  for (const auto& core : components_)
    if (std::find(all.begin(), all.end(), core->name()) == all.end()) all.push_back(core->name());
  return all;
}

}  // namespace cardan
