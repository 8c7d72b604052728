#include "launch/run/nodes_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace forebay::launch {
namespace {

std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// It becomes an argument of ssh: never an option, never anything that a shell could take for more than a word.
bool is_host(std::string_view text) {
  const auto fits = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.size() <= 253 && text[0] != '-' && std::all_of(text.begin(), text.end(), fits);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  for (size_t at = 0; (at = line.find_first_not_of(kBlanks, at)) != line.npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

struct Line {
  std::string_view host;
  uint32_t slots = 1;
  SlotStyle style = SlotStyle::lines;
};

std::optional<Line> parse_line(const std::vector<std::string_view>& words) {
  constexpr std::string_view kSlots = "slots=";
  Line line{words[0]};
  std::optional<uint32_t> slots = 1;
  if (words.size() > 2) return std::nullopt;
  if (words.size() == 2) {
    if (!words[1].starts_with(kSlots)) return std::nullopt;
    slots = number_of(words[1].substr(kSlots.size()));
    line.style = SlotStyle::equals;
  } else if (const size_t colon = line.host.find(':'); colon != line.host.npos) {
    slots = number_of(line.host.substr(colon + 1));
    line.host = line.host.substr(0, colon);
    line.style = SlotStyle::colon;
  }
  if (!slots || *slots == 0 || *slots > kMostSlots || !is_host(line.host)) return std::nullopt;
  line.slots = *slots;
  return line;
}

void add(Nodes& nodes, const Line& line) {
  if (!nodes.blocks.empty() && nodes.hosts[nodes.blocks.back().host] == line.host) {
    uint32_t& slots = nodes.blocks.back().slots;
    slots = std::min(slots + line.slots, kMostSlots);
    return;
  }
  const auto found = std::find(nodes.hosts.begin(), nodes.hosts.end(), line.host);
  const auto host = static_cast<size_t>(found - nodes.hosts.begin());
  if (found == nodes.hosts.end()) {
    nodes.hosts.emplace_back(line.host);
    nodes.styles.push_back(line.style);
  }
  nodes.blocks.push_back({host, line.slots});
}

}  // namespace

Result<Nodes> parse_nodes(std::string_view text, const std::string& path) {
  Nodes nodes;
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const auto words = words_of(line);
    if (words.empty()) continue;
    const auto parsed = parse_line(words);
    if (!parsed)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("line {} is neither HOST, HOST:SLOTS nor HOST slots=SLOTS", number), path);
    add(nodes, *parsed);
  }
  if (nodes.hosts.empty()) return fail(ErrorKind::invalid_argument, "names no node", path);
  return nodes;
}

std::optional<SlotStyle> style_of_launcher(std::string_view program) {
  constexpr std::array<std::pair<std::string_view, SlotStyle>, 9> kKnown{{{"srun", SlotStyle::names},
                                                                          {"mpiexec.hydra", SlotStyle::colon},
                                                                          {"mpiexec.mpich", SlotStyle::colon},
                                                                          {"mpirun.mpich", SlotStyle::colon},
                                                                          {"mpiexec.openmpi", SlotStyle::equals},
                                                                          {"mpirun.openmpi", SlotStyle::equals},
                                                                          {"orterun", SlotStyle::equals},
                                                                          {"prterun", SlotStyle::equals},
                                                                          {"prun", SlotStyle::equals}}};
  for (const auto& [name, style] : kKnown)
    if (program == name) return style;
  return std::nullopt;
}

Nodes in_style(Nodes nodes, SlotStyle style) {
  nodes.styles.assign(nodes.hosts.size(), style);
  return nodes;
}

std::string nodes_text(const Nodes& nodes) {
  std::string text;
  std::set<size_t> named;
  for (const Nodes::Block& block : nodes.blocks) {
    const std::string& host = nodes.hosts[block.host];
    const SlotStyle style = nodes.style_of(block.host);
    if (style == SlotStyle::names)
      text += named.insert(block.host).second ? host + "\n" : "";
    else if (style == SlotStyle::colon)
      text += fmt::format("{}:{}\n", host, block.slots);
    else if (style == SlotStyle::equals)
      text += fmt::format("{} slots={}\n", host, block.slots);
    else
      for (uint32_t slot = 0; slot < (block.slots == kMostSlots ? 1 : block.slots); ++slot) text += host + "\n";
  }
  return text;
}

std::string with_hosts(std::string word, const Nodes& nodes) {
  constexpr std::string_view kHosts = "{hosts}";
  std::string names;
  for (const std::string& host : nodes.hosts) names += (names.empty() ? "" : ",") + host;
  for (size_t at = 0; (at = word.find(kHosts, at)) != word.npos; at += names.size())
    word.replace(at, kHosts.size(), names);
  return word;
}

Nodes one_node(std::string host) { return {{std::move(host)}, {{0, kMostSlots}}, {}}; }

std::vector<std::vector<uint32_t>> place_ranks(const Nodes& nodes, uint32_t ranks) {
  std::vector<std::vector<uint32_t>> placed(nodes.hosts.size());
  uint32_t rank = 0;
  while (rank < ranks)
    for (const Nodes::Block& block : nodes.blocks)
      for (uint32_t slot = 0; slot < block.slots && rank < ranks; ++slot) placed[block.host].push_back(rank++);
  return placed;
}

std::string ranks_text(const std::vector<uint32_t>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i]);
    if (last > i) text += fmt::format("-{}", ranks[last]);
    i = last + 1;
  }
  return text;
}

Result<std::vector<uint32_t>> parse_ranks(std::string_view text, uint32_t total) {
  std::vector<uint32_t> ranks;
  const auto refuse = [&] {
    return fail(ErrorKind::invalid_argument, fmt::format("ranks are ascending numbers below {}, as in 0-3,8", total));
  };
  while (true) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    const size_t dash = part.find('-');
    const auto first = number_of(part.substr(0, dash));
    const auto last = dash == part.npos ? first : number_of(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= total || (!ranks.empty() && *first <= ranks.back()))
      return refuse();
    for (uint32_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
    if (end == text.size()) return ranks;
    text.remove_prefix(end + 1);
  }
}

}  // namespace forebay::launch
