// What a server has lent to a client: whole files, from which the client serves its own requests. Pure: no clock, no
// thread, no I/O. Not thread-safe.
//
// A request waits for every earlier one of its file that conflicts with it, as in the server's table (table.h). There
// are few at a time, as many as threads of this process are at work: they are compared one by one.
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
  static constexpr size_t kMostFiles = 64;
  static constexpr size_t kMostRequests = 64;        // served from one loan at a time, and
  static constexpr size_t kMostMemory = 8u << 20;    // what their lists take
  static constexpr size_t kMostReturned = 1u << 12;  // requests that are remembered until they are released

  // The answer to one of the client's own requests.
  enum class Served : uint8_t {
    no,       // the file is not lent: the server has to be asked
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
  std::optional<uint64_t> loan_of(std::string_view file) const;

  // Whether one more loan has room, when an idle one is returned for it.
  bool may_ask() const;

  // The answer to a request of this region: it is granted, and the file lent under its number.
  void lend(std::string_view file, uint64_t loan, const Region& region, Access access);

  // The loan to be returned to make room: the one that lay idle longest, of as many as there may be; else nothing.
  std::optional<uint64_t> to_make_room() const;

  // Ends a request that was served, held or waiting. Nothing if it was not, or the loan was returned meanwhile: then
  // the server has to know. Else the requests that are granted thereby.
  std::optional<std::vector<uint64_t>> release(std::string_view file, uint64_t request);

  // A request that the server knows is released: it need not be remembered any more.
  void forget(uint64_t request);

  // Ends a loan: what the server is to be told. Requests in it are the server's from now on. Nothing if it is not
  // there.
  std::optional<wire::Return> give_back(uint64_t loan);

  // The server has ended the loan, whether it was returned meanwhile or not. What was held is lost; returns what waited
  // and was not returned, which has to be asked for again.
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
    std::string file;
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

  std::list<Loan> loans_;  // those that were used last come last
  std::unordered_map<std::string, Place, TextHash, std::equal_to<>> by_file_;
  std::unordered_map<uint64_t, uint64_t>
      returned_;  // requests that were held, and the loan that they were returned with
  std::unordered_set<uint64_t> lost_;
};

}  // namespace forebay::lock
