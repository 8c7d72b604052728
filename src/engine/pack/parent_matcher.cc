#include "engine/pack/parent_matcher.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "base/checksum.h"
#include "engine/pack/relations.h"
#include "engine/set/frame_io.h"
#include "engine/set/set_files.h"

namespace forebay::engine {
namespace {

// A reference takes about as many bytes: what is smaller is better stored again, and hangs on no other set.
constexpr uint64_t kLeastEncodedBytes = 256;

// Appends the frames of one container of the parent.
class Collector {
 public:
  Collector(Parent& parent, const OpenContainer& container, const std::string& name)
      : parent_(parent),
        container_(container),
        name_(name),
        own_(intern({parent.manifest.name, name, container.reader->id()})) {}

  void run() {
    for (uint32_t number = 0; number < container_.index().frames.size(); ++number) take(number);
  }

 private:
  void take(uint32_t number) {
    const container::FrameEntry& entry = container_.index().frames[number];
    if (entry.is_lost()) return;
    if (is_parent_frame(container_, number)) {
      if (const auto origin = origin_of(parse_parent_recipe(recipe_of(number)))) {
        add(number, *origin);
        place(number, *origin);
      }
    } else if (is_predicted_from_before(container_, number)) {
      const auto named = parse_before_recipe(recipe_of(number));
      if (!named) return;
      if (const auto origin = origin_of(named->before)) place(number, *origin);
    } else if (entry.encoded_bytes >= kLeastEncodedBytes && !needs_other_sets(entry)) {
      add(number, {own_, number});
      place(number, {own_, number});
    }
  }

  struct Origin {
    uint32_t container = 0, number = 0;
  };

  Bytes recipe_of(uint32_t number) const {
    auto head = container_.reader->read_head(number);
    return head ? std::move(head->recipe) : Bytes();
  }

  std::optional<Origin> origin_of(const Result<ParentFrame>& named) {
    if (!named || !is_listed(named->set)) return std::nullopt;
    return Origin{intern({named->set, named->container, named->container_id}), named->number};
  }

  void add(uint32_t number, const Origin& origin) {
    const container::FrameEntry& entry = container_.index().frames[number];
    parent_.frames.push_back({entry.raw_hash, entry.raw_bytes, origin.container, origin.number});
  }

  void place(uint32_t number, const Origin& origin) {
    if (const auto place = place_of(*container_.plan, number, name_))
      parent_.places.push_back({*place, container_.index().frames[number].raw_bytes, origin.container, origin.number});
  }

  bool is_listed(const std::string& set) const {
    return std::ranges::find(parent_.manifest.parents, set, &store::ParentEntry::name) !=
           parent_.manifest.parents.end();
  }

  // Whether it was predicted from a frame that lies elsewhere: who follows a reference finds all that he needs in one
  // container.
  bool needs_other_sets(const container::FrameEntry& entry) const {
    return std::ranges::any_of(entry.references, [&](uint32_t other) { return needs_parent(container_, other); });
  }

  uint32_t intern(const Parent::Container& wanted) {
    const auto is_it = [&](const Parent::Container& c) {
      return c.set == wanted.set && c.name == wanted.name && c.id == wanted.id;
    };
    const auto known = std::ranges::find_if(parent_.containers, is_it);
    const auto index = static_cast<uint32_t>(known - parent_.containers.begin());
    if (known == parent_.containers.end()) parent_.containers.push_back(wanted);
    return index;
  }

  Parent& parent_;
  const OpenContainer& container_;
  const std::string& name_;
  const uint32_t own_;
};

auto content(const Parent::Frame& frame) { return std::pair(frame.raw_hash, frame.raw_bytes); }

constexpr size_t kFrameTextBytes = 24;  // of a frame, and of a place

void append(std::string& text, uint64_t key, uint64_t raw_bytes, uint32_t container, uint32_t number) {
  std::array<std::byte, kFrameTextBytes> bytes;
  store_le(bytes.data(), key);
  store_le(bytes.data() + 8, raw_bytes);
  store_le(bytes.data() + 16, container);
  store_le(bytes.data() + 20, number);
  text += as_text(bytes);
}

template <class Row>
Row row_at(const std::byte* from) {
  return {load_le<uint64_t>(from), load_le<uint64_t>(from + 8), load_le<uint32_t>(from + 16),
          load_le<uint32_t>(from + 20)};
}

}  // namespace

const Parent::Frame* Parent::find(uint64_t raw_hash, uint64_t raw_bytes) const {
  const auto at = std::ranges::lower_bound(frames, std::pair(raw_hash, raw_bytes), {}, content);
  return at != frames.end() && at->raw_hash == raw_hash && at->raw_bytes == raw_bytes ? &*at : nullptr;
}

const Parent::Placed* Parent::at(uint64_t place, uint64_t raw_bytes) const {
  const auto key = [](const Placed& placed) { return std::pair(placed.place, placed.raw_bytes); };
  const auto at = std::ranges::lower_bound(places, std::pair(place, raw_bytes), {}, key);
  return at != places.end() && key(*at) == std::pair(place, raw_bytes) ? &*at : nullptr;
}

std::optional<uint64_t> place_of(const merge::Plan& plan, uint32_t number, const std::string& container) {
  const uint32_t group_number = plan.frames()[number].group;
  const merge::FrameGroup& group = plan.groups()[group_number];
  const std::string key = key_of(plan, group_number);
  if (key.empty()) return std::nullopt;
  return hash64(
      as_bytes(fmt::format("{}/{} of {} of {}", container, number - group.first_frame, group.frame_count, key)));
}

Result<Parent> read_parent(const store::SetInfo& set, uint64_t memory_bytes, std::vector<std::string>& remarks) {
  FOREBAY_CHECK(set.manifest);
  Parent parent{.manifest = *set.manifest, .containers = {}, .frames = {}, .places = {}};
  for (const store::ContainerEntry& entry : set.manifest->containers) {
    const auto opened = open_listed(set.files, entry, memory_bytes);
    if (opened) {
      Collector(parent, *opened, entry.name).run();
    } else if (is_damage(opened.error())) {
      remarks.push_back(
          fmt::format("frames of {}/{} cannot be referred to: {}", set.name, entry.name, opened.error().what));
    } else {
      return std::unexpected(opened.error());
    }
  }
  std::ranges::sort(parent.frames);
  const auto again = std::ranges::unique(parent.frames, {}, content);
  parent.frames.erase(again.begin(), again.end());
  std::ranges::sort(parent.places);
  return parent;
}

std::string to_text(const Parent& parent) {
  nlohmann::json containers = nlohmann::json::array();
  for (const Parent::Container& container : parent.containers)
    containers.push_back({container.set, container.name, container.id});
  const nlohmann::json head = {
      {"manifest", store::serialise(parent.manifest)}, {"containers", containers}, {"frames", parent.frames.size()}};
  const auto packed = nlohmann::json::to_msgpack(head);
  std::string text(8, '\0');
  store_le<uint64_t>(reinterpret_cast<std::byte*>(text.data()), packed.size());
  text.append(packed.begin(), packed.end());
  for (const Parent::Frame& frame : parent.frames)
    append(text, frame.raw_hash, frame.raw_bytes, frame.container, frame.number);
  for (const Parent::Placed& placed : parent.places)
    append(text, placed.place, placed.raw_bytes, placed.container, placed.number);
  return text;
}

Parent parent_from_text(const std::string& text) {
  const std::span<const std::byte> bytes = as_bytes(text);
  const auto head_bytes = static_cast<size_t>(load_le<uint64_t>(bytes.data()));
  const auto head = nlohmann::json::from_msgpack(text.substr(8, head_bytes));
  Parent parent{.manifest = *store::parse_manifest(head["manifest"].get<std::string>(), "parent"),
                .containers = {},
                .frames = {},
                .places = {}};
  for (const auto& container : head["containers"])
    parent.containers.push_back({.set = container[0], .name = container[1], .id = container[2]});
  const auto frames = head["frames"].get<size_t>();
  for (size_t at = 8 + head_bytes; at < bytes.size(); at += kFrameTextBytes) {
    if (parent.frames.size() < frames)
      parent.frames.push_back(row_at<Parent::Frame>(bytes.data() + at));
    else
      parent.places.push_back(row_at<Parent::Placed>(bytes.data() + at));
  }
  return parent;
}

std::vector<store::ParentEntry> candidates(const store::Manifest& parent) {
  std::vector<store::ParentEntry> parents = parent.parents;
  parents.push_back({.name = parent.name, .created_ns = parent.created_ns});
  return parents;
}

// A third for indices; what the table leaves of the rest for frames.
ParentMatcher::ParentMatcher(const Parent& parent, const store::SetFiles& files, uint64_t memory_bytes)
    : parent_(parent),
      memory_bytes_(memory_bytes),
      containers_(files, memory_bytes / 3),
      budget_(memory_bytes - memory_bytes / 3 -
              std::min(memory_bytes - memory_bytes / 3,
                       parent.frames.size() * sizeof(Parent::Frame) + parent.places.size() * sizeof(Parent::Placed))) {}

ParentFrame ParentMatcher::named(uint32_t container, uint32_t number) const {
  const Parent::Container& in = parent_.containers[container];
  return {.set = in.set, .container = in.name, .container_id = in.id, .number = number};
}

Result<ParentMatcher::Held> ParentMatcher::read(const ParentFrame& at) {
  FOREBAY_TRY(const auto container, containers_.find(at));
  FOREBAY_TRY(Lease lease, budget_.lease(frame_memory(*container, at.number)));
  FOREBAY_TRY(RawFrame frame, read_frame(*container, at.number));
  return Held{std::move(lease), std::move(frame)};
}

static std::string unreadable(const ParentFrame& at, const Error& error) {
  return fmt::format("frames of {}/{} cannot be read back ({}) and are stored again", at.set, at.container,
                     to_string(error.kind));
}

ParentMatcher::Answer ParentMatcher::find(uint64_t raw_hash, std::span<const std::byte> raw) {
  const Parent::Frame* frame = parent_.find(raw_hash, raw.size());
  if (!frame) return {};
  ParentFrame at = named(frame->container, frame->number);
  const auto theirs = read(at);
  if (!theirs) return {.found = {}, .remark = unreadable(at, theirs.error())};
  if (!std::ranges::equal(theirs->frame.raw.span(), raw)) return {};
  return {.found = std::move(at), .remark = {}};
}

ParentMatcher::BeforeAnswer ParentMatcher::before(uint64_t place, uint64_t raw_bytes) {
  const Parent::Placed* placed = parent_.at(place, raw_bytes);
  if (!placed) return {};
  ParentFrame at = named(placed->container, placed->number);
  auto theirs = read(at);
  if (!theirs) return {.found = {}, .remark = unreadable(at, theirs.error())};
  if (theirs->frame.raw.size() != raw_bytes) return {};
  return {.found = Before{std::move(at), std::move(theirs->frame.raw)}, .remark = {}};
}

}  // namespace forebay::engine
