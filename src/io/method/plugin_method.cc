#include "io/method/plugin_method.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "io/method/agreement.h"
#include "io/method/joined.h"
#include "io/method/subfiles.h"

namespace forebay::io {
namespace {

// What a plug-in says of a failure, whatever it left in the text.
struct Message {
  char text[FOREBAY_METHOD_MESSAGE + 1] = "";

  std::unexpected<Failure> failure(int code, const forebay_method& table, const std::string& path) {
    text[FOREBAY_METHOD_MESSAGE] = '\0';
    std::string what = "method " + std::string(table.name) + ": " + (text[0] ? text : "failed without a word");
    const bool is_known = code < 0 && code >= INT16_MIN;
    return refuse(is_known ? static_cast<Code>(code) : Code::unspecified, std::move(what), {}, path, ErrorKind::io);
  }
};

// The ranks as a plug-in sees them.
class Ranks {
 public:
  explicit Ranks(Communicator& communicator) : communicator_(communicator) {
    table_ = {.self = this,
              .rank = communicator.rank(),
              .size = communicator.size(),
              .send = send,
              .receive = receive,
              .exclusive_scan = exclusive_scan,
              .max = max,
              .barrier = barrier};
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  const forebay_method_ranks* table() const { return &table_; }

 private:
  static Communicator& of(void* self) { return static_cast<Ranks*>(self)->communicator_; }
  template <class T>
  static int put(Result<T>&& from, T* to) {
    if (!from) return static_cast<int>(Code::disconnected);
    *to = *from;
    return 0;
  }

  static int send(void* self, const void* message, uint64_t length, uint32_t to) {
    return of(self).send({static_cast<const std::byte*>(message), length}, to) ? 0
                                                                               : static_cast<int>(Code::disconnected);
  }
  static int receive(void* self, uint32_t from, const void** message, uint64_t* length) {
    Bytes& received = static_cast<Ranks*>(self)->received_;
    if (const int code = put(of(self).receive(from), &received)) return code;
    *message = received.data();
    *length = received.size();
    return 0;
  }
  static int exclusive_scan(void* self, uint64_t mine, uint64_t* sum) {
    return put(of(self).exclusive_scan(mine), sum);
  }
  static int max(void* self, uint64_t mine, uint64_t* largest) {
    return put(of(self).all_reduce(mine, Reduction::max), largest);
  }
  static int barrier(void* self) { return of(self).barrier() ? 0 : static_cast<int>(Code::disconnected); }

  Communicator& communicator_;
  forebay_method_ranks table_;
  Bytes received_;
};

// Process groups as a plug-in sees them; refers to them.
class Steps {
 public:
  explicit Steps(std::span<const ProcessGroup> groups) : blocks_(groups.size()), attributes_(groups.size()) {
    for (size_t i = 0; i < groups.size(); ++i) {
      const ProcessGroup& group = groups[i];
      for (const Block& block : group.blocks) blocks_[i].push_back(seen(block));
      for (const AttributeValue& attribute : group.attributes) attributes_[i].push_back(seen(attribute));
      steps_.push_back({.group = group.group.c_str(),
                        .time_index_name = group.time_index_name.c_str(),
                        .step = group.step,
                        .time_index = group.time_index,
                        .is_fortran = group.fortran_order,
                        .block_count = blocks_[i].size(),
                        .blocks = blocks_[i].data(),
                        .attribute_count = attributes_[i].size(),
                        .attributes = attributes_[i].data()});
    }
  }

  std::span<const forebay_method_step> table() const { return steps_; }

 private:
  static forebay_method_block seen(const Block& block) {
    const bool is_global = !block.global_shape.empty();
    return {.name = block.name.c_str(),
            .type = static_cast<int32_t>(block.type),
            .dimensions = block.is_array ? static_cast<uint32_t>(block.shape.size()) : 0,
            .shape = block.shape.data(),
            .global_shape = is_global ? block.global_shape.data() : nullptr,
            .offsets = is_global ? block.offsets.data() : nullptr,
            .transform = block.transform.c_str(),
            .bytes = block.bytes.data(),
            .size = block.bytes.size()};
  }
  static forebay_method_attribute seen(const AttributeValue& attribute) {
    const bool refers = !attribute.variable.empty();
    return {.name = attribute.name.c_str(),
            .type = static_cast<int32_t>(attribute.type),
            .count = attribute.count,
            .bytes = refers ? nullptr : attribute.value.data(),
            .size = attribute.value.size(),
            .variable = refers ? attribute.variable.c_str() : nullptr};
  }

  std::vector<std::vector<forebay_method_block>> blocks_;
  std::vector<std::vector<forebay_method_attribute>> attributes_;
  std::vector<forebay_method_step> steps_;
};

class PluginFile final : public OpenFile {
 public:
  // `replaced`: at rank 0, the subfiles of what a new file is to replace.
  PluginFile(const forebay_method& table, const OpenRequest& request, void* file, const Standing& standing,
             std::vector<std::string> replaced)
      : table_(table),
        path_(request.path),
        group_(*request.group),
        communicator_(request.communicator),
        file_(file),
        standing_(standing),
        replaced_(std::move(replaced)) {}
  ~PluginFile() override {
    if (file_) table_.abandon(file_);
  }

  const Standing& standing() const override { return standing_; }

  Outcome<void> close(std::span<ProcessGroup> groups) override {
    FOREBAY_CHECK(agree(*communicator_, join_blocks(*communicator_, group_, groups)));
    const Steps steps(groups);
    Ranks ranks(*communicator_);
    Message message;
    const int code = table_.close(std::exchange(file_, nullptr), ranks.table(), steps.table().data(),
                                  steps.table().size(), message.text);
    Outcome<void> mine;
    if (code != 0) mine = message.failure(code, table_, path_);
    mine = agree(*communicator_, mine);
    if (mine) remove_subfiles(path_, replaced_);
    return mine;
  }

 private:
  const forebay_method& table_;
  const std::string path_;
  const GroupDefinition& group_;
  const std::shared_ptr<Communicator> communicator_;
  void* file_;
  const Standing standing_;
  const std::vector<std::string> replaced_;
};

class PluginMethod final : public Method {
 public:
  PluginMethod(const forebay_method& table, void* method) : table_(table), method_(method) {}
  ~PluginMethod() override { table_.unmake(method_); }

  Traits traits() const override { return {}; }

  Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest& request) override {
    if (request.mode == OpenMode::read)
      return refuse(Code::invalid_mode, "method " + std::string(table_.name) + " does not read",
                    "adios_read() needs one of the methods POSIX, MPI and MPI_AGGREGATE", request.path);
    Ranks ranks(*request.communicator);
    const forebay_method_open_request seen{.path = request.path.c_str(),
                                           .mode = static_cast<int32_t>(request.mode),
                                           .group = request.group->name.c_str(),
                                           .is_alone = request.is_alone,
                                           .ranks = ranks.table()};
    std::vector<std::string> replaced;
    if (request.mode == OpenMode::write && ranks.table()->rank == 0) replaced = find_subfiles(request.path);
    forebay_method_standing standing{};
    void* file = nullptr;
    Message message;
    const int code = table_.open(method_, &seen, &file, &standing, message.text);
    if (code != 0) return message.failure(code, table_, request.path);
    return std::make_unique<PluginFile>(table_, request, file, Standing{standing.steps, standing.last_time_index},
                                        std::move(replaced));
  }

  void begin_calculation() override {
    if (table_.begin_calculation) table_.begin_calculation(method_);
  }
  void end_calculation() override {
    if (table_.end_calculation) table_.end_calculation(method_);
  }
  void end_iteration() override {
    if (table_.end_iteration) table_.end_iteration(method_);
  }

  Outcome<void> finalize(Communicator& communicator) override {
    if (!table_.finalize) return {};
    Ranks ranks(communicator);
    Message message;
    const int code = table_.finalize(method_, ranks.table(), message.text);
    if (code != 0) return message.failure(code, table_, {});
    return {};
  }

 private:
  const forebay_method& table_;
  void* const method_;
};

static_assert(static_cast<int32_t>(OpenMode::write) == FOREBAY_METHOD_MODE_WRITE);
static_assert(static_cast<int32_t>(OpenMode::append) == FOREBAY_METHOD_MODE_APPEND);
static_assert(static_cast<int32_t>(OpenMode::update) == FOREBAY_METHOD_MODE_UPDATE);
static_assert(static_cast<int32_t>(ValueType::string_array) == FOREBAY_METHOD_STRING_ARRAY);
static_assert(static_cast<int32_t>(ValueType::uint64) == FOREBAY_METHOD_UINT64);
static_assert(static_cast<int>(Code::write) == FOREBAY_METHOD_WRITE);
static_assert(static_cast<int>(Code::invalid_data) == FOREBAY_METHOD_INVALID_DATA);

}  // namespace

Outcome<std::unique_ptr<Method>> make_plugin_method(const forebay_method& table, const Parameters& parameters) {
  std::vector<forebay_method_parameter> seen;
  for (const auto& [name, value] : parameters.all()) seen.push_back({name.c_str(), value.c_str()});
  void* method = nullptr;
  Message message;
  if (const int code = table.make(seen.data(), seen.size(), &method, message.text))
    return message.failure(code, table, {});
  return std::make_unique<PluginMethod>(table, method);
}

}  // namespace forebay::io
