#include "launch/gather/gather_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "job/client/stage_names.h"
#include "job/stage/stage_notes.h"
#include "store/files.h"
#include "store/sealed_text.h"

namespace forebay::launch {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr std::string_view kStateFile = "state", kOrderFile = "order", kAnswerFile = "answer";
constexpr std::string_view kStateTag = "forebay-gather", kOrderTag = "forebay-gather-order";
constexpr uint64_t kMostState = 1 << 30, kMostOrder = 1 << 20;
constexpr size_t kMostKnown = 1024;
constexpr auto kLookForAnswer = 50ms;

std::string note_path(const std::string& stage) { return fmt::format("{}/{}/gather", stage, job::kOwnDirectory); }

json json_of(const Tree& tree) {
  json rows = json::array();
  for (const auto& [path, file] : tree)
    rows.push_back({path, file.size, file.mtime_ns, file.device, file.inode, file.is_link});
  return rows;
}

Tree tree_of(const json& rows) {
  Tree tree;
  for (const json& row : rows) {
    TreeFile file{.size = row.at(1).get<uint64_t>(),
                  .mtime_ns = row.at(2).get<int64_t>(),
                  .device = row.at(3).get<uint64_t>(),
                  .inode = row.at(4).get<uint64_t>(),
                  .is_open = false,
                  .is_link = row.at(5).get<bool>()};
    tree.emplace(row.at(0).get<std::string>(), file);
  }
  return tree;
}

json json_of(const rules::SetId& id) {
  json words = json::object();
  for (const auto& [name, value] : id.series) words[name] = value;
  return {{"words", std::move(words)}, {"label", id.label}, {"version", id.version}};
}

rules::SetId id_of(const json& row) {
  rules::SetId id{
      .series = {}, .label = row.at("label").get<std::string>(), .version = row.at("version").get<uint64_t>()};
  for (const auto& [name, value] : row.at("words").items()) id.series[name] = value.get<std::string>();
  return id;
}

const char* name_of(GatherEvent event) {
  switch (event) {
    case GatherEvent::begin:
      return "begin";
    case GatherEvent::ended:
      return "ended";
    case GatherEvent::killed:
      return "killed";
  }
  return "?";
}

Result<void> write_note(const std::string& stage, std::string_view name, const std::string& text) {
  FOREBAY_TRY(const std::string directory, gather_directory(stage));
  return store::write_text(directory, std::string(name), text);
}

std::optional<json> read_note(const std::string& stage, std::string_view name, std::string_view tag, uint64_t most) {
  const std::string path = note_path(stage) + "/" + std::string(name);
  const auto text = store::read_text(path, most);
  if (!text) return std::nullopt;
  auto body = store::unseal(tag, *text, 1, path);
  return body ? std::optional(*std::move(body)) : std::nullopt;
}

// The text of a note's member, or an empty one.
std::string text_in(const json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<std::string> gather_directory(const std::string& stage) {
  FOREBAY_CHECK(job::prepare_stage(stage));
  const std::string path = note_path(stage);
  FOREBAY_CHECK(store::make_directory(path));
  return path;
}

Result<void> write_gather_state(const std::string& stage, const GatherState& state) {
  json known = json::array();
  const size_t first = state.known.size() - std::min(state.known.size(), kMostKnown);
  json lost = json::array();
  for (const GatherState::Lost& one : state.lost) {
    lost.push_back(json_of(one.id));
    lost.back()["reason"] = one.reason;
  }
  for (size_t i = first; i < state.known.size(); ++i) known.push_back(json_of(state.known[i]));
  return write_note(stage, kStateFile,
                    store::seal(kStateTag, {{"version", 1},
                                            {"following", state.is_following},
                                            {"before", json_of(state.before)},
                                            {"taken", json_of(state.taken)},
                                            {"known", std::move(known)},
                                            {"lost", std::move(lost)}}));
}

std::optional<GatherState> read_gather_state(const std::string& stage) {
  const auto body = read_note(stage, kStateFile, kStateTag, kMostState);
  if (!body) return std::nullopt;
  try {
    GatherState state{.is_following = body->at("following").get<bool>(),
                      .before = tree_of(body->at("before")),
                      .taken = tree_of(body->at("taken")),
                      .known = {}};
    for (const json& row : body->at("known")) state.known.push_back(id_of(row));
    for (const json& row : body->value("lost", json::array()))
      state.lost.push_back({id_of(row), row.at("reason").get<std::string>()});
    return state;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<GatherOrder> read_gather_order(const std::string& stage) {
  const auto body = read_note(stage, kOrderFile, kOrderTag, kMostOrder);
  if (!body) return std::nullopt;
  GatherOrder order{.token = text_in(*body, "token"), .event = GatherEvent::begin};
  const auto answer = read_note(stage, kAnswerFile, kOrderTag, kMostOrder);
  if (answer && text_in(*answer, "token") == order.token) return std::nullopt;
  const std::string event = text_in(*body, "event");
  for (const GatherEvent one : {GatherEvent::begin, GatherEvent::ended, GatherEvent::killed})
    if (event == name_of(one)) order.event = one;
  return order;
}

Result<void> answer_gather_order(const std::string& stage, const GatherOrder& order, const std::string& wrong) {
  return write_note(stage, kAnswerFile,
                    store::seal(kOrderTag, {{"version", 1}, {"token", order.token}, {"wrong", wrong}}));
}

Result<void> give_gather_order(const std::string& stage, GatherEvent event, std::chrono::milliseconds patience) {
  const std::string token = store::random_token();
  FOREBAY_CHECK(write_note(stage, kOrderFile,
                           store::seal(kOrderTag, {{"version", 1}, {"token", token}, {"event", name_of(event)}})));
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto answer = read_note(stage, kAnswerFile, kOrderTag, kMostOrder);
    if (answer && text_in(*answer, "token") == token) {
      const std::string wrong = text_in(*answer, "wrong");
      return wrong.empty() ? Result<void>() : fail(ErrorKind::io, wrong);
    }
    if (std::chrono::steady_clock::now() >= end)
      return fail(ErrorKind::timeout, "nobody who watches the code's directory answers", note_path(stage));
    std::this_thread::sleep_for(kLookForAnswer);
  }
}

}  // namespace forebay::launch
