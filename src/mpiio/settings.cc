#include "mpiio/settings.h"

#include <charconv>

#include <fmt/format.h>

namespace forebay::lock::mpiio {
namespace {

// In the order of the enumerations.
constexpr std::string_view kAtomic[] = {"asked", "always", "never"};
constexpr std::string_view kNonatomic[] = {"native", "safe"};
constexpr std::string_view kLock[] = {"list", "expanded", "range", "file", "none"};
constexpr std::string_view kSieve[] = {"auto", "always", "never"};
constexpr std::string_view kCollective[] = {"auto", "independent"};
constexpr std::string_view kKeep[] = {"auto", "never"};

template <class Enum, size_t n>
bool parse(std::string_view text, const std::string_view (&names)[n], Enum& into) {
  for (size_t i = 0; i < n; ++i) {
    if (text != names[i]) continue;
    into = static_cast<Enum>(i);
    return true;
  }
  return false;
}

template <size_t n>
std::string listed(const std::string_view (&names)[n]) {
  std::string text(names[0]);
  for (size_t i = 1; i < n; ++i) text += fmt::format("{}{}", i + 1 < n ? ", " : " or ", names[i]);
  return text;
}

template <class Enum, size_t n>
Result<void> read_variable(const Lookup& environment, std::string_view name, const std::string_view (&names)[n],
                           Enum& into) {
  const std::optional<std::string> text = environment(name);
  if (!text || text->empty() || parse(*text, names, into)) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("{}={} is not {}", name, *text, listed(names)));
}

template <class Enum, size_t n>
void read_hint(const Lookup& hints, std::string_view name, const std::string_view (&names)[n], Enum& into) {
  if (const std::optional<std::string> text = hints(name)) parse(*text, names, into);
}

}  // namespace

Result<Settings> settings_from(const Lookup& environment) {
  Settings settings;
  FOREBAY_CHECK(read_variable(environment, "FOREBAY_MPIIO_ATOMIC", kAtomic, settings.atomic));
  FOREBAY_CHECK(read_variable(environment, "FOREBAY_MPIIO_NONATOMIC", kNonatomic, settings.nonatomic));
  FOREBAY_CHECK(read_variable(environment, "FOREBAY_MPIIO_LOCK", kLock, settings.lock));
  FOREBAY_CHECK(read_variable(environment, "FOREBAY_MPIIO_SIEVE", kSieve, settings.sieve));
  FOREBAY_CHECK(read_variable(environment, "FOREBAY_MPIIO_COLLECTIVE", kCollective, settings.collective));
  FOREBAY_CHECK(read_variable(environment, "FOREBAY_MPIIO_KEEP", kKeep, settings.keep));
  return settings;
}

Settings with_hints(Settings settings, const Lookup& hints) {
  read_hint(hints, "forebay_atomic", kAtomic, settings.atomic);
  read_hint(hints, "forebay_nonatomic", kNonatomic, settings.nonatomic);
  read_hint(hints, "forebay_lock", kLock, settings.lock);
  read_hint(hints, "forebay_sieve", kSieve, settings.sieve);
  read_hint(hints, "forebay_collective", kCollective, settings.collective);
  if (const std::optional<std::string> text = hints("cb_nodes")) {
    uint16_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error == std::errc() && *end == '\0') settings.aggregators = number;
  }
  return settings;
}

std::array<Hint, 5> hints_of(const Settings& settings) {
  return {Hint{"forebay_atomic", kAtomic[static_cast<size_t>(settings.atomic)].data()},
          Hint{"forebay_nonatomic", kNonatomic[static_cast<size_t>(settings.nonatomic)].data()},
          Hint{"forebay_lock", kLock[static_cast<size_t>(settings.lock)].data()},
          Hint{"forebay_sieve", kSieve[static_cast<size_t>(settings.sieve)].data()},
          Hint{"forebay_collective", kCollective[static_cast<size_t>(settings.collective)].data()}};
}

}  // namespace forebay::lock::mpiio
