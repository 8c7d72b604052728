#include "engine/pack_group.h"

#include <algorithm>

#include "base/checksum.h"
#include "codec/chain.h"
#include "container/container.h"
#include "engine/cpu_clock.h"
#include "engine/frame_facts.h"
#include "engine/frame_io.h"
#include "engine/interleave.h"
#include "engine/pipeline.h"
#include "engine/read_group.h"

namespace forebay::engine {
namespace {

struct PackJob {
  RawFrame frame;
  std::string chain;
  codec::Encoded encoded;
  uint64_t raw_bytes = 0, raw_hash = 0;
  FrameFacts facts;
  StageSeconds cpu_seconds;
};

// The slices and blocks of a frame of many small variables take memory too.
uint64_t slice_memory(const merge::Plan& plan, uint32_t number) {
  const uint64_t streams = plan.groups()[plan.frames()[number].group].streams.size();
  return std::min<uint64_t>(streams, plan.frames()[number].raw_bytes) * 4 * sizeof(merge::Slice);
}

class GroupPacker {
 public:
  GroupPacker(std::span<const SourceFile> files, const PackOptions& options, const Resources& resources)
      : files_(files), options_(options), resources_(resources), sources_(files) {}

  Result<GroupReport> run(const std::string& directory, const std::string& name,
                          const std::function<void(uint64_t)>& delivered) {
    FOREBAY_TRY(auto group, read_group(files_, sources_, options_.similarity, options_.format, resources_.memory_bytes,
                                       resources_.threads));
    FOREBAY_TRY(const PlanSpec spec, plan_spec(group.directory));
    FOREBAY_TRY(const merge::Plan plan, merge::Plan::make(group.directory, spec));
    FOREBAY_TRY(auto writer, container::Writer::create(directory + "/" + name, group.directory, spec));

    GroupReport report{.variables = group.directory.variables.size(),
                       .frames = plan.frames().size(),
                       .remarks = std::move(group.remarks)};
    RunningFacts facts(group.directory);
    FOREBAY_CHECK(run_pipeline(plan, *writer, facts, report, delivered));
    FOREBAY_CHECK(sources_.check_unchanged());
    FOREBAY_CHECK(writer->finish(facts.file_crcs(), facts.take_characteristics()));
    FOREBAY_TRY(report.entry, entry_of(directory, name));
    return report;
  }

 private:
  // Small budgets get small frames: a few of them with their working memory fit into half of it. How many threads there
  // are does not matter, for the result must not depend on it.
  uint64_t frame_bytes() const {
    constexpr uint64_t kFramesAtOnce = 4;
    uint64_t bytes = options_.scheme.frame_bytes;
    while (bytes > merge::kMinFrameBytes &&
           kFramesAtOnce * (bytes + options_.profile.memory_bytes(bytes)) > resources_.memory_bytes / 2)
      bytes /= 2;
    return bytes;
  }

  Result<PlanSpec> plan_spec(const Directory& directory) {
    PlanSpec spec{
        .scheme = options_.scheme.scheme, .block_bytes = options_.scheme.block_bytes, .frame_bytes = frame_bytes()};
    spec.block_bytes = std::min(spec.block_bytes, spec.frame_bytes);
    spec.share_bytes = std::min(spec.share_bytes, spec.frame_bytes);
    if (options_.scheme.automatic) {
      spec.scheme = Scheme::aware;
      FOREBAY_TRY(spec.key_block_bytes, choose_interleaving(directory, spec, options_.profile, sources_));
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
    job.facts = all_facts(plan, job.frame);
    job.encoded = codec::encode(options_.profile.choose(shape, raw), shape, raw);
    FOREBAY_TRY(const codec::Chain used, codec::chain_of(job.encoded.recipe));
    job.chain = codec::to_string(used);
    job.frame.raw = {};  // not needed any more: the lease may be waiting for its turn for a while
    job.cpu_seconds.encode = clock.seconds();
    return {};
  }

  Result<void> run_pipeline(const merge::Plan& plan, container::Writer& writer, RunningFacts& facts,
                            GroupReport& report, const std::function<void(uint64_t)>& delivered) {
    const Directory& directory = plan.directory();
    const uint64_t standing = 2 * directory.memory_bytes() + plan.memory_bytes() +
                              directory.variables.size() * sizeof(container::Characteristics);
    if (standing > resources_.memory_bytes)
      return fail(ErrorKind::limit, "the index of one rank group takes more than the memory budget", {}, {},
                  "raise --memory or make --group-size smaller");
    const Pipeline<PackJob>::Stages stages{
        .cost =
            [&](size_t number) {
              const uint64_t raw = plan.frames()[number].raw_bytes;
              return raw + options_.profile.memory_bytes(raw) + slice_memory(plan, static_cast<uint32_t>(number));
            },
        .fetch = [&](size_t number) -> Result<PackJob> {
          const CpuClock clock;
          PackJob job;
          FOREBAY_TRY(job.frame, gather(plan, static_cast<uint32_t>(number), sources_));
          job.cpu_seconds.fetch = clock.seconds();
          return job;
        },
        .work = [&](PackJob& job) { return encode(plan, job); },
        .deliver = [&](PackJob& job) -> Result<void> {
          const CpuClock clock;
          FOREBAY_CHECK(writer.append({.number = job.frame.number,
                                       .raw_bytes = job.raw_bytes,
                                       .raw_hash = job.raw_hash,
                                       .recipe = job.encoded.recipe,
                                       .chain = std::move(job.chain),
                                       .references = {},
                                       .payload = job.encoded.payload.span()}));
          facts.add(job.facts);
          report.payload_bytes += job.encoded.payload.size();
          job.cpu_seconds.write = clock.seconds();
          report.cpu_seconds.add(job.cpu_seconds);
          delivered(job.raw_bytes);
          return {};
        }};
    const PipelineThreads threads{.fetch = std::max(1u, resources_.threads / 2), .work = resources_.threads};
    FOREBAY_CHECK(Pipeline<PackJob>::run(plan.frames().size(), resources_.memory_bytes - standing, threads, stages));
    return {};
  }

  Result<store::ContainerEntry> entry_of(const std::string& directory, const std::string& name) const {
    FOREBAY_TRY(const auto written, FileSource::open(directory + "/" + name));
    store::ContainerEntry entry{.name = name, .bytes = written->size()};
    FOREBAY_TRY(entry.tail_hash, store::tail_hash(*written));
    for (const SourceFile& file : files_) entry.raw_bytes += file.row.size;
    entry.files = files_.size();
    return entry;
  }

  std::span<const SourceFile> files_;
  const PackOptions& options_;
  const Resources& resources_;
  SourcePool sources_;
};

}  // namespace

Result<GroupReport> pack_group(std::span<const SourceFile> files, const std::string& directory, const std::string& name,
                               const PackOptions& options, const Resources& resources,
                               const std::function<void(uint64_t raw_bytes)>& delivered) {
  return GroupPacker(files, options, resources).run(directory, name, delivered);
}

}  // namespace forebay::engine
