// SPDX-License-Identifier: Apache-2.0
#include "apps/protobuf/protobuf.hpp"

#include "apps/become.hpp"
#include "cardan/error.hpp"

namespace cardan::apps {
namespace {

const ProtobufLibrary& loaded_protobuf() {
  void* const function = function_of_part("libcardan_protobuf.so", "cardan_protobuf_library",
                                          {.cause = "Protobuf messages need libprotobuf",
                                           .installed = "libprotobuf",
                                           .packages = "libprotobuf-dev",
                                           .otherwise = ""});
  return *reinterpret_cast<decltype(cardan_protobuf_library)*>(function)();
}

}  // namespace

std::unique_ptr<const ProtobufType> protobuf_type(std::string_view name, std::span<const std::byte> definition,
                                                  std::string& why) {
  try {
    static const ProtobufLibrary& library = loaded_protobuf();
    return library.type(name, definition, why);
  } catch (const Error& e) {
    why = e.what();
    return nullptr;
  }
}

}  // namespace cardan::apps
