#include "mpiio/mpi/access.h"

#include "mpiio/mpi/collective.h"
#include "mpiio/mpi/converted.h"
#include "mpiio/mpi/guard.h"
#include "mpiio/mpi/plan.h"
#include "mpiio/mpi/shared_pointer.h"

namespace forebay::lock::mpiio {
namespace {

// Where the access begins, in etypes; moves the pointer that it uses.
MpiResult<int64_t> reserve(File& file, const Operation& operation, int64_t etypes) {
  switch (operation.pointer) {
    case Pointer::given:
      return operation.offset;
    case Pointer::individual: {
      const std::lock_guard guard(file.mutex);
      const int64_t begin = file.position;
      file.position += etypes;
      return begin;
    }
    case Pointer::shared:
      return reserve_shared(file, etypes);
    case Pointer::ordered:
      return reserve_ordered(file, etypes);
  }
  return mpi_fail(MPI_ERR_INTERN, "no such pointer");
}

MpiResult<uint64_t> transfer(File& file, bool writes, const Plan& plan, uint64_t begin) {
  FOREBAY_TRY(const Descriptor descriptor, file.descriptor());
  const View& view = plan.view->view;
  const uint64_t end = begin + plan.memory.size();
  const bool sieves = writes && descriptor.readable && sieving_wanted(file, view, begin, end);
  FOREBAY_TRY(Guard guard, guard_bytes(file, view, begin, end, writes, sieves ? LockWidth::blocks : LockWidth::pieces));
  if (writes) file.wrote = true;
  auto moved =
      writes ? write(descriptor.fd, view, begin, plan.memory, sieves ? Sieve::holes : Sieve::never, guard.before_call())
             : read(descriptor.fd, view, begin, plan.memory, guard.before_call());
  auto released = guard.release();
  if (!moved) return fault_in(moved.error(), file.path);
  if (!released) return fault_in(released.error(), file.path);
  return *moved;
}

MpiResult<uint64_t> move_alone(File& file, const Operation& operation, const Plan& plan, int64_t begin) {
  if (plan.memory.size() == 0) return uint64_t{0};
  FOREBAY_TRY(const uint64_t offset, data_offset(plan, begin));
  if (!plan.view->native) return access_converted(file, operation, begin);
  return transfer(file, operation.writes, plan, offset);
}

// The plan and where it begins.
struct Placed {
  Plan plan;
  int64_t begin = 0;
};

MpiResult<Placed> place(File& file, const Operation& operation) {
  auto plan = plan_of(file, operation);
  // The others count on this process where the order of the ranks matters.
  if (!plan && operation.pointer == Pointer::ordered) (void)reserve_ordered(file, 0);
  if (!plan) return std::unexpected(plan.error());
  FOREBAY_TRY(const int64_t begin, reserve(file, operation, plan->etypes));
  return Placed{*std::move(plan), begin};
}

}  // namespace

MpiResult<uint64_t> perform(File& file, const Operation& operation) {
  auto placed = place(file, operation);
  if (operation.collective && may_exchange(file)) {
    // The others wait for this process whether it has failed or not.
    FOREBAY_TRY(const auto moved,
                move_together(file, operation.writes, placed ? &placed->plan : nullptr, placed ? placed->begin : 0));
    if (moved) return *moved;
  }
  if (!placed) return std::unexpected(placed.error());
  return move_alone(file, operation, placed->plan, placed->begin);
}

}  // namespace forebay::lock::mpiio
