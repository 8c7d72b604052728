#include <array>

#include <fmt/format.h>

#include "base/checksum.h"
#include "container/container.h"
#include "container/cubes_codec.h"
#include "container/format.h"
#include "container/part_draft.h"

namespace forebay::container {

struct Writer::State {
  using Piece = std::span<const std::byte>;

  explicit State(std::unique_ptr<ByteSink> to) : sink(std::move(to)) {}

  Result<void> begin(const Catalogue& catalogue, const PlanSpec& plan, const Moment& moment) {
    if (const auto valid = catalogue.validate(); !valid) return misuse(valid.error().what);
    if (!moment.is_valid()) return misuse("the time of a part is no number");
    FOREBAY_TRY(draft, PartDraft::make(catalogue, plan, {.moment = moment, .description = {}}));
    const auto file_header = encode_file_header();
    return sink->append(
        std::array<Piece, 3>{Piece(file_header), Piece(draft->head_front().bytes), Piece(draft->head())});
  }

  Result<void> append(const FrameRecord& frame) {
    FOREBAY_TRY(const RecordFront front,
                draft->append(frame, frame.payload.size(), hash64(frame.payload), sink->size()));
    return sink->append(std::array<Piece, 2>{Piece(front.bytes), Piece(frame.payload)});
  }

  Result<void> append_cubes(const Catalogue& catalogue, std::span<const VariableCubes> cubes) {
    if (cubes.empty()) return {};
    if (draft->has_cubes()) return misuse("the cubes are given twice");
    FOREBAY_TRY(const Bytes payload, encode_cubes(catalogue, cubes));
    FOREBAY_TRY(
        const RecordPlace place,
        write_record(encode_front(RecordType::cubes, draft->id(), {}, payload.size(), hash64(payload)), payload));
    draft->place_cubes(place);
    return {};
  }

  Result<RecordPlace> write_record(const RecordFront& front, const Bytes& payload) {
    const RecordPlace record{sink->size(), front.bytes.size() + payload.size(), front.hash};
    FOREBAY_CHECK(sink->append(std::array<Piece, 2>{Piece(front.bytes), Piece(payload)}));
    return record;
  }

  Result<void> finish(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics) {
    FOREBAY_TRY(const auto index, draft->finish(std::move(file_crcs), std::move(characteristics)));
    FOREBAY_TRY(const RecordPlace last, write_record(index.front, index.payload));
    const auto trailer =
        encode(Trailer{.container_id = draft->id(), .last = last, .file_bytes = sink->size() + kTrailerBytes});
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
  std::optional<PartDraft> draft;  // since begin()
  std::optional<Error> error;
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::~Writer() = default;

Result<std::unique_ptr<Writer>> Writer::create(std::unique_ptr<ByteSink> sink, const Catalogue& catalogue,
                                               const PlanSpec& plan, const Moment& moment) {
  auto state = std::make_unique<State>(std::move(sink));
  FOREBAY_CHECK(state->run([&] { return state->begin(catalogue, plan, moment); }));
  return std::unique_ptr<Writer>(new Writer(std::move(state)));
}

Result<void> Writer::append(const FrameRecord& frame) {
  return state_->run([&] { return state_->append(frame); });
}

Result<void> Writer::skip(uint32_t number, uint64_t raw_bytes) {
  return state_->run([&] { return state_->draft->skip(number, raw_bytes); });
}

Result<void> Writer::append_cubes(const Catalogue& catalogue, std::span<const VariableCubes> cubes) {
  return state_->run([&] { return state_->append_cubes(catalogue, cubes); });
}

Result<void> Writer::finish(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics) {
  return state_->run([&] { return state_->finish(std::move(file_crcs), std::move(characteristics)); });
}

uint64_t Writer::bytes_written() const { return state_->sink->size(); }

}  // namespace forebay::container
