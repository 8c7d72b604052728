#include "launch/scr/config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "base/posix/own_code.h"
#include "base/posix/trust.h"
#include "store/files.h"

namespace forebay::scr {
namespace {

constexpr uint64_t kMostConfigBytes = 1u << 20;
constexpr const char* kCommandKey = "FOREBAY_COMMAND";  // what it names is run

struct KnownKey {
  const char* name;
  const char* value;  // the default; null: there is none
};
constexpr std::array kKnownKeys{
    KnownKey{"SCR_ENABLE", "1"},
    KnownKey{"SCR_PREFIX", nullptr},
    KnownKey{"SCR_PREFIX_SIZE", "0"},
    KnownKey{"SCR_PREFIX_PURGE", "0"},
    KnownKey{"SCR_CNTL_BASE", "/dev/shm"},
    KnownKey{"SCR_CACHE_BASE", "/dev/shm"},
    KnownKey{"SCR_CACHE_SIZE", "1"},
    KnownKey{"SCR_CACHE_BYPASS", "1"},
    KnownKey{"SCR_CACHE_PURGE", "0"},
    KnownKey{"SCR_COPY_TYPE", "XOR"},
    KnownKey{"SCR_SET_SIZE", "8"},
    KnownKey{"SCR_SET_FAILURES", "2"},
    KnownKey{"SCR_GROUP", "NODE"},
    KnownKey{"SCR_FLUSH", "10"},
    KnownKey{"SCR_FLUSH_ASYNC", "0"},
    KnownKey{"SCR_FLUSH_TYPE", "SYNC"},
    KnownKey{"SCR_FLUSH_WIDTH", "256"},
    KnownKey{"SCR_FETCH_WIDTH", "256"},
    KnownKey{"SCR_FLUSH_ON_RESTART", "0"},
    KnownKey{"SCR_GLOBAL_RESTART", "0"},
    KnownKey{"SCR_FETCH", "1"},
    KnownKey{"SCR_FETCH_BYPASS", "0"},
    KnownKey{"SCR_DISTRIBUTE", "1"},
    KnownKey{"SCR_CURRENT", nullptr},
    KnownKey{"SCR_CHECKPOINT_INTERVAL", "0"},
    KnownKey{"SCR_CHECKPOINT_SECONDS", "0"},
    KnownKey{"SCR_CHECKPOINT_OVERHEAD", "0"},
    KnownKey{"SCR_HALT_SECONDS", "0"},
    KnownKey{"SCR_HALT_EXIT", "0"},
    KnownKey{"SCR_RUNS", "1"},
    KnownKey{"SCR_MIN_NODES", nullptr},
    KnownKey{"SCR_EXCLUDE_NODES", nullptr},
    KnownKey{"SCR_WATCHDOG_TIMEOUT", nullptr},
    KnownKey{"SCR_WATCHDOG_TIMEOUT_PFS", nullptr},
    KnownKey{"SCR_LOG_ENABLE", "0"},
    KnownKey{"SCR_LOG_TXT_ENABLE", "1"},
    KnownKey{"SCR_DEBUG", "0"},
    // Of SCR's own insides: nothing here follows from them.
    KnownKey{"SCR_AXL_MKDIR", nullptr},
    KnownKey{"SCR_CLUSTER_NAME", nullptr},
    KnownKey{"SCR_COPY_METADATA", nullptr},
    KnownKey{"SCR_CRC_ON_COPY", nullptr},
    KnownKey{"SCR_CRC_ON_DELETE", nullptr},
    KnownKey{"SCR_CRC_ON_FLUSH", nullptr},
    KnownKey{"SCR_DROP_AFTER_CURRENT", nullptr},
    KnownKey{"SCR_FILE_BUF_SIZE", nullptr},
    KnownKey{"SCR_FLUSH_ASYNC_BW", nullptr},
    KnownKey{"SCR_FLUSH_ASYNC_PERCENT", nullptr},
    KnownKey{"SCR_FLUSH_ASYNC_USLEEP", nullptr},
    KnownKey{"SCR_FLUSH_POSTSTAGE", nullptr},
    KnownKey{"SCR_HOP_DISTANCE", nullptr},
    KnownKey{"SCR_LOG_DB_DEBUG", nullptr},
    KnownKey{"SCR_LOG_DB_ENABLE", nullptr},
    KnownKey{"SCR_LOG_DB_HOST", nullptr},
    KnownKey{"SCR_LOG_DB_NAME", nullptr},
    KnownKey{"SCR_LOG_DB_PASS", nullptr},
    KnownKey{"SCR_LOG_DB_USER", nullptr},
    KnownKey{"SCR_LOG_SYSLOG_ENABLE", nullptr},
    KnownKey{"SCR_LOG_SYSLOG_FACILITY", nullptr},
    KnownKey{"SCR_LOG_SYSLOG_LEVEL", nullptr},
    KnownKey{"SCR_LOG_SYSLOG_PREFIX", nullptr},
    KnownKey{"SCR_MPI_BUF_SIZE", nullptr},
    KnownKey{"SCR_NODE_TESTS", nullptr},
    KnownKey{"SCR_NODE_TESTS_FILE", nullptr},
    KnownKey{"SCR_USER_NAME", nullptr},
    KnownKey{"SCR_JOB_ID", nullptr},
    KnownKey{"SCR_JOB_NAME", nullptr},
    KnownKey{"SCR_END_TIME", nullptr},
    KnownKey{"SCR_CONF_FILE", nullptr},
    KnownKey{"FOREBAY_STORE", nullptr},
    KnownKey{kCommandKey, nullptr},
    KnownKey{"FOREBAY_SCR_BACKLOG", "2"},
    KnownKey{"FOREBAY_SCR_ENCRYPT", "0"},
    KnownKey{"FOREBAY_SCR_WAIT", "0"},
    KnownKey{"FOREBAY_SCR_FLUSH_KIND", "store"},
    KnownKey{"FOREBAY_SCR_TIMEOUT", "600"},
};
constexpr std::array<std::string_view, 3> kKeysOfLines{"GROUPS", "STORE", "CKPT"};

bool is_line(std::string_view key) { return std::ranges::find(kKeysOfLines, key) != kKeysOfLines.end(); }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\''))
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const size_t end = std::min(text.size(), static_cast<size_t>(std::ranges::find_if(text, is_space) - text.begin()));
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

Result<void> check_key(std::string_view key, std::string_view text) {
  if (!key.empty() && std::ranges::all_of(key, is_word)) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not of the form KEY=value", trimmed(text)));
}

Result<ConfigRequest> parse_line(std::string_view key, std::string_view text) {
  ConfigRequest request;
  request.key = key;
  const auto words = words_of(text);
  for (const std::string_view& word : words) {
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    FOREBAY_CHECK(check_key(name, word));
    if (&word == &words.front()) {
      if (equals == std::string_view::npos || equals + 1 == word.size())
        return fail(ErrorKind::invalid_argument, fmt::format("'{}' wants a value: {}=ID ITEM=VALUE ...", name, name));
      request.id = word.substr(equals + 1);
      continue;
    }
    if (equals == std::string_view::npos) {
      if (words.size() != 2)
        return fail(ErrorKind::invalid_argument, fmt::format("'{}' sets and asks at once", trimmed(text)));
      request.items.push_back({std::string(name), {}});
      return request;
    }
    const std::string value = unquoted(word.substr(equals + 1));
    request.items.push_back({std::string(name), value.empty() ? std::nullopt : std::optional(value)});
  }
  request.kind = ConfigRequest::Kind::set;
  return request;
}

std::string strip_comment(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote == 0 && c == '#' && (i == 0 || is_space(line[i - 1]))) {
      return std::string(line.substr(0, i));
    }
  }
  return std::string(line);
}

// What speaks against believing a file: others than root, this user and the owner of Forebay's own files wrote it, or
// can.
Doubt doubt_of_file(int file) {
  struct stat info{};
  if (::fstat(file, &info) != 0) return Doubt::not_found;
  return doubt_of(info.st_uid, info.st_gid, info.st_mode, trust_of_process(own_code().c_str()));
}

std::string name_of(const ConfigRequest& request, const std::string& item = {}) {
  std::string name = request.key;
  if (!request.id.empty()) name += " " + request.id;
  if (!item.empty()) name += " " + item;
  return name;
}

std::optional<std::string> unknown_key(const std::string& key) {
  const auto known = [&](const KnownKey& one) { return one.name == key; };
  if (is_line(key) || !key.starts_with("SCR_") || std::ranges::any_of(kKnownKeys, known)) return std::nullopt;
  std::vector<std::string> names;
  for (const KnownKey& one : kKnownKeys) names.emplace_back(one.name);
  return fmt::format("nobody knows the key {} ({})", key,
                     nearest_hint(key, names, "docs/scr.md lists the keys; it is ignored"));
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

std::string replace_variables(std::string_view text, const Environment& environment) {
  std::string replaced;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      replaced += text[i++];
      continue;
    }
    const bool in_braces = i + 1 < text.size() && text[i + 1] == '{';
    const size_t begin = i + (in_braces ? 2 : 1);
    size_t end = begin;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == begin || (in_braces && (end == text.size() || text[end] != '}'))) {
      replaced += text[i++];
      continue;
    }
    const char* value = environment(std::string(text.substr(begin, end - begin)).c_str());
    replaced += value != nullptr ? value : "";
    i = end + (in_braces ? 1 : 0);
  }
  return replaced;
}

Result<ConfigRequest> parse_request(std::string_view text) {
  text = trimmed(text);
  const size_t equals = text.find('=');
  const std::string_view key = trimmed(text.substr(0, equals));
  FOREBAY_CHECK(check_key(key, text));
  if (is_line(key)) {
    if (equals == std::string_view::npos)
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' wants a value: {}=ID ITEM", key, key));
    return parse_line(key, fmt::format("{}={}", key, trimmed(text.substr(equals + 1))));
  }
  ConfigRequest request;
  request.key = key;
  if (equals == std::string_view::npos) {
    request.items.push_back({});
    return request;
  }
  const std::string value = unquoted(text.substr(equals + 1));
  request.kind = value.empty() ? ConfigRequest::Kind::unset : ConfigRequest::Kind::set;
  request.items.push_back({{}, value.empty() ? std::nullopt : std::optional(value)});
  return request;
}

void Config::apply(const ConfigRequest& request, const std::string& where, Layer& layer) {
  if (!request.id.empty()) layer.insert_or_assign(name_of(request), Value{"", where});
  for (const auto& item : request.items) {
    if (item.value) {
      layer.insert_or_assign(name_of(request, item.name), Value{*item.value, where});
    } else {
      layer.erase(name_of(request, item.name));
    }
  }
}

Result<std::optional<std::string>> Config::call(std::string_view text) {
  FOREBAY_TRY(const ConfigRequest request, parse_request(text));
  if (request.kind == ConfigRequest::Kind::query) return find(name_of(request, request.items.front().name));
  apply(request, {}, calls_);
  return std::nullopt;
}

Result<void> Config::read_file(const std::string& path, bool is_named, Layer& to) {
  const auto source = store::open_stored(path);
  if (!source && source.error().kind == ErrorKind::not_found) return {};
  if (!source) return std::unexpected(source.error());
  const Doubt doubt = doubt_of_file((*source)->fd());
  if (!is_named && (doubt == Doubt::foreign_owner || doubt == Doubt::writable_by_all))
    return fail(ErrorKind::permission, "another user wrote this file of SCR's configuration, or can write it", path, {},
                "name it by SCR_CONF_FILE if you mean it, or move it away");
  FOREBAY_TRY(const std::string content, store::read_text(**source, kMostConfigBytes));
  std::string_view rest = content;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line = strip_comment(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (trimmed(line).empty()) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    auto request = parse_request(replace_variables(line, environment_));
    if (request && request->kind == ConfigRequest::Kind::query)
      request = fail(ErrorKind::invalid_argument, fmt::format("'{}' is not of the form KEY=value", trimmed(line)));
    if (!request) {
      request.error().path = where;
      return std::unexpected(std::move(request).error());
    }
    if (request->key == kCommandKey && doubt != Doubt::none)
      return fail(ErrorKind::permission, fmt::format("others can write this file: its {} is not run", kCommandKey),
                  where, {}, fmt::format("set {} in the environment, or 'chmod go-w' a file of your own", kCommandKey));
    if (const auto warning = unknown_key(request->key)) warnings_.push_back(where + ": " + *warning);
    apply(*request, where, to);
  }
  return {};
}

Result<void> Config::read_files(const std::string& system_file) {
  if (has_read_files_) return {};
  has_read_files_ = true;
  const std::string named = find("SCR_CONF_FILE").value_or("");
  const std::string found = find("SCR_PREFIX").value_or(".") + "/.scrconf";
  FOREBAY_CHECK(read_file(named.empty() ? found : named, !named.empty(), user_));
  return system_file.empty() ? Result<void>{} : read_file(system_file, false, system_);
}

std::optional<Config::Value> Config::look_up(const std::string& name) const {
  if (!is_flat_ && name.find(' ') == std::string::npos)
    if (const char* value = environment_(name.c_str()); value != nullptr && *value != '\0')
      return Value{value, "the environment"};
  for (const Layer* layer : {&user_, &calls_, &system_})
    if (const auto found = layer->find(name); found != layer->end()) return found->second;
  return std::nullopt;
}

std::optional<std::string> Config::find(const std::string& name) const {
  auto found = look_up(name);
  return found ? std::optional(std::move(found->text)) : std::nullopt;
}

std::string Config::where(std::string_view key) const { return look_up(std::string(key)).value_or(Value{}).where; }

std::optional<std::string> Config::get(std::string_view key) const {
  if (auto found = find(std::string(key))) return found;
  for (const KnownKey& known : kKnownKeys)
    if (known.name == key && known.value != nullptr) return known.value;
  return std::nullopt;
}

Result<int64_t> Config::number(std::string_view key) const {
  const std::string value = text(key);
  int64_t parsed = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (value.empty() || (fault == std::errc{} && end == value.data() + value.size())) return parsed;
  return fail(ErrorKind::invalid_argument, fmt::format("{}={}: that is no whole number", key, value), where(key));
}

Result<double> Config::real(std::string_view key) const {
  const std::string value = text(key);
  double parsed = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (value.empty() || (fault == std::errc{} && end == value.data() + value.size())) return parsed;
  return fail(ErrorKind::invalid_argument, fmt::format("{}={}: that is no number", key, value), where(key));
}

Result<bool> Config::flag(std::string_view key) const {
  FOREBAY_TRY(const int64_t value, number(key));
  return value != 0;
}

std::vector<ConfigLine> Config::lines(std::string_view key) const {
  std::map<std::string, ConfigLine> by_id;
  const std::string start = std::string(key) + " ";
  for (const Layer* layer : {&system_, &calls_, &user_}) {  // the last one that speaks is the first that is asked
    for (auto at = layer->lower_bound(start); at != layer->end() && at->first.starts_with(start); ++at) {
      const std::string rest = at->first.substr(start.size());
      const size_t space = rest.find(' ');
      const std::string id = rest.substr(0, space);
      by_id[id].id = id;
      if (space != std::string::npos) by_id[id].items[rest.substr(space + 1)] = at->second.text;
      if (!at->second.where.empty()) by_id[id].where = at->second.where;
    }
  }
  std::vector<ConfigLine> lines;
  for (auto& [id, line] : by_id) lines.push_back(std::move(line));
  return lines;
}

std::string Config::groups_of(std::string_view host) const {
  std::string groups;
  for (const ConfigLine& line : lines("GROUPS")) {
    if (line.id != host) continue;
    for (const auto& [kind, label] : line.items)
      groups += (groups.empty() ? "" : ",") + (kind == "NODE" ? "node" : kind) + "=" + label;
  }
  return groups;
}

std::string Config::flattened() const {
  std::set<std::string> names;
  for (const Layer* layer : {&user_, &calls_, &system_})
    for (const auto& [name, value] : *layer) names.insert(name);
  for (const KnownKey& known : kKnownKeys) names.insert(known.name);
  std::string text;
  for (const std::string& name : names)
    if (const auto value = find(name)) text += name + '\0' + *value + '\0';
  return text;
}

void Config::take_flattened(std::string_view text) {
  user_.clear();
  system_.clear();
  calls_.clear();
  is_flat_ = has_read_files_ = true;
  while (!text.empty()) {
    const size_t middle = text.find('\0');
    const size_t end = middle == std::string_view::npos ? middle : text.find('\0', middle + 1);
    if (end == std::string_view::npos) return;
    calls_.insert_or_assign(std::string(text.substr(0, middle)),
                            Value{std::string(text.substr(middle + 1, end - middle - 1)), {}});
    text.remove_prefix(end + 1);
  }
}

}  // namespace forebay::scr
