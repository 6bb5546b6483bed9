// SPDX-License-Identifier: Apache-2.0
// A definition is made smaller before libprotobuf builds it: options, services, extensions and defaults are left out,
// for messages are read without them; and what costs libprotobuf more than the definition's bytes is bounded.
#include "apps/protobuf/definition.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "apps/protobuf/protobuf.hpp"

namespace cardan::apps {
namespace {

namespace pb = google::protobuf;

constexpr std::size_t kLongestName = 255;
constexpr int kMostNesting = 32;  // of definitions in definitions

/// The reduced definitions of a type's files, and their number.
class Reduction {
 public:
  [[nodiscard]] std::size_t declarations() const { return declarations_; }

  void reduce(pb::FileDescriptorProto& file) {
    if (file.package().size() > kLongestName) refuse_name();
    // Editions have the form of proto2 on the wire, but for groups, which are read wherever a message is expected.
    if (file.syntax() == "editions") file.set_syntax("proto2");
    file.clear_options();
    file.clear_service();
    file.clear_extension();
    file.clear_source_code_info();
    file.clear_weak_dependency();
    for (pb::DescriptorProto& message : *file.mutable_message_type()) reduce(message, file.package().size(), 1);
    for (pb::EnumDescriptorProto& one : *file.mutable_enum_type()) reduce(one, file.package().size());
  }

 private:
  [[noreturn]] static void refuse_name() {
    throw ProtobufRefusal(fmt::format("a name in its definition is longer than {} bytes", kLongestName));
  }

  /// libprotobuf keeps the full name of each declaration.
  void declare(const std::string& name, std::size_t scope_bytes) {
    if (name.size() > kLongestName) refuse_name();
    name_bytes_ += scope_bytes + name.size() + 1;
    if (++declarations_ > kMostProtobufDeclarations)
      throw ProtobufRefusal(fmt::format("its definition has more than {} declarations", kMostProtobufDeclarations));
    if (name_bytes_ > kMostProtobufNameBytes)
      throw ProtobufRefusal(fmt::format("the names in its definition have more than {} bytes", kMostProtobufNameBytes));
  }

  void reduce(pb::DescriptorProto& message, std::size_t scope_bytes, int depth) {
    if (depth > kMostNesting)
      throw ProtobufRefusal(fmt::format("its definition is nested deeper than {}", kMostNesting));
    if (static_cast<std::size_t>(message.field_size()) > kMostProtobufFields)
      throw ProtobufRefusal(fmt::format("a message in its definition has more than {} fields", kMostProtobufFields));
    declare(message.name(), scope_bytes);
    const std::size_t inside = scope_bytes + message.name().size() + 1;
    message.clear_options();  // of a map's entries too: it is a list of them
    message.clear_extension();
    message.clear_extension_range();
    message.clear_reserved_range();
    message.clear_reserved_name();
    for (pb::FieldDescriptorProto& field : *message.mutable_field()) {
      declare(field.name(), inside);
      if (field.json_name().size() > kLongestName || field.type_name().size() > kMostNesting * kLongestName)
        refuse_name();
      field.clear_options();
      field.clear_default_value();
    }
    for (pb::OneofDescriptorProto& oneof : *message.mutable_oneof_decl()) {
      declare(oneof.name(), inside);
      oneof.clear_options();
    }
    for (pb::EnumDescriptorProto& one : *message.mutable_enum_type()) reduce(one, inside);
    for (pb::DescriptorProto& nested : *message.mutable_nested_type()) reduce(nested, inside, depth + 1);
  }

  void reduce(pb::EnumDescriptorProto& one, std::size_t scope_bytes) {
    declare(one.name(), scope_bytes);
    const bool aliases = one.options().allow_alias();
    one.clear_options();
    if (aliases) one.mutable_options()->set_allow_alias(true);
    one.clear_reserved_range();
    one.clear_reserved_name();
    for (pb::EnumValueDescriptorProto& value : *one.mutable_value()) {
      declare(value.name(), scope_bytes);  // a value's name belongs to what surrounds its enum
      value.clear_options();
    }
  }

  std::size_t declarations_ = 0, name_bytes_ = 0;
};

/// Whether a message of that name is among these, or in one of them.
bool defines(const pb::RepeatedPtrField<pb::DescriptorProto>& messages, std::string_view name) {
  for (const pb::DescriptorProto& message : messages) {
    const std::string_view own = message.name();
    if (!name.starts_with(own)) continue;
    if (name.size() == own.size()) return true;
    if (name[own.size()] == '.' && defines(message.nested_type(), name.substr(own.size() + 1))) return true;
  }
  return false;
}

bool defines(const pb::FileDescriptorProto& file, std::string_view name) {
  const std::string_view package = file.package();
  if (package.empty()) return defines(file.message_type(), name);
  return name.starts_with(package) && name.size() > package.size() && name[package.size()] == '.' &&
         defines(file.message_type(), name.substr(package.size() + 1));
}

/// The first complaint of libprotobuf, which would print each.
class Complaints final : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string&, const std::string& element, const pb::Message*, ErrorLocation,
                const std::string& text) override {
    if (!first_.empty()) return;
    first_ = (element.empty() ? std::string() : element.substr(0, kLongestName) + ": ") + text.substr(0, kLongestName);
  }
  void AddWarning(const std::string&, const std::string&, const pb::Message*, ErrorLocation,
                  const std::string&) override {}
  [[nodiscard]] const std::string& first() const { return first_; }

 private:
  std::string first_;
};

/// The files that a type needs, each after those that it imports; the files of a set may have any order.
class NeededFiles {
 public:
  explicit NeededFiles(pb::FileDescriptorSet& set) {
    for (pb::FileDescriptorProto& file : *set.mutable_file()) files_.try_emplace(file.name(), File{&file});
  }

  void add(const std::string& name, const std::string& needed_by) {
    const auto found = files_.find(name);
    if (found == files_.end())
      throw ProtobufRefusal(fmt::format("its definition lacks the file '{}', which '{}' imports",
                                        name.substr(0, kLongestName), needed_by.substr(0, kLongestName)));
    File& file = found->second;
    if (file.state == State::Done) return;
    if (file.state == State::Open)
      throw ProtobufRefusal(
          fmt::format("the file '{}' of its definition imports itself", name.substr(0, kLongestName)));
    file.state = State::Open;
    if (++count_ > kMostProtobufFiles) refuse_count();
    if (static_cast<std::size_t>(file.content->dependency_size()) > kMostProtobufFiles) refuse_count();
    for (const std::string& imported : file.content->dependency()) add(imported, name);
    file.state = State::Done;
    in_order_.push_back(file.content);
  }

  [[nodiscard]] const std::vector<pb::FileDescriptorProto*>& in_order() const { return in_order_; }

 private:
  [[noreturn]] static void refuse_count() {
    throw ProtobufRefusal(fmt::format("its definition needs more than {} files", kMostProtobufFiles));
  }

  enum class State : std::uint8_t { New, Open, Done };
  struct File {
    pb::FileDescriptorProto* content;
    State state = State::New;
  };
  std::map<std::string_view, File> files_;
  std::vector<pb::FileDescriptorProto*> in_order_;
  std::size_t count_ = 0;
};

}  // namespace

std::atomic<std::size_t> DeclarationShare::all{0};

void DeclarationShare::take(std::size_t declarations) {
  mine_ = declarations;
  if (all.fetch_add(declarations) + declarations > kMostProtobufOfAll)
    throw ProtobufRefusal(
        fmt::format("the definitions of all types have more than {} declarations together", kMostProtobufOfAll));
}

ProtobufDefinition::ProtobufDefinition(std::string_view name, std::span<const std::byte> definition) {
  if (definition.size() > kMostProtobufBytes)
    throw ProtobufRefusal(fmt::format("its definition has more than {} bytes", kMostProtobufBytes));
  pb::FileDescriptorSet set;
  if (!set.ParsePartialFromArray(definition.data(), static_cast<int>(definition.size())))
    throw ProtobufRefusal("its definition is not a FileDescriptorSet of Protobuf");
  const auto home = std::find_if(set.file().begin(), set.file().end(),
                                 [name](const pb::FileDescriptorProto& file) { return defines(file, name); });
  if (home == set.file().end()) throw ProtobufRefusal("its definition does not contain it");
  NeededFiles files(set);
  files.add(home->name(), {});
  Reduction reduction;
  for (pb::FileDescriptorProto* file : files.in_order()) reduction.reduce(*file);
  share_.take(reduction.declarations());
  for (const pb::FileDescriptorProto* file : files.in_order()) {
    Complaints complaints;
    if (pool_.BuildFileCollectingErrors(*file, &complaints) == nullptr)
      throw ProtobufRefusal("its definition is malformed: " + complaints.first());
  }
  type_ = pool_.FindMessageTypeByName(std::string(name));
  if (type_ == nullptr) throw ProtobufRefusal("its definition has two files of one name");
}

}  // namespace cardan::apps
