// Writes steps through a session, as programs do through adios.h, for crash.py, which ends or hinders it meanwhile.
//
// usage: crash_ranks write [NAME=VALUE]...
//          method=NAME[:PARAMETERS]  file=PATH  mode=w|a|u   of the first step; the others are appended
//          first=N steps=N           the steps' numbers, which are in all values
//          count=N writes=N          values of a block, and blocks of a rank in a step
//          announce=BYTES            of what each rank is about to write in a step
//          limit=BYTES               of the buffer; aggregate=BYTES: of time aggregation
//          threads=N                 that many ranks, which are threads; or
//          rank=N sockets=FD,FD,...  one rank, with sockets to the others
//        crash_ranks check FILE
// write prints a line "RANK CALL CODE MESSAGE" for each failure and "RANK done" at the end of each rank. check reads
// all blocks of a file and prints a line "STEP RANK NUMBER" for each; it fails if any value is not what was written.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "io/file/file_reader.h"
#include "io/session/session.h"
#include "socket_ranks.h"

namespace forebay::io {
namespace {

using Settings = std::map<std::string, std::string>;

uint64_t number(const Settings& settings, const std::string& name, uint64_t otherwise) {
  const auto it = settings.find(name);
  return it == settings.end() ? otherwise : std::stoull(it->second);
}

double value_of(uint64_t step, uint32_t rank, uint64_t at) {
  return static_cast<double>(step * 1'000'000'000 + rank * 10'000'000ull + at);
}

// In one piece, since ranks share the stream.
void say(uint32_t rank, const std::string& text) {
  const std::string line = std::to_string(rank) + " " + text + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::perror("write");
}

void tell(uint32_t rank, const char* call, const Outcome<void>& outcome) {
  if (outcome) return;
  const Failure& failure = outcome.error();
  say(rank, std::string(call) + " " + std::to_string(static_cast<int>(failure.code)) + " " + failure.error.message());
}

VariableDefinition variable(const char* name, ValueType type) {
  VariableDefinition definition;
  definition.name = name;
  definition.type = type;
  return definition;
}

GroupDefinition group_of(const Settings& settings) {
  GroupDefinition group;
  group.name = "g";
  for (const char* name : {"n", "total", "at"}) group.variables.push_back(variable(name, ValueType::int64));
  group.variables.push_back(variable("x", ValueType::float64));
  group.variables.back().dimensions = {Named{"n"}};
  group.variables.back().global_dimensions = {Named{"total"}};
  group.variables.back().offsets = {Named{"at"}};
  if (const uint64_t bytes = number(settings, "aggregate", 0)) group.aggregate_bytes = bytes;
  const std::string& method = settings.at("method");
  const size_t colon = method.find(':');
  group.methods.push_back({.name = method.substr(0, colon),
                           .parameters = colon == std::string::npos ? "" : method.substr(colon + 1),
                           .base_path = {},
                           .priority = 0,
                           .iterations = 0});
  return group;
}

void write_step(Session& session, const Settings& settings, const std::shared_ptr<Communicator>& ranks, uint64_t step,
                OpenMode mode) {
  const uint32_t rank = ranks->rank();
  auto opened = session.open("g", settings.at("file"), mode, ranks, false);
  if (!opened) return tell(rank, "open", std::unexpected(opened.error()));
  OpenGroup& file = **opened;
  const uint64_t count = number(settings, "count", 100);
  if (const uint64_t bytes = number(settings, "announce", 0)) file.announce(bytes);
  const int64_t place[] = {static_cast<int64_t>(count), static_cast<int64_t>(count * ranks->size()),
                           static_cast<int64_t>(count * rank)};
  for (size_t i = 0; i < 3; ++i) tell(rank, "write", file.write(i, &place[i]));
  std::vector<double> values(count);
  for (uint64_t i = 0; i < count; ++i) values[i] = value_of(step, rank, i);
  for (uint64_t i = 0; i < number(settings, "writes", 1); ++i) tell(rank, "write", file.write(3, values.data()));
  tell(rank, "close", session.close(std::move(*opened)));
}

void run_rank(const Settings& settings, const std::shared_ptr<Communicator>& ranks) {
  Session session(ranks);
  if (const uint64_t limit = number(settings, "limit", 0)) session.set_buffer_limit(limit);
  const Session::Declared declared = session.declare(group_of(settings));
  for (const Failure& problem : declared.problems) tell(ranks->rank(), "declare", std::unexpected(problem));
  const std::string& said = settings.at("mode");
  OpenMode mode = said == "w" ? OpenMode::write : said == "u" ? OpenMode::update : OpenMode::append;
  const uint64_t first = number(settings, "first", 1);
  for (uint64_t step = first; step < first + number(settings, "steps", 1); ++step) {
    write_step(session, settings, ranks, step, mode);
    mode = OpenMode::append;
  }
  tell(ranks->rank(), "finalize", session.finalize());
  say(ranks->rank(), "done");
}

void write(const Settings& settings) {
  if (const uint64_t threads = number(settings, "threads", 0)) {
    std::vector<std::jthread> running;
    for (auto& rank : thread_ranks(static_cast<uint32_t>(threads)))
      running.emplace_back([&, ranks = std::shared_ptr<Communicator>(std::move(rank))] { run_rank(settings, ranks); });
    return;
  }
  std::vector<int> sockets;
  const std::string& list = settings.at("sockets");
  for (size_t at = 0; at < list.size(); at = list.find(',', at) + 1) {
    sockets.push_back(std::stoi(list.substr(at)));
    if (list.find(',', at) == std::string::npos) break;
  }
  run_rank(settings, socket_ranks(static_cast<uint32_t>(number(settings, "rank", 0)), std::move(sockets)));
}

Result<void> check_block(const StoredPart& part, size_t at, uint64_t step) {
  const ProcessGroup& group = part.group();
  std::vector<double> values(part.bytes(at) / sizeof(double));
  FOREBAY_CHECK(part.read(at, std::as_writable_bytes(std::span(values))));
  if (values.empty()) return fail(ErrorKind::corrupt, "a block has no values");
  const uint64_t number = static_cast<uint64_t>(values[0]) / 1'000'000'000;
  for (uint64_t i = 0; i < values.size(); ++i)
    if (values[i] != value_of(number, group.rank, i)) return fail(ErrorKind::corrupt, "a block has other values");
  std::printf("%llu %u %llu\n", static_cast<unsigned long long>(step), group.rank,
              static_cast<unsigned long long>(number));
  return {};
}

Result<void> check(const std::string& path) {
  FOREBAY_TRY(const auto reader, FileReader::open(path, uint64_t{1} << 30));
  for (size_t i = 0; i < reader->listing().parts.size(); ++i) {
    FOREBAY_TRY(const StoredPart part, reader->open_part(i));
    for (size_t at = 0; at < part.group().blocks.size(); ++at)
      if (part.group().blocks[at].name == "x") FOREBAY_CHECK(check_block(part, at, reader->listing().parts[i].step));
  }
  return {};
}

}  // namespace
}  // namespace forebay::io

int main(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "check") {
    const auto checked = forebay::io::check(argv[2]);
    if (!checked) std::fprintf(stderr, "%s\n", checked.error().message().c_str());
    return checked ? 0 : 1;
  }
  if (verb != "write") return 2;
  forebay::io::Settings settings;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    settings[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  forebay::io::write(settings);
  return 0;
}
