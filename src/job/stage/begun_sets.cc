#include "job/stage/begun_sets.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include "job/client/stage_names.h"
#include "job/wire/messages.h"
#include "store/files.h"
#include "store/sealed_text.h"

namespace forebay::job {
namespace {

using nlohmann::json;

constexpr std::string_view kBegunTag = "forebay-begun";
constexpr uint64_t kMostBegunBytes = 16 << 20;

std::string begun_directory(const std::string& stage) { return fmt::format("{}/{}/gather", stage, kOwnDirectory); }

}  // namespace

Result<void> note_begun_sets(const std::string& stage, const std::vector<BegunSet>& sets) {
  json rows = json::array();
  for (size_t i = 0; i < std::min<size_t>(sets.size(), wire::kMostLeft); ++i)
    rows.push_back(
        {{"name", sets[i].name}, {"reason", sets[i].reason}, {"place", sets[i].place}, {"lost", sets[i].is_lost}});
  return store::write_text(begun_directory(stage), "begun",
                           store::seal(kBegunTag, {{"version", 1}, {"sets", std::move(rows)}}));
}

std::vector<BegunSet> begun_sets(const std::string& stage) {
  const std::string path = begun_directory(stage) + "/begun";
  const auto text = store::read_text(path, kMostBegunBytes);
  const auto body = text ? store::unseal(kBegunTag, *text, 1, path) : std::unexpected(text.error());
  if (!body) return {};
  std::vector<BegunSet> sets;
  try {
    for (const json& row : body->at("sets"))
      sets.push_back({row.at("name").get<std::string>(), row.at("reason").get<std::string>(),
                      row.at("place").get<std::string>(), row.at("lost").get<bool>()});
  } catch (const json::exception&) {
    return {};
  }
  if (sets.size() > wire::kMostLeft) sets.resize(wire::kMostLeft);
  return sets;
}

void forget_begun_sets(const std::string& stage) { ::unlink((begun_directory(stage) + "/begun").c_str()); }

}  // namespace forebay::job
