#include "engine/pack/pack_group.h"

#include <algorithm>

#include "base/checksum.h"
#include "codec/chain.h"
#include "codec/choice/trial.h"
#include "codec/codec_ids.h"
#include "container/container.h"
#include "engine/cpu_clock.h"
#include "engine/pack/frame_facts.h"
#include "engine/pack/interleave.h"
#include "engine/pack/lossy.h"
#include "engine/pack/read_group.h"
#include "engine/pack/running_cubes.h"
#include "engine/pipeline.h"
#include "engine/set/frame_io.h"
#include "engine/set/name_ranges.h"

namespace forebay::engine {
namespace {

constexpr uint64_t kNameBytes = 128;             // that the name of a frame in another set takes, about
constexpr uint64_t kLeastPredictedBytes = 1024;  // encoded: less need not hang on another set
constexpr uint64_t kCubesShare = 16;             // of the memory, the part that cubes may take

struct PackJob {
  RawFrame frame;
  std::vector<RawFrame> references;  // that the frame may be predicted from
  std::string chain;
  codec::Encoded encoded;
  uint64_t raw_bytes = 0, raw_hash = 0;
  FrameFacts facts;
  ParentMatcher::Answer parent;
  std::optional<ParentFrame> before;  // that the frame was predicted from
  std::optional<LossyNote> lossy;
  StageSeconds cpu_seconds;
};

uint64_t memory_to_encode(const PackOptions& options, uint64_t raw_bytes) {
  return options.profile.memory_bytes(raw_bytes) + (options.lossy.empty() ? 0 : codec::encode_lossy_bytes(raw_bytes));
}

// Small budgets get small frames: a few of them with their working memory fit into half of it.
uint64_t memory_for_frames(const PackOptions& options, uint64_t frame_bytes) {
  constexpr uint64_t kFramesAtOnce = 4;
  return 2 * kFramesAtOnce * (frame_bytes + memory_to_encode(options, frame_bytes));
}

// The slices and blocks of a frame of many small variables take memory too.
uint64_t slice_memory(const merge::Plan& plan, uint32_t number) {
  const uint64_t streams = plan.groups()[plan.frames()[number].group].streams.size();
  return std::min<uint64_t>(streams, plan.frames()[number].raw_bytes) * 4 * sizeof(merge::Slice);
}

// Sources that give no more once a stop is requested.
class StoppableSources final : public Sources {
 public:
  StoppableSources(Sources& sources, std::stop_token stop) : sources_(sources), stop_(std::move(stop)) {}

  Result<std::shared_ptr<ByteSource>> get(size_t index) override {
    FOREBAY_CHECK(check());
    return sources_.get(index);
  }
  Result<void> read(std::span<const SourcePiece> pieces, std::span<std::byte> out) override {
    FOREBAY_CHECK(check());
    return sources_.read(pieces, out);
  }
  Result<void> check_unchanged() override {
    FOREBAY_CHECK(check());
    return sources_.check_unchanged();
  }

  Result<void> check() const {
    if (!stop_.stop_requested()) return {};
    return fail(ErrorKind::cancelled, "packing the rank group was cancelled");
  }

 private:
  Sources& sources_;
  const std::stop_token stop_;
};

class GroupPacker {
 public:
  GroupPacker(const GroupInput& input, const GroupOutput& output, const PackOptions& options,
              const Resources& resources, ParentMatcher* parent, const Remembered& remembered, const GroupHooks& hooks)
      : input_(input),
        output_(output),
        options_(options),
        resources_(resources),
        parent_(parent),
        remembered_(remembered),
        hooks_(hooks),
        memory_bytes_(resources.memory_bytes - (parent ? parent->memory_bytes() : 0)),
        sources_(input.sources, hooks.stop) {}

  Result<GroupReport> run() {
    FOREBAY_TRY(auto group, catalogue());
    FOREBAY_TRY(const PlanSpec spec, plan_spec(group.catalogue));
    FOREBAY_TRY(const merge::Plan plan, merge::Plan::make(group.catalogue, spec));
    FOREBAY_TRY(auto sink, output_.set.create(output_.name));
    FOREBAY_TRY(auto writer, container::Writer::create(std::move(sink), group.catalogue, spec));

    GroupReport report{.variables = group.catalogue.variables.size(),
                       .frames = plan.frames().size(),
                       .remarks = std::move(group.remarks)};
    RunningFacts facts(group.catalogue);
    cubes_.emplace(plan, memory_bytes_ / kCubesShare);
    lossy_.emplace(options_.lossy, group.catalogue);
    if (options_.profile.uses_relations()) {
      const auto is_exact = [&](uint32_t variable) { return !lossy_->has_rule(variable); };
      FOREBAY_TRY(relations_, find_relations(plan, sources_, is_exact, remembered_.relations));
    }
    FOREBAY_CHECK(run_pipeline(plan, *writer, facts, report));
    report.lossy = lossy_->outcomes();
    FOREBAY_CHECK(sources_.check_unchanged());
    FOREBAY_CHECK(writer->append_cubes(group.catalogue, cubes_->take()));
    FOREBAY_CHECK(writer->finish(facts.file_crcs(), facts.take_characteristics()));
    FOREBAY_TRY(report.entry, entry());
    if (output_.limit) output_.limit->charge(report.entry.bytes - limited_bytes_);
    return report;
  }

 private:
  Result<GroupCatalogue> catalogue() {
    if (input_.catalogue) return input_.catalogue(memory_bytes_);
    return read_group(input_.files, sources_, options_.similarity, options_.format, memory_bytes_, resources_.threads);
  }

  // How many threads there are does not matter, for the result must not depend on it.
  uint64_t frame_bytes() const {
    uint64_t bytes = options_.scheme.frame_bytes_for(options_.profile);
    while (bytes > merge::kMinFrameBytes && memory_for_frames(options_, bytes) > resources_.memory_bytes) bytes /= 2;
    return bytes;
  }

  uint64_t encode_memory(uint64_t raw_bytes) const { return memory_to_encode(options_, raw_bytes); }

  // With the frame before.
  uint64_t difference_memory(uint64_t raw_bytes) const {
    if (!parent_ || !options_.profile.uses_differences()) return 0;
    return raw_bytes + options_.profile.difference_memory_bytes(raw_bytes);
  }

  Result<PlanSpec> plan_spec(const Catalogue& catalogue) {
    PlanSpec spec{
        .scheme = options_.scheme.scheme, .block_bytes = options_.scheme.block_bytes, .frame_bytes = frame_bytes()};
    spec.block_bytes = std::min(spec.block_bytes, spec.frame_bytes);
    spec.share_bytes = std::min(spec.share_bytes, spec.frame_bytes);
    if (options_.scheme.automatic) {
      spec.scheme = Scheme::aware;
      FOREBAY_TRY(spec.key_block_bytes, choose_interleaving(catalogue, spec, options_.profile, sources_));
    }
    return spec;
  }

  Result<void> encode(const merge::Plan& plan, PackJob& job) const {
    const CpuClock clock;
    const merge::Frame& frame = plan.frames()[job.frame.number];
    const FrameShape shape = plan.shape(frame, job.frame.slices);
    const auto raw = job.frame.raw.span();
    job.raw_bytes = raw.size();
    job.raw_hash = hash64(raw);
    job.facts = all_facts(plan, job.frame, *cubes_);
    if (parent_) job.parent = parent_->find(job.raw_hash, raw);
    if (job.parent.found) {
      job.encoded = {{}, parent_recipe(*job.parent.found)};
      job.chain = kParentChain;
      job.references.clear();
      job.frame.raw = {};
      job.cpu_seconds.encode = clock.seconds();
      return {};
    }
    const codec::Related related = relations_.related(frame.group, job.references);
    const auto as_before = chain_of_before(plan, job.frame.number, shape, raw, related);
    job.encoded = as_before ? options_.profile.encode_as(*as_before, shape, raw, related)
                            : options_.profile.encode(shape, raw, related).encoded;
    std::optional<ParentFrame> before;
    if (auto lossy = lossy_->encode(job.frame.slices, shape, raw, job.encoded.payload.size()))
      replace(plan, job, std::move(*lossy));
    else
      before = encode_difference(plan, shape, raw, job);
    FOREBAY_TRY(const codec::Chain used, codec::chain_of(job.encoded.recipe));
    job.chain = codec::to_string(used);
    if (before) {
      job.encoded.recipe = before_recipe(*before, job.encoded.recipe);
      job.chain.insert(0, kBeforePrefix);
      job.before = std::move(before);
    }
    if (job.before || used.empty() || used.front().id != codec::kRelationId) job.references.clear();
    for (RawFrame& reference : job.references) reference.raw = {};
    job.frame.raw = {};  // not needed any more: the lease may be waiting for its turn for a while
    job.cpu_seconds.encode = clock.seconds();
    return {};
  }

  // Encodes the frame as what differs from the one at its place in the parent, if that makes less of it.
  std::optional<ParentFrame> encode_difference(const merge::Plan& plan, const FrameShape& shape,
                                               std::span<const std::byte> raw, PackJob& job) const {
    if (!parent_ || !options_.profile.uses_differences()) return std::nullopt;
    const auto place = place_of(plan, job.frame.number, output_.name);
    if (!place) return std::nullopt;
    const uint64_t alone = job.encoded.payload.size() + job.encoded.recipe.size();
    if (alone < kLeastPredictedBytes) return std::nullopt;
    auto answer = parent_->before(*place, raw.size());
    if (!answer.remark.empty()) job.parent.remark = std::move(answer.remark);
    if (!answer.found) return std::nullopt;
    auto& before = *answer.found;
    auto difference = options_.profile.encode_difference(shape, raw, before.raw.span(), alone - kNameBytes);
    if (!difference) return std::nullopt;
    job.encoded = std::move(difference->encoded);
    return std::move(before.frame);
  }

  // The chain of the frame's predecessor in the set before, if that still makes a sample about as small.
  std::optional<codec::Chain> chain_of_before(const merge::Plan& plan, uint32_t number, const FrameShape& shape,
                                              std::span<const std::byte> raw, const codec::Related& related) const {
    const RememberedFrame* before = remembered_.find(plan, number);
    if (before == nullptr) return std::nullopt;
    codec::Chain chain = before->chain;
    if (chain.front().id == codec::kRelationId) {
      if (related.parameters.empty()) return std::nullopt;
      chain.front().parameters = related.parameters;
    }
    const codec::Trial trial =
        codec::best_by_trial({{chain}}, shape, raw, codec::trial_sample_bytes(raw.size()), related.references);
    if (!before->still_holds(trial.encoded_bytes, trial.sample_bytes)) return std::nullopt;
    return chain;
  }

  // From here on the frame is what the encoding with loss made of it.
  void replace(const merge::Plan& plan, PackJob& job, codec::LossyEncoded lossy) const {
    job.encoded = std::move(lossy.encoded);
    job.frame.raw = std::move(lossy.decoded);
    job.lossy = lossy.note;
    job.raw_hash = hash64(job.frame.raw);
    job.facts = all_facts(plan, job.frame, *cubes_);
  }

  Result<void> run_pipeline(const merge::Plan& plan, container::Writer& writer, RunningFacts& facts,
                            GroupReport& report) {
    const Catalogue& catalogue = plan.catalogue();
    const uint64_t standing = 2 * catalogue.memory_bytes() + plan.memory_bytes() + cubes_->memory_bytes() +
                              catalogue.variables.size() * sizeof(container::Characteristics);
    if (standing > memory_bytes_)
      return fail(ErrorKind::limit, "the index of one rank group takes more than the memory budget", {}, {},
                  "raise --memory or make --group-size smaller");
    const Pipeline<PackJob>::Stages stages{
        .cost =
            [&](size_t number) {
              const uint64_t raw = plan.frames()[number].raw_bytes;
              const size_t references = relations_.references(plan, static_cast<uint32_t>(number)).size();
              return (1 + references) * (raw + slice_memory(plan, static_cast<uint32_t>(number))) + encode_memory(raw) +
                     difference_memory(raw);
            },
        .fetch = [&](size_t number) -> Result<PackJob> {
          const CpuClock clock;
          PackJob job;
          FOREBAY_TRY(job.frame, gather(plan, static_cast<uint32_t>(number), sources_));
          FOREBAY_TRY(job.references, relations_.gather_references(plan, static_cast<uint32_t>(number), sources_));
          job.cpu_seconds.fetch = clock.seconds();
          return job;
        },
        .work = [&](PackJob& job) { return encode(plan, job); },
        .put = [&](PackJob& job) -> Result<void> {
          FOREBAY_CHECK(wait_to_write(job));
          const CpuClock clock;
          FOREBAY_CHECK(writer.append({.number = job.frame.number,
                                       .raw_bytes = job.raw_bytes,
                                       .raw_hash = job.raw_hash,
                                       .recipe = job.encoded.recipe,
                                       .chain = std::move(job.chain),
                                       .references = numbers_of(job.references),
                                       .payload = job.encoded.payload.span(),
                                       .lossy = job.lossy}));
          facts.add(job.facts);
          for (const auto& [variable, stretch] : job.facts.cubes) cubes_->add(variable, stretch);
          if (job.lossy) lossy_->note(job.frame.slices, *job.lossy);
          note_parent(job, report);
          report.payload_bytes += job.encoded.payload.size();
          job.cpu_seconds.write = clock.seconds();
          report.cpu_seconds.add(job.cpu_seconds);
          if (hooks_.delivered) hooks_.delivered(job.raw_bytes, writer.bytes_written());
          return {};
        }};
    const PipelineThreads threads{.fetch = std::max(1u, resources_.threads / 2), .work = resources_.threads};
    const uint64_t memory_bytes =
        std::min(memory_bytes_ - standing, useful_memory(plan.frames().size(), threads, stages));
    return Pipeline<PackJob>::run(plan.frames().size(), memory_bytes, threads, stages);
  }

  // A few of the largest frames for each thread. Where storage is slower than the packing, all memory would fill with
  // frames that wait to be written, which makes nothing faster.
  static uint64_t useful_memory(size_t frames, const PipelineThreads& threads,
                                const Pipeline<PackJob>::Stages& stages) {
    constexpr uint64_t kFramesOfThread = 4;
    uint64_t largest = 0;
    for (size_t number = 0; number < frames; ++number) largest = std::max(largest, stages.cost(number));
    return kFramesOfThread * (threads.fetch + threads.work) * largest;
  }

  // Frames wait here, with their memory, for their share of what may be written: so the limit reaches the reads.
  Result<void> wait_to_write(const PackJob& job) {
    FOREBAY_CHECK(sources_.check());
    if (!output_.limit) return {};
    const uint64_t bytes = job.encoded.payload.size() + job.encoded.recipe.size();
    limited_bytes_ += bytes;
    return output_.limit->take(bytes, hooks_.stop);
  }

  static std::vector<uint32_t> numbers_of(std::span<const RawFrame> frames) {
    std::vector<uint32_t> numbers;
    for (const RawFrame& frame : frames) numbers.push_back(frame.number);
    return numbers;
  }

  static void note_parent(const PackJob& job, GroupReport& report) {
    if (job.parent.found) add_parent(report.parents, job.parent.found->set, 1, job.raw_bytes);
    if (job.before) add_parent(report.parents, job.before->set, 1, job.raw_bytes);
    if (!job.parent.remark.empty() && std::ranges::find(report.remarks, job.parent.remark) == report.remarks.end())
      report.remarks.push_back(job.parent.remark);
  }

  // Asks for what is stored, not for the kernel's copy of what was written: a parallel file system has been seen to
  // lose the last write before an fsync() that succeeded.
  Result<store::ContainerEntry> entry() const {
    FOREBAY_TRY(auto written, output_.set.open(output_.name));
    auto opened = container::Reader::open(std::move(written), memory_bytes_);
    if (!opened && opened.error().kind == ErrorKind::corrupt)
      return fail(ErrorKind::io, "the file system does not give back what was written and synced",
                  output_.set.path_of(output_.name), opened.error().offset,
                  "the container is lost; look for errors of the file system");
    if (!opened) return std::unexpected(std::move(opened).error());
    const ByteSource& source = (*opened)->source();
    store::ContainerEntry entry{.name = output_.name, .bytes = source.size()};
    FOREBAY_TRY(entry.tail_hash, store::tail_hash(source));
    for (const SourceFile& file : input_.files) entry.raw_bytes += file.row.size;
    entry.files = input_.files.size();
    const auto rank = [](const SourceFile& file) { return file.row.rank; };
    const auto [lowest, highest] = std::ranges::minmax_element(input_.files, {}, rank);
    if (!input_.files.empty()) entry.ranks = {lowest->row.rank, highest->row.rank};
    std::vector<std::string_view> names;
    for (const SourceFile& file : input_.files) names.push_back(file.row.name);
    entry.names = name_ranges(names);
    return entry;
  }

  const GroupInput& input_;
  const GroupOutput& output_;
  const PackOptions& options_;
  const Resources& resources_;
  ParentMatcher* const parent_;
  const Remembered& remembered_;
  const GroupHooks& hooks_;
  const uint64_t memory_bytes_;  // what the parent leaves
  StoppableSources sources_;
  uint64_t limited_bytes_ = 0;  // taken from the rate limit
  std::optional<RunningCubes> cubes_;
  std::optional<LossyVariables> lossy_;
  RelationPlan relations_;
};

}  // namespace

uint64_t memory_for_full_frames(const PackOptions& options) {
  return memory_for_frames(options, options.scheme.frame_bytes_for(options.profile));
}

Result<GroupReport> pack_group(const GroupInput& input, const GroupOutput& output, const PackOptions& options,
                               const Resources& resources, ParentMatcher* parent, const Remembered& remembered,
                               const GroupHooks& hooks) {
  return GroupPacker(input, output, options, resources, parent, remembered, hooks).run();
}

}  // namespace forebay::engine
