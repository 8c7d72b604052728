#include "engine/set/chunk_values.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/byte_source.h"
#include "base/parallel_for.h"
#include "codec/array/array.h"

namespace forebay::engine {
namespace {

// What Forebay's own filter of HDF5 made a chunk of. Its parameters say nothing that the chunk does not.
Result<Bytes> undo_own_filter(std::span<const std::byte> stored, uint64_t most) {
  FOREBAY_TRY(const codec::ArrayShape shape, codec::describe_array(stored));
  FOREBAY_TRY(const uint64_t bytes, shape.bytes());
  if (bytes > most) return fail(ErrorKind::corrupt, "a chunk of another size than its dataset says");
  Bytes raw(bytes);
  FOREBAY_CHECK(codec::decode_array(stored, raw));
  return raw;
}

// Of the memory: what chunks take that are kept, those that are being inflated, and what is known of files.
constexpr uint64_t kKeptShare = 4, kWorkShare = 2, kKnownShare = 8;

class FileOfSet final : public ByteSource {
 public:
  FileOfSet(const OpenSet& set, const ChunkValues::ReadFile& read, size_t container, uint32_t file)
      : read_(read), container_(container), file_(file) {
    const FileRow& row = set.containers[container].catalogue().files[file];
    name_ = set.manifest.name + "/" + row.name;
    size_ = row.size;
  }
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_; }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} bytes from {} on are not in the file", out.size(), offset), name_);
    FOREBAY_TRY([[maybe_unused]] const FrameCost cost, read_(container_, file_, offset, out));
    return {};
  }

 private:
  const ChunkValues::ReadFile& read_;
  size_t container_;
  uint32_t file_;
  std::string name_;
  uint64_t size_ = 0;
};

Shape counts_of(const Shape& shape, const Shape& chunk) {
  Shape counts(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) counts[d] = chunk[d] == 0 ? 0 : (shape[d] - 1) / chunk[d] + 1;
  return counts;
}

Shape place_of(uint64_t cell, const Shape& counts) {
  Shape place(counts.size());
  for (size_t d = counts.size(); d-- > 0; cell /= counts[d]) place[d] = cell % counts[d];
  return place;
}

// The stored chunks that have a part of the box: visit(chunk, place in the grid).
template <class Visit>
void for_each_chunk(const format::StoredDataset& dataset, const Box& box, const Visit& visit) {
  const Shape counts = counts_of(dataset.shape, dataset.chunk);
  Shape first(counts.size()), end(counts.size());
  for (size_t d = 0; d < counts.size(); ++d) {
    first[d] = box.begin[d] / dataset.chunk[d];
    end[d] = (box.begin[d] + box.count[d] - 1) / dataset.chunk[d] + 1;
  }
  uint64_t cells = 1;
  for (size_t d = 0; d < counts.size(); ++d)
    if (__builtin_mul_overflow(cells, end[d] - first[d], &cells)) cells = UINT64_MAX;
  if (cells > dataset.chunks.size()) {
    for (const format::StoredChunk& chunk : dataset.chunks) {
      const Shape place = place_of(chunk.cell, counts);
      bool is_in = true;
      for (size_t d = 0; d < place.size(); ++d) is_in = is_in && place[d] >= first[d] && place[d] < end[d];
      if (is_in) visit(chunk, place);
    }
    return;
  }
  Shape place = first;
  for (uint64_t i = 0; i < cells; ++i) {
    uint64_t cell = 0;
    for (size_t d = 0; d < place.size(); ++d) cell = cell * counts[d] + place[d];
    const auto found = std::ranges::lower_bound(dataset.chunks, cell, {}, &format::StoredChunk::cell);
    if (found != dataset.chunks.end() && found->cell == cell) visit(*found, place);
    for (size_t d = place.size(); d-- > 0;) {
      if (++place[d] < end[d]) break;
      place[d] = first[d];
    }
  }
}

// What a chunk at that place in the grid has of the box, run by run.
void put_chunk(const format::StoredDataset& dataset, const Shape& place, std::span<const std::byte> bytes,
               const ChunkValues::BoxRead& to) {
  const size_t rank = place.size();
  Shape from(rank), target(rank), count(rank);  // the first element in the chunk and in the box, and how many
  for (size_t d = 0; d < rank; ++d) {
    const uint64_t origin = place[d] * dataset.chunk[d], begin = std::max(origin, to.box.begin[d]);
    from[d] = begin - origin;
    target[d] = begin - to.box.begin[d];
    count[d] = std::min(dataset.chunk[d] - from[d], to.box.count[d] - target[d]);  // the chunk may end behind 2^64
  }
  size_t dense = rank;  // from here on a run goes over whole dimensions of both
  uint64_t run = dataset.element_bytes;
  while (dense > 0) {
    run *= count[--dense];
    if (count[dense] != dataset.chunk[dense] || count[dense] != to.box.count[dense]) break;
  }
  Shape at(rank);
  for (bool is_left = true; is_left;) {
    uint64_t source = 0, out = 0;
    for (size_t d = 0; d < rank; ++d) {
      source = source * dataset.chunk[d] + from[d] + at[d];
      out = out * to.box.count[d] + target[d] + at[d];
    }
    to.put(out * dataset.element_bytes, bytes.subspan(source * dataset.element_bytes, run));
    is_left = false;
    for (size_t d = dense; d-- > 0 && !is_left;) {
      if (++at[d] < count[d])
        is_left = true;
      else
        at[d] = 0;
    }
  }
}

void put_fill(const format::StoredDataset& dataset, const ChunkValues::BoxRead& to) {
  constexpr uint64_t kAtOnce = 1 << 16;
  const uint64_t bytes = element_count(to.box.count) * dataset.element_bytes;
  Bytes some(std::min(bytes, std::max(kAtOnce / dataset.element_bytes, uint64_t{1}) * dataset.element_bytes));
  for (size_t i = 0; i < some.size(); ++i) some[i] = dataset.fill[i % dataset.fill.size()];
  for (uint64_t at = 0; at < bytes; at += some.size())
    to.put(at, std::span(some).first(std::min<uint64_t>(some.size(), bytes - at)));
}

}  // namespace

struct ChunkValues::Wanted {
  VariablePlace variable;
  Dataset dataset;
  format::StoredChunk chunk;
  Shape place;
  std::vector<size_t> boxes;
};

ChunkValues::ChunkValues(const OpenSet& set, ReadFile read, ReadFile read_skeleton, uint64_t memory_bytes,
                         unsigned threads)
    : set_(set),
      read_(std::move(read)),
      read_skeleton_(std::move(read_skeleton)),
      memory_bytes_(memory_bytes),
      threads_(std::max(1U, threads)) {}

Result<std::shared_ptr<const format::DatasetHeaders>> ChunkValues::headers(const FilePlace& place) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto* const known = headers_.find(place)) return *known;
  }
  FOREBAY_TRY(auto found, format::DatasetHeaders::find(FileOfSet(set_, read_skeleton_, place.first, place.second)));
  const auto kept = std::make_shared<const format::DatasetHeaders>(std::move(found));
  const std::lock_guard lock(mutex_);
  headers_.add(place, kept, kept->memory_bytes());
  headers_.trim(memory_bytes_ / kKnownShare, 1);
  return kept;
}

Result<ChunkValues::Dataset> ChunkValues::dataset(const VariablePlace& place) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto* const known = datasets_.find(place)) return *known;
  }
  const auto [container, file, variable] = place;
  const Catalogue& catalogue = set_.containers[container].catalogue();
  const VariableRow& row = catalogue.variables[variable];
  if (catalogue.files[file].format != "hdf5")
    return fail(ErrorKind::unsupported, "parts of it were never allocated, and which is not recorded");
  FOREBAY_TRY(const auto headers, this->headers({container, file}));
  FOREBAY_TRY(auto found, headers->read(FileOfSet(set_, read_skeleton_, container, file), catalogue.paths[row.path]));
  if (found.shape != catalogue.shapes[row.shape] || found.chunk != catalogue.shapes[row.block] ||
      found.element_bytes != row.type.size || found.chunks.size() != row.extent_count)
    return fail(ErrorKind::corrupt, "what its file says of its chunks is not what the index says");
  const auto kept = std::make_shared<const format::StoredDataset>(std::move(found));
  const std::lock_guard lock(mutex_);
  datasets_.add(place, kept, kept->memory_bytes());
  datasets_.trim(memory_bytes_ / kKnownShare, 1);
  return kept;
}

// The dataset of a box, which is one of it.
Result<ChunkValues::Dataset> ChunkValues::plan(const BoxRead& box) const {
  FOREBAY_TRY(const Dataset dataset, this->dataset({box.container, box.file, box.variable}));
  const Shape& shape = dataset->shape;
  bool is_in = box.box.begin.size() == shape.size() && box.box.count.size() == shape.size();
  for (size_t d = 0; is_in && d < shape.size(); ++d)
    is_in = box.box.begin[d] <= shape[d] && box.box.count[d] <= shape[d] - box.box.begin[d];
  if (is_in) return dataset;
  return fail(ErrorKind::invalid_argument, "the box is not in the array");
}

// That a chunk can be inflated within the memory. At most two buffers of its size are there at a time.
Result<void> ChunkValues::check_size(const Wanted& wanted) const {
  const uint64_t raw = wanted.dataset->chunk_bytes(), stored = wanted.chunk.extent.length;
  const uint64_t most = memory_bytes_ / kWorkShare;
  if (raw <= most / 2 && stored <= most - raw) return {};
  return fail(ErrorKind::limit,
              fmt::format("a chunk has {} bytes, stored in {}, too many to inflate at once", raw, stored), {}, {},
              "give a larger memory budget");
}

Result<std::shared_ptr<const Bytes>> ChunkValues::chunk(const Wanted& wanted, FrameCost& cost) const {
  const auto [container, file, variable] = wanted.variable;
  const ChunkPlace place{container, file, variable, wanted.chunk.cell};
  {
    const std::lock_guard lock(mutex_);
    if (const auto* const known = chunks_.find(place)) {
      ++cost.cached;
      return *known;
    }
  }
  FOREBAY_CHECK(check_size(wanted));
  const auto [begin, length] = wanted.chunk.extent;
  const uint64_t size = set_.containers[container].catalogue().files[file].size;
  if (begin > size || length > size - begin) return fail(ErrorKind::corrupt, "a chunk lies outside of the file");
  Bytes stored(length);
  FOREBAY_TRY(const FrameCost read, read_(container, file, begin, stored));
  cost.add(read);
  FOREBAY_TRY(Bytes raw,
              format::hdf5::undo_filters(wanted.dataset->filters, wanted.chunk.mask, std::move(stored),
                                         wanted.dataset->chunk_bytes(), {codec::kHdf5Filter, undo_own_filter}));
  const auto kept = std::make_shared<const Bytes>(std::move(raw));
  const std::lock_guard lock(mutex_);
  chunks_.add(place, kept, kept->capacity());
  chunks_.trim(memory_bytes_ / kKeptShare, 1);
  return kept;
}

FrameCost ChunkValues::read(std::span<const BoxRead> boxes,
                            const std::function<void(size_t box, const Error&)>& failed) const {
  std::map<ChunkPlace, Wanted> by_place;
  uint64_t largest = 1;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const BoxRead& box = boxes[i];
    if (element_count(box.box.count) == 0) continue;
    const auto planned = plan(box);
    if (!planned) {
      failed(i, planned.error());
      continue;
    }
    const format::StoredDataset& dataset = **planned;
    const Shape counts = counts_of(dataset.shape, dataset.chunk);
    if (dataset.chunks.size() < element_count(counts)) put_fill(dataset, box);
    for_each_chunk(dataset, box.box, [&](const format::StoredChunk& chunk, const Shape& place) {
      Wanted& wanted = by_place[{box.container, box.file, box.variable, chunk.cell}];
      if (wanted.boxes.empty()) wanted = {{box.container, box.file, box.variable}, *planned, chunk, place, {}};
      wanted.boxes.push_back(i);
      largest = std::max(largest, dataset.chunk_bytes() + std::max(dataset.chunk_bytes(), chunk.extent.length));
    });
  }
  std::vector<const Wanted*> in_order;
  for (const auto& [place, wanted] : by_place) in_order.push_back(&wanted);
  std::ranges::stable_sort(in_order, {}, [](const Wanted* wanted) {
    return std::tuple(std::get<0>(wanted->variable), std::get<1>(wanted->variable), wanted->chunk.extent.offset);
  });
  FrameCost total;
  std::mutex mutex;
  std::set<size_t> told;
  const auto at_once = static_cast<size_t>(std::clamp<uint64_t>(memory_bytes_ / kWorkShare / largest, 1, threads_));
  (void)parallel_for(in_order.size(), at_once, [&](size_t i) -> Result<void> {
    const Wanted& wanted = *in_order[i];
    FrameCost cost;
    const auto bytes = chunk(wanted, cost);
    for (const size_t box : wanted.boxes)
      if (bytes) put_chunk(*wanted.dataset, wanted.place, **bytes, boxes[box]);
    const std::lock_guard lock(mutex);
    total.add(cost);
    for (const size_t box : wanted.boxes)
      if (!bytes && told.insert(box).second) failed(box, bytes.error());
    return {};
  });
  return total;
}

}  // namespace forebay::engine
