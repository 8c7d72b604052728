// Rebasing a set, as numbered steps:
//   1. stage a set that is to take its place, and announce the parents that it will still have
//   2. per container: share one that has nothing in the other sets; copy the frames of another, with those that lie
//      there in the place of the references to them
//   3. exchange the two, with a manifest that lists what there is now
#include "engine/inspect/rebase.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/checksum.h"
#include "codec/chain.h"
#include "codec/choice/chooser.h"
#include "engine/set/decoded_frames.h"
#include "engine/set/frame_io.h"
#include "engine/set/parent_frames.h"
#include "engine/set/set.h"

namespace forebay::engine {
namespace {

// For frames that cannot be taken as they are stored, since they were predicted from others, where the set does not say
// how it was packed, or there is no memory for that.
constexpr const char* kPlainChain = "shuffle,zstd";

class Rebaser {
 public:
  Rebaser(const store::SetInfo& set, const std::set<std::string>& without, uint64_t memory_bytes)
      : set_(set), without_(without), memory_bytes_(memory_bytes) {}

  Result<RebaseReport> run(const store::Store& store) {
    if (!set_.manifest) return std::unexpected(set_.manifest.error());
    parent_frames_ = make_parent_frames(set_, memory_bytes_);
    store::Manifest manifest = *set_.manifest;
    FOREBAY_TRY(const auto staged, store.restage(set_.name));
    std::erase_if(manifest.parents, [&](const auto& parent) { return without_.contains(parent.name); });
    FOREBAY_CHECK(staged->announce(manifest.parents));
    for (store::ContainerEntry& entry : manifest.containers) FOREBAY_CHECK(take(entry, staged->containers()));
    if (manifest.parents.empty()) manifest.since_full = 0;
    FOREBAY_CHECK(staged->replace(manifest));
    report_.stored_bytes = manifest.bytes();
    return report_;
  }

 private:
  Result<void> take(store::ContainerEntry& entry, store::StagedContainers& staged) {
    FOREBAY_TRY(OpenContainer from, open_listed(set_.files, entry, memory_bytes_, parent_frames_));
    share_decoded_frames({&from, 1}, memory_bytes_ / 4);
    std::vector<store::ParentEntry> parents;
    add_parents_of(from, parents);
    if (std::ranges::none_of(parents, [&](const auto& parent) { return without_.contains(parent.name); }))
      return staged.copy_from(set_.name, entry.name);
    FOREBAY_TRY(auto sink, staged.create(entry.name));
    FOREBAY_CHECK(copy(from, std::move(sink)));
    FOREBAY_TRY(const auto made, staged.open(entry.name));
    entry.bytes = made->size();
    FOREBAY_TRY(entry.tail_hash, store::tail_hash(*made));
    return {};
  }

  Result<void> copy(const OpenContainer& from, std::unique_ptr<ByteSink> sink) {
    const container::Index& index = from.index();
    FOREBAY_TRY(const auto writer,
                container::Writer::create(std::move(sink), index.catalogue, index.plan, index.part.moment));
    for (uint32_t number = 0; number < index.frames.size(); ++number) {
      if (index.frames[number].is_lost()) {
        FOREBAY_CHECK(writer->skip(number, index.frames[number].raw_bytes));
        continue;
      }
      FOREBAY_TRY(const container::FramePayload stored, from.reader->read(number));
      FOREBAY_CHECK(copy_frame(from, number, stored, *writer));
    }
    FOREBAY_TRY(const auto cubes, cubes_of_all(*from.reader));
    if (!cubes.empty()) FOREBAY_CHECK(writer->append_cubes(index.catalogue, cubes));
    return writer->finish(index.file_crcs, index.characteristics);
  }

  Result<void> copy_frame(const OpenContainer& from, uint32_t number, const container::FramePayload& stored,
                          container::Writer& writer) {
    if (is_parent_frame(from, number)) {
      FOREBAY_TRY(const ParentFrame parent, parent_of(from, number, stored.recipe, stored.payload.size()));
      if (without_.contains(parent.set))
        return in_parent(from, number, parent, [&](const OpenContainer& origin) {
          return bring(from, number, origin, parent.number, writer);
        });
    }
    if (is_predicted_from_before(from, number)) {
      FOREBAY_TRY(const BeforeRecipe named, before_of(from, number, stored.recipe));
      if (without_.contains(named.before.set)) {
        FOREBAY_TRY(const RawFrame frame, decode_frame(from, {number, stored}));
        count(frame);
        return encode_alone(from, frame, from.index().frames[number], writer);
      }
    }
    return append(number, from.index().frames[number], from.index(), stored, writer);
  }

  // The frame `theirs` of `origin` as frame `number` of the set: as it is encoded there, once it was decoded.
  Result<void> bring(const OpenContainer& from, uint32_t number, const OpenContainer& origin, uint32_t theirs,
                     container::Writer& writer) {
    FOREBAY_TRY(StoredFrame stored, fetch_frame(origin, theirs));
    FOREBAY_TRY(RawFrame frame, decode_frame(origin, stored));
    count(frame);
    const container::FrameEntry& entry = origin.index().frames[theirs];
    if (entry.references.empty()) return append(number, entry, origin.index(), stored.stored, writer);
    return encode_alone(from, {number, {}, std::move(frame.raw)}, entry, writer);
  }

  void count(const RawFrame& frame) {
    ++report_.frames;
    report_.raw_bytes += frame.raw.size();
  }

  // As frame `frame.number` of the set, of which `entry` says what was known of it where it lay.
  Result<void> encode_alone(const OpenContainer& from, const RawFrame& frame, const container::FrameEntry& entry,
                            container::Writer& writer) const {
    const merge::Frame& planned = from.plan->frames()[frame.number];
    const FrameShape shape = from.plan->shape(planned, from.plan->slices(planned));
    FOREBAY_TRY(const codec::Profile profile, profile_for(frame.raw.size()));
    const codec::Encoded encoded = profile.encode(shape, frame.raw.span()).encoded;
    FOREBAY_TRY(const codec::Chain used, codec::chain_of(encoded.recipe));
    return writer.append({.number = frame.number,
                          .raw_bytes = entry.raw_bytes,
                          .raw_hash = entry.raw_hash,
                          .recipe = encoded.recipe,
                          .chain = codec::to_string(used),
                          .references = {},
                          .payload = encoded.payload.span(),
                          .lossy = entry.lossy});
  }

  // The set's, if it has one that this build knows.
  Result<codec::Profile> profile_for(uint64_t raw_bytes) const {
    auto profile = codec::Profile::parse(set_.manifest->profile);
    if (profile && profile->memory_bytes(raw_bytes) <= memory_bytes_ / 2) return profile;
    return codec::Profile::parse(kPlainChain);
  }

  static Result<void> append(uint32_t number, const container::FrameEntry& entry, const container::Index& of_entry,
                             const container::FramePayload& stored, container::Writer& writer) {
    return writer.append({.number = number,
                          .raw_bytes = entry.raw_bytes,
                          .raw_hash = entry.raw_hash,
                          .recipe = stored.recipe,
                          .chain = of_entry.chains[entry.chain],
                          .references = entry.references,
                          .payload = stored.payload,
                          .lossy = entry.lossy});
  }

  Result<std::vector<container::VariableCubes>> cubes_of_all(const container::Reader& reader) const {
    std::vector<container::VariableCubes> all;
    for (uint32_t key = 0; key < reader.index().catalogue.keys.size() && reader.index().cubes; ++key) {
      FOREBAY_TRY(auto cubes, reader.read_cubes(key, memory_bytes_));
      std::ranges::move(cubes, std::back_inserter(all));
    }
    std::ranges::sort(all, {}, &container::VariableCubes::variable);
    return all;
  }

  const store::SetInfo& set_;
  const std::set<std::string>& without_;
  uint64_t memory_bytes_;
  std::shared_ptr<ParentFrames> parent_frames_;
  RebaseReport report_;
};

}  // namespace

Result<RebaseReport> rebase(const store::Store& store, const std::string& name, const std::set<std::string>& without,
                            const Resources& resources) {
  FOREBAY_TRY(const store::SetInfo set, store.find(name));
  FOREBAY_TRY(const uint64_t memory, buffer_bytes(resources.resolved().memory_bytes));
  return Rebaser(set, without, memory).run(store);
}

}  // namespace forebay::engine
