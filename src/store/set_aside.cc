#include "store/set_aside.h"

#include "store/sealed_text.h"
#include "store/store.h"

namespace forebay::store {

static constexpr std::string_view kSetAsideTag = "forebay-set-aside";
static constexpr uint64_t kSetAsideVersion = 1;

std::string serialise_set_aside(std::string_view reason) {
  constexpr size_t kMostReason = 4096;
  return seal(kSetAsideTag, {{"version", kSetAsideVersion}, {"reason", std::string(reason.substr(0, kMostReason))}});
}

Result<std::string> parse_set_aside(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const auto body, unseal(kSetAsideTag, text, kSetAsideVersion, path));
  const auto reason = body.find("reason");
  if (reason == body.end() || !reason->is_string()) return fail(ErrorKind::corrupt, "gives no reason", path);
  return reason->get<std::string>();
}

Result<void> Store::set_aside(const std::string& name, std::string_view reason) const {
  FOREBAY_TRY(const auto set, find(name));
  return backend_->set_aside(set.name, serialise_set_aside(reason));
}

Result<void> Store::take_back(const std::string& name, std::string_view reason) const {
  FOREBAY_TRY(const auto set, find(name));
  return set.refused == reason ? backend_->take_back(set.name) : Result<void>{};
}

}  // namespace forebay::store
