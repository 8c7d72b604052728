#include "lock/loans.h"

#include <algorithm>
#include <span>

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

std::string_view Loans::file_of(uint64_t loan) const {
  const auto place = find(loan);
  return place == loans_.end() ? std::string_view() : place->file;
}

const Loans::Place* Loans::find(std::string_view file, const Region& region, Access access) const {
  const auto found = by_file_.find(file);
  if (found == by_file_.end()) return nullptr;
  const auto serves = [&](const Place& loan) {
    return loan->count == 0 ||
           ((access == Access::shared || loan->access == Access::exclusive) && covers(loan->bytes, region));
  };
  const auto place = std::ranges::find_if(found->second, serves);
  return place == found->second.end() ? nullptr : &*place;
}

std::optional<uint64_t> Loans::loan_of(std::string_view file, const Region& region, Access access) const {
  const Place* const found = find(file, region, access);
  return found == nullptr ? std::nullopt : std::optional((*found)->number);
}

// Of the requests before position `before`.
bool Loans::blocked(const Loan& loan, size_t before, const Region& region, bool exclusive) {
  return std::any_of(
      loan.requests.begin(), loan.requests.begin() + static_cast<std::ptrdiff_t>(before),
      [&](const Request& other) { return (exclusive || other.exclusive) && overlap(other.region, region); });
}

Loans::Served Loans::serve(std::string_view file, uint64_t request, const Region& region, Access access,
                           bool only_try) {
  const Place* const found = find(file, region, access);
  if (found == nullptr) return Served::no;
  Loan& loan = **found;
  const size_t memory = region.memory();
  if (loan.requests.size() >= kMostRequests || loan.memory + memory > kMostMemory) return Served::too_many;
  const bool exclusive = access == Access::exclusive;
  const bool waits = blocked(loan, loan.requests.size(), region, exclusive);
  if (waits && only_try) return Served::busy;
  loan.requests.push_back({request, region, exclusive, !waits});
  loan.memory += memory;
  loan.used = true;
  if (*found != std::prev(loans_.end())) loans_.splice(loans_.end(), loans_, *found);
  return waits ? Served::waits : Served::held;
}

bool Loans::may_ask() const {
  if (returned_.size() + lost_.size() >= kMostReturned) return false;
  return loans_.size() < kMostLoans ||
         std::ranges::any_of(loans_, [](const Loan& one) { return one.requests.empty(); });
}

void Loans::insert(Loan loan) {
  loans_.push_back(std::move(loan));
  by_file_[loans_.back().file].push_back(std::prev(loans_.end()));
}

void Loans::lend(std::string_view file, uint64_t loan, const Region& region, Access access) {
  lend(file, loan, region, access, 0, 0);
}

void Loans::lend(std::string_view file, uint64_t loan, const Region& region, Access access, uint64_t stride,
                 uint64_t count) {
  Loan lent{.number = loan, .line = {loan}, .file = std::string(file), .stride = stride, .count = count};
  if (count != 0) {
    lent.access = access;
    lent.first = region;
    // The server has made the same region of it. If it cannot be made, nothing is served from it.
    if (auto bytes = elements(region, stride, {0, count})) lent.bytes = *std::move(bytes);
  }
  lent.memory = region.memory();
  lent.requests.push_back({loan, region, access == Access::exclusive, true});
  insert(std::move(lent));
}

std::vector<uint64_t> Loans::to_make_room() const {
  std::vector<uint64_t> list;
  if (loans_.empty()) return list;
  const auto choose = [&](size_t there, size_t most, const auto& may_go) {
    for (const bool idle : {true, false})
      for (const Loan& one : loans_)
        if (list.size() + most < there && one.requests.empty() == idle && may_go(one)) list.push_back(one.number);
  };
  const std::string& last = loans_.back().file;
  choose(loans_of(last), kMostOfFile, [&](const Loan& one) { return one.file == last; });
  choose(loans_.size(), kMostLoans, [&](const Loan& one) { return std::ranges::find(list, one.number) == list.end(); });
  return list;
}

size_t Loans::loans_of(std::string_view file) const {
  const auto found = by_file_.find(file);
  return found == by_file_.end() ? 0 : found->second.size();
}

std::optional<std::vector<uint64_t>> Loans::release(std::string_view file, uint64_t request) {
  const auto found = by_file_.find(file);
  if (found == by_file_.end()) return std::nullopt;
  const auto has = [request](const Place& one) {
    return std::ranges::find(one->requests, request, &Request::number) != one->requests.end();
  };
  const auto holder = std::ranges::find_if(found->second, has);
  if (holder == found->second.end()) return std::nullopt;
  Loan& loan = **holder;
  const auto place = std::ranges::find(loan.requests, request, &Request::number);
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

std::optional<wire::Return> Loans::give_back(uint64_t loan, Elements wanted, const std::function<uint64_t()>& number) {
  const auto place = find(loan);
  if (place == loans_.end()) return std::nullopt;
  wire::Return message{loan, {}, {}};
  const auto of_file = by_file_.find(place->file);
  std::erase_if(of_file->second, [loan](const Place& one) { return one->number == loan; });
  if (of_file->second.empty()) by_file_.erase(of_file);
  std::list<Loan> ended;
  ended.splice(ended.end(), loans_, place);
  if (ended.front().count != 0 && !wanted.empty() && ended.front().splits < Table::kMostSplits)
    keep(ended.front(), wanted, number, message);
  for (Request& one : ended.front().requests) {
    if (one.held) returned_.emplace(one.number, ended.front().line);
    message.parts.push_back(
        {one.number, one.exclusive ? Access::exclusive : Access::shared, one.held, std::move(one.region)});
  }
  return message;
}

// What is neither wanted nor in use.
void Loans::keep(Loan& ended, Elements wanted, const std::function<uint64_t()>& number, wire::Return& message) {
  std::vector<Elements> holes{wanted};
  for (const Request& one : ended.requests)
    holes.push_back(touched(ended.first, ended.stride, ended.count, one.region));
  std::ranges::sort(holes, {}, &Elements::from);
  holes.push_back({ended.count, ended.count});
  uint64_t next = 0;
  std::vector<Elements> free;
  for (const Elements& hole : holes) {
    const Elements left{next, std::min(hole.from, ended.count)};
    next = std::max(next, hole.to);
    if (!left.empty()) free.push_back(left);
  }
  const size_t room = std::min({wire::kMaxKept, kMostOfFile - std::min(loans_of(ended.file), kMostOfFile),
                                kMostLoans - std::min(loans_.size(), kMostLoans)});
  for (const Elements& left : std::span(free).last(std::min(room, free.size()))) {
    auto first = elements(ended.first, ended.stride, {left.from, left.from + 1});
    auto bytes = elements(ended.first, ended.stride, left);
    if (!first || !bytes) continue;
    message.kept.push_back({number(), left});
    auto line = ended.line;
    line.push_back(message.kept.back().loan);
    insert({.number = message.kept.back().loan,
            .line = std::move(line),
            .file = ended.file,
            .first = *std::move(first),
            .stride = ended.stride,
            .count = left.to - left.from,
            .access = ended.access,
            .splits = ended.splits + 1,
            .bytes = *std::move(bytes)});
  }
}

std::vector<uint64_t> Loans::taken(uint64_t loan) {
  const auto of_it = [loan](const std::vector<uint64_t>& line) { return std::ranges::find(line, loan) != line.end(); };
  std::vector<uint64_t> over, waiting;
  for (const Loan& one : loans_)
    if (of_it(one.line)) over.push_back(one.number);
  for (const uint64_t number : over) {
    const auto ended = give_back(number);
    for (const wire::Return::Part& part : ended->parts)
      if (!part.held) waiting.push_back(part.request);
  }
  std::erase_if(returned_, [&](const auto& one) {
    if (!of_it(one.second)) return false;
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
