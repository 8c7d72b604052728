#include "launch/run/sight.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace forebay::launch {
namespace {

using nlohmann::json;

// Of a field that may be missing, or something else.
template <class T>
T field(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  if constexpr (std::is_same_v<T, bool>)
    return found->is_boolean() && found->template get<bool>();
  else if constexpr (std::is_same_v<T, std::string>)
    return found->is_string() ? found->template get<std::string>() : T{};
  else
    return found->is_number() ? found->template get<T>() : T{};
}

std::chrono::milliseconds time_in(const json& object, const char* name) {
  return std::chrono::milliseconds(static_cast<int64_t>(field<double>(object, name) * 1000));
}

std::vector<json> rows(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? found->get<std::vector<json>>() : std::vector<json>{};
}

bool is_busy(const json& status) {
  for (const json& set : rows(status, "sets"))
    if (set.is_object() && field<bool>(set, "complete")) return true;
  const auto restart = status.find("restart");
  return restart != status.end() && restart->is_object() &&
         field<uint64_t>(*restart, "asked_rank_count") >= field<uint64_t>(*restart, "rank_count");
}

}  // namespace

const Sight::Node* Sight::find(const std::string& host) const {
  const auto found = std::ranges::find(nodes, host, [](const Node& node) { return node.host; });
  return found == nodes.end() ? nullptr : &*found;
}

std::optional<Sight> parse_sight(const std::string& status) {
  const json document = json::parse(status, nullptr, false);
  if (!document.is_object() || !document.contains("generation")) return std::nullopt;
  Sight sight;
  sight.generation = field<uint64_t>(document, "generation");
  sight.sets_completed = field<uint64_t>(document, "completed_set_count");
  if (const auto totals = document.find("totals"); totals != document.end() && totals->is_object())
    sight.restarts = field<uint64_t>(*totals, "restart_count");
  if (const auto last = document.find("last_restart"); last != document.end() && last->is_object())
    sight.restarted_from = {field<std::string>(*last, "set"), field<std::string>(*last, "stored_as")};
  sight.is_busy = is_busy(document);
  sight.no_set = field<std::string>(document, "no_set");
  sight.store_fills = field<std::string>(document, "store_fills");
  for (const json& agent : rows(document, "agents"))
    if (agent.is_object())
      sight.nodes.push_back({field<std::string>(agent, "host"), time_in(agent, "silent_seconds"),
                             field<uint32_t>(agent, "process_count"), time_in(agent, "cpu_seconds")});
  for (const json& host : rows(document, "excluded"))
    if (host.is_string()) sight.excluded.push_back(host.get<std::string>());
  return sight;
}

}  // namespace forebay::launch
