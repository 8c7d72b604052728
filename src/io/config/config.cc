#include "io/config/config.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/nearest.h"
#include "io/config/document.h"
#include "io/config/group_reader.h"
#include "io/group/attribute_value.h"
#include "io/group/name_index.h"
#include "io/group/text.h"

namespace forebay::io {
namespace {

constexpr uint64_t kMostClasses = 4096;

template <class T>
std::optional<T> number(ValueType type, std::string_view text) {
  const auto bytes = parse_value(type, text);
  if (!bytes) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

std::optional<uint64_t> whole_number(std::string_view text) { return number<uint64_t>(ValueType::uint64, text); }
std::optional<double> real_number(std::string_view text) { return number<double>(ValueType::float64, text); }

std::unexpected<Failure> too_large(uint64_t size, const std::string& file) {
  return refuse(Code::invalid_xml,
                fmt::format("it has {} bytes, more than the {} that a configuration may have", size, kMaxConfigBytes),
                {}, file);
}

class ConfigReader {
 public:
  ConfigReader(Document& document, uint64_t free_memory) : document_(document), free_memory_(free_memory) {}

  Outcome<Config> read() {
    FOREBAY_TRY(const Element root, find_root());
    root.expect_attributes({"host-language", "schema-version"});
    GroupDefaults defaults;
    FOREBAY_TRY(defaults.is_fortran, read_language(root, true));
    FOREBAY_TRY(const Value version, root.get({"schema-version"}));
    defaults.schema_version = version.text;
    FOREBAY_CHECK(read_groups(root, defaults));
    for (const Element& child : root.children()) {
      FOREBAY_CHECK(read_other(child));
    }
    FOREBAY_CHECK(check_whole(root));
    config_.warnings = document_.take_warnings();
    return std::move(config_);
  }

 private:
  Outcome<Element> find_root() {
    const char* first = nullptr;
    std::optional<Element> root;
    for (const Element& element : Element(document_, document_.top()).children()) {
      if (!first) first = element.at();
      if (!root && element.name() == "adios-config")
        root = element;
      else if (root)
        document_.warn(element.at(), fmt::format("'{}' behind the end of 'adios-config' is ignored", element.name()),
                       [] { return "a file has one element, which holds all others"; });
    }
    if (root) return *root;
    return document_.refuse(Code::invalid_xml, first, "expected an element 'adios-config'",
                            first ? fmt::format("there is '{}'", first) : "the file has no element");
  }

  Outcome<void> read_groups(const Element& root, const GroupDefaults& defaults) {
    for (const Element& child : root.children()) {
      if (child.name() != "adios-group") continue;
      FOREBAY_TRY(GroupDefinition group, read_group(child, defaults));
      if (find_group(group.name))
        document_.warn(child.at(), fmt::format("group '{}' is defined again", group.name),
                       [] { return "the first one counts"; });
      places_.try_emplace(group.name, config_.groups.size());
      config_.groups.push_back(std::move(group));
    }
    if (config_.groups.empty())
      return document_.refuse(Code::no_group, root.at(), "expected at least one element 'adios-group'");
    return {};
  }

  Outcome<void> read_other(const Element& element) {
    const std::string name = element.name();
    if (name == "adios-group") return {};
    if (name == "method" || name == "transport") return read_method(element);
    if (name == "buffer") return read_buffer(element);
    if (name == "analysis") return read_analysis(element);
    if (name == "time-aggregation") return read_aggregation(element);
    document_.warn(element.at(), fmt::format("'{}' is no element of a configuration, and ignored", name), [&] {
      const std::vector<std::string> known = {"adios-group", "method",   "transport",
                                              "buffer",      "analysis", "time-aggregation"};
      return nearest_hint(name, known, fmt::format("expected one of {}", fmt::join(known, ", ")));
    });
    return {};
  }

  Outcome<void> read_method(const Element& element) {
    element.expect_attributes({"group", "method", "priority", "iterations", "base-path"});
    FOREBAY_TRY(const Value name, element.need("method", Code::unknown_method));
    FOREBAY_TRY(const Value of, element.get({"group"}));
    FOREBAY_TRY(const Value base, element.get({"base-path"}));
    MethodChoice choice{.name = name.text,
                        .parameters = element.text(),
                        .base_path = base.text,
                        .group = of.text,
                        .place = document_.place(name.at),
                        .parameters_place = element.text_place()};
    FOREBAY_TRY(choice.priority, read_integer(element, "priority"));
    FOREBAY_TRY(choice.iterations, read_integer(element, "iterations"));
    if (!choice.base_path.empty() && !choice.base_path.ends_with('/'))
      return document_.refuse(Code::invalid_method_choice, base.at,
                              fmt::format("base-path '{}' does not end with a '/'", base.text));
    GroupDefinition* group = find_group(of.text);
    if (!group) {
      document_.warn(of.at,
                     fmt::format("method {} for group '{}', which is not defined, is ignored", name.text, of.text),
                     [&] { return nearest_hint(of.text, group_names(), ""); });
      return {};
    }
    group->methods.push_back(std::move(choice));
    return {};
  }

  Outcome<int> read_integer(const Element& element, std::string_view name) {
    FOREBAY_TRY(const Value value, element.get({name}));
    if (trimmed(value.text).empty()) return 0;
    if (const auto parsed = number<int32_t>(ValueType::int32, value.text)) return *parsed;
    document_.warn(value.at, fmt::format("{} '{}' is no number, and ignored", name, value.text));
    return 0;
  }

  Outcome<void> read_buffer(const Element& element) {
    element.expect_attributes({"size-mb", "max-size-mb", "free-memory-percentage", "allocate-time"});
    FOREBAY_TRY(const auto size, element.find({"size-mb", "max-size-mb"}));
    FOREBAY_TRY(const auto percentage, element.find({"free-memory-percentage"}));
    if (!size && !percentage)
      return document_.refuse(Code::invalid_buffer_size, element.at(),
                              "expected attribute 'size-MB' or 'max-size-MB' of buffer");
    std::optional<uint64_t> limit;
    if (size) {
      const auto megabytes = whole_number(size->text);
      if (!megabytes || *megabytes > (std::numeric_limits<uint64_t>::max() >> 20))
        return document_.refuse(Code::invalid_buffer_size, size->at,
                                fmt::format("'{}' is no size of a buffer", size->text), "expected megabytes");
      if (*megabytes > 0) limit = *megabytes << 20;
    }
    if (percentage) {
      const auto percent = whole_number(percentage->text);
      if (!percent || *percent == 0 || *percent > 100)
        return document_.refuse(Code::invalid_buffer_size, percentage->at,
                                fmt::format("'{}' is no percentage of free memory", percentage->text),
                                "expected 1 to 100");
      const uint64_t share = free_memory_ / 100 * *percent;
      limit = limit ? std::min(*limit, share) : share;
    }
    config_.max_buffer_bytes = limit;
    return {};
  }

  Outcome<void> read_analysis(const Element& element) {
    element.expect_attributes({"adios-group", "var", "break-points", "min", "max", "count"});
    FOREBAY_TRY(const Value of, element.need("adios-group", Code::invalid_group));
    FOREBAY_TRY(const Value name, element.need("var", Code::invalid_name));
    GroupDefinition* group = find_group(of.text);
    if (!group) return no_such_group(of);
    auto place = NameIndex(*group).variable(name.text);
    if (!place) return document_.at(name.at, std::move(place.error()));
    FOREBAY_TRY(const auto points, element.find({"break-points"}));
    HistogramSpec histogram;
    if (points) {
      FOREBAY_TRY(histogram.breaks, break_points(*points));
    } else {
      FOREBAY_TRY(histogram.breaks, equal_classes(element));
    }
    group->variables[*place].histogram = std::move(histogram);
    if (group->statistics != Statistics::full)
      document_.warn(element.at(), fmt::format("group '{}' has no full statistics", group->name),
                     [] { return "histograms need stats=\"On\" of the group"; });
    return {};
  }

  Outcome<std::vector<double>> break_points(const Value& list) {
    std::vector<double> breaks;
    for (const std::string& item : list_items(list.text)) {
      const auto value = real_number(item);
      if (!value) return document_.refuse(Code::histogram, list.at, fmt::format("break point '{}' is no number", item));
      if (!breaks.empty() && !(*value > breaks.back()))
        return document_.refuse(Code::histogram, list.at,
                                fmt::format("break point {} is not above the one before it", item),
                                "expected them in increasing order");
      breaks.push_back(*value);
    }
    if (breaks.empty() || breaks.size() > kMostClasses)
      return document_.refuse(Code::histogram, list.at, fmt::format("{} break points make no histogram", breaks.size()),
                              fmt::format("expected 1 to {}", kMostClasses));
    return breaks;
  }

  Outcome<std::vector<double>> equal_classes(const Element& element) {
    FOREBAY_TRY(const Value least, element.need("min", Code::histogram));
    FOREBAY_TRY(const Value most, element.need("max", Code::histogram));
    FOREBAY_TRY(const Value count_text, element.need("count", Code::histogram));
    const auto min = real_number(least.text), max = real_number(most.text);
    const auto count = whole_number(count_text.text);
    if (!min || !max || !(*min < *max))
      return document_.refuse(Code::histogram, least.at,
                              fmt::format("there are no values between min '{}' and max '{}'", least.text, most.text));
    if (!count || *count == 0 || *count > kMostClasses)
      return document_.refuse(Code::histogram, count_text.at,
                              fmt::format("'{}' is no number of classes", count_text.text),
                              fmt::format("expected 1 to {}", kMostClasses));
    std::vector<double> breaks;
    for (uint64_t i = 0; i <= *count; ++i)
      breaks.push_back(*min + (*max - *min) * static_cast<double>(i) / static_cast<double>(*count));
    return breaks;
  }

  Outcome<void> read_aggregation(const Element& element) {
    element.expect_attributes({"group", "buffer-size", "sync-with-group"});
    FOREBAY_TRY(const Value of, element.need("group", Code::no_group));
    FOREBAY_TRY(const Value with, element.get({"sync-with-group"}));
    FOREBAY_TRY(const auto size, element.find({"buffer-size"}));
    GroupDefinition* group = find_group(of.text);
    if (!group) return no_such_group(of);
    if (!with.text.empty() && !find_group(with.text)) return no_such_group(with);
    const auto bytes = size ? whole_number(size->text) : uint64_t{0};
    if (!bytes)
      return document_.refuse(Code::invalid_buffer_size, size->at,
                              fmt::format("'{}' is no number of bytes", size->text));
    if (*bytes == 0) return {};  // switched off
    group->aggregate_bytes = *bytes;
    group->aggregate_with = with.text;
    return {};
  }

  Outcome<void> check_whole(const Element& root) {
    bool has_method = false;
    for (const GroupDefinition& group : config_.groups) {
      has_method = has_method || !group.methods.empty();
      if (group.methods.empty() && &group == find_group(group.name))
        document_.warn(root.at(), fmt::format("group '{}' has no method", group.name),
                       [] { return "nothing can be written with it"; });
    }
    if (!has_method)
      return document_.refuse(Code::no_method, root.at(),
                              "expected at least one element 'method' for one of the groups",
                              fmt::format("the groups are {}", fmt::join(group_names(), ", ")));
    return {};
  }

  std::unexpected<Failure> no_such_group(const Value& name) const {
    return document_.refuse(Code::invalid_group, name.at, fmt::format("group '{}' is not defined", name.text),
                            nearest_hint(name.text, group_names(), ""));
  }

  GroupDefinition* find_group(std::string_view name) {
    const auto at = places_.find(name);
    return at == places_.end() ? nullptr : &config_.groups[at->second];
  }

  std::vector<std::string> group_names() const {
    std::vector<std::string> names;
    for (const GroupDefinition& group : config_.groups) names.push_back(group.name);
    return names;
  }

  Document& document_;
  uint64_t free_memory_;
  Config config_;
  std::map<std::string, size_t, std::less<>> places_;  // of the groups, by name
};

}  // namespace

uint64_t free_memory_now() {
  const long pages = ::sysconf(_SC_AVPHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : 0;
}

Outcome<std::string> read_config_text(const std::string& path) {
  const auto file = FileSource::open(path);
  if (!file) return std::unexpected(Failure(Code::missing_config, file.error()));
  if ((*file)->size() > kMaxConfigBytes) return too_large((*file)->size(), path);
  std::string text((*file)->size(), '\0');
  const auto read = (*file)->read_at(0, std::as_writable_bytes(std::span(text)));
  if (!read) return std::unexpected(Failure(Code::missing_config, read.error()));
  return text;
}

Outcome<Config> parse_config(std::string_view text, const std::string& file, uint64_t free_memory,
                             std::vector<std::string>* of_refused) {
  if (text.size() > kMaxConfigBytes) return too_large(text.size(), file);
  FOREBAY_TRY(const auto document, Document::parse(text, file));
  Outcome<Config> config = ConfigReader(*document, free_memory).read();
  if (!config && of_refused) *of_refused = document->take_warnings();
  return config;
}

Outcome<Config> read_config(const std::string& path, std::vector<std::string>* of_refused) {
  FOREBAY_TRY(const std::string text, read_config_text(path));
  return parse_config(text, path, free_memory_now(), of_refused);
}

}  // namespace forebay::io
