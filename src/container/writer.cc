#include <array>

#include <fmt/format.h>

#include "base/checksum.h"
#include "container/container.h"
#include "container/cubes_codec.h"
#include "container/format.h"
#include "container/part_draft.h"
#include "container/part_list.h"

namespace forebay::container {

struct Writer::State {
  using Piece = std::span<const std::byte>;

  explicit State(std::unique_ptr<ByteSink> to) : sink(std::move(to)) {}

  static auto record_header(RecordType type, uint64_t id, Piece meta, uint64_t payload_bytes, uint64_t payload_hash) {
    return encode(RecordHeader{.id = id,
                               .type = type,
                               .flags = type == RecordType::cubes ? uint8_t{0} : kRequired,
                               .meta_bytes = static_cast<uint32_t>(meta.size()),
                               .payload_bytes = payload_bytes,
                               .meta_hash = hash64(meta),
                               .payload_hash = payload_hash});
  }

  Result<void> begin_part(const Catalogue& catalogue, const PlanSpec& plan, const Moment& moment) {
    if (draft) return misuse("a part begins before the one before it has ended");
    const PartFacts facts{.number = parts.size(), .container_id = parts.empty() ? 0 : first_id, .moment = moment};
    FOREBAY_TRY(PartDraft begun, PartDraft::make(catalogue, plan, facts));
    std::array<std::byte, kFileHeaderBytes> file_header = encode_file_header();
    Piece before;
    if (parts.empty()) {
      first_id = begun.id();
      before = file_header;
    }
    part_offset = sink->size() + before.size();
    const auto header = record_header(RecordType::head, begun.id(), {}, begun.head().size(), begun.id());
    FOREBAY_CHECK(sink->append(std::array<Piece, 3>{before, Piece(header), Piece(begun.head())}));
    draft = std::move(begun);
    return {};
  }

  Result<void> check_begun() const { return draft ? Result<void>() : misuse("no part has begun"); }

  Result<void> append(const FrameRecord& frame) {
    FOREBAY_CHECK(check_begun());
    FOREBAY_TRY(const FrameEntry* const entry, draft->append(frame, sink->size()));
    const Bytes meta = encode(FrameMeta{.number = frame.number,
                                        .raw_bytes = frame.raw_bytes,
                                        .raw_hash = frame.raw_hash,
                                        .references = frame.references,
                                        .recipe = frame.recipe,
                                        .chain = frame.chain});
    const auto header = record_header(RecordType::frame, draft->id(), meta, frame.payload.size(), entry->encoded_hash);
    return sink->append(std::array<Piece, 3>{Piece(header), Piece(meta), Piece(frame.payload)});
  }

  Result<void> skip(uint32_t number, uint64_t raw_bytes) {
    FOREBAY_CHECK(check_begun());
    return draft->skip(number, raw_bytes);
  }

  Result<void> append_cubes(const Catalogue& catalogue, std::span<const VariableCubes> cubes) {
    FOREBAY_CHECK(check_begun());
    if (cubes.empty()) return {};
    if (draft->has_cubes()) return misuse("the cubes are given twice");
    FOREBAY_TRY(const Bytes payload, encode_cubes(catalogue, cubes));
    FOREBAY_TRY(const RecordPlace place, write_record(RecordType::cubes, draft->id(), {}, payload));
    draft->place_cubes(place);
    return {};
  }

  Result<void> end_part(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics) {
    FOREBAY_CHECK(check_begun());
    FOREBAY_TRY(const auto index, draft->finish(std::move(file_crcs), std::move(characteristics)));
    FOREBAY_TRY(const RecordPlace record, write_record(RecordType::index, draft->id(), index.meta, index.payload));
    parts.push_back({.offset = part_offset,
                     .index_offset = record.offset,
                     .index_bytes = record.bytes,
                     .index_hash = record.hash,
                     .moment = draft->moment()});
    draft.reset();
    return {};
  }

  Result<RecordPlace> write_record(RecordType type, uint64_t id, Piece meta, const Bytes& payload) {
    const auto header = record_header(type, id, meta, payload.size(), hash64(payload));
    const RecordPlace record{sink->size(), header.size() + meta.size() + payload.size(), header_hash(header)};
    FOREBAY_CHECK(sink->append(std::array<Piece, 3>{Piece(header), meta, Piece(payload)}));
    return record;
  }

  Result<void> finish() {
    if (draft) return misuse("the last part has not ended");
    const bool has_list = parts.size() > 1;
    RecordPlace last{parts[0].index_offset, parts[0].index_bytes, parts[0].index_hash};
    if (has_list) {
      FOREBAY_TRY(const Bytes list, encode_parts(parts));
      FOREBAY_TRY(last, write_record(RecordType::parts, first_id, {}, list));
    }
    const auto trailer = encode(Trailer{.container_id = first_id,
                                        .last_offset = last.offset,
                                        .last_bytes = last.bytes,
                                        .last_hash = last.hash,
                                        .file_bytes = sink->size() + kTrailerBytes,
                                        .features = has_list ? kHasParts : 0});
    FOREBAY_CHECK(sink->append(std::array<Piece, 1>{Piece(trailer)}));
    return sink->finish();
  }

  // Runs `step` unless an earlier one failed; remembers its error, with the path.
  template <class Step>
  Result<void> run(Step step) {
    if (error) return std::unexpected(*error);
    Result<void> result = step();
    if (!result) {
      if (result.error().path.empty()) result.error().path = sink->name();
      error = result.error();
    }
    return result;
  }

  const std::unique_ptr<ByteSink> sink;
  std::vector<PartEntry> parts;    // that have ended
  std::optional<PartDraft> draft;  // of the part that has not
  uint64_t part_offset = 0;        // of its head
  uint64_t first_id = 0;           // of the first part
  std::optional<Error> error;
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::~Writer() = default;

Result<std::unique_ptr<Writer>> Writer::create(std::unique_ptr<ByteSink> sink, const Catalogue& catalogue,
                                               const PlanSpec& plan, const Moment& moment) {
  auto state = std::make_unique<State>(std::move(sink));
  FOREBAY_CHECK(state->run([&] { return state->begin_part(catalogue, plan, moment); }));
  return std::unique_ptr<Writer>(new Writer(std::move(state)));
}

Result<void> Writer::append(const FrameRecord& frame) {
  return state_->run([&] { return state_->append(frame); });
}

Result<void> Writer::skip(uint32_t number, uint64_t raw_bytes) {
  return state_->run([&] { return state_->skip(number, raw_bytes); });
}

Result<void> Writer::append_cubes(const Catalogue& catalogue, std::span<const VariableCubes> cubes) {
  return state_->run([&] { return state_->append_cubes(catalogue, cubes); });
}

Result<void> Writer::end_part(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics) {
  return state_->run([&] { return state_->end_part(std::move(file_crcs), std::move(characteristics)); });
}

Result<void> Writer::begin_part(const Catalogue& catalogue, const PlanSpec& plan, const Moment& moment) {
  return state_->run([&] { return state_->begin_part(catalogue, plan, moment); });
}

Result<void> Writer::finish() {
  return state_->run([&] { return state_->finish(); });
}

Result<void> Writer::finish(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics) {
  FOREBAY_CHECK(end_part(std::move(file_crcs), std::move(characteristics)));
  return finish();
}

uint64_t Writer::bytes_written() const { return state_->sink->size(); }

}  // namespace forebay::container
