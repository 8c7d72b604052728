#include "mpiio/mpi/flatten.h"

#include <cstddef>
#include <memory>
#include <mutex>

#include "mpiio/mpi/checked.h"
#include "mpiio/mpi/type_envelope.h"
#include "mpiio/type_contents.h"

namespace forebay::lock::mpiio {
namespace {

struct Bounds {
  MPI_Count size = 0, lower_bound = 0, extent = 0;
};

Result<Bounds> bounds_of(MPI_Datatype datatype) {
  Bounds bounds;
  FOREBAY_CHECK(checked(PMPI_Type_size_x(datatype, &bounds.size), "MPI_Type_size_x"));
  FOREBAY_CHECK(
      checked(PMPI_Type_get_extent_x(datatype, &bounds.lower_bound, &bounds.extent), "MPI_Type_get_extent_x"));
  return bounds;
}

// Pairs of a value and an int, as C lays them out.
template <class Value>
struct Pair {
  Value value;
  int index;
};

struct PairLayout {
  uint64_t value_bytes = 0;  // 0 if it is no pair
  int64_t index_at = 0;
};

template <class Value>
constexpr PairLayout layout_of() {
  return {sizeof(Value), offsetof(Pair<Value>, index)};
}

PairLayout pair_layout(MPI_Datatype datatype) {
  if (datatype == MPI_FLOAT_INT) return layout_of<float>();
  if (datatype == MPI_DOUBLE_INT) return layout_of<double>();
  if (datatype == MPI_LONG_INT) return layout_of<long>();
  if (datatype == MPI_SHORT_INT) return layout_of<short>();
  if (datatype == MPI_LONG_DOUBLE_INT) return layout_of<long double>();
  return {};
}

Result<Pattern> predefined_pattern(MPI_Datatype datatype) {
  FOREBAY_TRY(const Bounds bounds, bounds_of(datatype));
  PairLayout pair = pair_layout(datatype);
  if (pair.value_bytes == 0)
    return Pattern::bytes(static_cast<uint64_t>(bounds.size)).resized(bounds.lower_bound, bounds.extent);
  Part parts[] = {{0, Pattern::bytes(pair.value_bytes)}, {pair.index_at, Pattern::bytes(sizeof(int))}};
  return Pattern::sequence(parts, bounds.lower_bound, bounds.extent);
}

// Patterns that were made, as attributes of their datatypes.
class Memory {
 public:
  // Nothing if there is none. The first use makes the key.
  Result<const Pattern*> find(MPI_Datatype datatype);
  Result<void> keep(MPI_Datatype datatype, const Pattern& pattern);

  std::mutex mutex;

 private:
  int key_ = MPI_KEYVAL_INVALID;
};

int forget(MPI_Datatype, int, void* pattern, void*) {
  delete static_cast<Pattern*>(pattern);
  return MPI_SUCCESS;
}

Result<const Pattern*> Memory::find(MPI_Datatype datatype) {
  if (key_ == MPI_KEYVAL_INVALID) {
    FOREBAY_CHECK(
        checked(PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &key_, nullptr), "MPI_Type_create_keyval"));
  }
  void* pattern = nullptr;
  int found = 0;
  FOREBAY_CHECK(checked(PMPI_Type_get_attr(datatype, key_, &pattern, &found), "MPI_Type_get_attr"));
  return found ? static_cast<const Pattern*>(pattern) : nullptr;
}

Result<void> Memory::keep(MPI_Datatype datatype, const Pattern& pattern) {
  FOREBAY_TRY(const Pattern* before, find(datatype));
  if (before) return {};  // another thread was faster, and its pattern may be in use
  auto owned = std::make_unique<Pattern>(pattern);
  FOREBAY_CHECK(checked(PMPI_Type_set_attr(datatype, key_, owned.get()), "MPI_Type_set_attr"));
  owned.release();
  return {};
}

// Which datatypes are known to be committed: once one is, it is until it is freed.
class Commits {
 public:
  bool has(MPI_Datatype datatype) {
    const std::lock_guard guard(mutex_);
    void* nothing = nullptr;
    int found = 0;
    return key_ != MPI_KEYVAL_INVALID && PMPI_Type_get_attr(datatype, key_, &nothing, &found) == MPI_SUCCESS &&
           found != 0;
  }
  // Where it cannot be remembered, it is found out again.
  void add(MPI_Datatype datatype) {
    const std::lock_guard guard(mutex_);
    if (key_ == MPI_KEYVAL_INVALID &&
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key_, nullptr) != MPI_SUCCESS)
      return;
    PMPI_Type_set_attr(datatype, key_, nullptr);
  }

 private:
  std::mutex mutex_;
  int key_ = MPI_KEYVAL_INVALID;
};

Commits& commits() {
  static Commits* const only = new Commits;
  return *only;
}

// Lives as long as the process: datatypes may be freed while it ends.
Memory& memory() {
  static Memory* const only = new Memory;
  return *only;
}

// The predefined datatype that this thread used last: none is ever freed. It goes before handlers of atexit() are
// called, which may do I/O; what says so is never destroyed.
thread_local constinit bool last_is_gone = false;

struct Predefined {
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  Pattern pattern;

  Predefined() = default;
  Predefined(const Predefined&) = delete;
  Predefined& operator=(const Predefined&) = delete;
  ~Predefined() { last_is_gone = true; }
};

Predefined* last_predefined() {
  thread_local Predefined last;
  return last_is_gone ? nullptr : &last;
}

bool used_last(MPI_Datatype datatype) {
  const Predefined* const last = last_predefined();
  return datatype != MPI_DATATYPE_NULL && last != nullptr && last->datatype == datatype;
}

Result<Pattern> flatten_at(MPI_Datatype datatype, uint32_t depth);

Result<Pattern> derived_pattern(MPI_Datatype datatype, const TypeEnvelope& envelope, uint32_t depth) {
  FOREBAY_TRY(TypeContents contents, envelope.contents());
  FOREBAY_TRY(const Bounds bounds, bounds_of(datatype));
  contents.lower_bound = bounds.lower_bound;
  contents.extent = bounds.extent;
  contents.types.reserve(envelope.types().size());
  MPI_Datatype last = MPI_DATATYPE_NULL;  // structures often name one type again and again
  for (MPI_Datatype type : envelope.types()) {
    if (type == last) {
      contents.types.push_back(contents.types.back());
      continue;
    }
    FOREBAY_TRY(Pattern part, flatten_at(type, depth + 1));
    contents.types.push_back(std::move(part));
    last = type;
  }
  return pattern_of(contents);
}

Result<Pattern> flatten_at(MPI_Datatype datatype, uint32_t depth) {
  if (datatype == MPI_DATATYPE_NULL) return fail(ErrorKind::invalid_argument, "MPI_DATATYPE_NULL has no bytes");
  if (used_last(datatype)) return last_predefined()->pattern;
  if (depth > Pattern::kMaxDepth) return fail(ErrorKind::limit, "a datatype is nested too deeply");
  {
    std::lock_guard guard(memory().mutex);
    FOREBAY_TRY(const Pattern* known, memory().find(datatype));
    if (known) return *known;
  }
  FOREBAY_TRY(const TypeEnvelope envelope, TypeEnvelope::of(datatype));
  if (envelope.predefined()) {
    FOREBAY_TRY(Pattern predefined, predefined_pattern(datatype));
    if (Predefined* const last = last_predefined()) {
      last->datatype = datatype;
      last->pattern = predefined;
    }
    return predefined;
  }
  FOREBAY_TRY(Pattern pattern, derived_pattern(datatype, envelope, depth));
  std::lock_guard guard(memory().mutex);
  FOREBAY_CHECK(memory().keep(datatype, pattern));
  return pattern;
}

}  // namespace

Result<Pattern> flatten(MPI_Datatype datatype) { return flatten_at(datatype, 0); }

bool committed(MPI_Datatype datatype, MPI_Comm comm) {
  if (used_last(datatype) || is_predefined(datatype) || commits().has(datatype)) return true;
  char nothing = 0;
  int position = 0;
  if (PMPI_Pack(&nothing, 0, datatype, &nothing, 1, &position, comm) != MPI_SUCCESS) return false;
  commits().add(datatype);
  return true;
}

}  // namespace forebay::lock::mpiio
