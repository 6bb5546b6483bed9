// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/options.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"

namespace cardan::bench::perception {
namespace {

std::string refusal_of(const PipelineArguments& arguments) {
  try {
    static_cast<void>(parse_pipeline(arguments, {0, 1}));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
    EXPECT_FALSE(e.remedy().empty());
    return e.cause();
  }
  return {};
}

TEST(PipelineOptions, UsuallyMeasureEachPeerWithAllLinks) {
  const PipelineOptions options = parse_pipeline({.peers = "raw,cardan"}, {0, 1});
  ASSERT_EQ(options.mixes.size(), 2U);
  for (const Mix& mix : options.mixes) {
    for (const Contender& link : mix.links) EXPECT_EQ(link, mix.contender);
    EXPECT_EQ(mix.setup(), "block");
  }
  EXPECT_EQ(options.frames, 60U);
  EXPECT_EQ(options.warmup, 6U);
  EXPECT_EQ(options.runs, 3U);
  EXPECT_DOUBLE_EQ(options.rate_hz, 5);
  EXPECT_EQ(parse_pipeline({.quick = true}, {0, 1}).runs, 1U);
}

TEST(PipelineOptions, EachLinkCanBeMadeByAnotherPeer) {
  const PipelineOptions options = parse_pipeline({.peers = "uds", .links = "results=cardan,targets=sim"}, {0, 1});
  ASSERT_EQ(options.mixes.size(), 1U);
  const Mix& mix = options.mixes.front();
  EXPECT_EQ(mix.link(Link::Pictures), (Contender{Peer{"uds"}, Wait::Block}));
  EXPECT_EQ(mix.link(Link::Results), (Contender{kCardan, Wait::Block}));
  EXPECT_EQ(mix.link(Link::Targets), (Contender{Peer{"sim"}, Wait::Poll})) << "as it waits";
  EXPECT_EQ(mix.setup(), "block results=cardan,targets=sim");
}

TEST(PipelineOptions, ImpossibleOptionsAreReported) {
  EXPECT_NE(refusal_of({.peers = "nobody"}).find("nobody"), std::string::npos);
  EXPECT_NE(refusal_of({.links = "results"}).find("results"), std::string::npos);
  EXPECT_NE(refusal_of({.links = "sounds=raw"}).find("sounds"), std::string::npos);
  EXPECT_NE(refusal_of({.links = "results=nobody"}).find("nobody"), std::string::npos);
  EXPECT_NE(refusal_of({.links = "results=raw,results=uds"}).find("twice"), std::string::npos);
  EXPECT_NE(refusal_of({.rate_hz = 0.1}).find("--rate"), std::string::npos);
  EXPECT_NE(refusal_of({.rate_hz = -5}).find("--rate"), std::string::npos);
  EXPECT_NE(refusal_of({.runs = 1000}).find("--runs"), std::string::npos);
  EXPECT_NE(refusal_of({.frames = 3}).find("--frames"), std::string::npos);
  EXPECT_NE(refusal_of({.inputs = {.threads = -1}}).find("--threads"), std::string::npos);
}

TEST(PipelineGraph, KnowsItsLinks) {
  const Chain& chain = camera_chain();
  EXPECT_EQ(chain.find_link("targets"), 2U);
  EXPECT_FALSE(chain.find_link("sounds"));
  EXPECT_EQ(chain.input_of(role_of(Stage::Tracker))->link, 0U) << "the pictures, and not the targets";
  EXPECT_EQ(chain.input_of(role_of(Stage::Tracker))->place, place_of(Stage::Tracker));
  EXPECT_EQ(chain.output_of(role_of(Stage::Detector))->link, 1U);
  EXPECT_FALSE(chain.input_of(role_of(Stage::Camera)));
  EXPECT_FALSE(chain.output_of(role_of(Stage::Fusion)));
  EXPECT_FALSE(chain.has_one_input(role_of(Stage::Fusion)));
  for (std::uint32_t role = 1; role < lidar_chain().stages.size(); ++role)
    EXPECT_TRUE(lidar_chain().has_one_input(role)) << role;
}

}  // namespace
}  // namespace cardan::bench::perception
