// A node that the job goes on without: who has started its agent takes it for lost.
//   1. Its agent is told to stop, and let in no more: were it to come back with the parts of sets that the application
//      writes again on other nodes, those of two attempts would be mixed.
//   2. What of a set that is drained lies there alone will not be had: the set is given up.
//   3. Nor will a set that is not complete be: it is given up, too, lest what other nodes have of it is taken for a
//   part of
//      what the application writes anew.
#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {

void Coordinator::Impl::exclude(SessionId asker, const std::string& host) {
  if (excluded.insert(host).second) {
    info(fmt::format("node {} is excluded from the job", host));
    std::vector<SessionId> theirs;
    for (const auto& [key, id] : agents)
      if (sessions.at(id).agent->host == host) theirs.push_back(id);
    for (const SessionId id : theirs) {
      left.erase(sessions.at(id).key);
      send(id, wire::StopT{.message = fmt::format("node {} is excluded from the job", host)});
      out.closed.push_back(id);
      leave(id, "its node is excluded");
    }
    std::vector<uint64_t> lost;
    for (auto& [id, set] : sets) {
      for (const auto& [key, since] : set.away)
        if (const Part& part = set.parts.at(key); part.host == host && needs(set, part)) {
          lost.push_back(id);
          break;
        }
    }
    for (const uint64_t id : lost)
      if (sets.contains(id)) give_up(id, fmt::format("node {} is excluded, and has what is not drained of it", host));
    give_up_incomplete();
  }
  send(asker, wire::StatusT{.json = status()});
}

}  // namespace forebay::job
