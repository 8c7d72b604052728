/* Usage: query STORE QUERY [FLAGS]: prints what forebay_read_query() tells, a line each, and how much it looked at. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "forebay/forebay_read.h"

static void print_match(void* context, const forebay_read_match* match) {
  size_t d;
  ++*(int*)context;
  printf("%" PRIu64 " %s rank %" PRIu32, match->number, match->set, match->ranks[0]);
  for (d = 0; d < match->dimensions; ++d) printf(" %" PRIu64 "+%" PRIu64, match->begin[d], match->count[d]);
  for (d = 0; match->values && d < match->variables; ++d) printf(" %.17g", match->values[d]);
  printf("%s\n", match->everywhere ? "" : " perhaps");
}

int main(int argc, char** argv) {
  forebay_read_run* run;
  forebay_read_query_summary summary = {sizeof summary, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  int code, told = 0;
  if (argc < 3 || forebay_read_open(argv[1], NULL, &run) != FOREBAY_OK) return 2;
  code = forebay_read_query(run, argv[2], 0, UINT64_MAX, argc > 3 ? (unsigned)atoi(argv[3]) : 0, print_match, &told,
                            &summary);
  if (code == FOREBAY_OK)
    printf("steps %" PRIu64 "/%" PRIu64 " blocks %" PRIu64 "/%" PRIu64 " bytes %" PRIu64 "/%" PRIu64 " told %d\n",
           summary.steps_found, summary.steps, summary.candidates, summary.blocks, summary.decoded_bytes,
           summary.value_bytes, told);
  else
    printf("code %d: %s\n", code, forebay_message());
  forebay_read_close(run);
  return 0;
}
