#include "block.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace mini_sim {

Block::Block(int cells, bool periodic) : global_cells_(cells), periodic_(periodic) {
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  Triple parts{}, place{};
  const Triple wraps{periodic, periodic, periodic};
  MPI_Dims_create(ranks_, 3, parts.data());
  MPI_Cart_create(MPI_COMM_WORLD, 3, parts.data(), wraps.data(), 0, &cube_);
  MPI_Comm_rank(cube_, &rank_);
  MPI_Cart_coords(cube_, rank_, 3, place.data());
  for (int axis = 0; axis < 3; ++axis) {
    if (cells / parts[axis] < kGhosts) throw std::invalid_argument("too many ranks for so few cells");
    MPI_Cart_shift(cube_, axis, 1, &neighbours_[0][axis], &neighbours_[1][axis]);
    first_[axis] = cells * place[axis] / parts[axis];
    cells_[axis] = cells * (place[axis] + 1) / parts[axis] - first_[axis];
  }
  const Triple all = cells_with_ghosts();
  data_.resize(static_cast<size_t>(kFields) * all[0] * all[1] * all[2]);
}

Block::~Block() { MPI_Comm_free(&cube_); }

size_t Block::offset(int f, const Triple& at) const {
  const Triple all = cells_with_ghosts();
  return ((static_cast<size_t>(f) * all[2] + at[2]) * all[1] + at[1]) * all[0] + at[0];
}

Cell Block::cell(const Triple& at) const {
  Cell cell;
  for (int f = 0; f < kFields; ++f) cell[f] = data_[offset(f, at)];
  return cell;
}

void Block::set_cell(const Triple& at, const Cell& cell) {
  for (int f = 0; f < kFields; ++f) data_[offset(f, at)] = cell[f];
}

// Calls action(offset of the row in the data, number of the row, length of the row).
template <class Action>
void Block::for_each_row(int f, int ghosts, Action action) const {
  const int before = kGhosts - ghosts;
  const size_t length = static_cast<size_t>(cells_[0] + 2 * ghosts);
  size_t row = 0;
  for (int z = before; z < cells_[2] + kGhosts + ghosts; ++z)
    for (int y = before; y < cells_[1] + kGhosts + ghosts; ++y) action(offset(f, {before, y, z}), row++, length);
}

std::vector<double> Block::field(int f, int ghosts) const {
  size_t size = 1;
  for (const int cells : cells_) size *= static_cast<size_t>(cells + 2 * ghosts);
  std::vector<double> values(size);
  for_each_row(f, ghosts, [&](size_t from, size_t row, size_t length) {
    std::copy_n(&data_[from], length, &values[row * length]);
  });
  return values;
}

void Block::set_field(int f, int ghosts, const std::vector<double>& values) {
  for_each_row(f, ghosts,
               [&](size_t to, size_t row, size_t length) { std::copy_n(&values[row * length], length, &data_[to]); });
}

std::array<double, 3> Block::place(const Triple& at) const {
  std::array<double, 3> place;
  for (int axis = 0; axis < 3; ++axis) place[axis] = (first_[axis] + at[axis] - kGhosts + 0.5) / global_cells_;
  return place;
}

// kGhosts layers of all fields across `axis`. The caller frees the type.
MPI_Datatype Block::layers(int axis, int first_layer) const {
  const Triple all = cells_with_ghosts();
  const int dim = 3 - axis;  // in the order field, z, y, x
  const std::array<int, 4> sizes{kFields, all[2], all[1], all[0]};
  std::array<int, 4> part = sizes, start{};
  part[dim] = kGhosts;
  start[dim] = first_layer;
  MPI_Datatype type;
  MPI_Type_create_subarray(4, sizes.data(), part.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

void Block::exchange(int axis) {
  const int owned = cells_[axis];
  MPI_Datatype receive[] = {layers(axis, 0), layers(axis, owned + kGhosts)};
  MPI_Datatype send[] = {layers(axis, kGhosts), layers(axis, owned)};
  std::vector<MPI_Request> requests(4);
  for (int side : {0, 1}) {
    const int neighbour = neighbours_[side][axis];
    // What one sends to its high side (tag 1) the other receives on its low side.
    MPI_Irecv(data_.data(), 1, receive[side], neighbour, 1 - side, cube_, &requests[side]);
    MPI_Isend(data_.data(), 1, send[side], neighbour, side, cube_, &requests[2 + side]);
  }
  wait_all(requests);
  for (int side : {0, 1}) {
    MPI_Type_free(&receive[side]);
    MPI_Type_free(&send[side]);
    if (neighbours_[side][axis] == MPI_PROC_NULL) copy_outwards(axis, side == 1);
  }
}

void Block::copy_outwards(int axis, bool high) {
  const Triple all = cells_with_ghosts();
  Triple to{};
  for (to[2] = 0; to[2] < all[2]; ++to[2])
    for (to[1] = 0; to[1] < all[1]; ++to[1])
      for (to[0] = 0; to[0] < all[0]; ++to[0]) {
        Triple from = to;
        if (!high && to[axis] < kGhosts) from[axis] = kGhosts;
        if (high && to[axis] >= cells_[axis] + kGhosts) from[axis] = cells_[axis] + kGhosts - 1;
        if (from != to) set_cell(to, cell(from));
      }
}

void wait_all(std::vector<MPI_Request>& requests) {
  constexpr int kSpins = 20;
  constexpr std::chrono::microseconds kPause(20);
  int done = 0;
  for (int tries = 0; !done; ++tries) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (!done && tries > kSpins) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace mini_sim
