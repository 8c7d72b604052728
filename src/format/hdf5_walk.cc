#include "format/hdf5_walk.h"

#include <unordered_set>

#include "base/layout.h"
#include "format/hdf5_group.h"

namespace forebay::format::hdf5 {
namespace {

// Whether the error concerns one object, which is then left out, and not the source or the allowance of work.
bool is_local(const Error& error) { return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::unsupported; }

class ObjectWalk {
 public:
  ObjectWalk(File& file, Read what, const VisitObject& visit) : file_(file), what_(what), visit_(visit) {}

  Result<void> run() {
    visited_.insert(file_.root());
    FOREBAY_CHECK(visit({.address = file_.root(), .path = ""}));
    while (!pending_.empty()) {
      const Pending next = std::move(pending_.back());
      pending_.pop_back();
      if (!visited_.insert(next.address).second) continue;
      const Result<void> visited = visit(next);
      if (!visited && !is_local(visited.error())) return visited;
    }
    return {};
  }

 private:
  struct Pending {
    uint64_t address;
    std::string path;
  };

  Result<void> visit(const Pending& place) {
    FOREBAY_TRY(Object object, read_object(file_, place.address, what_));
    FOREBAY_CHECK(visit_(object, place.path));
    if (object.is_dataset() && !place.path.empty()) return {};
    FOREBAY_TRY(const std::vector<Link> links, list_links(file_, std::move(object)));
    for (auto link = links.rbegin(); link != links.rend(); ++link) {  // the last is visited first
      if (place.path.size() + 1 + link->name.size() > kMaxPathBytes || visited_.contains(link->address)) continue;
      FOREBAY_CHECK(file_.pay(place.path.size()));
      pending_.push_back({.address = link->address, .path = place.path + "/" + link->name});
    }
    return {};
  }

  File& file_;
  Read what_;
  const VisitObject& visit_;
  std::vector<Pending> pending_;
  std::unordered_set<uint64_t> visited_;
};

}  // namespace

Result<void> walk_objects(File& file, Read what, const VisitObject& visit) {
  return ObjectWalk(file, what, visit).run();
}

}  // namespace forebay::format::hdf5
