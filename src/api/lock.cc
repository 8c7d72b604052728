#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <unistd.h>

#include "api/last_failure.h"
#include "forebay/forebay_lock.h"
#include "lock/client.h"

struct forebay_lock_client {
  std::shared_ptr<forebay::lock::Client> client;
};

struct forebay_lock {
  forebay::lock::Lock lock;
};

namespace {

using namespace forebay;
using lock::Clock;

using api::failed, api::guarded;

int lock_failed(const Error& error) {
  switch (error.kind) {
    case ErrorKind::disconnected:
      return failed(FOREBAY_LOST, error);
    case ErrorKind::timeout:
    case ErrorKind::invalid_argument:
    case ErrorKind::permission:
    case ErrorKind::limit:
      return failed(error);
    default:
      return failed(FOREBAY_FAILED, error);
  }
}

const char* or_environment(const char* given, const char* name) { return given != nullptr ? given : std::getenv(name); }

Result<lock::Region> region_of(const forebay_lock_term* terms, size_t count) {
  if (count == 0) return lock::Region::whole_file();
  lock::Region region;
  for (size_t i = 0; i < count; ++i) {
    const forebay_lock_term& term = terms[i];
    if (term.level_count > lock::kMaxLevels || (term.level_count > 0 && term.levels == nullptr))
      return fail(ErrorKind::invalid_argument, "a term has at most 8 levels");
    lock::Level levels[lock::kMaxLevels];
    for (size_t k = 0; k < term.level_count; ++k) levels[k] = {term.levels[k].count, term.levels[k].stride};
    FOREBAY_CHECK(region.add(term.start, term.length, std::span(levels, term.level_count)));
  }
  return region;
}

Clock::time_point deadline_of(int64_t timeout_ms) {
  const auto bounded = api::bounded(timeout_ms);
  return bounded ? Clock::now() + std::chrono::milliseconds(*bounded) : Clock::time_point::max();
}

bool sensible(const forebay_lock_client* client, const char* name, int access, const forebay_lock_term* terms,
              size_t count, forebay_lock** lock) {
  return client != nullptr && name != nullptr && lock != nullptr && (terms != nullptr || count == 0) &&
         (access == FOREBAY_LOCK_SHARED || access == FOREBAY_LOCK_EXCLUSIVE);
}

lock::Access access_of(int access) {
  return access == FOREBAY_LOCK_EXCLUSIVE ? lock::Access::exclusive : lock::Access::shared;
}

// Takes a lock by `ask`, which gives nothing if the bytes are not free.
template <class Ask>
int take(forebay_lock_client* client, const char* name, int access, const forebay_lock_term* terms, size_t term_count,
         forebay_lock** lock, const Ask& ask) {
  return guarded([&] {
    if (lock != nullptr) *lock = nullptr;
    if (!sensible(client, name, access, terms, term_count, lock))
      return failed(FOREBAY_ARGUMENT, "an argument is missing or makes no sense");
    const auto region = region_of(terms, term_count);
    if (!region) return lock_failed(region.error());
    auto place = std::make_unique<forebay_lock>();
    Result<std::optional<lock::Lock>> granted = ask(*region);
    if (!granted) return lock_failed(granted.error());
    if (!*granted) return failed(FOREBAY_BUSY, "the bytes are not free");
    place->lock = std::move(**granted);
    *lock = place.release();
    return int{FOREBAY_OK};
  });
}

// A link that leads to nothing yet stands for the file that opening it would make.
Result<std::string> name_of(std::string path) {
  using Resolved = std::unique_ptr<char, void (*)(void*)>;
  constexpr int kMostLinks = 40;
  for (int links = 0; links < kMostLinks; ++links) {
    const Resolved whole(::realpath(path.c_str(), nullptr), std::free);
    if (whole) return whole.get();
    if (errno != ENOENT) return fail_errno(errno, "realpath", path);
    const size_t base = path.rfind('/') + 1;  // 0 if there is no slash
    const Resolved there(::realpath(base == 0 ? "." : path.substr(0, base).c_str(), nullptr), std::free);
    if (!there) return fail_errno(errno, "realpath", path);
    const std::string directory = std::strcmp(there.get(), "/") == 0 ? "/" : std::string(there.get()) + "/";
    const std::string name = directory + path.substr(base);
    char target[PATH_MAX];
    const ssize_t size = ::readlink(name.c_str(), target, sizeof target);
    if (size <= 0) return name;
    path = (target[0] == '/' ? "" : directory) + std::string(target, static_cast<size_t>(size));
  }
  return fail_errno(ELOOP, "realpath", path);
}

}  // namespace

int forebay_lock_connect(const char* servers, const char* secret_file, forebay_lock_client** client) {
  return guarded([&] {
    servers = or_environment(servers, "FOREBAY_LOCK_SERVERS");
    secret_file = or_environment(secret_file, "FOREBAY_LOCK_SECRET");
    if (client == nullptr) return failed(FOREBAY_ARGUMENT, "an argument is missing");
    *client = nullptr;
    if (servers == nullptr) return failed(FOREBAY_ARGUMENT, "no lock server is given");
    lock::ClientOptions options;
    auto list = lock::parse_servers(servers);
    if (!list) return lock_failed(list.error());
    options.servers = std::move(*list);
    if (secret_file != nullptr) {
      const auto secret = fabric::read_secret(secret_file);
      if (!secret) return lock_failed(secret.error());
      options.credentials.secret = *secret;
    }
    options.label = program_invocation_short_name;
    const char* const keep = std::getenv("FOREBAY_LOCK_KEEP");
    if (keep != nullptr && std::strcmp(keep, "auto") != 0 && std::strcmp(keep, "never") != 0)
      return failed(FOREBAY_ARGUMENT, "FOREBAY_LOCK_KEEP in the environment is neither auto nor never");
    options.borrow = keep != nullptr && std::strcmp(keep, "auto") == 0;
    auto made = lock::Client::create(std::move(options));
    if (!made) return lock_failed(made.error());
    *client = new forebay_lock_client{std::move(*made)};
    return int{FOREBAY_OK};
  });
}

void forebay_lock_disconnect(forebay_lock_client* client) { delete client; }

int forebay_lock_lock(forebay_lock_client* client, const char* name, int access, const forebay_lock_term* terms,
                      size_t term_count, int64_t timeout_ms, forebay_lock** lock) {
  return take(client, name, access, terms, term_count, lock,
              [&](const lock::Region& region) -> Result<std::optional<lock::Lock>> {
                return client->client->lock(name, region, access_of(access), deadline_of(timeout_ms));
              });
}

int forebay_lock_try(forebay_lock_client* client, const char* name, int access, const forebay_lock_term* terms,
                     size_t term_count, forebay_lock** lock) {
  return take(client, name, access, terms, term_count, lock,
              [&](const lock::Region& region) { return client->client->try_lock(name, region, access_of(access)); });
}

int forebay_lock_keep(forebay_lock* lock, int64_t wanted_ms) {
  return guarded([&] {
    if (lock == nullptr) return failed(FOREBAY_ARGUMENT, "there is no lock");
    const auto kept = lock->lock.keep(std::chrono::milliseconds(std::max<int64_t>(wanted_ms, 0)));
    return kept ? int{FOREBAY_OK} : lock_failed(kept.error());
  });
}

int64_t forebay_lock_valid_ms(const forebay_lock* lock) {
  if (lock == nullptr) return 0;
  const auto until = lock->lock.valid_until(), now = Clock::now();
  return until <= now ? 0 : std::chrono::duration_cast<std::chrono::milliseconds>(until - now).count();
}

int forebay_lock_unlock(forebay_lock* lock) {
  return guarded([&] {
    if (lock == nullptr) return int{FOREBAY_OK};
    const std::unique_ptr<forebay_lock> owner(lock);
    const auto done = owner->lock.unlock();
    return done ? int{FOREBAY_OK} : lock_failed(done.error());
  });
}

int forebay_lock_name(const char* path, char* name, size_t size) {
  return guarded([&] {
    if (path == nullptr || *path == '\0' || name == nullptr) return failed(FOREBAY_ARGUMENT, "no path is given");
    const auto found = name_of(path);
    if (!found) return failed(FOREBAY_FAILED, found.error());
    if (found->size() >= size) return failed(FOREBAY_ARGUMENT, "the name does not fit");
    std::memcpy(name, found->c_str(), found->size() + 1);
    return int{FOREBAY_OK};
  });
}
