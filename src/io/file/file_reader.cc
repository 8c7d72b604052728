#include "io/file/file_reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/checksum.h"
#include "codec/chain.h"
#include "container/record.h"
#include "io/file/description.h"
#include "io/file/tail.h"
#include "merge/plan.h"

namespace forebay::io {
namespace {

std::unexpected<Error> wrong(const ByteSource& source, uint64_t offset, const char* what) {
  return fail(ErrorKind::corrupt, what, source.name(), offset);
}

// Whether every block that has bytes is one variable of the one file, in order, with frames of its own.
bool describes(const Description& description, const container::Index& index, const merge::Plan& plan) {
  const Catalogue& catalogue = index.catalogue;
  if (catalogue.files.size() != 1 || plan.groups().size() != catalogue.variables.size() ||
      plan.frames().size() != index.frames.size() || index.characteristics.size() != catalogue.variables.size())
    return false;
  for (size_t i = 0; i < index.frames.size(); ++i)
    if (index.frames[i].raw_bytes != plan.frames()[i].raw_bytes || !index.frames[i].references.empty()) return false;
  size_t variable = 0;
  for (const uint64_t bytes : description.bytes) {
    if (bytes == 0) continue;
    if (variable == catalogue.variables.size() || catalogue.bytes_of(catalogue.variables[variable]) != bytes ||
        plan.groups()[variable].streams.size() != 1 || plan.groups()[variable].streams[0].variable != variable)
      return false;
    ++variable;
  }
  return variable == catalogue.variables.size();
}

// The bytes of a frame, decoded and checked.
Result<Bytes> decode_frame(const ByteSource& source, const container::Index& index, uint32_t number,
                           const FrameShape& shape) {
  FOREBAY_TRY(container::FramePayload frame, container::read_frame(source, index, number));
  const container::FrameEntry& entry = index.frames[number];
  if (frame.recipe.empty() && frame.payload.size() == entry.raw_bytes && entry.raw_hash == entry.encoded_hash)
    return std::move(frame.payload);
  Bytes raw(entry.raw_bytes);
  auto decoded = codec::decode(frame.recipe, shape, frame.payload, raw);
  if (!decoded) return container::at(source, entry.record_offset, decoded.error());
  if (hash64(raw) != entry.raw_hash)
    return wrong(source, entry.record_offset, "the frame does not decode to what was written");
  return raw;
}

}  // namespace

struct StoredPart::Content {
  std::shared_ptr<const ByteSource> source;
  std::unique_ptr<const container::Reader> reader;
  Description description;
  std::optional<merge::Plan> plan;  // of the catalogue
  std::vector<uint32_t> variables;  // of each block; UINT32_MAX if it has no bytes

  const container::Index& index() const { return reader->index(); }
};

const ProcessGroup& StoredPart::group() const { return content_->description.group; }
uint64_t StoredPart::bytes(size_t block) const { return content_->description.bytes[block]; }

uint64_t StoredPart::stored_bytes(size_t block) const {
  const Content& content = *content_;
  if (content.variables[block] == UINT32_MAX) return 0;
  const merge::FrameGroup& group = content.plan->groups()[content.variables[block]];
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < group.frame_count; ++i) bytes += content.index().frames[group.first_frame + i].encoded_bytes;
  return bytes;
}

Result<void> StoredPart::read(size_t block, std::span<std::byte> out) const {
  if (out.size() != bytes(block)) return fail(ErrorKind::invalid_argument, "the block has another size");
  return read(block, 0, out);
}

Result<void> StoredPart::read(size_t block, uint64_t begin, std::span<std::byte> out) const {
  if (begin > bytes(block) || out.size() > bytes(block) - begin)
    return fail(ErrorKind::invalid_argument, "the block has fewer bytes");
  const uint64_t end = begin + out.size();
  FOREBAY_CHECK(for_each_frame(
      block, [&](uint64_t first, uint64_t last) { return std::max(begin, first) < std::min(end, last); },
      [&](uint64_t first, std::span<const std::byte> raw) {
        const uint64_t from = std::max(begin, first), to = std::min(end, first + raw.size());
        std::memcpy(out.data() + (from - begin), raw.data() + (from - first), to - from);
      }));
  return {};
}

Result<uint64_t> StoredPart::for_each_frame(size_t block, const IsWanted& is_wanted, const Take& take) const {
  const Content& content = *content_;
  if (content.variables[block] == UINT32_MAX) return 0;
  const merge::FrameGroup& group = content.plan->groups()[content.variables[block]];
  uint64_t frames = 0;
  for (uint32_t i = 0; i < group.frame_count; ++i) {
    const merge::Frame& frame = content.plan->frames()[group.first_frame + i];
    if (!is_wanted(frame.offset, frame.offset + frame.raw_bytes)) continue;
    const FrameShape shape = content.plan->shape(frame, content.plan->slices(frame));
    FOREBAY_TRY(const Bytes raw, decode_frame(*content.source, content.index(), group.first_frame + i, shape));
    take(frame.offset, raw);
    ++frames;
  }
  return frames;
}

Result<std::unique_ptr<FileReader>> FileReader::open(const std::string& path, uint64_t max_bytes) {
  const auto open_other = [directory = std::filesystem::path(path).parent_path()](
                              const std::string& name) -> Result<std::shared_ptr<const ByteSource>> {
    FOREBAY_TRY(auto other, FileSource::open((directory / name).string()));
    return std::shared_ptr<const ByteSource>(std::move(other));
  };
  // Whoever appends may just be cutting off what another had left unfinished.
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    FOREBAY_TRY(auto source, FileSource::open(path));
    auto reader = open(std::shared_ptr<const ByteSource>(std::move(source)), open_other, max_bytes);
    if (reader || reader.error().kind != ErrorKind::changed || attempt == kAttempts) return reader;
  }
}

Result<std::unique_ptr<FileReader>> FileReader::open(std::shared_ptr<const ByteSource> source, OpenOther open_other,
                                                     uint64_t max_bytes) {
  FOREBAY_TRY(const container::Trailer trailer, find_trailer(*source));
  std::vector<FoundList> lists;
  RecordPlace place = trailer.last;
  while (place.is_there()) {
    FOREBAY_TRY(const FoundList list, find_list(*source, place, trailer.container_id));
    if (!lists.empty() && list.meta.number != lists.back().meta.number - lists.back().meta.covers)
      return wrong(*source, place.offset, "this list of process groups is not the one that belongs here");
    place = list.meta.previous;
    lists.push_back(list);
  }
  std::unique_ptr<FileReader> reader(new FileReader);
  for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
    const uint64_t used = reader->listing_.memory_bytes();
    if (used >= max_bytes)
      return fail(ErrorKind::limit, "the lists of process groups are too large", source->name(), list->place.offset);
    FOREBAY_TRY(Listing listing, read_list(*source, *list, max_bytes - used));
    if (!listing.parts.empty() && listing.parts.back().step >= lists.front().meta.steps)
      return wrong(*source, list->place.offset, "this list of process groups has steps that the file does not have");
    reader->listing_.merge(std::move(listing));
  }
  reader->steps_ = lists.front().meta.steps;
  reader->is_torn_ = trailer.file_bytes != source->size();
  reader->container_id_ = trailer.container_id;
  reader->source_ = std::move(source);
  reader->open_other_ = std::move(open_other);
  reader->max_bytes_ = max_bytes;
  return reader;
}

Result<StoredPart> FileReader::open_part(size_t number) const {
  const ListedPart& part = listing_.parts[number];
  const ListedFile& file = listing_.files[part.file];
  std::shared_ptr<const ByteSource> source = source_;
  if (!file.name.empty()) {
    FOREBAY_TRY(source, open_other_(file.name));
  }
  const container::PartEntry entry{
      .offset = part.offset,
      .index = {part.offset + (part.bytes - part.index_bytes), part.index_bytes, part.index_hash}};
  FOREBAY_TRY(auto reader, container::Reader::open_part(source, entry, max_bytes_));
  auto content = std::make_shared<StoredPart::Content>();
  content->reader = std::move(reader);
  content->source = std::move(source);
  const container::PartFacts& facts = content->index().part;
  if (facts.container_id != file.container_id || facts.moment.step != part.step)
    return wrong(*content->source, entry.index.offset, "this process group is not the one that is listed here");
  auto description = decode_description(facts.description, max_bytes_);
  if (!description) return container::at(*content->source, entry.index.offset, description.error());
  content->description = *std::move(description);
  const uint64_t frames = content->index().frames.size();
  auto plan = merge::Plan::make(content->index().catalogue, content->index().plan, frames);
  if (!plan) return container::at(*content->source, entry.index.offset, plan.error());
  content->plan = *std::move(plan);
  if (!describes(content->description, content->index(), *content->plan) ||
      content->description.group.rank != part.rank)
    return wrong(*content->source, entry.index.offset, "what this process group says of itself contradicts itself");
  uint32_t variable = 0;
  for (size_t block = 0; block < content->description.bytes.size(); ++block) {
    const bool has_bytes = content->description.bytes[block] != 0;
    content->variables.push_back(has_bytes ? variable : UINT32_MAX);
    if (has_bytes)
      content->description.group.blocks[block].characteristics = content->index().characteristics[variable++];
  }
  StoredPart stored;
  stored.content_ = std::move(content);
  return stored;
}

Result<bool> is_growing(const ByteSource& source) {
  if (const auto first = find_first_part(source); !first) {
    if (first.error().kind == ErrorKind::io) return std::unexpected(first.error());
    return false;
  }
  return find_trailer(source).has_value();
}

}  // namespace forebay::io
