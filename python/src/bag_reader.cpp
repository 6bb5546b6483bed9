// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cardan/any_type.hpp"
#include "src/record/player/file_set.hpp"
#include "src/record/player/message_form.hpp"
#include "python/src/errors.hpp"
#include "python/src/in_use.hpp"
#include "python/src/instance.hpp"
#include "python/src/record_module.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

/// The bytes of one message, for Python's buffer protocol.
struct RecordedBytes {
  std::shared_ptr<const void> owner;
  mcap::View data;
};

int get_recorded(PyObject* self, Py_buffer* buffer, int flags) noexcept {
  try {
    buffer->obj = nullptr;  // what a failure leaves
    const auto& bytes = instance<RecordedBytes>(self);
    static constexpr std::byte kNothing{};
    const std::byte* const first = bytes.data.empty() ? &kNothing : bytes.data.data();
    return PyBuffer_FillInfo(buffer, self, const_cast<std::byte*>(first), static_cast<Py_ssize_t>(bytes.data.size()), 1,
                             flags);
  } catch (...) {
    set_python_error();
    return -1;
  }
}

/// Opened files with their channels. Immutable but for the types, which are made when they are asked for.
class BagFiles {
 public:
  BagFiles(const std::vector<std::string>& paths, std::uint64_t most_bytes) {
    const nb::gil_scoped_release others_run;
    try {
      files_ = std::make_unique<record::FileSet>(paths, most_bytes);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::NoMemory, "not enough memory for the contents of " + (paths.empty() ? "" : paths.front()),
                  "lower max_memory, and what needs more is left out");
    }
    for (std::size_t file = 0; file < files_->readers().size(); ++file) {
      const mcap::Summary& summary = files_->readers()[file]->summary();
      for (const auto& [id, channel] : summary.channels()) {
        const auto schema = summary.schemas().find(channel.schema_id);
        index_of_[{file, id}] = channels_.size();
        channels_.push_back({file, &channel, schema == summary.schemas().end() ? nullptr : &schema->second});
      }
    }
  }

  [[nodiscard]] const record::FileSet& files() const noexcept { return *files_; }
  [[nodiscard]] std::size_t size() const noexcept { return channels_.size(); }
  [[nodiscard]] std::optional<std::size_t> index_of(std::size_t file, std::uint16_t channel) const {
    const auto found = index_of_.find({file, channel});
    return found == index_of_.end() ? std::nullopt : std::optional(found->second);
  }

  /// (topic, type, encoding, schema's encoding, metadata, messages or None) of each.
  [[nodiscard]] nb::list channels() const {
    nb::list all;
    for (const Channel& c : channels_) {
      nb::dict metadata;
      for (const auto& [key, value] : c.channel->metadata) metadata[text(key)] = text(value);
      const mcap::Reader& reader = *files_->readers()[c.file];
      const mcap::Statistics& statistics = reader.summary().statistics();
      const auto& counts = statistics.channel_message_counts;
      nb::object count = nb::none();
      if (reader.has_statistics() && (!counts.empty() || statistics.message_count == 0)) {
        const auto found = counts.find(c.channel->id);
        count = nb::int_(found == counts.end() ? 0 : found->second);
      }
      all.append(nb::make_tuple(text(c.channel->topic), text(c.schema == nullptr ? "" : c.schema->name),
                                text(c.channel->message_encoding), text(c.schema == nullptr ? "" : c.schema->encoding),
                                metadata, count));
    }
    return all;
  }

  [[nodiscard]] nb::bytes schema(std::size_t index) const {
    const mcap::Schema* const found = channels_.at(index).schema;
    return found == nullptr ? nb::bytes("", 0) : nb::bytes(found->data.data(), found->data.size());
  }

  /// (the type that its messages are decoded to, or None; why not).
  [[nodiscard]] nb::tuple type(std::size_t index) {
    const Channel& c = channels_.at(index);
    std::string why = "its messages are encoded as " + c.channel->message_encoding;
    const auto form = record::form_of(*c.channel, c.schema, why, effort_);
    if (!form || form->native() == nullptr) return nb::make_tuple(nb::none(), text(why));
    return nb::make_tuple(nb::cast(std::make_shared<AnyType>(*form->native())), text(""));
  }

  /// The same for readers that have a type.
  [[nodiscard]] nb::tuple type_as(std::size_t index, const AnyType& wanted) const {
    const Channel& c = channels_.at(index);
    std::string why;
    const auto form = record::form_for(wanted.message_type(), true, *c.channel, c.schema, why);
    if (!form) return nb::make_tuple(nb::none(), text(why));
    return nb::make_tuple(nb::cast(std::make_shared<AnyType>(*form->native())), text(""));
  }

  /// Log times of the first and the last message of these channels; None: no message.
  [[nodiscard]] nb::object bounds(const std::vector<std::size_t>& indices) const {
    std::optional<std::uint64_t> first, last;
    {
      const nb::gil_scoped_release others_run;
      for (std::size_t file = 0; file < files_->readers().size(); ++file) {
        const auto wanted = [&](const mcap::Channel& channel) {
          const auto index = index_of(file, channel.id);
          return index && std::find(indices.begin(), indices.end(), *index) != indices.end();
        };
        const mcap::Reader& reader = *files_->readers()[file];
        if (const auto one = reader.messages({.wanted = wanted}).next())
          first = std::min(first.value_or(one->message.log_time), one->message.log_time);
        if (const auto one = reader.messages({.wanted = wanted, .order = mcap::Order::ReverseLogTime}).next())
          last = std::max(last.value_or(one->message.log_time), one->message.log_time);
      }
    }
    if (!first || !last) return nb::none();
    return nb::make_tuple(*first, *last);
  }

  /// Why files are read only as far as they go: (path, byte, cause).
  [[nodiscard]] nb::list unfinished() const {
    nb::list all;
    for (const auto& reader : files_->readers())
      if (!reader->complete())
        all.append(nb::make_tuple(text(reader->file().path()), reader->finish().valid, text(reader->finish().cause)));
    return all;
  }

  [[nodiscard]] nb::list metadata() const {
    nb::list all;
    for (const auto& reader : files_->readers())
      for (const mcap::MetadataIndex& index : reader->summary().metadata())
        if (const auto found = reader->metadata(index)) {
          nb::dict fields;
          for (const auto& [key, value] : found->metadata) fields[text(key)] = text(value);
          all.append(nb::make_tuple(text(found->name), fields));
        }
    return all;
  }

  /// Files may hold any bytes.
  static nb::object text(const std::string& from) {
    nb::object made =
        nb::steal(PyUnicode_DecodeUTF8(from.data(), static_cast<Py_ssize_t>(from.size()), "backslashreplace"));
    if (!made.is_valid()) throw_python();
    return made;
  }

 private:
  struct Channel {
    std::size_t file;
    const mcap::Channel* channel;
    const mcap::Schema* schema;
  };
  std::unique_ptr<record::FileSet> files_;
  std::vector<Channel> channels_;
  std::map<std::pair<std::size_t, std::uint16_t>, std::size_t> index_of_;
  std::int64_t effort_ = 0;
};

/// The messages of some channels in the order of their times.
class BagCursor {
 public:
  BagCursor(std::shared_ptr<BagFiles> bag, const std::vector<std::size_t>& indices, std::uint64_t start,
            std::uint64_t end, std::uint64_t most_bytes)
      : bag_(std::move(bag)), wanted_(bag_->size()) {
    for (const std::size_t index : indices) wanted_.at(index) = true;
    const nb::gil_scoped_release others_run;
    messages_.emplace(
        bag_->files(), start, end,
        [this](std::size_t file, const mcap::Channel& channel) {
          const auto index = bag_->index_of(file, channel.id);
          return index && wanted_[*index];
        },
        nullptr, most_bytes);
  }

  /// (channel, bytes, log time, publish time, sequence, source time); None: the end.
  nb::object next() {
    const InUse inside(busy_, "a recording");
    std::optional<record::FileMessages::Next> one;
    {
      const nb::gil_scoped_release others_run;
      one = messages_->next();
    }
    if (!one) return nb::none();
    const mcap::Message& m = one->view.message;
    return nb::make_tuple(*bag_->index_of(one->file, m.channel_id), nb::cast(RecordedBytes{one->view.owner, m.data}),
                          m.log_time, m.publish_time, m.sequence, m.source_time);
  }

  /// Everything that could not be read so far, after the first `known` ones: (path, byte, cause).
  nb::list problems(std::size_t known) {
    const InUse inside(busy_, "a recording");
    nb::list all;
    const std::vector<record::FileProblem> found = messages_->problems();
    for (std::size_t i = known; i < found.size(); ++i)
      all.append(nb::make_tuple(BagFiles::text(bag_->files().readers()[found[i].file]->file().path()),
                                found[i].problem.offset, BagFiles::text(found[i].problem.cause)));
    return all;
  }

 private:
  std::shared_ptr<BagFiles> bag_;
  std::vector<bool> wanted_;
  std::optional<record::FileMessages> messages_;
  std::atomic<bool> busy_{false};
};

}  // namespace

void bind_bag_reader(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_recorded)}, {0, nullptr}};
  const nb::class_<RecordedBytes> recorded_bytes(m, "RecordedBytes", nb::type_slots(slots));
  nb::class_<BagFiles>(m, "BagFiles")
      .def(nb::init<const std::vector<std::string>&, std::uint64_t>(), nb::arg("paths"), nb::arg("most_bytes"))
      .def("channels", &BagFiles::channels)
      .def("schema", &BagFiles::schema, nb::arg("index"))
      .def("type", &BagFiles::type, nb::arg("index"))
      .def("type_as", &BagFiles::type_as, nb::arg("index"), nb::arg("wanted"))
      .def("bounds", &BagFiles::bounds, nb::arg("indices"))
      .def("unfinished", &BagFiles::unfinished)
      .def("metadata", &BagFiles::metadata)
      .def_prop_ro("empty", [](const BagFiles& self) { return self.files().empty(); })
      .def_prop_ro("first", [](const BagFiles& self) { return self.files().first(); })
      .def_prop_ro("last", [](const BagFiles& self) { return self.files().last(); })
      .def("problems", [](const BagFiles& self) {
        nb::list all;
        for (const std::string& one : self.files().problems()) all.append(BagFiles::text(one));
        return all;
      });
  nb::class_<BagCursor>(m, "BagCursor")
      .def(nb::init<std::shared_ptr<BagFiles>, const std::vector<std::size_t>&, std::uint64_t, std::uint64_t,
                    std::uint64_t>(),
           nb::arg("bag"), nb::arg("indices"), nb::arg("start"), nb::arg("end"), nb::arg("most_bytes"))
      .def("next", &BagCursor::next)
      .def("problems", &BagCursor::problems, nb::arg("known"));
}

}  // namespace cardan::python
