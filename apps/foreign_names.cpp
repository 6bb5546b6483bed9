// SPDX-License-Identifier: Apache-2.0
#include "apps/foreign_names.hpp"

#include <algorithm>
#include <array>

namespace cardan::apps {
namespace {

struct ForeignName {
  std::string_view group;
  std::string_view words;  ///< each between spaces
  std::string_view answer;
};

// The test `command_names` reads this table, and tries each command in it.
constexpr auto kForeignNames = std::to_array<ForeignName>({
    {"", " node nodes ",
     "Cardan's nodes are components: `cardan component list`, and `cardan top` for their processes"},
    {"", " ps processes ", "`cardan top --once` lists the processes"},
    {"", " services srv rosservice ", "`cardan service list`"},
    {"", " call ", "`cardan service call`"},
    {"", " action actions ",
     "Cardan has topics, services and parameters: `cardan service call` asks, `cardan topic pub` sends a message"},
    {"", " interface interfaces msg msgs type types rosmsg ", "`cardan message show` prints a type's fields"},
    {"", " topics rostopic ", "`cardan topic list`"},
    {"", " list ", "`cardan topic list`, `cardan component list`, or for a file `cardan bag info`"},
    {"", " echo ", "`cardan topic echo`"},
    {"", " pub publish ", "`cardan topic pub`"},
    {"", " hz bw stats delay ", "`cardan topic stats`"},
    {"", " launch start roslaunch rosrun ", "`cardan run`"},
    {"", " stop kill shutdown ", "`cardan run --stop`"},
    {"", " restart ", "`cardan component restart`, or `cardan run --restart` for a process"},
    {"", " lifecycle control ",
     "`cardan component list` shows states; `cardan run --stop` and `--restart` change them"},
    {"", " tf2 transform transforms frames view_frames tf_tree tf_monitor ",
     "`cardan tf tree` shows the frames, `cardan tf check` what is wrong with them"},
    {"", " tf_echo tf2_echo ", "`cardan tf echo`"},
    {"", " params rosparam dynparam ", "`cardan param list`"},
    {"", " pkg package create colcon catkin ", "`cardan new project`"},
    {"", " wtf roswtf daemon multicast security ",
     "Cardan has no daemon to look after; `cardan doctor` looks at the rest"},
    {"", " rqt rviz rviz2 plot studio foxglove ui gui ", "`cardan view`"},
    {"", " rosbag rosbag2 mcap info ", "`cardan bag info`"},
    {"", " ls cat verify du cut merge recover export convert attachment metadata add get ",
     "it is one of `cardan bag`: see `cardan bag --help`"},
    {"", " sort ", "`cardan bag merge` writes a file's messages by time"},
    {"", " reindex repair fix ", "`cardan bag recover`"},
    {"", " filter ", "`cardan bag cut`"},
    {"", " compress decompress ", "`cardan bag cut --compression`"},
    {"", " version ", "`cardan --version`"},
    {"bag", " record ", "`cardan record`"},
    {"bag", " play burst ", "`cardan play`"},
    {"bag", " reindex repair fix ", "`cardan bag recover`"},
    {"bag", " doctor check validate ", "`cardan bag verify`"},
    {"bag", " sort ", "`cardan bag merge` writes a file's messages by time"},
    {"bag", " filter split ", "`cardan bag cut`"},
    {"bag", " compress decompress ", "`cardan bag cut --compression`"},
    {"bag", " list channels schemas chunks topics stats ", "`cardan bag info`, or `cardan bag ls` for messages"},
    {"bag", " echo ", "`cardan bag cat`"},
    {"bag", " add get attachments ", "`cardan bag attachment`, or `cardan bag metadata`"},
    {"bag", " version ", "`cardan --version`"},
    {"topic", " delay rate latency top ", "`cardan topic stats`"},
    {"service", " type find ", "`cardan service list`"},
    {"tf", " list show frames view_frames print ", "`cardan tf tree`"},
    {"tf", " tf2_echo get lookup ", "`cardan tf echo`"},
    {"tf", " monitor verify doctor ", "`cardan tf check`"},
    {"topic", " find ", "`cardan topic list`"},
    {"topic", " publish send ", "`cardan topic pub`"},
    {"topic", " show cat read print ", "`cardan topic echo`"},
    {"topic", " record ", "`cardan record`"},
    {"param", " describe show ", "`cardan param list`"},
    {"param", " dump ", "`cardan param save`"},
    {"param", " load delete ", "`cardan run --parameters` starts with the values of a file"},
    {"component", " info ps top ", "`cardan component stats`"},
    {"component", " types load unload standalone start stop ",
     "a configuration says which components run: `cardan run --apply` changes it while they do"},
    {"message", " package packages find ", "`cardan message list`"},
    {"message", " proto info ", "`cardan message show --template`"},
});

}  // namespace

std::string foreign_name(std::string_view group, std::string_view word) {
  const std::string wanted = " " + std::string(word) + " ";
  const auto found = std::find_if(kForeignNames.begin(), kForeignNames.end(), [&](const ForeignName& name) {
    return name.group == group && name.words.find(wanted) != std::string_view::npos;
  });
  return found == kForeignNames.end() ? std::string() : std::string(found->answer);
}

}  // namespace cardan::apps
