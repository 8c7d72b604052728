// What the rules of messages are made of: names, values, and what entries of a list may take. Allocates nothing but for
// errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/catalogue.h"
#include "base/error.h"
#include "base/layout.h"
#include "messages_generated.h"

namespace forebay::job::wire {

inline constexpr size_t kMaxComponent = 255;
inline constexpr uint32_t kMaxMode = 07777;
inline constexpr uint32_t kNobody = 0xffffffff;
// What an entry of a list takes in a body at least: its offset, its table, and the lengths of its texts. Who lets many
// entries share one text could make a small body large otherwise.
inline constexpr size_t kEntryBytes = 16;

using Text = flatbuffers::String;

inline std::unexpected<Error> broken(std::string what) { return fail(ErrorKind::corrupt, std::move(what)); }

inline std::string_view view(const Text* text) { return text == nullptr ? std::string_view() : text->string_view(); }

inline bool is_component(std::string_view name) {
  return name.size() <= kMaxComponent && is_safe_name(name) && name.find('/') == std::string_view::npos;
}

inline Result<void> check_set(const Text* name) {
  if (!is_component(view(name))) return broken("a message with a set's name that is no name");
  return {};
}

// Where a message may have none.
inline Result<void> check_optional(const Text* name) { return view(name).empty() ? Result<void>() : check_set(name); }

inline Result<void> check_name(const Text* name) {
  if (!is_safe_name(view(name))) return broken("a message with a file's name that leads elsewhere");
  return {};
}

inline Result<void> check_target(const Text* target) {
  if (view(target).empty() || view(target).size() > kMaxPathBytes || view(target).find('\0') != std::string_view::npos)
    return broken("a message with a link to nothing");
  return {};
}

inline Result<void> check_attributes(uint32_t mode, uint32_t mtime_ns) {
  if (mode > kMaxMode || mtime_ns >= 1'000'000'000) return broken("a message with impossible attributes of a file");
  return {};
}

template <class Enum>
Result<void> check_enum(Enum value, Enum most) {
  if (value > most) return broken("a message with a value that nobody knows");
  return {};
}

inline Result<void> check_error_kind(uint8_t kind) {
  return check_enum(static_cast<ErrorKind>(kind), ErrorKind::internal);
}

// Takes what lists hold from what the body can hold.
class Budget {
 public:
  explicit Budget(size_t size) : left_(size) {}
  Result<void> take(size_t bytes) {
    if (bytes > left_) return broken("a message in which entries of a list share their texts");
    left_ -= bytes;
    return {};
  }

 private:
  size_t left_;
};

inline Result<void> check_round(uint64_t round) {
  if (round == 0) return broken("a message about a restart, or a rest, that is of no round");
  return {};
}

// check_cache.cc: the messages about caches (decision 0037), and what others carry of them. All others pass.
Result<void> check_cache_message(const Message& message, size_t size);
Result<void> check_policy(const SetPolicy* policy);          // null: there is none
Result<void> check_level(const flatbuffers::String* level);  // likewise
Result<void> check_encodings(const flatbuffers::Vector<flatbuffers::Offset<Encoding>>* encodings, Budget& budget);

}  // namespace forebay::job::wire
