#include "engine/set/parent_frames.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/set/decoded_frames.h"
#include "engine/set/set_files.h"

namespace forebay::engine {

struct ParentFrames::Opened {
  OpenContainer container;
  uint64_t bytes = 0;
  unsigned users = 0;
};

ParentFrames::ParentFrames(store::SetFiles set, uint64_t memory_bytes)
    : set_(std::move(set)),
      memory_bytes_(memory_bytes),
      decoded_(std::make_shared<DecodedFrames>(memory_bytes / 8)),
      left_bytes_(memory_bytes - decoded_->memory_bytes()) {}

ParentFrames::~ParentFrames() = default;

// Closes all that nobody uses; false if there is none.
bool ParentFrames::close_unused() {
  const size_t before = opened_.size();
  std::erase_if(opened_, [&](const auto& entry) {
    const Opened& opened = *entry.second;
    if (opened.users > 0) return false;
    left_bytes_ += opened.bytes;
    decoded_->forget(opened.container);
    return true;
  });
  return opened_.size() < before;
}

Result<ParentFrames::Opened*> ParentFrames::open(const Key& key, std::unique_lock<std::mutex>& lock) {
  while (true) {
    if (const auto known = opened_.find(key); known != opened_.end()) return known->second.get();
    if (const auto known = failed_.find(key); known != failed_.end()) return std::unexpected(known->second);
    auto container = open_container(set_.of(key.first), key.second, left_bytes_);
    const uint64_t taken = container ? memory_of(*container) : 0;
    if (container && taken > left_bytes_)
      container = fail(ErrorKind::limit, "the indices of the sets that this one refers to take too much memory",
                       container->path, {}, "raise --memory");
    if (container) {
      left_bytes_ -= taken;
      auto opened = std::make_unique<Opened>(*std::move(container), taken);
      if (has_references(opened->container)) opened->container.decoded = decoded_;
      return opened_.emplace(key, std::move(opened)).first->second.get();
    }
    const bool is_out_of_memory = container.error().kind == ErrorKind::limit;
    if (!is_out_of_memory || opened_.empty())
      return std::unexpected(failed_.emplace(key, std::move(container).error()).first->second);
    if (!close_unused()) changed_.wait(lock);
  }
}

void ParentFrames::give_back(Opened& opened) {
  const std::lock_guard lock(mutex_);
  --opened.users;
  changed_.notify_all();
}

Result<std::shared_ptr<const OpenContainer>> ParentFrames::find(const ParentFrame& parent) {
  std::unique_lock lock(mutex_);
  FOREBAY_TRY(Opened* const opened, open({parent.set, parent.container}, lock));
  const OpenContainer& container = opened->container;
  const auto wrong = [&](const char* what) { return fail(ErrorKind::corrupt, what, container.path); };
  if (container.reader->id() != parent.container_id)
    return wrong("this is another container than the one that was meant");
  if (parent.number >= container.index().frames.size()) return wrong("the container has no such frame");
  if (needs_parent(container, parent.number)) return wrong("the frame needs another set itself");
  ++opened->users;
  lock.unlock();  // the deleter would want it, too
  return std::shared_ptr<const OpenContainer>(&container, [this, opened](const OpenContainer*) { give_back(*opened); });
}

std::shared_ptr<ParentFrames> make_parent_frames(const store::SetInfo& set, uint64_t& memory_bytes) {
  if (set.manifest && set.manifest->parents.empty()) return nullptr;
  const uint64_t share = memory_bytes / 4;
  memory_bytes -= share;
  return std::make_shared<ParentFrames>(set.files, share);
}

bool is_parent_frame(const OpenContainer& container, uint32_t number) {
  const container::Index& index = container.index();
  return index.chains[index.frames[number].chain] == kParentChain;
}

bool is_predicted_from_before(const OpenContainer& container, uint32_t number) {
  const container::Index& index = container.index();
  return index.chains[index.frames[number].chain].starts_with(kBeforePrefix);
}

bool needs_parent(const OpenContainer& container, uint32_t number) {
  return is_parent_frame(container, number) || is_predicted_from_before(container, number);
}

namespace {

// What is wrong with the parent is also wrong with the frame: `error` came up while it was read.
Error blamed_on_parent(const OpenContainer& container, uint32_t number, const ParentFrame& parent, const Error& error) {
  std::string why = fmt::format("cannot be read: {}", error.message());
  if (error.kind == ErrorKind::not_found) why = "is missing";
  if (error.kind == ErrorKind::corrupt)
    why = fmt::format("is damaged{}: {}", error.offset ? fmt::format(" at byte {}", *error.offset) : "", error.what);
  return {.kind = is_damage(error) ? ErrorKind::corrupt : error.kind,
          .what = fmt::format("frame {} refers to {}, which {}", number, to_string(parent), why),
          .path = container.path,
          .offset = container.index().frames[number].record_offset,
          .hint = error.kind == ErrorKind::corrupt ? std::string() : error.hint};
}

// Whether the frame in the other set is the same, or one of as many bytes.
enum class Likeness : uint8_t { same, as_large };

Result<void> read_in_parent(const OpenContainer& container, uint32_t number, const ParentFrame& parent,
                            Likeness likeness, const std::function<Result<void>(const OpenContainer& origin)>& read) {
  if (!container.parents)
    return fail(ErrorKind::corrupt, "the manifest says that the set refers to no other", container.path);
  FOREBAY_TRY(const auto origin, container.parents->find(parent));
  const container::FrameEntry& mine = container.index().frames[number];
  const container::FrameEntry& theirs = origin->index().frames[parent.number];
  if (theirs.is_lost()) return fail(ErrorKind::corrupt, "the frame was lost before its set was repaired", origin->path);
  if (mine.raw_bytes != theirs.raw_bytes || (likeness == Likeness::same && mine.raw_hash != theirs.raw_hash))
    return fail(ErrorKind::corrupt, "the frame has other bytes than it had", origin->path);
  return read(*origin);
}

Result<void> in_origin(const OpenContainer& container, uint32_t number, const ParentFrame& parent, Likeness likeness,
                       const std::function<Result<void>(const OpenContainer& origin)>& read) {
  const auto done = read_in_parent(container, number, parent, likeness, read);
  if (!done) return std::unexpected(blamed_on_parent(container, number, parent, done.error()));
  return {};
}

std::unexpected<Error> malformed_recipe(const OpenContainer& container, uint32_t number, const std::string& what) {
  return fail(ErrorKind::corrupt, fmt::format("frame {}: {}", number, what), container.path,
              container.index().frames[number].record_offset);
}

}  // namespace

Result<ParentFrame> parent_of(const OpenContainer& container, uint32_t number, std::span<const std::byte> recipe,
                              uint64_t payload_bytes) {
  auto parent = parse_parent_recipe(recipe);
  if (parent && payload_bytes == 0) return parent;
  return malformed_recipe(container, number, parent ? "a reference has a payload" : parent.error().what);
}

Result<BeforeRecipe> before_of(const OpenContainer& container, uint32_t number, std::span<const std::byte> recipe) {
  auto before = parse_before_recipe(recipe);
  if (!before) return malformed_recipe(container, number, before.error().what);
  return before;
}

Result<void> in_parent(const OpenContainer& container, uint32_t number, const ParentFrame& parent,
                       const std::function<Result<void>(const OpenContainer& origin)>& read) {
  return in_origin(container, number, parent, Likeness::same, read);
}

Result<void> in_before(const OpenContainer& container, uint32_t number, const ParentFrame& before,
                       const std::function<Result<void>(const OpenContainer& origin)>& read) {
  return in_origin(container, number, before, Likeness::as_large, read);
}

Result<Buffer> read_before(const OpenContainer& container, uint32_t number, const ParentFrame& before) {
  Buffer raw;
  FOREBAY_CHECK(in_before(container, number, before, [&](const OpenContainer& origin) -> Result<void> {
    FOREBAY_TRY(RawFrame theirs, read_frame(origin, before.number));
    raw = std::move(theirs.raw);
    return {};
  }));
  return raw;
}

Result<RawFrame> decode_parent_frame(const OpenContainer& container, const StoredFrame& stored) {
  FOREBAY_TRY(const ParentFrame parent,
              parent_of(container, stored.number, stored.stored.recipe, stored.stored.payload.size()));
  const merge::Frame& frame = container.plan->frames()[stored.number];
  RawFrame result{.number = stored.number, .slices = container.plan->slices(frame), .raw = {}};
  FOREBAY_CHECK(in_parent(container, stored.number, parent, [&](const OpenContainer& origin) -> Result<void> {
    FOREBAY_TRY(RawFrame theirs, read_frame(origin, parent.number));
    result.raw = std::move(theirs.raw);
    return {};
  }));
  return result;
}

// The frame of another set that a frame's recipe names; of one that is damaged none.
static std::optional<ParentFrame> named_by(const OpenContainer& container, uint32_t number) {
  if (!needs_parent(container, number)) return std::nullopt;
  const auto head = container.reader->read_head(number);
  if (!head) return std::nullopt;
  if (auto parent = parse_parent_recipe(head->recipe)) return *std::move(parent);
  auto before = parse_before_recipe(head->recipe);
  return before ? std::optional(std::move(before->before)) : std::nullopt;
}

uint64_t parent_frame_memory(const OpenContainer& container, uint32_t number) {
  const auto parent = named_by(container, number);
  if (!parent || !container.parents) return 0;  // reading it will fail
  const auto origin = container.parents->find(*parent);
  return origin ? frame_memory(**origin, parent->number) : 0;
}

void add_parent(std::vector<store::ParentEntry>& parents, const std::string& name, uint64_t frames,
                uint64_t raw_bytes) {
  auto at = std::ranges::lower_bound(parents, name, {}, &store::ParentEntry::name);
  if (at == parents.end() || at->name != name) at = parents.insert(at, {.name = name});
  at->frames += frames;
  at->raw_bytes += raw_bytes;
}

void add_parents_of(const OpenContainer& container, std::vector<store::ParentEntry>& parents) {
  for (uint32_t number = 0; number < container.index().frames.size(); ++number) {
    if (const auto parent = named_by(container, number))
      add_parent(parents, parent->set, 1, container.index().frames[number].raw_bytes);
  }
}

Result<std::vector<store::ParentEntry>> parents_of(const store::SetInfo& set, uint64_t memory_bytes) {
  std::vector<store::ParentEntry> parents;
  FOREBAY_TRY(const auto names, container_names(set));
  for (const std::string& name : names) {
    const auto opened = open_container(set.files, name, memory_bytes);
    if (opened) add_parents_of(*opened, parents);
    if (!opened && !is_damage(opened.error())) return std::unexpected(opened.error());
  }
  return parents;
}

}  // namespace forebay::engine
