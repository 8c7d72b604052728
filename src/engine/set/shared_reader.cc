#include "engine/set/shared_reader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

namespace forebay::engine {

void FrameCost::add(const FrameCost& other) {
  read_bytes += other.read_bytes;
  decoded_bytes += other.decoded_bytes;
  frames += other.frames;
  cached += other.cached;
}

SharedReader::SharedReader(std::shared_ptr<const OpenSet> set, std::shared_ptr<FrameCache> cache, unsigned threads,
                           UsedUp used_up)
    : set_(std::move(set)), cache_(std::move(cache)), threads_(std::max(1u, threads)), used_up_(used_up) {
  for (const OpenContainer& container : set_->containers) {
    sources_.push_back(cache_->new_source());
    frames_.push_back(std::make_unique<StreamFrames>(*container.plan));
  }
}

SharedReader::~SharedReader() {
  for (const uint64_t source : sources_) cache_->forget(source);
}

Result<void> SharedReader::read_frame(size_t container, uint32_t number, const Pieces& pieces,
                                      const std::function<void(const Piece&, std::span<const std::byte>)>& put,
                                      const std::function<void(const Piece&, const Error&)>& failed,
                                      FrameCost& cost) const {
  const FrameCache::Address address{sources_[container], set_->containers[container], number};
  FOREBAY_TRY(const FrameCache::Parts parts, cache_->parts(address));
  std::vector<bool> wanted(parts->count(), parts->count() == 1);
  if (parts->count() > 1)
    pieces(parts->slices, [&](const Piece& piece) {
      for (size_t part = parts->at(piece.from); part < parts->count(); ++part) {
        if (parts->begin_of(part) >= piece.from + piece.length) break;
        wanted[part] = true;
      }
    });
  FOREBAY_TRY(const FrameCache::Frame frame, cache_->get(address, parts, wanted));
  cost.read_bytes += frame.read_bytes;
  cost.decoded_bytes += frame.decoded_bytes;
  ++(frame.decoded_bytes > 0 ? cost.frames : cost.cached);
  uint64_t taken = 0;
  pieces(parts->slices, [&](const Piece& whole) {
    Piece left = whole;
    taken += whole.length;
    for (size_t part = parts->at(left.from); left.length > 0; ++part) {
      const uint64_t at = left.from - parts->begin_of(part);
      Piece piece = left;
      piece.length = std::min(left.length, parts->bytes_of(part) - at);
      if (frame.raw[part])
        put(piece, frame.raw[part]->span().subspan(at, piece.length));
      else
        failed(piece, frame.failed.at(part));
      left.from += piece.length;
      left.to += piece.length;
      left.length -= piece.length;
    }
  });
  if (used_up_ == UsedUp::is_let_go && taken == parts->raw_bytes) cache_->forget(address.source, number);
  return {};
}

FrameCost SharedReader::read(std::span<const BoxRead> boxes,
                             const std::function<void(size_t box, const Error&)>& failed) const {
  std::map<std::pair<size_t, uint64_t>, std::pair<uint32_t, std::vector<size_t>>> wanted;  // by place in the container
  for (size_t i = 0; i < boxes.size(); ++i)
    for (const uint32_t number : boxes[i].plan.frames()) {
      const uint64_t place = set_->containers[boxes[i].container].index().frames[number].record_offset;
      // Frames that were lost have no place; their errors are told one by one.
      auto& [frame_number, users] = wanted[{boxes[i].container, place == 0 ? ~uint64_t{0} - number : place}];
      frame_number = number;
      users.push_back(i);
    }
  std::vector<std::pair<size_t, const std::pair<uint32_t, std::vector<size_t>>*>> units;
  for (const auto& [key, users] : wanted) units.emplace_back(key.first, &users);

  std::atomic<size_t> next = 0;
  std::mutex mutex;
  FrameCost total;
  const auto work = [&] {
    FrameCost cost;
    for (size_t i = next++; i < units.size(); i = next++) {
      const auto& [container, unit] = units[i];
      std::set<size_t> told;
      const auto tell = [&](size_t box, const Error& error) {
        if (!told.insert(box).second) return;
        const std::lock_guard lock(mutex);
        failed(box, error);
      };
      const auto done = read_frame(
          container, unit->first,
          [&](std::span<const merge::Slice> slices, const Visit& visit) {
            for (const size_t box : unit->second)
              boxes[box].plan.for_each_piece(
                  slices, [&](uint64_t from, uint64_t to, uint64_t length) { visit({box, from, to, length}); });
          },
          [&](const Piece& piece, std::span<const std::byte> bytes) { boxes[piece.user].put(piece.to, bytes); },
          [&](const Piece& piece, const Error& error) { tell(piece.user, error); }, cost);
      for (const size_t box : unit->second)
        if (!done) tell(box, done.error());
    }
    const std::lock_guard lock(mutex);
    total.add(cost);
  };
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < std::min<size_t>(threads_, units.size()); ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  return total;
}

std::shared_ptr<const FileParts> SharedReader::parts_of(size_t container, uint32_t file) const {
  constexpr uint64_t kMostKept = 8 << 20;  // or of one file, which are fewer than its index has
  constexpr size_t kMostPlaces = 64;
  const FilePlace place{container, file};
  const std::lock_guard lock(files_mutex_);
  if (const auto* const known = files_.find(place)) return *known;
  auto parts = std::make_shared<const FileParts>(frames_[container]->plan(), file);
  files_.add(place, parts, parts->memory_bytes());
  files_.trim(kMostKept, 1);
  if (files_.size() > kMostPlaces) files_.take_oldest();
  return parts;
}

Result<FrameCost> SharedReader::visit(size_t container, std::vector<StreamPart> parts,
                                      const std::function<void(const Piece&, std::span<const std::byte>)>& put) const {
  const auto stream_of = [](const merge::Stream& stream) { return std::pair(stream.file, stream.variable); };
  const auto of_part = [&](const StreamPart& part) { return stream_of(part.stream); };
  std::ranges::sort(parts, {}, of_part);
  std::set<uint32_t> numbers;
  for (const StreamPart& part : parts)
    for (const uint32_t number : frames_[container]->holding(part)) numbers.insert(number);
  const auto pieces = [&](std::span<const merge::Slice> slices, const Visit& visit) {
    uint64_t slice_at = 0;
    for (const merge::Slice& slice : slices) {
      for (const StreamPart& part : std::ranges::equal_range(parts, stream_of(slice.stream), {}, of_part)) {
        const uint64_t first = std::max(slice.begin, part.begin);
        const uint64_t end = std::min(slice.begin + slice.length, part.begin + part.length);
        if (first < end) visit({0, slice_at + (first - slice.begin), part.target + (first - part.begin), end - first});
      }
      slice_at += slice.length;
    }
  };
  FrameCost cost;
  std::optional<Error> lost;
  for (const uint32_t number : numbers) {
    FOREBAY_CHECK(
        read_frame(container, number, pieces, put, [&](const Piece&, const Error& error) { lost = error; }, cost));
    if (lost) return std::unexpected(*std::move(lost));
  }
  return cost;
}

Result<FrameCost> SharedReader::fill(size_t container, std::vector<StreamPart> parts, std::span<std::byte> out) const {
  uint64_t copied = 0;
  const auto put = [&](const Piece& piece, std::span<const std::byte> bytes) {
    std::memcpy(out.data() + piece.to, bytes.data(), bytes.size());
    copied += bytes.size();
  };
  FOREBAY_TRY(const FrameCost cost, visit(container, std::move(parts), put));
  if (copied != out.size())
    return fail(ErrorKind::internal, fmt::format("the plan yields {} of {} bytes", copied, out.size()),
                set_->containers[container].path);
  return cost;
}

Result<FrameCost> SharedReader::read_file(size_t container, uint32_t file, uint64_t begin,
                                          std::span<std::byte> out) const {
  return fill(container, parts_of(container, file)->within(begin, out.size()), out);
}

Result<FrameCost> SharedReader::read_variable(size_t container, uint32_t file, uint32_t variable, uint64_t begin,
                                              std::span<std::byte> out) const {
  return fill(container, parts_of_variable(frames_[container]->plan(), file, variable, begin, out.size()), out);
}

Result<FrameCost> SharedReader::read_skeleton(size_t container, uint32_t file, uint64_t begin,
                                              std::span<std::byte> out) const {
  std::vector<StreamPart> parts = parts_of(container, file)->within(begin, out.size());
  std::erase_if(parts, [](const StreamPart& part) {
    return part.stream.variable != merge::kSkeleton && part.stream.variable != merge::kWholeFile;
  });
  std::ranges::fill(out, std::byte{});
  return visit(container, std::move(parts), [&](const Piece& piece, std::span<const std::byte> bytes) {
    std::memcpy(out.data() + piece.to, bytes.data(), bytes.size());
  });
}

void SharedReader::fetch_file(size_t container, uint32_t file, uint64_t begin, uint64_t bytes) const {
  (void)visit(container, parts_of(container, file)->within(begin, bytes),
              [](const Piece&, std::span<const std::byte>) {});
}

SetFileSource::SetFileSource(const SharedReader& reader, size_t container, uint32_t file)
    : reader_(reader), container_(container), file_(file) {
  const FileRow& row = reader.set().containers[container].catalogue().files[file];
  name_ = reader.set().manifest.name + "/" + row.name;
  size_ = row.size;
}

Result<void> SetFileSource::check(uint64_t offset, uint64_t bytes) const {
  if (offset <= size_ && bytes <= size_ - offset) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("{} bytes from {} on are not in the file", bytes, offset),
              name_);
}

Result<void> SkeletonSource::read_at(uint64_t offset, std::span<std::byte> out) const {
  FOREBAY_CHECK(check(offset, out.size()));
  FOREBAY_TRY([[maybe_unused]] const FrameCost cost, reader_.read_skeleton(container_, file_, offset, out));
  return {};
}

Result<void> SetFileSource::read_at(uint64_t offset, std::span<std::byte> out) const {
  FOREBAY_CHECK(check(offset, out.size()));
  FOREBAY_TRY([[maybe_unused]] const FrameCost cost, reader_.read_file(container_, file_, offset, out));
  return {};
}

}  // namespace forebay::engine
