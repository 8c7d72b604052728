#include <unordered_map>

#include <fmt/format.h>
#include <sodium.h>

#include "fabric/open_files.h"
#include "fabric/remote.h"

namespace forebay::fabric {

static constexpr size_t kExposedOpen = 256;

struct Exposures::Impl {
  using Files = std::shared_ptr<const std::vector<ExposedFile>>;

  Result<Files> find(uint64_t exposure) {
    const std::lock_guard lock(mutex);
    const auto found = exposures.find(exposure);
    if (found == exposures.end()) return fail(ErrorKind::not_found, "these files are not offered any more");
    return found->second;
  }

  std::mutex mutex;
  std::unordered_map<uint64_t, Files> exposures;
  OpenFiles open{kExposedOpen};
};

Exposures::Exposures() : impl_(std::make_unique<Impl>()) {}
Exposures::~Exposures() = default;

uint64_t Exposures::add(std::vector<ExposedFile> files) {
  uint64_t number = 0;
  randombytes_buf(&number, sizeof number);
  const std::lock_guard lock(impl_->mutex);
  impl_->exposures.emplace(number, std::make_shared<const std::vector<ExposedFile>>(std::move(files)));
  return number;
}

void Exposures::remove(uint64_t exposure) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->exposures.erase(exposure);
  }
  impl_->open.forget(exposure);
}

void Exposures::replace(uint64_t exposure, std::vector<ExposedFile> files) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->exposures.insert_or_assign(exposure, std::make_shared<const std::vector<ExposedFile>>(std::move(files)));
  }
  impl_->open.forget(exposure);
}

Result<std::shared_ptr<FileSource>> Exposures::open(uint64_t exposure, uint32_t file) {
  FOREBAY_TRY(const Impl::Files files, impl_->find(exposure));
  if (file >= files->size())
    return fail(ErrorKind::not_found, fmt::format("file {} of {} is asked for", file, files->size()));
  return impl_->open.open(exposure, file, (*files)[file]);
}

Result<void> Exposures::check_unchanged(uint64_t exposure) {
  FOREBAY_TRY(const Impl::Files files, impl_->find(exposure));
  for (uint32_t i = 0; i < files->size(); ++i) FOREBAY_CHECK(impl_->open.open(exposure, i, (*files)[i]));
  return {};
}

}  // namespace forebay::fabric
