#include "engine/pack/trial.h"

#include <algorithm>

#include <time.h>

#include "codec/chain.h"
#include "engine/cpu_clock.h"
#include "engine/pack/interleave.h"
#include "engine/pack/relations.h"
#include "engine/pipeline.h"
#include "engine/set/frame_io.h"

namespace forebay::engine {
namespace {

// What a container holds beside payloads, roughly: a frame's record and its row of the index, a variable's rows and
// characteristics, a file's row.
constexpr uint64_t kBytesPerFrame = 180, kBytesPerVariable = 40, kBytesPerFile = 60;

// The decoded frame, a second buffer between the stages of a chain, and the codecs' working memory.
uint64_t decode_memory(uint64_t raw_bytes) { return 6 * raw_bytes + (1 << 20); }

struct TrialJob {
  RawFrame frame;
  std::vector<RawFrame> references;  // that the frame may be predicted from
  uint64_t encoded_bytes = 0;
  double encode_seconds = 0, decode_seconds = 0;
};

// One group under one plan.
class GroupTrial {
 public:
  // No frame is larger than `most_frame_bytes`.
  GroupTrial(SampleGroups::Group& group, const codec::Profile& profile, uint64_t most_frame_bytes,
             const Resources& resources)
      : group_(group), profile_(profile), most_frame_bytes_(most_frame_bytes), resources_(resources) {}

  // `step`: one in how many bytes is tried.
  Result<void> run(const SchemeChoice& choice, double step, Trial& trial,
                   const std::function<void(uint64_t)>& delivered) {
    FOREBAY_TRY(const PlanSpec spec, plan_spec(choice));
    FOREBAY_TRY(const merge::Plan plan, merge::Plan::make(group_.catalogue, spec));
    if (profile_.uses_relations()) {
      FOREBAY_TRY(relations_, find_relations(plan, *group_.sources, [](uint32_t) { return true; }, {}));
    }
    const std::vector<uint32_t> numbers = spread(plan, step);
    uint64_t raw_bytes = 0;
    const Pipeline<TrialJob>::Stages stages{
        .cost =
            [&](size_t i) {
              const uint64_t raw = plan.frames()[numbers[i]].raw_bytes;
              return memory(raw) + relations_.references(plan, numbers[i]).size() * raw;
            },
        .fetch = [&](size_t i) -> Result<TrialJob> {
          TrialJob job;
          FOREBAY_TRY(job.frame, gather(plan, numbers[i], *group_.sources));
          FOREBAY_TRY(job.references, relations_.gather_references(plan, numbers[i], *group_.sources));
          return job;
        },
        .work = [&](TrialJob& job) { return there_and_back(plan, job); },
        .put = [&](TrialJob& job) -> Result<void> {
          raw_bytes += job.frame.raw.size();
          trial.stored_bytes += job.encoded_bytes + kBytesPerFrame;
          trial.encode_seconds += job.encode_seconds;
          trial.decode_seconds += job.decode_seconds;
          delivered(job.frame.raw.size());
          return {};
        }};
    FOREBAY_CHECK(Pipeline<TrialJob>::run(numbers.size(), resources_.memory_bytes,
                                          {.fetch = 1, .work = resources_.threads}, stages));
    trial.raw_bytes += raw_bytes;
    const Catalogue& catalogue = group_.catalogue;
    const auto rows =
        static_cast<double>(catalogue.variables.size() * kBytesPerVariable + catalogue.files.size() * kBytesPerFile);
    trial.stored_bytes += static_cast<uint64_t>(rows * static_cast<double>(raw_bytes) / total_bytes(plan));
    return {};
  }

 private:
  uint64_t memory(uint64_t raw_bytes) const {
    return raw_bytes + profile_.memory_bytes(raw_bytes) + decode_memory(raw_bytes);
  }

  Result<PlanSpec> plan_spec(const SchemeChoice& choice) {
    PlanSpec spec{
        .scheme = choice.scheme, .block_bytes = choice.block_bytes, .frame_bytes = choice.frame_bytes_for(profile_)};
    while (spec.frame_bytes > merge::kMinFrameBytes &&
           (2 * memory(spec.frame_bytes) > resources_.memory_bytes || spec.frame_bytes > most_frame_bytes_))
      spec.frame_bytes /= 2;
    spec.block_bytes = std::min(spec.block_bytes, spec.frame_bytes);
    spec.share_bytes = std::min(spec.share_bytes, spec.frame_bytes);
    if (choice.automatic) {
      spec.scheme = Scheme::aware;
      FOREBAY_TRY(spec.key_block_bytes, choose_interleaving(group_.catalogue, spec, profile_, *group_.sources));
    }
    return spec;
  }

  static double total_bytes(const merge::Plan& plan) {
    double bytes = 0;
    for (const merge::Frame& frame : plan.frames()) bytes += static_cast<double>(frame.raw_bytes);
    return std::max(bytes, 1.0);
  }

  // The frames that hold the bytes number 0, period, 2 * period, ..., where the period makes one byte in `step` be
  // tried.
  static std::vector<uint32_t> spread(const merge::Plan& plan, double step) {
    std::vector<uint32_t> numbers;
    double taken = 0, passed = 0;
    for (uint32_t number = 0; number < plan.frames().size(); ++number) {
      const auto bytes = static_cast<double>(plan.frames()[number].raw_bytes);
      if (taken * step <= passed) {
        numbers.push_back(number);
        taken += bytes;
      }
      passed += bytes;
    }
    return numbers;
  }

  Result<void> there_and_back(const merge::Plan& plan, TrialJob& job) const {
    const auto raw = job.frame.raw.span();
    const FrameShape shape = plan.shape(plan.frames()[job.frame.number], job.frame.slices);
    const codec::Related related = relations_.related(plan.frames()[job.frame.number].group, job.references);
    const CpuClock clock;
    const codec::Encoded encoded = profile_.encode(shape, raw, related).encoded;
    const double encoded_at = clock.seconds();
    Buffer back(raw.size());
    FOREBAY_CHECK(codec::decode(encoded.recipe, shape, encoded.payload, back.span(), related.references));
    const double decoded_at = clock.seconds();
    if (!std::ranges::equal(raw, back.span()))
      return fail(ErrorKind::internal, "a frame does not decode to what was encoded with profile " + profile_.name());
    job.encoded_bytes = encoded.payload.size();
    job.encode_seconds = encoded_at;
    job.decode_seconds = decoded_at - encoded_at;
    return {};
  }

  SampleGroups::Group& group_;
  const codec::Profile& profile_;
  const uint64_t most_frame_bytes_;
  const Resources& resources_;
  RelationPlan relations_;
};

}  // namespace

Result<SampleGroups> SampleGroups::read(const SourceTree& tree, uint64_t group_size, const AdviseOptions& options,
                                        const Resources& resources) {
  SampleGroups sample;
  sample.group_size_ = group_size;
  for (const FileRange& range : rank_groups(tree, group_size)) {
    const auto files = std::span<const SourceFile>(tree.files).subspan(range.first, range.last - range.first);
    Group group{.sources = std::make_unique<SourcePool>(files), .catalogue = {}};
    FOREBAY_TRY(auto read, read_group(files, *group.sources, options.similarity, options.format, resources.memory_bytes,
                                      resources.threads));
    group.catalogue = std::move(read.catalogue);
    group.sources->close_all();
    sample.groups_.push_back(std::move(group));
  }
  return sample;
}

Result<void> run_trial(Trial& trial, SampleGroups& sample, uint64_t sample_bytes, const Resources& resources,
                       const std::function<void(uint64_t raw_bytes)>& delivered) {
  FOREBAY_TRY(SchemeChoice choice, SchemeChoice::parse(trial.scheme));
  if (trial.block_bytes != 0) choice.block_bytes = trial.block_bytes;
  FOREBAY_TRY(const codec::Profile profile, codec::Profile::parse(trial.profile));
  double bytes = 0;
  for (const auto& group : sample.groups())
    for (const FileRow& file : group.catalogue.files) bytes += static_cast<double>(file.size);
  const double step = std::max(1.0, bytes / static_cast<double>(std::max<uint64_t>(sample_bytes, 1)));
  // All trials see several places of the data: of few large frames each scheme would have other bytes.
  constexpr uint64_t kFewestFrames = 4;
  const uint64_t most_frame_bytes = std::max<uint64_t>(sample_bytes / kFewestFrames, merge::kMinFrameBytes);
  trial.group_size = sample.group_size();
  for (auto& group : sample.groups()) {
    FOREBAY_CHECK(GroupTrial(group, profile, most_frame_bytes, resources).run(choice, step, trial, delivered));
    group.sources->close_all();
  }
  return {};
}

}  // namespace forebay::engine
