// SPDX-License-Identifier: Apache-2.0
// Changes of a configuration by the command line and the environment: the launcher and the hosts that it starts each
// apply the same.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cardan/configuration.hpp"
#include "cardan/log.hpp"

namespace cardan::plan {

/// All components in one process, where samples move between them as pointers. Every executor group stays a pool of its
/// own ("PROCESS.GROUP"), so that as much runs at once as before. The process is called "all", takes the restart rule
/// of the file's first one and all environments (of two values for one variable the last in the file), and may use as
/// much memory as all together. Bridges, recorders and programs stay separate processes. Transitions that name a
/// process mean the one that is left. Any thread; does not block.
[[nodiscard]] config::Configuration one_process(config::Configuration configuration);

/// Gives topics other names on the bus, each pair "/name:=/other" at once with the others: in what components read and
/// write, in the file's settings of topics (those of the new name hold if it has some), in its conditions and its
/// chains and recorders. Throws Error (InvalidArgument): a pair is wrong, two name the same topic, or a chain would
/// begin where it ends. Any thread; does not block.
void remap_topics(config::Configuration& configuration, const std::vector<std::string>& pairs);

/// The domain that a file gives; "": it leaves that to $CARDAN_DOMAIN. Any thread; does not block.
[[nodiscard]] std::string domain_of(const config::Configuration& configuration);

/// Applies "component/parameter=value", value being true, false, a number, or else a text (in double quotes: a text in
/// any case). Throws Error (InvalidArgument) naming what is wrong; whether the component has such a parameter only its
/// code can say. `option`: of the command line, which a problem of the value names. Any thread; does not block.
void set_parameter(config::Configuration& configuration, std::string_view assignment,
                   std::string_view option = "--set");

/// "info", "warning", "error". Throws Error (InvalidArgument). Any thread; does not block.
[[nodiscard]] LogLevel log_level_of(std::string_view name);

/// Applies "LEVEL", for all components that have no other, or "component=LEVEL" to `levels`, which is as
/// RuntimeOptions::log_levels. Throws Error (InvalidArgument). Any thread; does not block.
void set_log_level(const config::Configuration& configuration, std::string_view assignment,
                   std::map<std::string, LogLevel>& levels);

/// The part of a parameter's present value that set_parameter() applies. Any thread; does not block.
[[nodiscard]] std::string assignment_of(const std::string& component, const std::string& parameter,
                                        const config::Value& value);

}  // namespace cardan::plan
