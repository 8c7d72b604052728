// The simulation's checkpoints by SCR's interface, as a program that was written for SCR has it: nothing here is
// Forebay's.
#include "staging.h"

#include <exception>
#include <stdexcept>

#include <scr.h>

namespace mini_sim {
namespace {

void must(int code, const char* call) {
  if (code != SCR_SUCCESS) throw std::runtime_error(std::string(call) + " has failed");
}

std::filesystem::path route(const std::string& file) {
  char path[SCR_MAX_FILENAME];
  must(SCR_Route_file(file.c_str(), path), "SCR_Route_file");
  return path;
}

}  // namespace

std::unique_ptr<Staging> Staging::connect(int, int) {
  must(SCR_Init(), "SCR_Init");
  return std::unique_ptr<Staging>(new Staging(nullptr));
}

// Not after an error: SCR_Finalize says that the program has come to its end.
Staging::~Staging() {
  if (std::uncaught_exceptions() == 0) SCR_Finalize();
}

std::filesystem::path Staging::newest(const std::string& file) {
  int is_there = 0;
  char set[SCR_MAX_FILENAME];
  must(SCR_Have_restart(&is_there, set), "SCR_Have_restart");
  if (!is_there) return {};
  must(SCR_Start_restart(set), "SCR_Start_restart");
  return route(std::string(set) + "/" + file);
}

void Staging::loaded() { must(SCR_Complete_restart(1), "SCR_Complete_restart"); }

std::filesystem::path Staging::begin(const std::string& set, int, const std::string& file) {
  must(SCR_Start_output(set.c_str(), SCR_FLAG_CHECKPOINT), "SCR_Start_output");
  return route(set + "/" + file);
}

void Staging::complete() { must(SCR_Complete_output(1), "SCR_Complete_output"); }

void Staging::wait(const std::string&) {}

}  // namespace mini_sim
