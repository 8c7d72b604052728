#include "codec/entries/entries.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/checksum.h"
#include "codec/codec_ids.h"
#include "codec/fitted/fitted_parts.h"
#include "codec/stages.h"
#include "codec/varint.h"

namespace forebay::codec {
namespace {

constexpr unsigned kLeastLog = 12, kMostLog = 26;
constexpr size_t kStageBytes = 3;

std::unexpected<Error> malformed_table(const char* what) {
  return fail(ErrorKind::corrupt, std::string("malformed table of entries: ") + what);
}

Bytes write_table(const EntryTable& table) {
  Bytes out;
  out.push_back(static_cast<std::byte>(std::countr_zero(table.most_bytes)));
  out.push_back(static_cast<std::byte>(table.chain.size()));
  for (const Stage& stage : table.chain) {
    out.push_back(static_cast<std::byte>(stage.id));
    out.push_back(static_cast<std::byte>(stage.id >> 8));
    out.push_back(static_cast<std::byte>(stage.level));
  }
  for (const EntryTable::Place& place : table.places) {
    put_varint(out, place.size);
    out.resize(out.size() + sizeof(uint64_t));
    store_le(out.data() + out.size() - sizeof(uint64_t), place.raw_hash);
  }
  return out;
}

Result<Chain> take_chain(std::span<const std::byte>& in) {
  const auto count = std::to_integer<size_t>(in.front());
  in = in.subspan(1);
  if (count == 0 || count > kMaxChainStages || in.size() < count * kStageBytes)
    return malformed_table("bad number of stages");
  Chain chain;
  for (size_t i = 0; i < count; ++i, in = in.subspan(kStageBytes)) {
    const Stage stage{.id = load_le<uint16_t>(in.data()), .level = std::to_integer<uint8_t>(in[2])};
    if (stage.id == kEntriesId || stage.id == kParentFrameId || stage.id == kFrameBeforeId)
      return malformed_table("a stage that entries cannot have");
    chain.push_back(stage);
  }
  return chain;
}

// Whether the stages of an entry are some of its frame's, in their order.
bool are_among(std::span<const Step> steps, const Chain& chain) {
  auto at = chain.begin();
  for (const Step& step : steps) {
    at = std::find_if(at, chain.end(),
                      [&](const Stage& stage) { return stage.id == step.stage.id && stage.level == step.stage.level; });
    if (at == chain.end()) return false;
    ++at;
  }
  return true;
}

class EntriesEncoder {
 public:
  EntriesEncoder(const Chain& chain, uint64_t most_bytes, size_t raw_bytes)
      : chain_(chain), uses_(chain.size()), payload_(raw_bytes) {
    payload_.resize(0);
    table_.most_bytes = most_bytes;
  }

  // False if all of it has become larger than the frame.
  bool add(const Chain& chain, const EntryCut& cut, std::span<const std::byte> raw, References references) {
    const Encoded entry = encode(chain, cut.shape, raw, references);
    note_stages(entry.recipe);
    Bytes head;
    put_varint(head, entry.recipe.size());
    const uint64_t begin = payload_.size(), size = head.size() + entry.recipe.size() + entry.payload.size();
    if (size > payload_.capacity() - begin) return false;
    append(head);
    append(entry.recipe);
    append(entry.payload.span());
    table_.places.push_back({begin, size, hash64(raw)});
    return true;
  }

  std::optional<Encoded> take() && {
    for (size_t i = 0; i < chain_.size(); ++i)
      if (uses_[i]) table_.chain.push_back({chain_[i].id, chain_[i].level, {}});
    if (table_.chain.empty()) return std::nullopt;
    Bytes parameters = write_table(table_);
    if (parameters.size() > kMaxParameterBytes) return std::nullopt;
    const Step step{.stage = {.id = kEntriesId, .level = 0, .parameters = std::move(parameters)},
                    .size = payload_.size()};
    return Encoded{std::move(payload_), encode_recipe({&step, 1})};
  }

 private:
  void append(std::span<const std::byte> bytes) {
    const size_t at = payload_.size();
    payload_.resize(at + bytes.size());
    if (!bytes.empty()) std::memcpy(payload_.data() + at, bytes.data(), bytes.size());
  }

  // Which stages of the chain an entry has: encode() leaves out some, and changes no order.
  void note_stages(std::span<const std::byte> recipe) {
    const auto steps = decode_recipe(recipe);
    size_t at = 0;
    for (const Step& step : *steps) {
      while (chain_[at].id != step.stage.id || chain_[at].level != step.stage.level) ++at;
      uses_[at++] = true;
    }
  }

  const Chain& chain_;
  std::vector<bool> uses_;
  EntryTable table_;
  Buffer payload_;
};

// What a chain's entries are encoded through: one fit, made to the whole frame, serves them all.
class EntryChains {
 public:
  EntryChains(const Chain& chain, const FrameShape& shape, std::span<const std::byte> raw) : chain_(chain) {
    const Codec& fitted = *find_codec(kFittedId);
    if (chain.front().id != kFittedId || !fitted.accepts(shape)) return;
    const Bytes& given = chain.front().parameters;
    if (auto runs = decode_runs(given.empty() ? fitted.fit({shape}, raw) : given, shape))
      parts_.emplace(*std::move(runs), shape);
  }

  const Chain& of(const EntryCut& cut) {
    if (parts_) chain_.front().parameters = parts_->of(cut.shape, cut.begin / cut.shape.type.size);
    return chain_;
  }

 private:
  Chain chain_;
  std::optional<FittedParts> parts_;
};

// Of each reference the bytes of an entry; of those that are too short none.
std::vector<std::span<const std::byte>> parts_of(References references, const EntryCut& cut) {
  std::vector<std::span<const std::byte>> parts;
  const uint64_t bytes = cut.bytes();
  for (const auto reference : references) {
    const bool has = cut.begin <= reference.size() && bytes <= reference.size() - cut.begin;
    parts.push_back(has ? reference.subspan(cut.begin, bytes) : reference.first(0));
  }
  return parts;
}

// Takes the recipe off the front of an entry.
Result<std::vector<Step>> take_steps(std::span<const std::byte>& encoded) {
  const auto bytes = take_varint(encoded);
  if (!bytes || *bytes > encoded.size()) return malformed_table("an entry's recipe is cut off");
  const auto recipe = encoded.first(static_cast<size_t>(*bytes));
  encoded = encoded.subspan(recipe.size());
  return decode_recipe(recipe);
}

}  // namespace

bool has_entries(std::span<const Step> steps) { return steps.size() == 1 && steps.front().stage.id == kEntriesId; }

bool has_entries(std::span<const std::byte> recipe) {
  const auto steps = decode_recipe(recipe);
  return steps && has_entries(*steps);
}

Result<EntryTable> read_entry_table(std::span<const Step> steps) {
  if (!has_entries(steps)) return malformed_table("there is none");
  const Step& step = steps.front();
  std::span<const std::byte> in = step.stage.parameters;
  if (step.stage.level != 0 || in.size() < 2) return malformed_table("cut off");
  const auto log = std::to_integer<unsigned>(in.front());
  if (log < kLeastLog || log > kMostLog) return malformed_table("a bad size of entries");
  in = in.subspan(1);
  EntryTable table{.most_bytes = uint64_t{1} << log, .chain = {}, .places = {}};
  FOREBAY_TRY(table.chain, take_chain(in));
  uint64_t offset = 0;
  while (!in.empty()) {
    const auto size = take_varint(in);
    if (!size || in.size() < sizeof(uint64_t)) return malformed_table("cut off");
    if (*size == 0 || *size > step.size - offset) return malformed_table("entries beyond the payload");
    table.places.push_back({offset, *size, load_le<uint64_t>(in.data())});
    in = in.subspan(sizeof(uint64_t));
    offset += *size;
  }
  if (offset != step.size) return malformed_table("a payload of another size");
  return table;
}

Result<EntryTable> read_entry_table(std::span<const std::byte> recipe) {
  FOREBAY_TRY(const std::vector<Step> steps, decode_recipe(recipe));
  return read_entry_table(steps);
}

Result<std::vector<EntryCut>> cut_entries(const EntryTable& table, const FrameShape& shape) {
  std::vector<EntryCut> cuts = cut_entries(shape, table.most_bytes);
  if (cuts.size() != table.places.size()) return malformed_table("the frame has another number of entries");
  return cuts;
}

Encoded encode_entries(const Chain& chain, uint64_t most_bytes, const FrameShape& shape, std::span<const std::byte> raw,
                       References references) {
  if (chain.empty() || raw.size() <= most_bytes) return encode(chain, shape, raw, references);
  const std::vector<EntryCut> cuts = cut_entries(shape, most_bytes);
  if (cuts.size() == 1) return encode(chain, shape, raw, references);
  EntriesEncoder encoder(chain, most_bytes, raw.size());
  EntryChains chains(chain, shape, raw);
  for (const EntryCut& cut : cuts)
    if (!encoder.add(chains.of(cut), cut, raw.subspan(cut.begin, cut.bytes()), parts_of(references, cut)))
      return encode({}, shape, raw);
  auto encoded = std::move(encoder).take();
  if (!encoded) return encode(chain, shape, raw, references);
  if (encoded->payload.size() + encoded->recipe.size() >= raw.size()) return encode({}, shape, raw);
  return *std::move(encoded);
}

Result<void> decode_entry(const EntryTable& table, size_t number, const EntryCut& cut,
                          std::span<const std::byte> encoded, std::span<std::byte> raw, References references) {
  const auto bad = [&](std::string_view what) {
    return fail(ErrorKind::corrupt, fmt::format("entry {}: {}", number, what));
  };
  FOREBAY_TRY(const std::vector<Step> steps, take_steps(encoded));
  if (!are_among(steps, table.chain)) return bad("a stage that its frame does not have");
  FOREBAY_CHECK(decode_stages(steps, cut.shape, encoded, raw, references));
  if (hash64(raw) != table.places[number].raw_hash) return bad("the decoded bytes do not match their checksum");
  return {};
}

std::optional<Stage> find_stage(std::span<const std::byte> recipe, std::span<const std::byte> payload, uint16_t id) {
  const auto find_in = [&](std::span<const Step> steps) -> std::optional<Stage> {
    const auto found = std::ranges::find_if(steps, [&](const Step& step) { return step.stage.id == id; });
    return found == steps.end() ? std::nullopt : std::optional(found->stage);
  };
  const auto steps = decode_recipe(recipe);
  if (!steps) return std::nullopt;
  const auto table = read_entry_table(*steps);
  if (!table) return find_in(*steps);
  for (const EntryTable::Place& place : table->places) {
    if (place.offset + place.size > payload.size()) break;
    auto entry = payload.subspan(place.offset, place.size);
    const auto own = take_steps(entry);
    if (auto found = own ? find_in(*own) : std::nullopt) return found;
  }
  return std::nullopt;
}

Result<void> decode_entries(std::span<const Step> steps, const FrameShape& shape, std::span<const std::byte> payload,
                            std::span<std::byte> raw, References references) {
  FOREBAY_TRY(const EntryTable table, read_entry_table(steps));
  if (table.payload_bytes() != payload.size()) return malformed_table("a payload of another size");
  FOREBAY_TRY(const std::vector<EntryCut> cuts, cut_entries(table, shape));
  for (size_t i = 0; i < cuts.size(); ++i) {
    const EntryTable::Place& place = table.places[i];
    FOREBAY_CHECK(decode_entry(table, i, cuts[i], payload.subspan(place.offset, place.size),
                               raw.subspan(cuts[i].begin, cuts[i].bytes()), parts_of(references, cuts[i])));
  }
  return {};
}

}  // namespace forebay::codec
