// What a service remembers (service.h): shared by service.cc, service_loans.cc and status.cc, and by nobody else.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lock/service.h"
#include "lock/solitude.h"

namespace forebay::lock {

// What a request, a file's name or a counter costs beside what it refers to: entries of tables, roughly.
inline constexpr uint64_t kEntryBytes = 512;

struct Service::Loan {
  Ticket ticket = 0;
  Access access = Access::exclusive;
  Region first;                    // of a progression, with
  uint64_t stride = 0, count = 0;  // 0: the whole file
  unsigned splits = 0;
  bool recalled = false;
  Elements wanted;  // of a progression that is recalled
};

struct Service::File {
  struct Owner {
    SessionId session = 0;
    uint64_t request = 0;
    Time since;
  };
  std::string name;
  Table table;
  std::unordered_map<Ticket, Owner> owners;
  uint64_t names = 0;  // how many numbers of sessions stand for it
  Solitude solitude;
  std::vector<Loan> loans;
  std::vector<Owner> tries;  // that met loans: decided when these end
};

struct Service::Session {
  struct Request {
    File* file = nullptr;
    Ticket ticket = 0;
    uint64_t memory = 0;
    bool granted = false;
    bool deferred = false;  // granted, which the client is told when the service opens
    bool loan = false;      // of the whole file
  };
  std::string peer;
  wire::Hello hello;
  Time last_heard;
  bool greeted = false, connected = true, expired = false;
  SessionId life_of = 0;  // it is nothing but the life line of that session, if there is one of this number
  SessionId bell_of = 0;  // it is nothing but the bell of that session
  SessionId bell = 0;     // the session that is its bell
  uint64_t memory = 0;
  std::vector<File*> files;  // by number
  std::unordered_map<uint64_t, Request> requests;
  std::unordered_map<std::string, uint64_t> counters;  // name and CounterState::id
};

}  // namespace forebay::lock
