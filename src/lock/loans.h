// What a server has lent to a client: whole files and progressions (progression.h), from which the client serves its
// own requests. Pure: no clock, no thread, no I/O. Not thread-safe.
//
// The loans of one file have no byte in common, unless all are shared, so that a request concerns those of its own
// loan. A request waits for every earlier one of its file that conflicts with it, as in the server's table (table.h).
// There are few at a time, as many as threads of this process are at work: they are compared one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lock/region.h"
#include "lock/table.h"
#include "lock/wire.h"

namespace forebay::lock {

class Loans {
 public:
  static constexpr size_t kMostLoans = 64;
  static constexpr size_t kMostOfFile = 4;
  static constexpr size_t kMostRequests = 64;        // served from one loan at a time, and
  static constexpr size_t kMostMemory = 8u << 20;    // what their lists take
  static constexpr size_t kMostReturned = 1u << 12;  // requests that are remembered until they are released

  // The answer to one of the client's own requests.
  enum class Served : uint8_t {
    no,       // the bytes are not lent: the server has to be asked
    held,     // it is granted
    waits,    // it is granted by a release
    busy,     // a try, and the bytes are not free
    too_many  // the loan is to be returned, and then the server to be asked
  };
  Served serve(std::string_view file, uint64_t request, const Region& region, Access access, bool only_try);

  bool lent(std::string_view file) const { return by_file_.contains(file); }
  bool any() const { return !loans_.empty(); }
  bool has(uint64_t loan) const;
  std::vector<uint64_t> all() const;
  // The one from which these bytes are served.
  std::optional<uint64_t> loan_of(std::string_view file, const Region& region, Access access) const;

  // Whether one more loan has room, when an idle one is returned for it.
  bool may_ask() const;

  // The answer to a request of this region: it is granted, and the file lent under its number, or `count` elements of
  // the progression that begins with it.
  void lend(std::string_view file, uint64_t loan, const Region& region, Access access);
  void lend(std::string_view file, uint64_t loan, const Region& region, Access access, uint64_t stride, uint64_t count);

  // The loans to be returned to make room: what is beyond as many as there may be, of the file that was lent last and
  // in all; first those that lay idle longest.
  std::vector<uint64_t> to_make_room() const;

  // Ends a request that was served, held or waiting. Nothing if it was not, or the loan was returned meanwhile: then
  // the server has to know. Else the requests that are granted thereby.
  std::optional<std::vector<uint64_t>> release(std::string_view file, uint64_t request);

  // A request that the server knows is released: it need not be remembered any more.
  void forget(uint64_t request);

  // Ends a loan: what the server is to be told. Requests in it are the server's from now on. Nothing if it is not
  // there. If some of its elements are `wanted`, others stay lent, under numbers that were not used before: of those
  // for which there is room the last, which are needed next.
  std::optional<wire::Return> give_back(uint64_t loan, Elements wanted = {},
                                        const std::function<uint64_t()>& number = {});
  std::string_view file_of(uint64_t loan) const;  // empty if it is not there

  // The server has ended the loan, whether it was returned meanwhile or not: what was to stay of it is gone, too. What
  // was held is lost; returns what waited and was not returned, which has to be asked for again.
  std::vector<uint64_t> taken(uint64_t loan);

  // Whether it was held when its loan was taken.
  bool lost(uint64_t request) const { return lost_.contains(request); }
  bool any_lost() const { return !lost_.empty(); }

  // The loans from which nothing was served since the last call, and nothing is now.
  std::vector<uint64_t> idle();

 private:
  struct Request {
    uint64_t number = 0;
    Region region;
    bool exclusive = false;
    bool held = false;
  };
  struct Loan {
    uint64_t number = 0;
    std::vector<uint64_t> line;  // it and the loans that it was a part of
    std::string file;
    Region first;                    // of a progression, with
    uint64_t stride = 0, count = 0;  // 0: the whole file
    Access access = Access::exclusive;
    unsigned splits = 0;
    Region bytes;                   // of all its elements
    std::vector<Request> requests;  // in order of arrival
    size_t memory = 0;
    bool used = true;  // since idle() was called
  };
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Place = std::list<Loan>::iterator;

  static bool blocked(const Loan& loan, size_t before, const Region& region, bool exclusive);
  std::list<Loan>::const_iterator find(uint64_t loan) const;
  const Place* find(std::string_view file, const Region& region, Access access) const;
  size_t loans_of(std::string_view file) const;
  void insert(Loan loan);
  void keep(Loan& ended, Elements wanted, const std::function<uint64_t()>& number, wire::Return& message);

  std::list<Loan> loans_;  // those that were used last come last
  std::unordered_map<std::string, std::vector<Place>, TextHash, std::equal_to<>> by_file_;
  // Requests that were held, and the line of the loan that they were returned with.
  std::unordered_map<uint64_t, std::vector<uint64_t>> returned_;
  std::unordered_set<uint64_t> lost_;
};

}  // namespace forebay::lock
