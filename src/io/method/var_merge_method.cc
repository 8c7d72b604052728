// Ranks that follow each other join their blocks of global arrays, and another method writes what comes of it.
#include <utility>

#include "io/method/join_chunks.h"
#include "io/method/joined.h"
#include "io/method/methods.h"

namespace forebay::io {
namespace {

struct MergeSettings {
  uint32_t ranks = 8;                        // that join, of those that follow each other
  uint64_t chunk_bytes = uint64_t{2} << 20;  // blocks of this size and larger stay where they are
};

// Blocks have to be there when they join: nothing is written before the close unless it does not fit into the buffer.
// Room in the file is not set aside either, since the ranks that give their blocks away would leave it empty.
class MergingFile final : public OpenFile {
 public:
  MergingFile(std::unique_ptr<OpenFile> file, std::shared_ptr<Communicator> ranks,
              std::unique_ptr<Communicator> joining, const GroupDefinition& group, const MergeSettings& settings)
      : file_(std::move(file)),
        ranks_(std::move(ranks)),
        joining_(std::move(joining)),
        group_(group),
        settings_{.chunk_bytes = settings.chunk_bytes, .spare_bytes = UINT64_MAX} {}

  const Standing& standing() const override { return file_->standing(); }

  // What this rank has written already is not to come behind what others join later: then nothing joins.
  Outcome<void> spill(const ProcessGroup& group) override {
    settings_.may_join = false;
    return file_->spill(group);
  }

  void leave(uint64_t bytes) override { settings_.spare_bytes = bytes; }

  Outcome<void> close(std::span<ProcessGroup> steps) override {
    FOREBAY_CHECK(join_blocks(*ranks_, group_, steps));
    for (ProcessGroup& step : steps)
      for (Block& block : step.blocks) block.joined.reset();
    FOREBAY_TRY(const JoinedBytes bytes, join_chunks(*joining_, steps, settings_));
    return file_->close(steps);
  }

 private:
  std::unique_ptr<OpenFile> file_;
  std::shared_ptr<Communicator> ranks_;
  std::unique_ptr<Communicator> joining_;  // the ranks that join with this one
  const GroupDefinition& group_;
  JoinSettings settings_;
};

class MergingMethod final : public Method {
 public:
  MergingMethod(MadeMethod writer, const MergeSettings& settings)
      : method_(std::move(writer.method)), warnings_(std::move(writer.warnings)), settings_(settings) {}

  // What a rank wrote may lie with another one: it cannot be read back as its own.
  Traits traits() const override {
    Traits traits = method_->traits();
    traits.can_read = false;
    return traits;
  }

  Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest& request) override {
    if (request.mode == OpenMode::read)
      return refuse(Code::invalid_mode, "method VAR_MERGE does not read: it joined what ranks wrote",
                    "use the reading interface, or the method MPI or POSIX", request.path);
    FOREBAY_TRY(auto file, method_->open(request));
    const Traits traits = method_->traits();
    if (traits.discards || traits.wants_early) return file;  // no bytes will be there to be joined
    Communicator& ranks = *request.communicator;
    FOREBAY_TRY(auto joining, ranks.split(ranks.rank() / settings_.ranks, ranks.rank()));
    return std::make_unique<MergingFile>(std::move(file), request.communicator, std::move(joining), *request.group,
                                         settings_);
  }

  std::vector<std::string> warnings() const override { return warnings_; }

  void begin_calculation() override { method_->begin_calculation(); }
  void end_calculation() override { method_->end_calculation(); }
  void end_iteration() override { method_->end_iteration(); }
  Outcome<void> finalize(Communicator& communicator) override { return method_->finalize(communicator); }

 private:
  std::unique_ptr<Method> method_;
  const std::vector<std::string> warnings_;  // of its parameters
  const MergeSettings settings_;
};

Outcome<MadeMethod> make_writer(const Parameters& parameters) {
  const MethodChoice choice{.name = parameters.text("io_method", "MPI_AGGREGATE"),
                            .parameters = parameters.text("io_parameters", ""),
                            .base_path = ""};
  FOREBAY_TRY(const MethodEntry entry, MethodRegistry::instance().find(choice.name));
  if (entry.name == "VAR_MERGE")
    return refuse(Code::invalid_argument, "io_method of VAR_MERGE is VAR_MERGE", "name the method that writes");
  return MethodRegistry::instance().make(choice);
}

Outcome<std::unique_ptr<Method>> make_merging_method(const Parameters& parameters) {
  MergeSettings settings;
  FOREBAY_TRY(settings.chunk_bytes, parameters.number("chunk_size", settings.chunk_bytes));
  FOREBAY_TRY(const uint64_t ranks, parameters.number("ranks", settings.ranks));
  if (ranks == 0 || ranks > UINT32_MAX)
    return refuse(Code::invalid_argument, "parameter ranks of VAR_MERGE is " + std::to_string(ranks),
                  "give the number of ranks that join their blocks, 1 at least");
  settings.ranks = static_cast<uint32_t>(ranks);
  FOREBAY_TRY(MadeMethod writer, make_writer(parameters));
  return std::make_unique<MergingMethod>(std::move(writer), settings);
}

}  // namespace

MethodEntry var_merge_method() {
  return {.name = "VAR_MERGE",
          .aliases = {},
          .parameters = {"chunk_size", "ranks", "io_method", "io_parameters"},
          .make = make_merging_method};
}

}  // namespace forebay::io
