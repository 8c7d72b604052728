#include "lock/loans.h"

#include <algorithm>

#include "lock/overlap.h"

namespace forebay::lock {

std::list<Loans::Loan>::const_iterator Loans::find(uint64_t loan) const {
  return std::ranges::find(loans_, loan, &Loan::number);
}

bool Loans::has(uint64_t loan) const { return find(loan) != loans_.end(); }

std::vector<uint64_t> Loans::all() const {
  std::vector<uint64_t> list;
  for (const Loan& one : loans_) list.push_back(one.number);
  return list;
}

std::optional<uint64_t> Loans::loan_of(std::string_view file) const {
  const auto found = by_file_.find(file);
  return found == by_file_.end() ? std::nullopt : std::optional(found->second->number);
}

// Of the requests before position `before`.
bool Loans::blocked(const Loan& loan, size_t before, const Region& region, bool exclusive) {
  return std::any_of(
      loan.requests.begin(), loan.requests.begin() + static_cast<std::ptrdiff_t>(before),
      [&](const Request& other) { return (exclusive || other.exclusive) && overlap(other.region, region); });
}

Loans::Served Loans::serve(std::string_view file, uint64_t request, const Region& region, Access access,
                           bool only_try) {
  const auto found = by_file_.find(file);
  if (found == by_file_.end()) return Served::no;
  Loan& loan = *found->second;
  const size_t memory = region.memory();
  if (loan.requests.size() >= kMostRequests || loan.memory + memory > kMostMemory) return Served::too_many;
  const bool exclusive = access == Access::exclusive;
  const bool waits = blocked(loan, loan.requests.size(), region, exclusive);
  if (waits && only_try) return Served::busy;
  loan.requests.push_back({request, region, exclusive, !waits});
  loan.memory += memory;
  loan.used = true;
  if (found->second != std::prev(loans_.end())) loans_.splice(loans_.end(), loans_, found->second);
  return waits ? Served::waits : Served::held;
}

bool Loans::may_ask() const {
  if (returned_.size() + lost_.size() >= kMostReturned) return false;
  return loans_.size() < kMostFiles ||
         std::ranges::any_of(loans_, [](const Loan& one) { return one.requests.empty(); });
}

void Loans::lend(std::string_view file, uint64_t loan, const Region& region, Access access) {
  loans_.push_back({loan, std::string(file), {}, region.memory(), true});
  loans_.back().requests.push_back({loan, region, access == Access::exclusive, true});
  by_file_.insert_or_assign(std::string(file), std::prev(loans_.end()));
}

std::optional<uint64_t> Loans::to_make_room() const {
  if (loans_.size() <= kMostFiles) return std::nullopt;
  const auto idle = std::ranges::find_if(loans_, [](const Loan& one) { return one.requests.empty(); });
  return idle == loans_.end() ? loans_.front().number : idle->number;
}

std::optional<std::vector<uint64_t>> Loans::release(std::string_view file, uint64_t request) {
  const auto found = by_file_.find(file);
  if (found == by_file_.end()) return std::nullopt;
  Loan& loan = *found->second;
  const auto place = std::ranges::find(loan.requests, request, &Request::number);
  if (place == loan.requests.end()) return std::nullopt;
  const auto position = static_cast<size_t>(place - loan.requests.begin());
  loan.memory -= place->region.memory();
  loan.requests.erase(place);
  std::vector<uint64_t> granted;
  for (size_t i = position; i < loan.requests.size(); ++i) {
    Request& one = loan.requests[i];
    if (one.held || blocked(loan, i, one.region, one.exclusive)) continue;
    one.held = true;
    granted.push_back(one.number);
  }
  return granted;
}

void Loans::forget(uint64_t request) {
  returned_.erase(request);
  lost_.erase(request);
}

std::optional<wire::Return> Loans::give_back(uint64_t loan) {
  const auto place = find(loan);
  if (place == loans_.end()) return std::nullopt;
  wire::Return message{loan, {}};
  by_file_.erase(place->file);
  std::list<Loan> ended;
  ended.splice(ended.end(), loans_, place);
  for (Request& one : ended.front().requests) {
    if (one.held) returned_.emplace(one.number, loan);
    message.parts.push_back(
        {one.number, one.exclusive ? Access::exclusive : Access::shared, one.held, std::move(one.region)});
  }
  return message;
}

std::vector<uint64_t> Loans::taken(uint64_t loan) {
  std::vector<uint64_t> waiting;
  if (auto ended = give_back(loan))
    for (const wire::Return::Part& part : ended->parts)
      if (!part.held) waiting.push_back(part.request);
  std::erase_if(returned_, [&](const auto& one) {
    if (one.second != loan) return false;
    lost_.insert(one.first);
    return true;
  });
  return waiting;
}

std::vector<uint64_t> Loans::idle() {
  std::vector<uint64_t> list;
  for (Loan& one : loans_)
    if (!std::exchange(one.used, false) && one.requests.empty()) list.push_back(one.number);
  return list;
}

}  // namespace forebay::lock
