#include "job/stage/stage.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "job/client/stage_names.h"
#include "store/names.h"

namespace forebay::job {
namespace {

constexpr std::string_view kSet = "{set}";

WallTime time_of(const FileRow& row) {
  return WallTime(std::chrono::seconds(row.mtime_s) + std::chrono::nanoseconds(row.mtime_ns));
}

Verdict incomplete(std::string reason) {
  Verdict verdict;
  verdict.reason = std::move(reason);
  return verdict;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::unexpected<Error> no_rule(std::string_view text, std::string_view why) {
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no rule of completion: {}", text, why), {}, {},
              "api, marker:PATTERN with {set} in it, rename, or settled:FILES[:SECONDS]");
}

Result<Completion> parse_marker(std::string_view text, std::string_view pattern) {
  const size_t place = pattern.find(kSet);
  if (place == std::string_view::npos || pattern.find(kSet, place + 1) != std::string_view::npos)
    return no_rule(text, "the pattern needs {set} once");
  const std::string sample = fmt::format("{}s{}", pattern.substr(0, place), pattern.substr(place + kSet.size()));
  if (!is_safe_name(sample)) return no_rule(text, "the pattern is to be relative to the stage, without '.' and '..'");
  return Completion{.kind = Completion::Kind::marker, .marker = std::string(pattern)};
}

Result<Completion> parse_settled(std::string_view text, std::string_view rest) {
  constexpr uint64_t kMostSeconds = 86'400;
  const size_t colon = rest.find(':');
  const auto files = number<uint64_t>(rest.substr(0, colon));
  if (!files || *files == 0) return no_rule(text, "how many files does a set have on each node?");
  Completion completion{.kind = Completion::Kind::settled, .files = *files};
  if (colon == std::string_view::npos) return completion;
  const auto seconds = number<uint64_t>(rest.substr(colon + 1));
  if (!seconds || *seconds == 0 || *seconds > kMostSeconds) return no_rule(text, "seconds are from 1 to 86400");
  completion.quiet = std::chrono::seconds(*seconds);
  return completion;
}

// The set whose marker `path` is.
std::optional<std::string> marked_set(std::string_view path, std::string_view pattern) {
  const size_t place = pattern.find(kSet);
  const std::string_view before = pattern.substr(0, place), after = pattern.substr(place + kSet.size());
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after))
    return std::nullopt;
  const std::string_view set = path.substr(before.size(), path.size() - before.size() - after.size());
  if (!store::is_job_name(set)) return std::nullopt;
  return std::string(set);
}

void append(Bytes& to, std::string_view text) {
  const auto bytes = as_bytes(text);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// Times of modification are what programs set them to; that of the inode's change is when it happened.
int64_t changed_ns(const StagedFile& file) { return file.identity.ctime_ns; }

int64_t newest_of(const Listing& listing, const Content& content) {
  int64_t newest = 0;
  for (const Content::File& file : content.files)
    if (const StagedFile& listed = listing.files[file.listed]; listed.row.kind == FileKind::regular)
      newest = std::max(newest, changed_ns(listed));
  return newest;
}

std::string fingerprint_of(const Listing& listing, const Content& content) {
  Bytes all;
  for (const Content::File& file : content.files) {
    const FileRow& row = listing.files[file.listed].row;
    append(all, row.name);
    all.push_back({});
    // A directory's time changes with what is in it, which is listed itself.
    if (row.kind == FileKind::directory)
      append(all, fmt::format("{}\n", row.mode));
    else
      append(all, fmt::format("{} {} {} {} {}\n", static_cast<int>(row.kind), row.size, row.mtime_s, row.mtime_ns,
                              row.link_target));
  }
  return hash128_hex(all);
}

// Everything that is listed, regular files first.
Content all_of(std::string_view set, const Listing& listing) {
  Content content;
  content.step = store::step_of(set);
  content.files.reserve(listing.files.size());
  for (const bool regular : {true, false})
    for (uint32_t i = 0; i < listing.files.size(); ++i)
      if ((listing.files[i].row.kind == FileKind::regular) == regular) content.files.push_back({.listed = i});
  content.fingerprint = fingerprint_of(listing, content);
  content.written_ns = newest_of(listing, content);
  return content;
}

bool has_regular(const Listing& listing) {
  return std::ranges::any_of(listing.files, [](const StagedFile& f) { return f.row.kind == FileKind::regular; });
}

// Why a file is not what the marker of its rank says, or empty.
std::string difference(const MarkedFile& marked, const FileRow& row) {
  if (row.kind != FileKind::regular) return fmt::format("'{}' is no regular file", marked.name);
  if (row.size != marked.size) return fmt::format("'{}' has {} bytes, not {}", marked.name, row.size, marked.size);
  if (row.mtime_s != marked.mtime_s || row.mtime_ns != marked.mtime_ns)
    return fmt::format("'{}' was written to after its rank had completed it", marked.name);
  return {};
}

Verdict judge_begun(const Listing& listing, const std::set<uint32_t>& ranks) {
  if (listing.markers.empty()) return incomplete("no rank has completed it");
  for (const uint32_t rank : ranks)
    if (!std::ranges::binary_search(listing.markers, rank, {}, &Marker::rank))
      return incomplete(fmt::format("rank {} has not completed it", rank));

  std::unordered_map<std::string_view, uint32_t> by_name;
  for (uint32_t i = 0; i < listing.files.size(); ++i) by_name.emplace(listing.files[i].row.name, i);
  Content content;
  content.step = listing.step;
  std::vector<bool> taken(listing.files.size());
  for (const Marker& marker : listing.markers) {
    content.ranks = std::max(content.ranks, marker.ranks);
    content.complete.push_back(marker.rank);
    if (!content.step) content.step = marker.step;
    for (const MarkedFile& file : marker.files) {
      const auto found = by_name.find(file.name);
      if (found == by_name.end()) return incomplete(fmt::format("'{}' of rank {} is missing", file.name, marker.rank));
      if (auto why = difference(file, listing.files[found->second].row); !why.empty())
        return incomplete(std::move(why));
      if (taken[found->second]) return incomplete(fmt::format("two ranks have written '{}'", file.name));
      taken[found->second] = true;
      content.files.push_back({.listed = found->second, .rank = marker.rank});
    }
  }
  content.fingerprint = fingerprint_of(listing, content);
  content.written_ns = newest_of(listing, content);
  Verdict verdict;
  verdict.content = std::move(content);
  return verdict;
}

Verdict judge_marker(std::string_view set, const Listing& listing) {
  if (!listing.own_marker) return incomplete("its marker is not there");
  if (!has_regular(listing)) return incomplete("it has no file");
  for (const StagedFile& file : listing.files)
    if (file.row.kind == FileKind::regular && time_of(file.row) > *listing.own_marker)
      return incomplete(fmt::format("'{}' is newer than the marker", file.row.name));
  Verdict verdict;
  verdict.content = all_of(set, listing);
  return verdict;
}

Verdict judge_settled(std::string_view set, const Listing& listing, const Completion& completion, WallTime now,
                      WallTime at_rest) {
  uint64_t files = 0;
  WallTime newest = WallTime::min();
  for (const StagedFile& file : listing.files) {
    if (file.row.kind != FileKind::regular) continue;
    if (store::is_temporary(file.row.name)) return incomplete(fmt::format("'{}' is not finished", file.row.name));
    newest = std::max(newest, WallTime(std::chrono::nanoseconds(changed_ns(file))));
    ++files;
  }
  if (files != completion.files) {
    Verdict verdict = incomplete(fmt::format("{} files where {} are expected", files, completion.files));
    verdict.is_misfit = files > 0 && newest + completion.quiet <= now;
    if (files > 0 && !verdict.is_misfit) verdict.again = newest + completion.quiet;
    return verdict;
  }
  if (newest > at_rest && newest + completion.quiet > now) {
    Verdict verdict = incomplete("it was written to a short time ago");
    verdict.again = newest + completion.quiet;
    return verdict;
  }
  Verdict verdict;
  verdict.content = all_of(set, listing);
  verdict.needs_check = true;
  return verdict;
}

}  // namespace

Result<Completion> parse_completion(std::string_view text) {
  if (text == "api") return Completion{};
  if (text == "rename") return Completion{.kind = Completion::Kind::rename};
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (kind == "marker") return parse_marker(text, rest);
  if (kind == "settled") return parse_settled(text, rest);
  return no_rule(text, "there is no such kind");
}

std::optional<std::string> set_of(std::string_view path, const Completion& completion) {
  const std::string own = fmt::format("{}/sets/", kOwnDirectory);
  if (completion.kind == Completion::Kind::marker)
    if (auto set = marked_set(path, completion.marker)) return set;
  if (path.starts_with(own)) path.remove_prefix(own.size());
  const std::string_view set = path.substr(0, path.find('/'));
  if (!store::is_job_name(set)) return std::nullopt;
  return std::string(set);
}

std::string marker_of(std::string_view set, const Completion& completion) {
  const std::string_view pattern = completion.marker;
  const size_t place = pattern.find(kSet);
  return fmt::format("{}{}{}", pattern.substr(0, place), set, pattern.substr(place + kSet.size()));
}

bool is_of_marker(std::string_view name, const Completion& completion) {
  if (completion.kind != Completion::Kind::marker) return false;
  const std::string_view pattern = completion.marker;
  const std::string_view first = pattern.substr(0, pattern.find('/'));
  if (first.find(kSet) == std::string_view::npos) return name == first;
  return first.size() == pattern.size() && marked_set(name, pattern).has_value();
}

Verdict judge(std::string_view set, const Listing& listing, const std::set<uint32_t>& ranks,
              const Completion& completion, WallTime now, WallTime at_rest) {
  if (!listing.anothers.empty())
    return incomplete(fmt::format("'{}' belongs to another user, and may be anything", listing.anothers));
  if (listing.is_begun) return judge_begun(listing, ranks);
  if (!listing.foreign.empty()) return incomplete(fmt::format("'{}' is a socket, device or FIFO", listing.foreign));
  switch (completion.kind) {
    case Completion::Kind::marker:
      return judge_marker(set, listing);
    case Completion::Kind::rename: {
      if (!has_regular(listing)) return incomplete("it has no file");
      Verdict verdict;
      verdict.content = all_of(set, listing);
      return verdict;
    }
    case Completion::Kind::settled:
      return judge_settled(set, listing, completion, now, at_rest);
    case Completion::Kind::api:
      break;
  }
  return incomplete("no rank has called forebay_begin() for it, and no rule (--complete) tells when it is complete");
}

}  // namespace forebay::job
