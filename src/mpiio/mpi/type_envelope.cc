#include "mpiio/mpi/type_envelope.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "mpiio/array_types.h"
#include "mpiio/mpi/checked.h"

namespace forebay::lock::mpiio {
namespace {

// What MPI 3 removed. Open MPI keeps the values, without their names.
#ifdef OPEN_MPI
constexpr int kHvectorInteger = MPI_COMBINER_HVECTOR - 1;
constexpr int kHindexedInteger = MPI_COMBINER_HINDEXED - 1;
constexpr int kStructInteger = MPI_COMBINER_STRUCT - 1;
#else
constexpr int kHvectorInteger = MPI_COMBINER_HVECTOR_INTEGER;
constexpr int kHindexedInteger = MPI_COMBINER_HINDEXED_INTEGER;
constexpr int kStructInteger = MPI_COMBINER_STRUCT_INTEGER;
#endif

std::optional<Combiner> combiner_of(int number) {
  switch (number) {
    case MPI_COMBINER_DUP:
      return Combiner::dup;
    case MPI_COMBINER_CONTIGUOUS:
      return Combiner::contiguous;
    case MPI_COMBINER_VECTOR:
      return Combiner::vector;
    case MPI_COMBINER_HVECTOR:
    case kHvectorInteger:
      return Combiner::hvector;
    case MPI_COMBINER_INDEXED:
      return Combiner::indexed;
    case MPI_COMBINER_HINDEXED:
    case kHindexedInteger:
      return Combiner::hindexed;
    case MPI_COMBINER_INDEXED_BLOCK:
      return Combiner::indexed_block;
    case MPI_COMBINER_HINDEXED_BLOCK:
      return Combiner::hindexed_block;
    case MPI_COMBINER_STRUCT:
    case kStructInteger:
      return Combiner::structure;
    case MPI_COMBINER_SUBARRAY:
      return Combiner::subarray;
    case MPI_COMBINER_DARRAY:
      return Combiner::darray;
    case MPI_COMBINER_RESIZED:
      return Combiner::resized;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    case MPI_COMBINER_VALUE_INDEX:
      return Combiner::value_index;
#endif
    default:
      return std::nullopt;
  }
}

// An unknown order or distribution becomes a number that is none of ours.
constexpr int64_t kUnknown = -1;

int64_t order_number(int order) {
  if (order == MPI_ORDER_C) return static_cast<int64_t>(ArrayOrder::c);
  return order == MPI_ORDER_FORTRAN ? static_cast<int64_t>(ArrayOrder::fortran) : kUnknown;
}

int64_t distribution_number(int distribution) {
  if (distribution == MPI_DISTRIBUTE_BLOCK) return static_cast<int64_t>(Distribution::block);
  if (distribution == MPI_DISTRIBUTE_CYCLIC) return static_cast<int64_t>(Distribution::cyclic);
  return distribution == MPI_DISTRIBUTE_NONE ? static_cast<int64_t>(Distribution::none) : kUnknown;
}

// (dimensions, sizes, subsizes, starts, order); the three arrays may be counts.
std::vector<int64_t> subarray_numbers(const std::vector<int>& integers, const std::vector<MPI_Count>& counts) {
  std::vector<int64_t> numbers(integers.begin(), integers.end() - 1);
  numbers.insert(numbers.end(), counts.begin(), counts.end());
  numbers.push_back(order_number(integers.back()));
  return numbers;
}

// (processes, rank, dimensions, sizes, distributions, arguments, processes of each, order); the sizes may be counts.
std::vector<int64_t> darray_numbers(const std::vector<int>& integers, const std::vector<MPI_Count>& counts) {
  std::vector<int64_t> numbers(integers.begin(), integers.end());
  numbers.insert(numbers.begin() + 3, counts.begin(), counts.end());
  size_t rank = static_cast<size_t>(integers[2]);
  for (size_t i = 3 + rank; i < 3 + 2 * rank; ++i) numbers[i] = distribution_number(static_cast<int>(numbers[i]));
  for (size_t i = 3 + 2 * rank; i < 3 + 3 * rank; ++i)
    if (numbers[i] == MPI_DISTRIBUTE_DFLT_DARG) numbers[i] = -1;
  numbers.back() = order_number(integers.back());
  return numbers;
}

}  // namespace

Result<TypeEnvelope> TypeEnvelope::of(MPI_Datatype datatype) {
  TypeEnvelope envelope;
  FOREBAY_CHECK(envelope.read(datatype));
  return envelope;
}

TypeEnvelope::TypeEnvelope(TypeEnvelope&& other) noexcept
    : combiner_(other.combiner_),
      integers_(std::move(other.integers_)),
      addresses_(std::move(other.addresses_)),
      counts_(std::move(other.counts_)),
      types_(std::exchange(other.types_, {})) {}

namespace {

struct Counts {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
};

#if MPI_VERSION >= 4

// MPI 4's functions also answer for datatypes that were made with the functions of older versions.
Result<int> read_envelope(MPI_Datatype datatype, Counts& counts) {
  int combiner = MPI_COMBINER_NAMED;
  FOREBAY_CHECK(checked(
      PMPI_Type_get_envelope_c(datatype, &counts.integers, &counts.addresses, &counts.counts, &counts.types, &combiner),
      "MPI_Type_get_envelope_c"));
  return combiner;
}

int read_contents(MPI_Datatype datatype, const Counts& counts, int* integers, MPI_Aint* addresses, MPI_Count* large,
                  MPI_Datatype* types) {
  return PMPI_Type_get_contents_c(datatype, counts.integers, counts.addresses, counts.counts, counts.types, integers,
                                  addresses, large, types);
}

#else

Result<int> read_envelope(MPI_Datatype datatype, Counts& counts) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  FOREBAY_CHECK(
      checked(PMPI_Type_get_envelope(datatype, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope"));
  counts = {integers, addresses, 0, types};
  return combiner;
}

int read_contents(MPI_Datatype datatype, const Counts& counts, int* integers, MPI_Aint* addresses, MPI_Count*,
                  MPI_Datatype* types) {
  return PMPI_Type_get_contents(datatype, static_cast<int>(counts.integers), static_cast<int>(counts.addresses),
                                static_cast<int>(counts.types), integers, addresses, types);
}

#endif

bool is_of_mpi(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace

bool is_predefined(MPI_Datatype datatype) {
  Counts counts;
  const auto combiner = read_envelope(datatype, counts);
  return combiner && is_of_mpi(*combiner);
}

Result<void> TypeEnvelope::read(MPI_Datatype datatype) {
  Counts counts;
  FOREBAY_TRY(combiner_, read_envelope(datatype, counts));
  if (predefined()) return {};
  integers_.resize(static_cast<size_t>(counts.integers));
  addresses_.resize(static_cast<size_t>(counts.addresses));
  counts_.resize(static_cast<size_t>(counts.counts));
  std::vector<MPI_Datatype> types(static_cast<size_t>(counts.types));
  FOREBAY_CHECK(
      checked(read_contents(datatype, counts, integers_.data(), addresses_.data(), counts_.data(), types.data()),
              "MPI_Type_get_contents"));
  types_ = std::move(types);
  return {};
}

bool TypeEnvelope::predefined() const { return is_of_mpi(combiner_); }

TypeEnvelope::~TypeEnvelope() {
  Counts ignored;
  for (MPI_Datatype& type : types_)
    if (auto combiner = read_envelope(type, ignored); combiner && !is_of_mpi(*combiner)) PMPI_Type_free(&type);
}

Result<TypeContents> TypeEnvelope::contents() const {
  auto combiner = combiner_of(combiner_);
  if (!combiner) return fail(ErrorKind::unsupported, "datatypes with combiner " + std::to_string(combiner_));
  TypeContents contents{.combiner = *combiner};
  std::vector<int64_t>& numbers = contents.numbers;
  bool array = *combiner == Combiner::subarray || *combiner == Combiner::darray;
  if (array && integers_.size() >= 2) {
    numbers =
        *combiner == Combiner::subarray ? subarray_numbers(integers_, counts_) : darray_numbers(integers_, counts_);
    return contents;
  }
  numbers.reserve(integers_.size() + addresses_.size() + counts_.size());
  numbers.assign(integers_.begin(), integers_.end());
  numbers.insert(numbers.end(), addresses_.begin(), addresses_.end());
  numbers.insert(numbers.end(), counts_.begin(), counts_.end());
  return contents;
}

}  // namespace forebay::lock::mpiio
