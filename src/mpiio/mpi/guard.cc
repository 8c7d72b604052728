#include "mpiio/mpi/guard.h"

#include "mpiio/sieve.h"

namespace forebay::lock::mpiio {
namespace {

// More terms than this are not sent: a server refuses them (ServerOptions::max_terms), and the range is locked instead.
constexpr uint64_t kMostTerms = 1u << 19;

// Accesses of an atomic file, and writes of one that is moved safely, so that some of these can sieve.
bool takes_locks(const File& file, bool writes) {
  const Settings settings = file.settings.load();
  return (file.locking || (writes && settings.nonatomic == Nonatomic::safe)) && settings.lock != Locking::none;
}

// Never smaller than the bytes that are touched: what cannot be told exactly is locked more widely.
Region region_for(const View& view, uint64_t data_begin, uint64_t data_end, Locking locking, LockWidth width) {
  if (locking == Locking::file) return Region::whole_file();
  auto exact =
      width == LockWidth::blocks ? sieved_region(view, data_begin, data_end) : region_of(view, data_begin, data_end);
  if (!exact) return Region::whole_file();
  if (locking == Locking::range || exact->terms().size() > kMostTerms)
    return coarsened(*std::move(exact), Granularity::range);
  if (locking != Locking::expanded) return *std::move(exact);
  auto single = expanded(*exact, kMostTerms);
  return single ? *std::move(single) : coarsened(*std::move(exact), Granularity::range);
}

Result<Guard> guard_region(File& file, const Region& region, bool exclusive) {
  FOREBAY_TRY(Lock lock, file.client->lock(file.path, region, exclusive ? Access::exclusive : Access::shared));
  return Guard(std::move(lock));
}

}  // namespace

BeforeCall Guard::before_call() {
  if (!lock_.held()) return [] { return Result<void>(); };
  return [this] { return lock_.keep(std::chrono::seconds(5)); };
}

Result<void> Guard::release() {
  if (!lock_.held()) return {};
  return lock_.unlock();
}

bool sieving_wanted(const File& file, const View& view, uint64_t data_begin, uint64_t data_end) {
  if (!takes_locks(file, true)) return false;
  switch (file.settings.load().sieve) {
    case Sieving::always:
      return true;
    case Sieving::never:
      return false;
    case Sieving::automatic:
      return sieving_pays(view, data_begin, data_end, file.local);
  }
  return false;
}

Result<Guard> guard_bytes(File& file, const View& view, uint64_t data_begin, uint64_t data_end, bool writes,
                          LockWidth width) {
  if (!takes_locks(file, writes)) return Guard();
  // Writes that are not atomic keep out of each other's way only where one writes back what it has read.
  const bool exclusive = writes && (file.locking || width == LockWidth::blocks);
  const Region region = region_for(view, data_begin, data_end, file.settings.load().lock, width);
  return guard_region(file, region, exclusive);
}

Result<Guard> guard_file(File& file, bool exclusive) {
  if (!takes_locks(file, exclusive)) return Guard();
  return guard_region(file, Region::whole_file(), exclusive);
}

}  // namespace forebay::lock::mpiio
