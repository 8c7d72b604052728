// A program for one MPI process: flattens random datatypes and compares with what MPI_Pack makes of memory whose bytes
// are numbered. Arguments: how many datatypes, and the seed.
#include "mpiio/mpi/flatten.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace forebay::lock::mpiio {
namespace {

// What the MPI libraries themselves get wrong or leave open when they pack is not compared: MPICH 4.0 divides by zero
// if there are empty parts, goes astray with negative extents, and does not copy the unused bytes of a long double;
// Open MPI 4.1 takes vectors with stride -1 for contiguous.
#ifdef MPICH
constexpr int kLeast = 1;
constexpr int kLeastExtent = 0;
constexpr bool kLongDoubles = false;
#else
constexpr int kLeast = 0;
constexpr int kLeastExtent = -50;
constexpr bool kLongDoubles = true;
#endif

int failures = 0;

void expect(bool good, const char* what, int which) {
  if (good) return;
  std::fprintf(stderr, "datatype %d: %s\n", which, what);
  ++failures;
}

class TypeMaker {
 public:
  explicit TypeMaker(uint32_t seed) : random_(seed) {}
  ~TypeMaker() { release(); }

  // A datatype that lives until `release`.
  MPI_Datatype make(int depth);
  void release() {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
    made_.clear();
  }
  int number(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }

 private:
  int stride(int least, int most) {
    int any = number(least, most);
    return any == -1 ? 1 : any;
  }
  MPI_Datatype leaf();
  MPI_Datatype array(int depth);
  MPI_Datatype list(int depth);
  MPI_Datatype structure(int depth);
  MPI_Datatype large(int depth);
  template <class Number>
  std::vector<Number> numbers(size_t count, int least, int most) {
    std::vector<Number> result(count);
    for (Number& each : result) each = number(least, most);
    return result;
  }

  std::mt19937 random_;
  std::vector<MPI_Datatype> made_;
};

MPI_Datatype TypeMaker::leaf() {
  MPI_Datatype types[] = {MPI_CHAR,
                          MPI_SHORT,
                          MPI_INT,
                          MPI_LONG,
                          MPI_DOUBLE,
                          MPI_LONG_DOUBLE,
                          MPI_BYTE,
                          MPI_PACKED,
                          MPI_WCHAR,
                          MPI_C_BOOL,
                          MPI_FLOAT_INT,
                          MPI_DOUBLE_INT,
                          MPI_LONG_INT,
                          MPI_SHORT_INT,
                          MPI_LONG_DOUBLE_INT,
                          MPI_2INT,
                          MPI_OFFSET,
                          MPI_C_DOUBLE_COMPLEX,
                          MPI_INT8_T,
                          MPI_UINT64_T,
                          MPI_INTEGER,
                          MPI_REAL,
                          MPI_DOUBLE_PRECISION,
                          MPI_COMPLEX,
                          MPI_2INTEGER,
                          MPI_2REAL,
                          MPI_2DOUBLE_PRECISION,
                          MPI_CXX_BOOL,
                          MPI_CXX_DOUBLE_COMPLEX,
                          MPI_COUNT};
  constexpr int kCount = sizeof types / sizeof types[0];
  int which = number(0, kCount + 2);
  if (which < kCount) {
    bool wide = types[which] == MPI_LONG_DOUBLE || types[which] == MPI_LONG_DOUBLE_INT;
    return types[which] == MPI_DATATYPE_NULL || (wide && !kLongDoubles) ? MPI_DOUBLE : types[which];
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (which == kCount) MPI_Type_create_f90_real(6, 30, &type);
  if (which == kCount + 1) MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &type);
  if (which == kCount + 2) MPI_Type_create_f90_integer(9, &type);
  return type == MPI_DATATYPE_NULL ? MPI_DOUBLE : type;
}

MPI_Datatype TypeMaker::array(int depth) {
  MPI_Datatype old = make(depth - 1), type = MPI_DATATYPE_NULL;
  int rank = number(1, 3), order = number(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  std::vector<int> sizes, parts, starts, distributions, arguments, processes;
  int all = 1;
  for (int i = 0; i < rank; ++i) {
    sizes.push_back(number(1, 6));
    parts.push_back(number(1, sizes.back()));
    starts.push_back(number(0, sizes.back() - parts.back()));
    int distribution = number(0, 2), count = distribution == 2 ? 1 : number(1, 3);
    bool standard = number(0, 1);
    distributions.push_back(distribution == 0   ? MPI_DISTRIBUTE_BLOCK
                            : distribution == 1 ? MPI_DISTRIBUTE_CYCLIC
                                                : MPI_DISTRIBUTE_NONE);
    int least = distribution == 0 ? (sizes.back() + count - 1) / count : 1;
    arguments.push_back(standard || distribution == 2 ? MPI_DISTRIBUTE_DFLT_DARG : number(least, least + 2));
    processes.push_back(count);
    all *= count;
  }
  if (number(0, 1))
    MPI_Type_create_subarray(rank, sizes.data(), parts.data(), starts.data(), order, old, &type);
  else
    MPI_Type_create_darray(all, number(0, all - 1), rank, sizes.data(), distributions.data(), arguments.data(),
                           processes.data(), order, old, &type);
  return type;
}

MPI_Datatype TypeMaker::list(int depth) {
  MPI_Datatype old = make(depth - 1), type = MPI_DATATYPE_NULL;
  int count = number(kLeast, 4);
  auto lengths = numbers<int>(static_cast<size_t>(count) + 1, kLeast, 3), at = numbers<int>(lengths.size(), -4, 12);
  auto bytes = numbers<MPI_Aint>(lengths.size(), -50, 200);
  switch (number(0, 3)) {
    case 0:
      MPI_Type_indexed(count, lengths.data(), at.data(), old, &type);
      break;
    case 1:
      MPI_Type_create_hindexed(count, lengths.data(), bytes.data(), old, &type);
      break;
    case 2:
      MPI_Type_create_indexed_block(count, lengths[0], at.data(), old, &type);
      break;
    default:
      MPI_Type_create_hindexed_block(count, lengths[0], bytes.data(), old, &type);
  }
  return type;
}

MPI_Datatype TypeMaker::structure(int depth) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int count = number(kLeast, 4);
  std::vector<MPI_Datatype> parts;
  for (int i = 0; i <= count; ++i) parts.push_back(i > 0 && number(0, 2) == 0 ? parts.back() : make(depth - 1));
  auto lengths = numbers<int>(parts.size(), kLeast, 3);
  auto bytes = numbers<MPI_Aint>(parts.size(), -50, 200);
  MPI_Type_create_struct(count, lengths.data(), bytes.data(), parts.data(), &type);
  return type;
}

#if MPI_VERSION >= 4
MPI_Datatype TypeMaker::large(int depth) {
  MPI_Datatype old = make(depth - 1), type = MPI_DATATYPE_NULL;
  int count = number(kLeast, 4);
  auto lengths = numbers<MPI_Count>(static_cast<size_t>(count) + 1, kLeast, 3);
  auto at = numbers<MPI_Count>(lengths.size(), -4, 12), bytes = numbers<MPI_Count>(lengths.size(), -50, 200);
  std::vector<MPI_Datatype> parts(lengths.size(), old);
  MPI_Count sizes[] = {4, 5}, subsizes[] = {2, 3}, starts[] = {1, 2};
  int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, processes[] = {2, 2};
  int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
  int order = number(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  switch (number(0, 10)) {
    case 0:
      MPI_Type_contiguous_c(count, old, &type);
      break;
    case 1:
      MPI_Type_vector_c(count, lengths[0], at[0], old, &type);
      break;
    case 2:
      MPI_Type_create_hvector_c(count, lengths[0], bytes[0], old, &type);
      break;
    case 3:
      MPI_Type_indexed_c(count, lengths.data(), at.data(), old, &type);
      break;
    case 4:
      MPI_Type_create_hindexed_c(count, lengths.data(), bytes.data(), old, &type);
      break;
    case 5:
      MPI_Type_create_indexed_block_c(count, lengths[0], at.data(), old, &type);
      break;
    case 6:
      MPI_Type_create_hindexed_block_c(count, lengths[0], bytes.data(), old, &type);
      break;
    case 7:
      MPI_Type_create_struct_c(count, lengths.data(), bytes.data(), parts.data(), &type);
      break;
    case 8:
      MPI_Type_create_subarray_c(2, sizes, subsizes, starts, order, old, &type);
      break;
    case 9:
      MPI_Type_create_darray_c(4, number(0, 3), 2, sizes, distributions, arguments, processes, order, old, &type);
      break;
    default:
      MPI_Type_create_resized_c(old, bytes[0], number(kLeastExtent, 200), &type);
  }
  return type;
}
#else
MPI_Datatype TypeMaker::large(int depth) { return list(depth); }
#endif

MPI_Datatype TypeMaker::make(int depth) {
  if (depth == 0) return leaf();
  MPI_Datatype old = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  switch (number(0, 8)) {
    case 0:
      type = array(depth);
      break;
    case 1:
      type = list(depth);
      break;
    case 2:
      type = structure(depth);
      break;
    case 3:
      type = large(depth);
      break;
    case 4:
      old = make(depth - 1);
      MPI_Type_dup(old, &type);
      break;
    case 5:
      old = make(depth - 1);
      MPI_Type_contiguous(number(kLeast, 4), old, &type);
      break;
    case 6:
      old = make(depth - 1);
      MPI_Type_vector(number(kLeast, 4), number(kLeast, 3), stride(-4, 6), old, &type);
      break;
    case 7:
      old = make(depth - 1);
      MPI_Type_create_hvector(number(kLeast, 4), number(kLeast, 3), stride(-50, 200), old, &type);
      break;
    default:
      old = make(depth - 1);
      MPI_Type_create_resized(old, number(-50, 50), number(kLeastExtent, 200), &type);
  }
  if (type == MPI_DATATYPE_NULL) return MPI_INT;  // this MPI cannot make it
  made_.push_back(type);
  return type;
}

// The offsets of the bytes that MPI packs, in its order.
std::vector<int64_t> packed_offsets(MPI_Datatype type, int size, int64_t first, int64_t end) {
  std::vector<unsigned char> memory(static_cast<size_t>(end - first));
  std::vector<int64_t> offsets(static_cast<size_t>(size), first);
  for (int shift = 0; shift < 32; shift += 8) {
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>(i >> shift);
    std::vector<unsigned char> packed(static_cast<size_t>(size) + 64);
    int position = 0;
    MPI_Pack(memory.data() - first, 1, type, packed.data(), static_cast<int>(packed.size()), &position, MPI_COMM_SELF);
    if (position != size) return {};
    for (size_t i = 0; i < offsets.size(); ++i) offsets[i] += int64_t{packed[i]} << shift;
  }
  return offsets;
}

// False if the datatype is too large to be compared.
bool compare(MPI_Datatype type, int which) {
  MPI_Count size = 0, lower_bound = 0, extent = 0, first = 0, span = 0;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_extent_x(type, &lower_bound, &extent);
  MPI_Type_get_true_extent_x(type, &first, &span);
  if (size > 20'000 || span > 1'000'000) return false;

  Result<Pattern> pattern = flatten(type);
  expect(pattern.has_value(), pattern ? "" : pattern.error().message().c_str(), which);
  if (!pattern) return true;
  expect(pattern->size() == static_cast<uint64_t>(size), "size", which);
  expect(pattern->lower_bound() == lower_bound, "lower bound", which);
  expect(pattern->extent() == extent, "extent", which);
  if (size == 0) return true;
  // MPICH counts empty parts into the true extent.
  expect(pattern->first() >= first && pattern->end() <= first + span, "true extent", which);

  MPI_Type_commit(&type);
  std::vector<int64_t> offsets;
  Cursor cursor(*pattern, 0, 0, pattern->size());
  for (Segment segment; cursor.next(segment);)
    for (uint64_t i = 0; i < segment.length; ++i) offsets.push_back(segment.offset + static_cast<int64_t>(i));
  expect(offsets == packed_offsets(type, static_cast<int>(size), pattern->first(), pattern->end()), "bytes", which);
  return true;
}

void check_that_patterns_go_with_their_types() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(10, 2, 5, MPI_DOUBLE, &type);
  Pattern pattern = *flatten(type);
  expect(pattern.root().use_count() == 2, "the pattern is not kept", -1);
  MPI_Type_free(&type);
  expect(pattern.root().use_count() == 1, "the pattern is not dropped", -1);
  expect(flatten(MPI_DATATYPE_NULL).error().kind == ErrorKind::invalid_argument, "null", -1);
}

// As handlers of atexit() are: they are called after what the main thread keeps of its own has gone.
void check_that_nothing_is_used_after_its_thread() {
  static Pattern first, last;
  struct AtEnd {
    ~AtEnd() { last = flatten(MPI_INT).value(); }
  };
  std::thread([] {
    thread_local AtEnd at_end;  // goes last
    (void)&at_end;
    first = flatten(MPI_INT).value();
    expect(flatten(MPI_INT).value().root() == first.root(), "a predefined datatype is not remembered", -1);
  }).join();
  expect(last.root() && last.root() != first.root(), "what has gone with its thread is used", -1);
}

int run(int count, uint32_t seed) {
  TypeMaker maker(seed);
  int compared = 0;
  for (int i = 0; i < count && failures < 10; ++i) {
    MPI_Datatype type = maker.make(maker.number(0, 4));
    if (compare(type, i)) ++compared;
    maker.release();
  }
  check_that_patterns_go_with_their_types();
  check_that_nothing_is_used_after_its_thread();
  expect(compared > count / 2, "too few datatypes could be compared", count);
  std::printf("%d datatypes compared, %d failures\n", compared, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace forebay::lock::mpiio

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int count = argc > 1 ? std::atoi(argv[1]) : 5000;
  int code = forebay::lock::mpiio::run(count, argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 1);
  MPI_Finalize();
  return code;
}
