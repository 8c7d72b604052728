#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "container/container.h"
#include "container/part_frames.h"
#include "container/record.h"
#include "container/scan.h"

namespace forebay::container {

namespace {

// A part whose catalogue was found.
struct Candidate {
  uint64_t id = 0;
  uint64_t offset = 0;     // of the record that it came from
  Index index;             // but the frames, unless it came from an index record
  bool has_index = false;  // whether it did

  // Of the container that it is a part of.
  uint64_t container_id() const { return index.part.number == 0 ? id : index.part.container_id; }
};

bool is_catalogue(const FoundRecord& record) {
  return record.header.type == RecordType::index || record.header.type == RecordType::head;
}

class Recovery {
 public:
  Recovery(const ByteSource& source, uint64_t max_index_bytes, const FrameSizes& frame_sizes,
           const LossyOfRecipe& lossy_of_recipe)
      : source_(source), memory_left_(max_index_bytes), frame_sizes_(frame_sizes), lossy_of_recipe_(lossy_of_recipe) {}

  Result<Recovered> run() {
    records_ = scan_records(source_, remarks_);
    FOREBAY_TRY(const uint64_t container_id, find_id());
    FOREBAY_CHECK(find_candidates(container_id));
    FOREBAY_CHECK(check_known(container_id));
    FOREBAY_CHECK(plan_frames());
    for (const FoundRecord& record : records_)
      if (const auto frames = frames_.find(record.header.id); frames != frames_.end())
        frames->second.collect(source_, record, remarks_);
    Recovered recovered;
    for (Candidate& candidate : candidates_)
      if (const auto frames = frames_.find(candidate.id); frames != frames_.end())
        recovered.parts.push_back(std::move(frames->second).settle(std::move(candidate.index)));
    if (recovered.parts.empty()) return nothing_left();
    recovered.remarks = remarks_.take();
    return recovered;
  }

 private:
  // Notes why there is less than there was; an error that is none of the container's is final.
  Result<void> give_up(const Error& error) {
    if (error.kind != ErrorKind::corrupt) return std::unexpected(error);
    if (!first_error_) first_error_ = error;
    remarks_.add(error);
    return {};
  }

  std::unexpected<Error> nothing_left() const {
    if (first_error_) return std::unexpected(*first_error_);
    return fail(ErrorKind::corrupt, "no copy of the container's catalogue is left: nothing can be recovered",
                source_.name());
  }

  std::optional<Trailer> trailer() const {
    if (source_.size() < kTrailerBytes) return std::nullopt;
    std::array<std::byte, kTrailerBytes> bytes;
    if (!source_.read_at(source_.size() - kTrailerBytes, bytes)) return std::nullopt;
    const auto trailer = parse_trailer(bytes);
    return trailer ? std::optional(*trailer) : std::nullopt;
  }

  // The id of the container that `source_` is, not of one that lies in its payloads: the head says it in its place,
  // then the trailer; failing both, the last copy of a catalogue does, since an index follows all payloads of its part.
  Result<uint64_t> find_id() {
    if (!records_.empty() && records_[0].offset == kFileHeaderBytes && records_[0].header.type == RecordType::head)
      return records_[0].header.id;
    if (const auto known = trailer()) return known->container_id;
    for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
      if (!is_catalogue(*record)) continue;
      const auto candidate = decode(*record);
      if (candidate) return candidate->container_id();
      FOREBAY_CHECK(give_up(candidate.error()));
    }
    return nothing_left();
  }

  // The part that a head or an index is of.
  Result<Candidate> decode(const FoundRecord& record) const {
    Candidate candidate{.id = record.header.id,
                        .offset = record.offset,
                        .index = {},
                        .has_index = record.header.type == RecordType::index};
    if (candidate.has_index) {
      FOREBAY_TRY(candidate.index, read_index(source_, record, memory_left_));
      return candidate;
    }
    if (record.header.payload_bytes > memory_left_)
      return fail(ErrorKind::limit, "the head is too large", source_.name(), record.offset, "raise --memory");
    FOREBAY_TRY(const Bytes payload, read_payload(source_, record));
    if (record.header.payload_hash != record.header.id)
      return fail(ErrorKind::corrupt, "the head has another part's id", source_.name(), record.offset);
    auto index = decode_head(payload, memory_left_);
    if (!index) return at(source_, record.payload_offset(), index.error());
    candidate.index = *std::move(index);
    return candidate;
  }

  // Fills candidates_ with the container's parts, in order.
  Result<void> find_candidates(uint64_t container_id) {
    const auto known = trailer();
    const bool has_one = known && known->container_id == container_id && (known->features & kHasParts) == 0;
    // The index knows more than the head: checksums of files, characteristics and how many frames there were.
    for (const RecordType type : {RecordType::index, RecordType::head})
      for (const FoundRecord& record : records_) {
        const uint64_t id = record.header.id;
        if (record.header.type != type || (has_one && id != container_id)) continue;
        if (ids_.contains(id)) continue;
        auto candidate = decode(record);
        if (!candidate)
          FOREBAY_CHECK(give_up(candidate.error()));
        else if (candidate->container_id() == container_id)
          FOREBAY_CHECK(keep(*std::move(candidate)));
      }
    // Process groups have numbers that say nothing but that they are different ones.
    const auto is_process_group = [](const Candidate& c) {
      return c.index.part.number != 0 && !c.index.part.description.empty();
    };
    if (std::ranges::any_of(candidates_, is_process_group)) {
      std::ranges::sort(candidates_, {}, &Candidate::offset);
    } else {
      std::ranges::sort(candidates_, {}, [](const Candidate& c) { return c.index.part.number; });
      remark_missing_parts();
    }
    return {};
  }

  Result<void> keep(Candidate candidate) {
    ids_.insert(candidate.id);
    if (!numbers_.insert(candidate.index.part.number).second) {
      remarks_.add(fmt::format("part {} is there twice", candidate.index.part.number));
      return {};
    }
    FOREBAY_CHECK(pay(candidate.index.memory_bytes()));
    candidates_.push_back(std::move(candidate));
    return {};
  }

  Result<void> pay(uint64_t bytes) {
    if (bytes > memory_left_)
      return fail(ErrorKind::limit, "the indices of the container's parts are too large", source_.name(), {},
                  "raise --memory");
    memory_left_ -= bytes;
    return {};
  }

  void remark_missing_parts() {
    uint64_t next = 0;
    for (const Candidate& candidate : candidates_) {
      const uint64_t number = candidate.index.part.number;
      if (number > next)
        remarks_.add(fmt::format("{} lost: no head and no index is left",
                                 number - next == 1 ? fmt::format("part {} is", next)
                                                    : fmt::format("parts {} to {} are", next, number - 1)));
      next = number + 1;
    }
  }

  Result<void> check_known(uint64_t container_id) const {
    for (const FoundRecord& record : records_) {
      const auto type = static_cast<uint16_t>(record.header.type);
      const bool known = type >= 1 && type <= static_cast<uint16_t>(RecordType::parts);
      const bool own = record.header.id == container_id || ids_.contains(record.header.id);
      if (own && !known && (record.header.flags & kRequired) != 0)
        return fail(ErrorKind::unsupported, fmt::format("a record has the required type {}", type), source_.name(),
                    record.offset, "use a newer forebay");
    }
    return {};
  }

  // Fills frames_ with what each part should have.
  Result<void> plan_frames() {
    for (const Candidate& candidate : candidates_) {
      auto raw_sizes = raw_sizes_of(candidate);
      if (!raw_sizes) {
        FOREBAY_CHECK(give_up(raw_sizes.error()));
        continue;
      }
      FOREBAY_CHECK(pay(raw_sizes->size() * sizeof(FrameEntry)));
      frames_.try_emplace(candidate.id, *std::move(raw_sizes), lossy_of_recipe_);
    }
    return {};
  }

  Result<std::vector<uint64_t>> raw_sizes_of(const Candidate& candidate) {
    if (candidate.has_index) {
      std::vector<uint64_t> sizes;
      for (const FrameEntry& frame : candidate.index.frames) sizes.push_back(frame.raw_bytes);
      return sizes;
    }
    const std::string which =
        candidates_.size() > 1 ? fmt::format("the index of part {}", candidate.index.part.number) : "the index";
    remarks_.add(which + " is lost: checksums of files and characteristics are gone");
    return frame_sizes_(candidate.index.catalogue, candidate.index.plan);
  }

  const ByteSource& source_;
  uint64_t memory_left_;  // for indices
  const FrameSizes& frame_sizes_;
  const LossyOfRecipe& lossy_of_recipe_;
  Remarks remarks_;
  std::vector<FoundRecord> records_;
  std::vector<Candidate> candidates_;
  std::unordered_set<uint64_t> ids_, numbers_;       // of the candidates
  std::unordered_map<uint64_t, PartFrames> frames_;  // by the part's id
  std::optional<Error> first_error_;
};

}  // namespace

Result<Recovered> recover(const ByteSource& source, uint64_t max_index_bytes, const FrameSizes& frame_sizes,
                          const LossyOfRecipe& lossy_of_recipe) {
  return Recovery(source, max_index_bytes, frame_sizes, lossy_of_recipe).run();
}

static Result<void> rewrite_frames(const ByteSource& source, const Index& index, Writer& writer) {
  for (uint32_t number = 0; number < index.frames.size(); ++number) {
    const FrameEntry& entry = index.frames[number];
    if (entry.is_lost()) {
      FOREBAY_CHECK(writer.skip(number, entry.raw_bytes));
      continue;
    }
    FOREBAY_TRY(const FramePayload frame, read_frame(source, index, number));
    FOREBAY_CHECK(writer.append({.number = number,
                                 .raw_bytes = entry.raw_bytes,
                                 .raw_hash = entry.raw_hash,
                                 .recipe = frame.recipe,
                                 .chain = index.chains[entry.chain],
                                 .references = entry.references,
                                 .payload = frame.payload,
                                 .lossy = entry.lossy}));
  }
  return {};
}

Result<void> rewrite(const ByteSource& source, const Recovered& recovered, std::unique_ptr<ByteSink> sink) {
  std::unique_ptr<Writer> writer;
  for (const auto& [index, lost] : recovered.parts) {
    if (!index.part.description.empty())
      return fail(ErrorKind::unsupported, "a file of process groups is mended in its place", source.name());
    if (!writer) {
      FOREBAY_TRY(writer, Writer::create(std::move(sink), index.catalogue, index.plan, index.part.moment));
    } else {
      FOREBAY_CHECK(writer->begin_part(index.catalogue, index.plan, index.part.moment));
    }
    FOREBAY_CHECK(rewrite_frames(source, index, *writer));
    FOREBAY_CHECK(writer->end_part(index.file_crcs, index.characteristics));
  }
  return writer->finish();
}

}  // namespace forebay::container
