// The block of cells that one rank owns, with the ghost zones that it shares with its neighbours.
#pragma once

#include <array>
#include <vector>

#include <mpi.h>

#include "euler.h"

namespace mini_sim {

using Triple = std::array<int, 3>;  // x, y, z

class Block {
 public:
  // Splits a cube of `cells` per side over all ranks. In a periodic cube, what leaves on one side comes in on the
  // other. Throws std::invalid_argument if a rank would own fewer cells along an axis than it has ghosts. Collective,
  // as are exchange() and the destructor.
  Block(int cells, bool periodic);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int global_cells() const { return global_cells_; }  // per side
  const Triple& cells() const { return cells_; }      // that this rank owns
  const Triple& first() const { return first_; }      // where they begin in the whole cube
  bool periodic() const { return periodic_; }
  MPI_Comm cube() const { return cube_; }
  // The rank on the low (0) or high (1) side along `axis`; MPI_PROC_NULL beyond a closed cube's border.
  int neighbour(int side, int axis) const { return neighbours_[side][axis]; }
  Triple cells_with_ghosts() const {
    return {cells_[0] + 2 * kGhosts, cells_[1] + 2 * kGhosts, cells_[2] + 2 * kGhosts};
  }

  // A field's owned cells with so many layers of ghosts around them, x running fastest.
  std::vector<double> field(int f, int ghosts) const;
  void set_field(int f, int ghosts, const std::vector<double>& values);

  // `at` counts from the first ghost cell.
  double& at(int f, const Triple& at) { return data_[offset(f, at)]; }
  Cell cell(const Triple& at) const;
  void set_cell(const Triple& at, const Cell& cell);

  // The middle of an owned cell, in sides of the cube.
  std::array<double, 3> place(const Triple& at) const;

  // Calls action(at) for all cells that this rank owns.
  template <class Action>
  void for_each_cell(Action action) const {
    for (int z = kGhosts; z < cells_[2] + kGhosts; ++z)
      for (int y = kGhosts; y < cells_[1] + kGhosts; ++y)
        for (int x = kGhosts; x < cells_[0] + kGhosts; ++x) action(Triple{x, y, z});
  }

  // Fills the ghost zones on both sides along `axis` from the neighbours, or by copying outwards at a closed cube's
  // border.
  void exchange(int axis);

 private:
  size_t offset(int f, const Triple& at) const;
  template <class Action>
  void for_each_row(int f, int ghosts, Action action) const;
  MPI_Datatype layers(int axis, int first_layer) const;
  void copy_outwards(int axis, bool high);

  MPI_Comm cube_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 0, global_cells_;
  bool periodic_;
  Triple cells_{}, first_{};
  std::array<Triple, 2> neighbours_{};  // ranks on the low and the high side of each axis
  std::vector<double> data_;
};

// Waits without holding the processor, so that many more ranks than cores still make progress.
void wait_all(std::vector<MPI_Request>& requests);

}  // namespace mini_sim
