// SPDX-License-Identifier: Apache-2.0
#include "cardan/protobuf.hpp"

#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include "cardan/simulation.hpp"

namespace {

using cardan::Context;
using cardan::Sample;
using google::protobuf::Struct;

constexpr cardan::Topic<Struct> kTopic{"/struct", {.depth = 4}};

TEST(Protobuf, RoundTripAndTypeName) {
  Struct sent;
  (*sent.mutable_fields())["speed"].set_number_value(12.5);
  std::vector<std::byte> bytes;
  ASSERT_TRUE(cardan::codec<Struct>::encode(sent, bytes));
  Struct got;
  ASSERT_TRUE(cardan::codec<Struct>::decode(bytes, got));
  EXPECT_EQ(got.fields().at("speed").number_value(), 12.5);
  EXPECT_EQ(cardan::codec<Struct>::type_name(), "google.protobuf.Struct");
  bytes.resize(bytes.size() - 1);
  EXPECT_FALSE(cardan::codec<Struct>::decode(bytes, got)) << "cut";
}

TEST(Protobuf, TheSchemaHoldsAllThatIsNeededToRead) {
  google::protobuf::FileDescriptorSet files;
  ASSERT_TRUE(files.ParseFromString(cardan::codec<Struct>::schema()));
  ASSERT_EQ(files.file_size(), 1);
  EXPECT_EQ(files.file(0).name(), "google/protobuf/struct.proto");
  google::protobuf::DescriptorPool pool;
  ASSERT_NE(pool.BuildFile(files.file(0)), nullptr);
  EXPECT_NE(pool.FindMessageTypeByName("google.protobuf.Struct"), nullptr);
}

TEST(Protobuf, PassesAsAPointer) {
  struct Maker : cardan::Component {
    void on_start(Context& context) override { out = context.output(kTopic); }
    cardan::Output<Struct> out;
  };
  struct Reader : cardan::Component {
    void on_start(Context& context) override {
      context.input(kTopic, [this](const Sample<Struct>& s) { seen = s.get(); });
    }
    const Struct* seen = nullptr;
  };
  cardan::Simulation simulation;
  auto& maker = simulation.add<Maker>("maker");
  const auto& reader = simulation.add<Reader>("reader");
  simulation.start();
  const auto object = std::make_shared<const Struct>();
  maker.out.publish(object);
  simulation.run();
  EXPECT_EQ(reader.seen, object.get());
}

}  // namespace
