#include "cli/metrics.h"

#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/printable.h"

namespace forebay::cli {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped(value));
  return text.empty() ? "" : "{" + text + "}";
}

// One metric family at a time, each with all its samples, as the format wants it.
class Text {
 public:
  // `common`: labels of all samples; those without a value are left out.
  explicit Text(Labels common) : common_(std::move(common)) {
    std::erase_if(common_, [](const auto& label) { return label.second.empty(); });
  }

  void family(std::string_view name, std::string_view type, std::string_view unit, std::string_view help) {
    name_ = name;
    suffix_ = type == "counter" ? "_total" : type == "info" ? "_info" : "";
    text_ += fmt::format("# TYPE {} {}\n", name, type);
    if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", name, unit);
    text_ += fmt::format("# HELP {} {}\n", name, help);
  }
  void sample(const Json& value, Labels labels = {}) {
    labels.insert(labels.begin(), common_.begin(), common_.end());
    if (value.is_number()) text_ += fmt::format("{}{}{} {}\n", name_, suffix_, labels_text(labels), value.dump());
  }
  std::string finish() { return std::move(text_) + "# EOF\n"; }

 private:
  Labels common_;
  std::string text_;
  std::string_view name_, suffix_;
};

const Json& at(const Json& object, const char* key) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNothing;
}

std::string word(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

// The objects in a list; nothing if there is none.
std::vector<Json> list_of(const Json& object, const char* key) {
  std::vector<Json> found;
  if (const Json& list = at(object, key); list.is_array())
    for (const Json& row : list)
      if (row.is_object()) found.push_back(row);
  return found;
}

void totals(Text& text, const Json& all) {
  text.family("forebay_sets", "counter", "", "Checkpoint sets that are over, by what became of them.");
  for (const char* state : {"durable", "skipped", "failed", "cached"})
    text.sample(at(all, fmt::format("{}_count", state).c_str()), {{"state", state}});
  text.family("forebay_drained_bytes", "counter", "bytes", "Bytes of files in durable sets.");
  text.sample(at(all, "raw_bytes"));
  text.family("forebay_stored_bytes", "counter", "bytes", "Bytes of containers of durable sets.");
  text.sample(at(all, "stored_bytes"));
  text.family("forebay_restarts", "counter", "", "Restarts that were served.");
  text.sample(at(all, "restart_count"));
  text.family("forebay_tasks", "counter", "", "Rank groups that were given to aggregators.");
  text.sample(at(all, "task_count"));
  text.family("forebay_tasks_again", "counter", "", "Those of them that had to be given to another one.");
  text.sample(at(all, "repeated_task_count"));
  text.family("forebay_redrains", "counter", "", "Drains of sets that this coordinator had to begin again.");
  text.sample(at(all, "redrain_count"));
}

void caches(Text& text, const Json& cache) {
  std::map<std::string, uint64_t> counts{{"sealed", 0}, {"encoded", 0}, {"broken", 0}};
  for (const Json& set : list_of(cache, "sets")) ++counts[word(set, "state")];
  text.family("forebay_cached_sets", "gauge", "", "Checkpoint sets that the caches hold, by state.");
  for (const auto& [state, count] : counts) text.sample(count, {{"state", state}});
  const Json& recovery = at(cache, "recovery");
  text.family("forebay_rebuild_seconds", "gauge", "seconds", "Since when a cached set is being rebuilt.");
  text.sample(at(recovery, "seconds"), {{"set", word(recovery, "set")}});
  text.family("forebay_rebuild_lost_members", "gauge", "", "Members of its protection groups that are lost.");
  text.sample(at(recovery, "lost_member_count"), {{"set", word(recovery, "set")}});
  text.family("forebay_rebuilt_bytes", "gauge", "bytes", "Bytes of it that were computed again.");
  text.sample(at(recovery, "repaired_bytes"), {{"set", word(recovery, "set")}});
}

void store(Text& text, const Json& status) {
  const Json& room = at(status, "store_room");
  text.family("forebay_newest_durable_seconds", "gauge", "seconds", "Since the last set became durable.");
  text.sample(at(at(status, "newest_durable"), "seconds"));
  text.family("forebay_store_free_bytes", "gauge", "bytes", "Free in the store's file system after the last set.");
  text.sample(at(room, "free_bytes"));
  text.family("forebay_store_size_bytes", "gauge", "bytes", "All of the store's file system.");
  text.sample(at(room, "capacity_bytes"));
  text.family("forebay_store_sets_left", "gauge", "", "How many more sets fit, as the last ones used room.");
  text.sample(at(room, "left_set_count"));
}

void agents(Text& text, const std::vector<Json>& rows) {
  const auto labels = [](const Json& agent) { return Labels{{"node", word(agent, "host")}}; };
  text.family("forebay_staged_bytes", "gauge", "bytes", "Bytes of sets that a node offers and that are not over.");
  for (const Json& row : rows) text.sample(at(row, "staged_bytes"), labels(row));
  text.family("forebay_agent_silent_seconds", "gauge", "seconds", "Since when an agent was not heard of.");
  for (const Json& row : rows) text.sample(at(row, "silent_seconds"), labels(row));
}

void sets_in_flight(Text& text, const std::vector<Json>& sets) {
  std::map<std::string, uint64_t> counts;
  for (const char* state :
       {"incomplete", "whole", "encoding", "sealing", "waiting", "cutting", "staging", "packing", "committing"})
    counts[state] = 0;
  for (const Json& set : sets) ++counts[word(set, "state")];
  text.family("forebay_sets_in_flight", "gauge", "", "Checkpoint sets that are not over, by state.");
  for (const auto& [state, count] : counts) text.sample(count, {{"state", state}});
  text.family("forebay_drain_rate_bytes_per_second", "gauge", "", "Bytes of files a second, of sets being drained.");
  for (const Json& set : sets) text.sample(at(set, "bytes_per_second"), {{"set", word(set, "name")}});
  text.family("forebay_drain_progress_bytes", "gauge", "bytes",
              "Bytes of files that are packed, of sets being drained.");
  for (const Json& set : sets) text.sample(at(set, "raw_bytes"), {{"set", word(set, "name")}});
  text.family("forebay_drain_size_bytes", "gauge", "bytes", "Bytes of all files of sets being drained.");
  for (const Json& set : sets) text.sample(at(set, "total_bytes"), {{"set", word(set, "name")}});
}

void aggregators(Text& text, const std::vector<Json>& workers) {
  const auto labels = [](const Json& worker) {
    return Labels{{"host", word(worker, "host")}, {"pid", at(worker, "pid").dump()}};
  };
  text.family("forebay_aggregator_memory_bytes", "gauge", "bytes", "The memory budget of an aggregator.");
  for (const Json& worker : workers) text.sample(at(worker, "memory_bytes"), labels(worker));
  text.family("forebay_aggregator_busy", "gauge", "", "1 if an aggregator has a rank group, else 0.");
  for (const Json& worker : workers) text.sample(list_of(worker, "tasks").empty() ? 0 : 1, labels(worker));
  text.family("forebay_aggregator_tasks", "gauge", "", "Rank groups that an aggregator packs or delivers.");
  for (const Json& worker : workers) text.sample(list_of(worker, "tasks").size(), labels(worker));
  text.family("forebay_aggregator_silent_seconds", "gauge", "seconds", "Since when an aggregator was not heard of.");
  for (const Json& worker : workers) text.sample(at(worker, "silent_seconds"), labels(worker));
}

}  // namespace

std::string open_metrics(const Json& status) {
  Text text({{"series", word(status, "series")}, {"run", word(status, "run")}});
  text.family("forebay_job", "info", "", "How the job is drained.");
  text.sample(1, {{"host", word(status, "host")},
                  {"profile", word(status, "profile")},
                  {"scheme", word(status, "scheme")},
                  {"backlog", word(status, "backlog")}});
  text.family("forebay_coordinator_generation", "gauge", "", "How many coordinators the job has had.");
  text.sample(at(status, "generation"));
  text.family("forebay_coordinator_uptime_seconds", "gauge", "seconds", "Since when this one coordinates.");
  text.sample(at(status, "seconds"));
  text.family("forebay_agents", "gauge", "", "Agents that are connected.");
  text.sample(at(status, "agent_count"));
  text.family("forebay_aggregators", "gauge", "", "Aggregators that are connected.");
  text.sample(at(status, "worker_count"));
  totals(text, at(status, "totals"));
  store(text, status);
  agents(text, list_of(status, "agents"));
  sets_in_flight(text, list_of(status, "sets"));
  caches(text, at(status, "cache"));
  aggregators(text, list_of(status, "workers"));
  return text.finish();
}

}  // namespace forebay::cli
