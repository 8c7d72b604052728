#include "convert/store/to_store.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "convert/blocks/step_blocks.h"
#include "convert/target/new_target.h"
#include "engine/pack/pack.h"
#include "io/method/staged_file.h"
#include "store/store.h"
#include "view/read/selection.h"

namespace forebay::convert {
namespace {

// Of all memory, for packing: what else there is are indices, and what reading keeps.
constexpr uint64_t kPackShare = 2, kLeastPack = uint64_t{64} << 20;

view::Selection selection_of(const Dataset& dataset) {
  if (dataset.block) return view::WrittenBlock{*dataset.block, {}};
  if (dataset.part) return *dataset.part;
  return view::Strided{engine::whole_box(dataset.shape), {}};
}

io::AttributeValue value_of(const view::Attribute& attribute) {
  io::AttributeValue value{
      .name = attribute.name, .count = attribute.count, .value = attribute.value, .variable = attribute.variable};
  if (attribute.type.value) value.type = *attribute.type.value;
  return value;
}

class Importer {
 public:
  Importer(const view::Run& run, const SinkOptions& options, uint64_t memory_bytes, Converted& converted)
      : run_(run), options_(options), memory_bytes_(memory_bytes), converted_(converted) {}

  Result<void> check_free(const std::vector<view::StepInfo>& steps) const {
    const auto store = store::Store::open(options_.target);
    if (!store) return store.error().kind == ErrorKind::not_found ? Result<void>() : std::unexpected(store.error());
    uint32_t time = 0;
    for (const view::StepInfo& info : steps) {
      FOREBAY_TRY(time, time_index_of(info, time));
      const std::string name = io::staged_set_name(run_.path(), time);
      FOREBAY_TRY(const bool is_taken, store->has(name));
      if (is_taken)
        return fail(ErrorKind::exists, fmt::format("has a set '{}' already", name), options_.target, {},
                    "sets are not replaced: choose the steps that are missing with --steps, or another store");
    }
    return {};
  }

  Result<void> add(uint64_t number, const StepBlocks& step) {
    FOREBAY_TRY(const NewTarget stage, NewTarget::unnamed_directory(options_.target));
    FOREBAY_TRY(const auto opened, run_.step(number));
    std::map<uint32_t, std::vector<const NewGroup*>> ranks;
    for (const NewGroup& group : step.groups) ranks[group.rank].push_back(&group);
    for (const auto& [rank, groups] : ranks)
      FOREBAY_CHECK(add_rank(*opened, step, rank, groups, stage.temporary() + "/" + io::staged_file_name(rank)));
    engine::PackOptions pack;
    pack.sources = {stage.temporary()};
    pack.store = options_.target;
    pack.name = io::staged_set_name(run_.path(), step.time_index);
    const view::StepInfo& info = step.plan.steps[0];
    pack.step = info.set.empty() ? step.time_index : info.step.value_or(step.time_index);
    pack.profile = options_.profile;
    pack.origin.series = options_.series;
    pack.resources = {.memory_bytes = std::max(options_.memory_bytes / kPackShare, kLeastPack),
                      .threads = options_.threads,
                      .progress = {}};
    engine::SoloTeam alone;
    FOREBAY_TRY(const auto report, engine::pack(pack, alone));
    return {};
  }

 private:
  Result<void> add_rank(const view::Step& step, const StepBlocks& blocks, uint32_t rank,
                        const std::vector<const NewGroup*>& groups, const std::string& path) {
    std::vector<Bytes> values(blocks.blocks.size());
    std::vector<view::Request> requests;
    uint64_t bytes = 0;
    for (const NewGroup* group : groups)
      for (const size_t block : group->blocks) {
        const Dataset& dataset = blocks.plan.datasets[block];
        if (__builtin_add_overflow(bytes, dataset.bytes(), &bytes) || bytes > memory_bytes_)
          return fail(ErrorKind::limit,
                      fmt::format("what rank {} wrote in step {} has more bytes than the {} that the memory allows",
                                  rank, step.info().number, memory_bytes_),
                      run_.path(), {}, "allow more with --memory, or convert fewer arrays at a time");
        values[block].resize(dataset.bytes());
        requests.push_back({&step, dataset.sources[0].array, selection_of(dataset), values[block]});
      }
    const view::ReadResult read = view::read(requests);
    for (const view::Outcome& outcome : read.outcomes) {
      if (outcome.error) return std::unexpected(*outcome.error);
      converted_.holes += outcome.holes;
    }
    converted_.cost.add(read.cost);
    std::vector<io::ProcessGroup> made;
    for (const NewGroup* group : groups) made.push_back(process_group(blocks, *group, values));
    if (const auto written = io::write_staged(path, made); !written) return std::unexpected(written.error().error);
    return {};
  }

  static io::ProcessGroup process_group(const StepBlocks& step, const NewGroup& from,
                                        const std::vector<Bytes>& values) {
    io::ProcessGroup group{.group = from.name,
                           .time_index_name = {},
                           .fortran_order = step.fortran_order,
                           .rank = from.rank,
                           .time_index = step.time_index,
                           .blocks = {},
                           .attributes = {}};
    for (const size_t number : from.blocks) {
      const Dataset& dataset = step.plan.datasets[number];
      const NewBlock& made = step.blocks[number];
      io::Block block;
      block.name = dataset.name;
      block.type = *dataset.type.value;
      block.is_array = made.form != view::Form::scalar;
      if (block.is_array) block.shape = dataset.shape;
      block.global_shape = made.global;
      block.offsets = made.offsets;
      block.bytes = values[number];
      group.blocks.push_back(std::move(block));
    }
    for (const view::Attribute& attribute : from.attributes) group.attributes.push_back(value_of(attribute));
    return group;
  }

  const view::Run& run_;
  const SinkOptions& options_;
  const uint64_t memory_bytes_;
  Converted& converted_;
};

}  // namespace

Result<Converted> convert_to_store(const view::Run& run, const Wish& wish, const SinkOptions& options,
                                   uint64_t memory_bytes) {
  if (options.overwrite)
    return fail(ErrorKind::invalid_argument, "sets of a store are not replaced", options.target, {},
                "leave out --overwrite; `forebay prune` removes sets");
  BlockPlanner planner(wish, "a store");
  Converted converted;
  FOREBAY_TRY(converted.plan, planner.survey(run));
  Importer importer(run, options, memory_bytes, converted);
  FOREBAY_CHECK(importer.check_free(converted.plan.steps));
  for (const uint64_t number : wish.steps) {
    FOREBAY_TRY(const StepBlocks step, planner.plan_step(run, number));
    if (step.groups.empty()) continue;
    FOREBAY_CHECK(importer.add(number, step));
    converted.plan.bytes += step.plan.bytes;
  }
  converted.plan.remarks.assign(planner.remarks().begin(), planner.remarks().end());
  return converted;
}

}  // namespace forebay::convert
