// The tables that forebay-tiers-model prints, as Markdown.
#pragma once

namespace forebay::bench {

void print_efficiency();  // of ways to keep checkpoints, over failure rates and numbers of transfer nodes: simulated
void print_losses();      // how likely groups are to lose a set, and what placement does about racks
void print_scale();       // placement and agreement of 100,000 nodes, timed
void print_coding();      // bytes a second of encoding and decoding, beside memcpy

}  // namespace forebay::bench
