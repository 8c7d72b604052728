#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/extension.h"
#include "cli/file_operand.h"
#include "cli/json.h"
#include "cli/loss.h"
#include "cli/parents.h"
#include "cli/relations.h"
#include "cli/series.h"
#include "cli/shares.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "engine/set/each_container.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr VerbText kInfoText = {
    .name = "info",
    .summary = "show how a set is stored: containers, frames, codecs, variable groups",
    .usage = "STORE NAME|latest [OPTIONS] | FILE [OPTIONS]",
    .description =
        "Describes the containers of a set, or one container file: merge scheme, frames,\n"
        "codec chains, and how much of them is index. With --groups: the variable groups,\n"
        "that is, what was taken for alike and merged, largest first. FRAMES counts the\n"
        "frames that hold a group's bytes; small groups share them. Frames of the chain\n"
        "'base' lie in other sets, and frames of chains that begin with 'before' were\n"
        "predicted from frames there: 'refers to' names these sets. With --relations: the variables that profile\n"
        "'max' predicted from others, one container's coefficients each, and the BITS\n"
        "that an element takes; a relation of 'changes' says how a variable changes\n"
        "from cell to cell rather than its values.\n"
        "Of a file that a program wrote through adios.h: its steps, groups, variables with\n"
        "their shapes, the least and largest values of all steps, and the attributes. A\n"
        "file that is being written is shown up to its last complete step.\n",
    .examples =
        "  forebay info /scratch/store DD0008\n"
        "  forebay info /scratch/store latest --groups | head\n"
        "  forebay info /scratch/store latest --relations\n"
        "  forebay info /scratch/store/sets/DD0008/00000-of-00001.fbc --json\n"
        "  forebay info run.bp\n",
};

const char* scheme_text(Scheme scheme) {
  switch (scheme) {
    case Scheme::agnostic:
      return "agnostic";
    case Scheme::agnostic_block:
      return "agnostic-block";
    case Scheme::aware:
      return "aware";
    case Scheme::aware_block:
      return "aware-block";
  }
  return "unknown";
}

// A variable group over all containers.
struct Group {
  std::string key;
  DataType type;
  uint64_t variables = 0, bytes = 0, frames = 0;
  double stored = 0;
  std::set<std::string> chains;
  std::optional<LossyNote> loss;
};

using Groups = std::map<std::string, Group>;  // by key

void add_groups(const engine::OpenContainer& container, Groups& groups) {
  const Catalogue& catalogue = container.catalogue();
  const Shares shares = shares_of(container);
  const auto losses = losses_of(container);
  for (size_t v = 0; v < catalogue.variables.size(); ++v) {
    const VariableRow& row = catalogue.variables[v];
    Group& group = groups[catalogue.keys[row.key]];
    group.type = row.type;
    ++group.variables;
    group.bytes += catalogue.bytes_of(row);
    group.stored += shares.variables[v];
    group.loss = worse(group.loss, losses[v]);
  }
  const auto frames = frames_of_keys(container);
  for (uint32_t key = 0; key < frames.size(); ++key) {
    Group& group = groups[catalogue.keys[key]];
    group.frames += frames[key].frames;
    for (const uint32_t chain : frames[key].chains) group.chains.insert(container.index().chains[chain]);
  }
}

std::vector<Group> largest_first(Groups by_key) {
  std::vector<Group> groups;
  for (auto& [key, group] : by_key) {
    group.key = key;
    groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, std::ranges::greater(), &Group::bytes);
  return groups;
}

// Frames that went through one chain.
struct ChainUse {
  uint64_t frames = 0, raw_bytes = 0, stored_bytes = 0;
};

std::map<std::string, ChainUse> chains_of(const container::Index& index) {
  std::map<std::string, ChainUse> uses;
  for (const container::FrameEntry& frame : index.frames) {
    ChainUse& use = uses[index.chains[frame.chain]];
    ++use.frames;
    use.raw_bytes += frame.raw_bytes;
    use.stored_bytes += frame.encoded_bytes;
  }
  return uses;
}

// What of a container is not payload.
uint64_t overhead_of(const engine::OpenContainer& container) {
  uint64_t payload = 0;
  for (const container::FrameEntry& frame : container.index().frames) payload += frame.encoded_bytes;
  return container.reader->source().size() - payload;
}

uint64_t raw_bytes_of(const Catalogue& catalogue) {
  uint64_t bytes = 0;
  for (const FileRow& file : catalogue.files) bytes += file.size;
  return bytes;
}

Json json_group(const Group& group) {
  Json chains = Json::array();
  for (const std::string& chain : group.chains) chains.push_back(json_text(chain));
  return {{"key", json_text(group.key)},
          {"type", group.type.name()},
          {"variable_count", group.variables},
          {"raw_bytes", group.bytes},
          {"frame_count", group.frames},
          {"stored_bytes", group.stored},
          {"ratio", json_ratio(static_cast<double>(group.bytes), group.stored)},
          {"chains", std::move(chains)},
          {"loss", json_loss(group.loss)}};
}

// Frames that are stored with loss.
uint64_t lossy_frames_of(const container::Index& index) {
  return static_cast<uint64_t>(
      std::ranges::count_if(index.frames, [](const container::FrameEntry& frame) { return frame.lossy.has_value(); }));
}

// What is told of one container.
struct ContainerFacts {
  std::string path;
  PlanSpec plan;
  uint64_t files = 0, variables = 0, groups = 0, frames = 0, lossy_frames = 0;
  uint64_t raw_bytes = 0, stored_bytes = 0, index_bytes = 0;
  std::map<std::string, ChainUse> chains;
};

ContainerFacts facts_of(const engine::OpenContainer& container) {
  const container::Index& index = container.index();
  return {.path = container.path,
          .plan = index.plan,
          .files = index.catalogue.files.size(),
          .variables = index.catalogue.variables.size(),
          .groups = index.catalogue.keys.size(),
          .frames = index.frames.size(),
          .lossy_frames = lossy_frames_of(index),
          .raw_bytes = raw_bytes_of(index.catalogue),
          .stored_bytes = container.reader->source().size(),
          .index_bytes = overhead_of(container),
          .chains = chains_of(index)};
}

Json json_container(const ContainerFacts& facts) {
  Json chains = Json::array();
  for (const auto& [chain, use] : facts.chains)
    chains.push_back({{"chain", json_text(chain)},
                      {"frame_count", use.frames},
                      {"raw_bytes", use.raw_bytes},
                      {"stored_bytes", use.stored_bytes}});
  return {{"path", json_text(facts.path)},
          {"scheme", scheme_text(facts.plan.scheme)},
          {"block_bytes", facts.plan.block_bytes},
          {"frame_bytes", facts.plan.frame_bytes},
          {"file_count", facts.files},
          {"variable_count", facts.variables},
          {"group_count", facts.groups},
          {"frame_count", facts.frames},
          {"lossy_frame_count", facts.lossy_frames},
          {"raw_bytes", facts.raw_bytes},
          {"stored_bytes", facts.stored_bytes},
          {"index_bytes", facts.index_bytes},
          {"ratio", json_ratio(static_cast<double>(facts.raw_bytes), static_cast<double>(facts.stored_bytes))},
          {"chains", std::move(chains)}};
}

void print_groups(const std::vector<Group>& groups) {
  if (groups.empty()) {
    fmt::print("there are no variable groups: no file has variables in a format that Forebay reads\n");
    return;
  }
  const bool lossy = std::ranges::any_of(groups, [](const Group& group) { return group.loss.has_value(); });
  std::vector<Table::Column> columns = {{"TYPE"},
                                        {"VARIABLES", Align::right},
                                        {"SIZE", Align::right},
                                        {"FRAMES", Align::right},
                                        {"STORED", Align::right},
                                        {"RATIO", Align::right},
                                        {"CHAIN"}};
  if (lossy) columns.push_back({"LOSS"});
  columns.push_back({"KEY"});
  Table table(columns);
  for (const Group& group : groups) {
    std::vector<std::string> cells = {
        group.type.name(),
        fmt::format("{}", group.variables),
        format_bytes(group.bytes),
        group.frames ? fmt::format("{}", group.frames) : "-",
        format_bytes(static_cast<uint64_t>(group.stored)),
        format_ratio(static_cast<double>(group.bytes), group.stored),
        group.chains.empty() ? "-" : printable(fmt::format("{}", fmt::join(group.chains, " | ")))};
    if (lossy) cells.push_back(loss_text(group.loss));
    cells.push_back(printable(group.key));
    table.add(std::move(cells));
  }
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
}

void print_container(const ContainerFacts& facts) {
  const auto raw = static_cast<double>(facts.raw_bytes);
  fmt::print("{}\n", printable(facts.path));
  fmt::print("  content    {}, {} in {}, {}\n", plural(facts.files, "file"), plural(facts.variables, "variable"),
             plural(facts.groups, "group"), format_bytes(facts.raw_bytes));
  fmt::print("  stored     {}, ratio {}; index and headers {} ({})\n", format_bytes(facts.stored_bytes),
             format_ratio(raw, static_cast<double>(facts.stored_bytes)), format_bytes(facts.index_bytes),
             format_share(static_cast<double>(facts.index_bytes), raw));
  fmt::print("  scheme     {}, blocks of {}, frames of {}\n", scheme_text(facts.plan.scheme),
             format_bytes(facts.plan.block_bytes), format_bytes(facts.plan.frame_bytes));
  for (const auto& [chain, use] : facts.chains)
    fmt::print("  chain      {}: {}, {} -> {}, ratio {}\n", printable(chain), plural(use.frames, "frame"),
               format_bytes(use.raw_bytes), format_bytes(use.stored_bytes),
               format_ratio(static_cast<double>(use.raw_bytes), static_cast<double>(use.stored_bytes)));
  if (facts.lossy_frames)
    fmt::print("  lossy      {}: their values are near those that were packed, not the same\n",
               plural(facts.lossy_frames, "frame"));
}

constexpr double kNanosecond = 1e-9;

// "gather 1.2 s, pack 0.30 s; processors: fetch 0.10 s, encode 0.52 s"
std::string stages_text(const store::Manifest& manifest) {
  std::vector<std::string> clock, cpu;
  for (const store::StageTime& stage : manifest.stages) {
    const auto told = [&](uint64_t time) {
      return fmt::format("{} {}", stage.stage, format_duration(static_cast<double>(time) * kNanosecond));
    };
    if (stage.clock_ns > 0) clock.push_back(told(stage.clock_ns));
    if (stage.cpu_ns > 0) cpu.push_back(told(stage.cpu_ns));
  }
  return fmt::format("{}{}{}", fmt::join(clock, ", "), cpu.empty() ? "" : "; processors: ", fmt::join(cpu, ", "));
}

Json json_stages(const store::Manifest& manifest) {
  Json stages = Json::array();
  for (const store::StageTime& stage : manifest.stages)
    stages.push_back({{"name", json_text(stage.stage)},
                      {"clock_seconds", static_cast<double>(stage.clock_ns) * kNanosecond},
                      {"cpu_seconds", static_cast<double>(stage.cpu_ns) * kNanosecond}});
  return stages;
}

void print_manifest(const store::Manifest& manifest) {
  fmt::print("set          {}\n", printable(manifest.name));
  fmt::print("step         {}\n", manifest.step ? fmt::format("{}", *manifest.step) : "-");
  fmt::print("created      {} by {}\n", format_local_time(manifest.created_ns / 1'000'000'000),
             printable(manifest.software));
  const store::Origin& origin = manifest.origin;
  fmt::print("series       {}{}\n", printable(origin.series),
             manifest.ordinal != 0 ? fmt::format(", set {}", manifest.ordinal) : std::string());
  if (!origin.run.empty()) fmt::print("run          {}\n", printable(origin.run));
  if (!origin.host.empty()) fmt::print("host         {}\n", printable(origin.host));
  if (!origin.command.empty()) fmt::print("command      {}\n", printable(origin.command));
  fmt::print("packed with  profile {}, scheme {}, {} of {} at most\n", printable(manifest.profile),
             printable(manifest.scheme), plural(manifest.containers.size(), "group"),
             plural(manifest.group_size, "rank"));
  fmt::print("content      {} of {}, {}; stored {}, ratio {}\n", plural(manifest.files(), "file"),
             plural(manifest.ranks, "rank"), format_bytes(manifest.raw_bytes()), format_bytes(manifest.bytes()),
             format_ratio(static_cast<double>(manifest.raw_bytes()), static_cast<double>(manifest.bytes())));
  if (!manifest.stages.empty()) fmt::print("took         {}\n", printable(stages_text(manifest)));
  if (!manifest.lossy.empty())
    fmt::print("lossy        {}\n", printable(fmt::format("{}", fmt::join(manifest.lossy, " "))));
  if (const std::string repair = repair_text(manifest); !repair.empty())
    fmt::print("note         {}\n", printable(repair));
  if (!manifest.parents.empty()) fmt::print("refers to    {}\n", printable(parents_text(manifest.parents)));
}

class Info final : public Verb {
 public:
  const VerbText& text() const override { return kInfoText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, series_);
    syntax.flag("-g,--groups", list_groups_, "List the variable groups.");
    syntax.flag("-r,--relations", list_relations_, "List which variables were predicted from which others.");
    declare_memory(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    engine::Resources resources = resources_.resolved();
    FOREBAY_TRY(resources.memory_bytes, engine::buffer_bytes(resources.memory_bytes));
    FOREBAY_TRY(const bool has_file, names_file(store_, operands_));
    if (has_file) return show_file(resources.memory_bytes, console);
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {1, 1, {"NAME"}}));
    FOREBAY_TRY(const auto store, store::Store::open(operands.store));
    FOREBAY_TRY(const auto info, find_set(store, operands.own[0], series_));
    if (!info.manifest) return std::unexpected(info.manifest.error());
    FOREBAY_CHECK(
        engine::for_each_container(info, engine::all_containers(*info.manifest), resources,
                                   [&](size_t, Result<engine::OpenContainer> opened, uint64_t) -> Result<uint64_t> {
                                     if (!opened) return std::unexpected(std::move(opened).error());
                                     take(*opened);
                                     return 0;
                                   }));
    show(&*info.manifest, console);
    return ExitCode::ok;
  }

 private:
  // A container of a set; all other files are for the extension, which also says what is wrong with one.
  Result<ExitCode> show_file(uint64_t memory_bytes, const Console& console) {
    FOREBAY_TRY(auto source, store::open_stored(operands_[0]));
    const auto container = engine::open_container(std::move(source), memory_bytes);
    if (!container) {
      auto missing = become("forebay-adaptable", console.words);
      return container.error().kind == ErrorKind::corrupt ? std::unexpected(container.error()) : std::move(missing);
    }
    take(*container);
    show(nullptr, console);
    return ExitCode::ok;
  }

  void take(const engine::OpenContainer& container) {
    containers_.push_back(facts_of(container));
    if (list_groups_) add_groups(container, groups_);
    if (list_relations_) add_relations(container, relations_);
  }

  void show(const store::Manifest* manifest, const Console& console) const {
    if (console.json) {
      Json document = {{"set", manifest ? json_text(manifest->name) : Json()},
                       {"parents", json_parents(manifest ? manifest->parents : std::vector<store::ParentEntry>{})},
                       {"lossy", json_texts(manifest ? manifest->lossy : std::vector<std::string>{})},
                       {"containers", Json::array()}};
      const store::Manifest known = manifest ? *manifest : store::Manifest();
      document.update(manifest ? json_origin(known.origin) : json_origin({}));
      document["ordinal"] = known.ordinal != 0 ? Json(known.ordinal) : Json();
      document["stages"] = json_stages(known);
      for (const auto& container : containers_) document["containers"].push_back(json_container(container));
      if (list_groups_) {
        document["groups"] = Json::array();
        for (const Group& group : largest_first(groups_)) document["groups"].push_back(json_group(group));
      }
      if (list_relations_) document["relations"] = json_relations(in_order(relations_));
      print_json(document);
    } else if (list_groups_ || list_relations_) {
      if (list_groups_) print_groups(largest_first(groups_));
      if (list_relations_) print_relations(in_order(relations_));
    } else {
      if (manifest) print_manifest(*manifest);
      for (const auto& container : containers_) print_container(container);
    }
  }

  std::vector<std::string> operands_;
  std::string store_, series_;
  bool list_groups_ = false, list_relations_ = false;
  engine::Resources resources_;

  std::vector<ContainerFacts> containers_;
  Groups groups_;
  Relations relations_;
};

}  // namespace

std::unique_ptr<Verb> make_info() { return std::make_unique<Info>(); }

}  // namespace forebay::cli
