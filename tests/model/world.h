// What the agents of the model need of the world around them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "disk.h"
#include "loop.h"

namespace forebay::job::model {

class Agent;

class World {
 public:
  virtual ~World() = default;
  virtual Loop& loop() = 0;
  virtual Net& net() = 0;
  // Connects the agent with a coordinator as soon as one is there: Agent::adopt() follows.
  virtual void find_coordinator(Agent& agent) = 0;
  // The living agent that is reached at this address; null: nobody answers there.
  virtual Agent* agent_at(const std::string& address) = 0;

  // For the invariants (truth.h).
  virtual void heard(const Agent& agent, const std::string& set, const std::string& stored_as) = 0;
  // Before the agent takes away what it has of a set, and after.
  virtual void removing() = 0;
  virtual void removed(const Agent& agent, const std::string& set, bool is_refused) = 0;
  virtual void say(const Agent& agent, const std::string& text) = 0;
};

}  // namespace forebay::job::model
