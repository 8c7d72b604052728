#include "job/decisions/decision.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include <fmt/format.h>

#include "store/sealed_text.h"

namespace forebay::job {
namespace {

using nlohmann::json;
using namespace decided;

constexpr std::string_view kTag = "forebay-decisions";
constexpr uint64_t kVersion = 1;
constexpr size_t kMostText = 4096, kMostList = 256;

constexpr std::array<std::string_view, 4> kEnds = {"durable", "skipped", "failed", "cached"};

// Each record names its members once, for both directions.
template <class Form>
void form(Form& f, Opened& r) {
  f("generation", r.generation);
  f("run", r.run);
}
template <class Form>
void form(Form& f, Closed& r) {
  f("by", r.by);
}
template <class Form>
void form(Form& f, Excluded& r) {
  f("host", r.host);
}
template <class Form>
void form(Form& f, Pace::Set& r) {
  f("name", r.name);
  f("seconds", r.seconds);
  f("interval", r.interval);
}
template <class Form>
void form(Form& f, Whole& r) {
  f("set", r.set);
  f("write", r.write);
  f("ordinal", r.ordinal);
  f("due", r.is_due);
  f("counted", r.is_counted);
  f("sample", r.sample);
}
template <class Form>
void form(Form& f, Ended& r) {
  f("set", r.set);
  f("end", r.end);
  f("stored_as", r.stored_as);
  f("raw_bytes", r.raw_bytes);
  f("stored_bytes", r.stored_bytes);
  f("counted", r.is_counted);
  f("owes_flush", r.owes_flush);
}
template <class Form>
void form(Form& f, Sealed& r) {
  f("set", r.set);
  f("encoding", r.encoding);
}
template <class Form>
void form(Form& f, Answered& r) {
  f("generation", r.generation);
  f("round", r.round);
  f("place", r.place);
}
template <class Form>
void form(Form& f, Refused& r) {
  f("set", r.set);
  f("write", r.write);
  f("encoding", r.encoding);
  f("reason", r.reason);
  f("removes", r.removes);
}
template <class Form>
void form(Form& f, PutAside& r) {
  f("stored_as", r.stored_as);
  f("reason", r.reason);
  f("done", r.is_done);
}
template <class Form>
void form(Form& f, NotStored& r) {
  f("set", r.set);
  f("ordinal", r.ordinal);
  f("reason", r.reason);
  f("over", r.is_over);
}
template <class Form>
void form(Form& f, Pace& r) {
  f("sets", r.sets);
  f("failures", r.failures);
  f("has_set", r.has_set);
  f("latest", r.latest);
  f("latest_seconds", r.latest_seconds);
  f("costs", r.costs);
  f("intervals", r.intervals);
}
template <class Form>
void form(Form& f, Counts& r) {
  f("durable", r.durable);
  f("skipped", r.skipped);
  f("failed", r.failed);
  f("cached", r.cached);
  f("restarts", r.restarts);
  f("raw_bytes", r.raw_bytes);
  f("stored_bytes", r.stored_bytes);
}
template <class Form>
void form(Form& f, Sums& r) {
  f("counts", r.counts);
  f("latest", r.latest);
  f("unflushed", r.unflushed);
  f("owes_flush", r.owes_flush);
  f("newest_place", r.newest_place);
  f("durable_place", r.durable_place);
  f("pace", r.pace);
}

struct Writer {
  json body = json::object();

  template <class Value>
  void operator()(const char* key, Value& value) {
    if constexpr (std::is_same_v<Value, End>)
      body[key] = kEnds.at(static_cast<size_t>(value));
    else if constexpr (std::is_same_v<Value, std::optional<Pace::Set>>) {
      if (value) (*this)(key, *value);
    } else if constexpr (requires(Writer w) { form(w, value); }) {
      Writer inner;
      form(inner, value);
      body[key] = std::move(inner.body);
    } else
      body[key] = value;
  }
};

struct Reader {
  const json& body;
  std::string wrong;  // the first member that is

  void operator()(const char* key, bool& value) {
    read(key, [&](const json& m) { return take(m, value); });
  }
  void operator()(const char* key, uint64_t& value) {
    read(key, [&](const json& m) { return take(m, value); });
  }
  void operator()(const char* key, double& value) {
    read(key, [&](const json& m) { return take(m, value); });
  }
  void operator()(const char* key, std::string& value) {
    read(key, [&](const json& m) { return take(m, value); });
  }
  template <class List>
    requires requires(List l) { l.emplace_back(); }
  void operator()(const char* key, List& list) {
    read(key, [&](const json& m) {
      if (!m.is_array() || m.size() > kMostList) return false;
      list.clear();
      for (const json& one : m)
        if (!take(one, list.emplace_back())) return false;
      return true;
    });
  }
  void operator()(const char* key, End& value) {
    read(key, [&](const json& m) {
      for (size_t i = 0; i < kEnds.size(); ++i)
        if (m == kEnds[i]) {
          value = static_cast<End>(i);
          return true;
        }
      return false;
    });
  }
  void operator()(const char* key, std::optional<Pace::Set>& value) {
    if (body.contains(key)) (*this)(key, value.emplace());
  }
  template <class Record>
    requires requires(Reader r, Record record) { form(r, record); }
  void operator()(const char* key, Record& value) {
    read(key, [&](const json& m) {
      if (!m.is_object()) return false;
      Reader inner{m, {}};
      form(inner, value);
      if (!inner.wrong.empty() && wrong.empty()) wrong = fmt::format("{}.{}", key, inner.wrong);
      return true;
    });
  }

 private:
  template <class Take>
  void read(const char* key, Take take_member) {
    const auto member = body.find(key);
    if ((member == body.end() || !take_member(*member)) && wrong.empty()) wrong = key;
  }
  static bool take(const json& m, bool& value) {
    if (m.is_boolean()) value = m.get<bool>();
    return m.is_boolean();
  }
  static bool take(const json& m, uint64_t& value) {
    if (m.is_number_unsigned()) value = m.get<uint64_t>();
    return m.is_number_unsigned();
  }
  static bool take(const json& m, double& value) {
    if (!m.is_number()) return false;
    value = m.get<double>();
    return std::isfinite(value) && value >= 0;
  }
  static bool take(const json& m, std::string& value) {
    if (!m.is_string() || m.get_ref<const std::string&>().size() > kMostText) return false;
    value = m.get<std::string>();
    return true;
  }
};

constexpr const char* kKind = "is";

const char* kind_of(const Opened&) { return "opened"; }
const char* kind_of(const Closed&) { return "closed"; }
const char* kind_of(const Excluded&) { return "excluded"; }
const char* kind_of(const Whole&) { return "whole"; }
const char* kind_of(const Ended&) { return "ended"; }
const char* kind_of(const Sealed&) { return "sealed"; }
const char* kind_of(const Answered&) { return "answered"; }
const char* kind_of(const Refused&) { return "refused"; }
const char* kind_of(const PutAside&) { return "put aside"; }
const char* kind_of(const NotStored&) { return "not stored"; }
const char* kind_of(const Sums&) { return "sums"; }

// Nothing: there is no such kind.
template <size_t I = 0>
std::optional<Decision> empty_of(const json& kind) {
  if constexpr (I == std::variant_size_v<Decision>)
    return std::nullopt;
  else {
    std::variant_alternative_t<I, Decision> one;
    return kind == kind_of(one) ? std::optional<Decision>(std::move(one)) : empty_of<I + 1>(kind);
  }
}

// Sets come behind the place of the newest one.
bool is_place(uint64_t ordinal) { return ordinal <= uint64_t{1} << 62; }

bool has_possible_place(const Decision& decision) {
  if (const auto* whole = std::get_if<Whole>(&decision)) return is_place(whole->ordinal);
  if (const auto* answered = std::get_if<Answered>(&decision)) return is_place(answered->place);
  if (const auto* left = std::get_if<NotStored>(&decision)) return is_place(left->ordinal);
  if (const auto* sums = std::get_if<Sums>(&decision))
    return is_place(sums->newest_place) && is_place(sums->durable_place);
  return true;
}

Result<Decision> parse_one(const json& body, const std::string& path) {
  const auto kind = body.find(kKind);
  auto decision = kind == body.end() ? std::nullopt : empty_of(*kind);
  if (!decision) return fail(ErrorKind::corrupt, "a record of no kind that is known", path);
  Reader reader{body, {}};
  std::visit([&](auto& one) { form(reader, one); }, *decision);
  if (!reader.wrong.empty())
    return fail(ErrorKind::corrupt,
                fmt::format("a record '{}' in which '{}' is missing or wrong", kind->get<std::string>(), reader.wrong),
                path);
  if (!has_possible_place(*decision))
    return fail(ErrorKind::corrupt, "a record with an impossible place of a set", path);
  return *std::move(decision);
}

}  // namespace

std::string text_of_record(std::string_view text) {
  constexpr size_t kMost = 1024;  // what is no UTF-8 becomes up to three times as long
  return std::string(text.substr(0, kMost));
}

std::string seal_decisions(std::span<const Decision> decisions) {
  json records = json::array();
  for (const Decision& decision : decisions)
    std::visit(
        [&](auto one) {
          Writer writer;
          form(writer, one);
          writer.body[kKind] = kind_of(one);
          records.push_back(std::move(writer.body));
        },
        decision);
  return store::seal(kTag, {{"version", kVersion}, {"records", std::move(records)}});
}

Result<std::vector<Decision>> parse_decisions(std::string_view text, const std::string& path) {
  constexpr int kDepth = 6;
  FOREBAY_TRY(const json body, store::unseal(kTag, text, kVersion, path, kDepth));
  const auto records = body.find("records");
  if (records == body.end() || !records->is_array())
    return fail(ErrorKind::corrupt, "'records' is missing or no list", path);
  std::vector<Decision> decisions;
  for (const json& record : *records) {
    if (!record.is_object()) return fail(ErrorKind::corrupt, "a record that is no object", path);
    FOREBAY_TRY(Decision decision, parse_one(record, path));
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

}  // namespace forebay::job
