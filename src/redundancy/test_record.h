// A record that is true. Of the tests only.
#pragma once

#include "redundancy/record.h"

namespace forebay::redundancy {

inline Record sample_record() {
  Record record{.id = 0x1122334455667788,
                .write = 7,
                .set = "dump_0040",
                .step = -40,
                .ranks = 6,
                .scheme = Scheme::xor_,
                .group = 1,
                .groups = 3,
                .position = 2,
                .losses = 1,
                .chunk = 150'000,
                .members = {}};
  const uint64_t sizes[] = {300'000, 7, 0};
  for (uint32_t i = 0; i < 3; ++i) {
    MemberRecord member{.host = "host" + std::to_string(i),
                        .node = "n" + std::to_string(i),
                        .ranks = {2 * i, 2 * i + 1},
                        .files = {},
                        .markers = {},
                        .data_sums = {},
                        .parity_sums = {}};
    member.files.push_back(
        {.name = "sub", .kind = 1, .mode = 0755, .mtime_ns = 5, .mtime_s = 1'700'000'000, .link_target = {}});
    member.files.push_back({.name = "sub/rank",
                            .kind = 0,
                            .size = sizes[i],
                            .mode = 0644,
                            .mtime_ns = 999'999'999,
                            .mtime_s = -1,
                            .rank = i,
                            .link_target = {}});
    member.files.push_back({.name = "last", .kind = 2, .mode = 0777, .mtime_s = 0, .link_target = "sub/rank"});
    member.markers = {{2 * i, "marker"}, {2 * i + 1, ""}};
    record.members.push_back(member);
  }
  for (auto& member : record.members) member.parity_sums = {0x123};
  record.members[0].data_sums = {1, ~uint64_t{0}};
  record.members[1].data_sums = {3};
  return record;
}

}  // namespace forebay::redundancy
