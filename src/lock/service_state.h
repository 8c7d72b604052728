// What a service remembers (service.h): shared by service.cc and status.cc, and by nobody else.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lock/service.h"

namespace forebay::lock {

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
};

struct Service::Session {
  struct Request {
    File* file = nullptr;
    Ticket ticket = 0;
    uint64_t memory = 0;
    bool granted = false;
    bool deferred = false;  // granted, which the client is told when the service opens
  };
  std::string peer;
  wire::Hello hello;
  Time last_heard;
  bool greeted = false, connected = true, expired = false;
  SessionId life_of = 0;  // it is nothing but the life line of that session, if there is one of this number
  uint64_t memory = 0;
  std::vector<File*> files;  // by number
  std::unordered_map<uint64_t, Request> requests;
  std::unordered_map<std::string, uint64_t> counters;  // name and CounterState::id
};

}  // namespace forebay::lock
