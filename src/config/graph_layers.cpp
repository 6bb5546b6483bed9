// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "src/config/graph_layout.hpp"

namespace cardan::config {
namespace {

/// Depth first; an arrow to where the search still is closes a cycle. Without recursion, because a file may have a long
/// chain.
class Search {
 public:
  explicit Search(const Graph& graph) : next_(graph.components.size()), state_(graph.components.size()) {
    std::vector<bool> is_read_from(graph.components.size());
    for (const Graph::Topic& topic : graph.topics)
      for (const std::size_t writer : topic.writers)
        for (const std::size_t reader : topic.readers) {
          next_[writer].insert(reader);
          if (writer != reader) is_read_from[reader] = true;
        }
    // From the sources first, so that the arrows that lead back are the ones that people would call so.
    for (const bool with_inputs : {false, true})
      for (std::size_t c = 0; c < next_.size(); ++c)
        if (is_read_from[c] == with_inputs && state_[c] == State::New) visit(c);
    std::reverse(done_.begin(), done_.end());
  }

  std::vector<std::size_t> layers(std::vector<std::pair<std::size_t, std::size_t>>& back) const {
    std::vector<std::size_t> layer(next_.size());
    for (const std::size_t writer : done_)
      for (const std::size_t reader : next_[writer])
        if (!back_.contains({writer, reader})) layer[reader] = std::max(layer[reader], layer[writer] + 1);
    back.assign(back_.begin(), back_.end());
    return layer;
  }

 private:
  enum class State : std::uint8_t { New, Open, Done };

  void visit(std::size_t start) {
    std::vector<std::pair<std::size_t, std::set<std::size_t>::const_iterator>> path;
    const auto open = [&](std::size_t c) {
      state_[c] = State::Open;
      path.emplace_back(c, next_[c].begin());
    };
    open(start);
    while (!path.empty()) {
      auto& [c, at] = path.back();
      if (at == next_[c].end()) {
        state_[c] = State::Done;
        done_.push_back(c);
        path.pop_back();
        continue;
      }
      const std::size_t reader = *at++;
      if (state_[reader] == State::Open)
        back_.insert({c, reader});
      else if (state_[reader] == State::New)
        open(reader);
    }
  }

  std::vector<std::set<std::size_t>> next_;
  std::vector<State> state_;
  std::vector<std::size_t> done_;  ///< each before all that it leads to
  std::set<std::pair<std::size_t, std::size_t>> back_;
};

}  // namespace

std::vector<std::size_t> layers(const Graph& graph, std::vector<std::pair<std::size_t, std::size_t>>& back) {
  return Search(graph).layers(back);
}

}  // namespace cardan::config
