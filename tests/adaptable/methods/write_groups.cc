// Writes process groups with a method, by three ranks that are threads, for methods.py to look at.
//
// usage: write_groups METHOD[:PARAMETERS] FILE TEST [--close-fails]
//   everything    two steps of all that methods have to write
//   replace       one step more, with "w"
//   no_file       opens with "u"
//   conflict      two ranks contradict each other about a global array; the others' data have to be there
//   long_double   one variable of that type
//   abandoned     opens and never closes
//   attributes    some of which are large, or have names that are none
//   held          prints "open" when it has opened the file, and goes on when its input ends
// A test with "_append" behind its name opens with "a".
// Prints the failure of rank 0 and returns 1 if there is one.
#include <complex>
#include <cstdio>
#include <cstring>
#include <list>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "io/method/registry.h"

namespace forebay::io {
namespace {

constexpr uint32_t kRanks = 3;

// What one rank writes, with the memory that its blocks borrow.
class Writer {
 public:
  Writer(uint32_t rank, uint64_t step) {
    group_.group = "test";
    group_.rank = rank;
    group_.step = step;
    group_.time_index = static_cast<uint32_t>(step + 1);
  }

  template <class T>
  Block& add(const std::string& name, ValueType type, const std::vector<T>& values, Shape shape, Shape whole = {},
             Shape offsets = {}) {
    const auto bytes = std::as_bytes(std::span(values));
    memory_.emplace_back(bytes.begin(), bytes.end());
    Block block;
    block.name = name;
    block.type = type;
    block.is_array = !shape.empty();
    block.shape = std::move(shape);
    block.global_shape = std::move(whole);
    block.offsets = std::move(offsets);
    block.bytes = memory_.back();
    group_.blocks.push_back(std::move(block));
    return group_.blocks.back();
  }
  void text(const std::string& name, const std::string& value) {
    add(name, ValueType::string, std::vector<char>(value.begin(), value.end()), {});
  }
  void attribute(const std::string& name, ValueType type, uint64_t count, std::string_view value) {
    const auto bytes = forebay::as_bytes(value);
    group_.attributes.push_back({name, type, count, Bytes(bytes.begin(), bytes.end()), ""});
  }
  void reference(const std::string& name, const std::string& variable) {
    group_.attributes.push_back({name, ValueType::float64, 1, {}, variable});
  }

  ProcessGroup& group() { return group_; }

 private:
  ProcessGroup group_;
  std::list<Bytes> memory_;
};

std::vector<double> counted(uint64_t count, double first) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

void add_everything(Writer& writer, uint32_t rank, uint64_t step) {
  const double first = static_cast<double>(1000 * step + 100 * rank);
  writer.add("same", ValueType::int32, std::vector<int32_t>{7}, {});
  writer.add("rank", ValueType::int32, std::vector<int32_t>{static_cast<int32_t>(rank)}, {});
  writer.add("dir/mean", ValueType::float64, std::vector<double>{first}, {});
  writer.text("/run/title", "a title");
  writer.text("host", std::string(rank + 1, 'n'));
  writer.add("rows", ValueType::float64, counted(2 * 5, first), {2, 5}, {6, 5}, {2 * rank, 0});
  writer.add("dir/columns", ValueType::float64, counted(4 * 2 * 3, first), {4, 2, 3}, {4, 6, 3}, {0, 2 * rank, 0});
  writer.add("local", ValueType::uint16, std::vector<uint16_t>(rank, 5), {rank});
  writer.add("waves", ValueType::complex64, std::vector<std::complex<float>>(2, {1, static_cast<float>(rank)}), {2},
             {6}, {2 * rank});
  Block& joined =
      writer.add("table", ValueType::float64, counted((rank + 1) * 2, first), {rank + 1, 2}, {0, 2}, {0, 0});
  joined.joined = 0;
  writer.add("twice", ValueType::int64, std::vector<int64_t>{1, 2}, {2});
  writer.add("twice", ValueType::int64, std::vector<int64_t>{3}, {1});

  const int32_t numbers[] = {3, 2, 1};
  writer.attribute("rows/description", ValueType::string, 1, "six rows");
  writer.attribute("dir/numbers", ValueType::int32, 3, {reinterpret_cast<const char*>(numbers), sizeof numbers});
  writer.attribute("names", ValueType::string_array, 2, std::string_view("X\0YyY\0", 6));
  writer.attribute("not/there", ValueType::string, 1, "of nothing");
  writer.reference("dir/mean value", "dir/mean");
}

void fill(Writer& writer, const std::string& test, uint32_t rank, uint64_t step) {
  if (test == "everything") return add_everything(writer, rank, step);
  if (test == "conflict") {
    writer.add("good", ValueType::float64, counted(2, rank), {2}, {6}, {2 * rank});
    writer.add("bad", ValueType::float64, counted(2, 0), {2}, {rank == 1 ? 7u : 6u}, {2 * rank});
    writer.add("outside", ValueType::float64, counted(2, 0), {2}, {5}, {2 * rank});
  } else if (test == "long_double") {
    writer.add("long", ValueType::long_double, std::vector<long double>{1.5L}, {});
  } else if (test.starts_with("attributes")) {
    writer.add("rows", ValueType::float64, counted(2, rank), {2}, {6}, {2 * rank});
    writer.add("dir/n", ValueType::int32, std::vector<int32_t>{1}, {});
    for (const char* name : {"first", "rows/first", "dir/first"}) writer.attribute(name, ValueType::string, 1, "1st");
    for (const char* name : {"large", "rows/large", "dir/large"})
      writer.attribute(name, ValueType::string, 1, std::string(69999, 'x'));
    for (const char* name : {"", "rows/", "dir/", "/"}) writer.attribute(name, ValueType::string, 1, "of no name");
    for (const char* name : {"last", "rows/last", "dir/last"}) writer.attribute(name, ValueType::string, 1, "last");
  } else {
    writer.add("only", ValueType::int32, std::vector<int32_t>{1}, {});
  }
}

struct Task {
  MethodChoice choice;
  std::string path, test;
};

Outcome<void> write_step(Method& method, const Task& task, OpenMode mode, uint32_t rank,
                         std::shared_ptr<Communicator> ranks) {
  GroupDefinition definition;
  definition.name = "test";
  definition.variables.resize(1);
  definition.variables[0].name = "table";
  definition.variables[0].global_dimensions = {JoinedDimension{}, uint64_t{2}};
  const OpenRequest request{.path = task.path, .mode = mode, .group = &definition, .communicator = std::move(ranks)};
  FOREBAY_TRY(const std::unique_ptr<OpenFile> file, method.open(request));
  if (task.test == "abandoned") return {};
  if (task.test.starts_with("held")) {
    if (rank == 0) {
      std::puts("open");
      std::fflush(stdout);
      while (std::getchar() != EOF) {
      }
    }
    FOREBAY_CHECK(request.communicator->barrier());
  }
  Writer writer(rank, file->standing().steps);
  fill(writer, task.test, rank, file->standing().steps);
  return file->close({&writer.group(), 1});
}

Outcome<void> write_all(const Task& task, uint32_t rank, std::shared_ptr<Communicator> ranks) {
  FOREBAY_TRY(const MadeMethod made, MethodRegistry::instance().make(task.choice));
  const OpenMode first = task.test == "no_file"           ? OpenMode::update
                         : task.test.ends_with("_append") ? OpenMode::append
                                                          : OpenMode::write;
  FOREBAY_CHECK(write_step(*made.method, task, first, rank, ranks));
  if (task.test == "everything") FOREBAY_CHECK(write_step(*made.method, task, OpenMode::append, rank, ranks));
  return made.method->finalize(*ranks);
}

int run(char** argv) {
  const std::string method = argv[1];
  const size_t colon = method.find(':');
  const Task task{{.name = method.substr(0, colon),
                   .parameters = colon == std::string::npos ? "" : method.substr(colon + 1),
                   .base_path = "",
                   .priority = 0,
                   .iterations = 0},
                  argv[2],
                  argv[3]};
  std::vector<std::unique_ptr<Communicator>> ranks = thread_ranks(kRanks);
  std::vector<Outcome<void>> results(kRanks);
  {
    std::vector<std::jthread> threads;
    for (uint32_t rank = 0; rank < kRanks; ++rank)
      threads.emplace_back(
          [&, rank] { results[rank] = write_all(task, rank, std::shared_ptr<Communicator>(std::move(ranks[rank]))); });
  }
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    if (results[rank].has_value() != results[0].has_value()) return std::puts("ranks do not agree"), 3;
  if (results[0]) return 0;
  std::printf("%d: %s\n", static_cast<int>(results[0].error().code), results[0].error().error.message().c_str());
  return 1;
}

}  // namespace
}  // namespace forebay::io

int main(int argc, char** argv) { return argc == 4 ? forebay::io::run(argv) : 2; }
