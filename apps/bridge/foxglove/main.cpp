// SPDX-License-Identifier: Apache-2.0
// The program cardan-bridge-foxglove, which `cardan bridge foxglove` and `cardan view` become.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/bridge/bridge_program.hpp"
#include "apps/bridge/foxglove/open_page.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#ifdef CARDAN_HAS_RECORD_COMMANDS
#include "apps/bag/max_chunk.hpp"
#include "apps/play/recording_playback.hpp"
#endif
#include "src/bridge/foxglove/foxglove_bridge.hpp"

namespace cardan::apps {
namespace {

struct FoxgloveOptions {
  std::string address;
  int port = -1;
  std::uint32_t max_clients = 0;
  std::vector<std::string> origins, hosts, more, recordings;
  bool set_parameters = false, call_services = false;
  bool view = false;  ///< it is `cardan view`
  bool open = false;  ///< the page, in this user's browser
};

constexpr const char* kBridgeExamples = R"(Examples:
  cardan bridge foxglove                              then open ws://127.0.0.1:8765 in Foxglove or Lichtblick
  cardan bridge foxglove --rate 10 --topic '/camera/*'
  cardan bridge foxglove --in /cmd_vel                clients may publish /cmd_vel
  cardan bridge foxglove --origin https://app.foxglove.dev
  ssh -L 8765:127.0.0.1:8765 vehicle                  from another computer, without opening a port

`cardan view` is the same, with the address of its own page for a browser. Clients of other users and computers do
not get topics of access 'owner', unless --topic or a rule names them in full, or with --owner. A slow client gets the newest messages; it delays nobody.)";

constexpr const char* kViewExamples = R"(Examples:
  cardan view                                         then open http://127.0.0.1:8765 in a browser
  cardan view --open                                  opens it
  cardan view drive.mcap                              a recording, with a timeline; also a folder of files
  cardan view --topic '/camera/*' --rate 10           these topics alone, at most 10 messages a second
  cardan view --set-parameters                        the page may change parameters of components
  cardan view --port 0                                any port that is free, for a second page
  ssh -L 8765:127.0.0.1:8765 vehicle                  from another computer, without opening a port; there: cardan view

The page shows a card for each topic, messages, pictures and point clouds, plots, the system's state, its log and the
graph. Its address keeps what it shows, as a link. Foxglove and Lichtblick connect to the same port.)";

/// Where a browser of this computer finds the page.
std::string page_address(const std::string& address, std::uint16_t port) {
  const std::string host = address == "0.0.0.0" ? "127.0.0.1" : address == "::" ? "::1" : address;
  return host.find(':') == std::string::npos ? fmt::format("http://{}:{}/", host, port)
                                             : fmt::format("http://[{}]:{}/", host, port);
}

std::string network_of(const bridge::Rules& rules) {
  return rules.network.empty() ? fmt::format("foxglove:{}", rules.foxglove.port) : rules.network;
}

/// By its name: whatever else is there is told when it is opened.
bool is_recording(const std::string& path) {
  std::error_code ignored;
  for (const char* const ending : {".mcap", ".mcap.active", ".mcap.zstd", ".bag", ".db3", ".db3.zstd"})
    if (path.ends_with(ending)) return true;
  return std::filesystem::is_directory(path, ignored);
}

/// The words that name recordings, and the one with rules.
void sort_files(FoxgloveOptions& o, BridgeOptions& options) {
  std::vector<std::string> words{std::exchange(options.file, {})};
  words.insert(words.end(), o.more.begin(), o.more.end());
  for (std::string& word : words) {
    if (word.empty()) continue;
    if (!is_recording(word)) {
      if (!options.file.empty())
        throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' and '{}' are two files of rules", options.file, word),
                    "name one; a recording's name ends with .mcap, or is a folder's");
      options.file = std::move(word);
      continue;
    }
    if (word.ends_with(".bag") || word.ends_with(".db3") || word.ends_with(".db3.zstd"))
      throw Error(ErrorCode::InvalidArgument, word + " is not an MCAP file",
                  fmt::format("convert it first: cardan bag convert {} -o drive.mcap", word));
    o.recordings.push_back(std::move(word));
  }
}

std::unique_ptr<bridge::foxglove::Playback> playback_of(const FoxgloveOptions& o, const bridge::Rules& rules) {
  if (o.recordings.empty()) return nullptr;
#ifdef CARDAN_HAS_RECORD_COMMANDS
  return open_recording(o.recordings, rules.domain);
#else
  (void)rules;
  throw Error(ErrorCode::Unavailable, "this build opens no recordings",
              "install what the recorder needs and build again (scripts/setup.sh)");
#endif
}

BridgeProgram foxglove_program(FoxgloveOptions& o) {
  return {
      .name = "foxglove",
      .description = o.view ? "Show topics, images, plots, the system and the graph in a browser"
                            : "Show topics in Foxglove, Lichtblick and a browser",
      .examples = o.view ? kViewExamples : kBridgeExamples,
      .add =
          [&o](CLI::App& app) {
            app.add_option("--address", o.address, "Address to listen on (default: 127.0.0.1, this computer alone)");
            app.add_option("--port", o.port,
                           fmt::format("Port to listen on (default: {}); 0: any that is free", bridge::kFoxglovePort))
                ->check(CLI::Range(0, 65535));
            app.add_option("--max-clients", o.max_clients, "Clients at once (default: 16)")->check(CLI::Range(1, 256));
            app.add_option("--origin", o.origins,
                           "Let pages of this origin connect, as https://app.foxglove.dev; *: all");
            app.add_option(
                "--host", o.hosts,
                "Let browsers ask for the page under this name, as vehicle.local (default: localhost and the "
                "address alone)");
            app.add_flag("--set-parameters", o.set_parameters, "Clients may set parameters of components");
            app.add_flag("--call-services", o.call_services, "Clients may call services");
            app.add_option("recordings", o.more,
                           "Recordings to show instead of what runs, as drive.mcap, or folders; several are one");
#ifdef CARDAN_HAS_RECORD_COMMANDS
            add_max_chunk(&app);
#endif
            if (o.view) app.add_flag("--open", o.open, "Open the page in this user's browser");
          },
      .prepare = [&o](BridgeOptions& options) { sort_files(o, options); },
      .make =
          [&o](bridge::Rules& rules) {
            if (!o.address.empty()) rules.foxglove.address = o.address;
            if (o.port >= 0) rules.foxglove.port = o.port;
            if (o.max_clients != 0) rules.foxglove.max_clients = o.max_clients;
            if (o.set_parameters) rules.foxglove.set_parameters = true;
            if (o.call_services) rules.foxglove.call_services = true;
            rules.foxglove.origins.insert(rules.foxglove.origins.end(), o.origins.begin(), o.origins.end());
            rules.foxglove.hosts.insert(rules.foxglove.hosts.end(), o.hosts.begin(), o.hosts.end());
            auto made = std::make_unique<bridge::foxglove::FoxgloveBridge>(rules, network_of(rules), o.view,
                                                                           playback_of(o, rules));
            if (o.open) {
              const std::string address = page_address(rules.foxglove.address, made->port());
              if (const std::string why = open_in_browser(address); !why.empty())
                warn(fmt::format("--open: {} — open {} yourself", why, address));
            }
            return made;
          },
      .network = network_of};
}

}  // namespace
}  // namespace cardan::apps

int main(int argc, char** argv) {
  cardan::apps::FoxgloveOptions options;
  options.view = argc > 0 && std::string_view(argv[0]) == "cardan view";
  return cardan::apps::bridge_main(cardan::apps::foxglove_program(options), argc, argv);
}
