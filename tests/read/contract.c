/* What forebay_read.h promises, called on a store with the dumps of enzo_tree.py, of which the middle one is damaged in
 * one frame. Usage: contract STORE. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forebay/forebay_read.h"

#define EXPECT(condition)                                                            \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, forebay_message()); \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)
#define OK(call) EXPECT((call) == FOREBAY_OK)
#define SAYS(text) EXPECT(strstr(forebay_message(), text) != NULL)

static forebay_read_step* open_last(const forebay_read_run* run) {
  forebay_read_step* step;
  OK(forebay_read_open_step(run, -1, &step));
  return step;
}

static void test_open(const char* store) {
  forebay_read_run* run = (forebay_read_run*)&run;
  forebay_read_options options;
  uint64_t steps = 0;
  forebay_read_step* step;
  const forebay_read_step_info* info;
  EXPECT(forebay_read_open("/nonexistent", NULL, &run) == FOREBAY_NOT_FOUND && run == NULL);
  SAYS("/nonexistent");
  EXPECT(forebay_read_open(NULL, NULL, &run) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_open(store, NULL, NULL) == FOREBAY_ARGUMENT);
  memset(&options, 0, sizeof options);
  EXPECT(forebay_read_open(store, &options, &run) == FOREBAY_ARGUMENT);
  SAYS("size");
  options.size = sizeof options;
  options.set = "nowhere";
  EXPECT(forebay_read_open(store, &options, &run) == FOREBAY_NOT_FOUND);
  options.set = "latest";
  OK(forebay_read_open(store, &options, &run));
  EXPECT(forebay_read_steps(run) == 1);
  forebay_read_close(run);
  options.set = NULL;
  options.memory_bytes = 4096;
  EXPECT(forebay_read_open(store, &options, &run) == FOREBAY_LIMIT);
  OK(forebay_read_open(store, NULL, &run));
  EXPECT(forebay_read_steps(run) == 3);
  EXPECT(forebay_read_open_step(run, 3, &step) == FOREBAY_NOT_FOUND && step == NULL);
  EXPECT(forebay_read_open_step(run, -4, &step) == FOREBAY_NOT_FOUND);
  OK(forebay_read_open_step(run, 0, &step));
  OK(forebay_read_inquire_step(step, &info));
  EXPECT(info->number == 0 && info->has_time && info->time == 0.0 && strcmp(info->set, "DD0000") == 0);
  forebay_read_close_step(step);
  OK(forebay_read_follow(run, 2, 0, &steps));
  EXPECT(steps == 3);
  EXPECT(forebay_read_follow(run, 3, 20, &steps) == FOREBAY_TIMEOUT && steps == 3);
  forebay_read_close(run);
  forebay_read_close(NULL);
  forebay_read_close_step(NULL);
  forebay_read_plan_free(NULL);
  EXPECT(forebay_read_steps(NULL) == 0);
}

static void test_inquire(const forebay_read_run* run) {
  forebay_read_step* step = open_last(run);
  const forebay_read_array* array;
  const forebay_read_block* block;
  const forebay_read_attribute* attribute;
  size_t attributes = 1000000;
  size_t number;
  EXPECT(forebay_read_find(step, "Densitty", &number) == FOREBAY_NOT_FOUND);
  SAYS("Density");
  OK(forebay_read_find(step, "/Density", &number));
  OK(forebay_read_inquire_array(step, number, &array));
  EXPECT(strcmp(array->name, "Density") == 0 && strcmp(array->type_name, "float64") == 0);
  EXPECT(array->type == FOREBAY_READ_FLOAT64 && array->element_bytes == 8 && array->form == FOREBAY_READ_GLOBAL);
  EXPECT(array->dimensions == 3 && array->shape[0] == 12 && array->shape[1] == 10 && array->shape[2] == 8);
  EXPECT(array->blocks == 6 && array->level == 0 && array->values != NULL && array->values->count == 960);
  EXPECT(array->values->min >= -1 && array->values->max <= 1 && array->values->min < array->values->max);
  OK(forebay_read_inquire_block(step, number, 5, &block));
  EXPECT(block->rank == 5 && block->dimensions == 3 && block->begin[0] == 8 && block->begin[1] == 5 &&
         block->count[1] == 5);
  EXPECT(forebay_read_inquire_block(step, number, 6, &block) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_inquire_array(step, 1000, &array) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_inquire_attribute(step, 1000000, &attribute) == FOREBAY_ARGUMENT);
  OK(forebay_read_attributes(step, &attributes));
  EXPECT(attributes < 1000000 && forebay_read_attributes(step, NULL) == FOREBAY_ARGUMENT);
  forebay_read_close_step(step);
}

static void test_arguments(const forebay_read_run* run) {
  forebay_read_step* step = open_last(run);
  forebay_read_plan* plan;
  size_t number, mass;
  double values[960];
  int ints[4];
  const uint64_t zero[3] = {0, 0, 0}, whole[3] = {12, 10, 8}, tall[3] = {12, 11, 8}, one[3] = {1, 1, 1};
  const uint64_t outside[3] = {0, 10, 0};
  uint64_t holes;
  OK(forebay_read_plan_new(&plan));
  OK(forebay_read_find(step, "Density", &number));
  OK(forebay_read_find(step, "mass", &mass));
  EXPECT(forebay_read_plan_box(plan, step, number, 3, zero, tall, NULL, values, sizeof values) == FOREBAY_ARGUMENT);
  SAYS("dimension 1 of 'Density', which has 10");
  EXPECT(forebay_read_plan_box(plan, step, number, 2, zero, whole, NULL, values, sizeof values) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_plan_box(plan, step, number, 3, zero, whole, zero, values, sizeof values) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_plan_box(plan, step, number, 3, zero, whole, NULL, values, 8) == FOREBAY_ARGUMENT);
  SAYS("7680 bytes");
  EXPECT(forebay_read_plan_box(plan, step, number, 3, zero, NULL, NULL, values, 8) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_plan_box(plan, step, number, 3, zero, whole, NULL, NULL, sizeof values) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_plan_box(plan, step, 1000, 3, zero, one, NULL, values, 8) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_plan_points(plan, step, number, 3, outside, 1, values, 8) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_plan_points(plan, step, number, 3, zero, UINT64_MAX / 2, values, 8) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_plan_block(plan, step, number, 6, 3, NULL, NULL, values, 8) == FOREBAY_ARGUMENT);
  EXPECT(forebay_read_plan_box(plan, step, mass, 1, NULL, NULL, NULL, ints, 4) == FOREBAY_ARGUMENT);
  SAYS("select one of its blocks");
  OK(forebay_read_perform(plan));
  EXPECT(forebay_read_outcome(plan, 0, &holes) == FOREBAY_ARGUMENT);
  OK(forebay_read_plan_block(plan, step, mass, 3, 1, NULL, NULL, ints, sizeof ints));
  OK(forebay_read_perform(plan));
  EXPECT(ints[0] == 3 && ints[3] == 3);
  forebay_read_plan_free(plan);
  forebay_read_close_step(step);
}

/* Several selections of several steps in one plan: what is whole is read beside what is damaged. Nothing of the run may
 * have been read before: attributes lie among values, so that these are decoded with them. */
static void test_plan(const forebay_read_run* run) {
  forebay_read_step *first, *damaged;
  forebay_read_plan* plan;
  const forebay_read_cost* cost;
  size_t number;
  double all[960], box[12], points[2], broken[960];
  const uint64_t begin[3] = {1, 0, 3}, count[3] = {4, 3, 1}, stride[3] = {2, 4, 1};
  const uint64_t indices[6] = {11, 9, 7, 0, 5, 2};
  uint64_t i, k, holes = 1;
  OK(forebay_read_open_step(run, 0, &first));
  OK(forebay_read_open_step(run, 1, &damaged));
  OK(forebay_read_find(first, "Density", &number));
  OK(forebay_read_plan_new(&plan));
  OK(forebay_read_plan_box(plan, first, number, 3, NULL, NULL, NULL, all, sizeof all));
  OK(forebay_read_plan_box(plan, damaged, number, 3, NULL, NULL, NULL, broken, sizeof broken));
  OK(forebay_read_plan_box(plan, first, number, 3, begin, count, stride, box, sizeof box));
  OK(forebay_read_plan_points(plan, first, number, 3, indices, 2, points, sizeof points));
  EXPECT(forebay_read_perform(plan) == FOREBAY_DAMAGED);
  SAYS("step 1");
  SAYS("Density");
  OK(forebay_read_outcome(plan, 0, &holes));
  EXPECT(holes == 0);
  EXPECT(forebay_read_outcome(plan, 1, NULL) == FOREBAY_DAMAGED);
  OK(forebay_read_outcome(plan, 2, NULL));
  OK(forebay_read_outcome(plan, 3, NULL));
  for (i = 0; i < 4; ++i)
    for (k = 0; k < 3; ++k) EXPECT(box[3 * i + k] == all[(1 + 2 * i) * 80 + 4 * k * 8 + 3]);
  EXPECT(points[0] == all[959] && points[1] == all[42] && all[0] == 0.0);
  OK(forebay_read_inquire_cost(plan, &cost));
  EXPECT(cost->frames > 0 && cost->read_bytes > 0 && cost->decoded_bytes >= sizeof all);
  OK(forebay_read_plan_box(plan, first, number, 3, NULL, NULL, NULL, all, sizeof all));
  OK(forebay_read_perform(plan));
  OK(forebay_read_inquire_cost(plan, &cost));
  EXPECT(cost->frames == 0 && cost->read_bytes == 0 && cost->cached > 0);
  forebay_read_plan_free(plan);
  forebay_read_close_step(first);
  forebay_read_close_step(damaged);
}

/* Structures of programs that were made for an earlier or a later version: with fewer members, and with more. */
static void test_sizes(const char* store) {
  struct {
    forebay_read_options known;
    uint64_t later;
  } longer;
  forebay_read_run* run;
  forebay_read_query_summary summary;
  memset(&longer, 0, sizeof longer);
  longer.known.size = sizeof longer;
  OK(forebay_read_open(store, &longer.known, &run));
  memset(&summary, 0x55, sizeof summary);
  summary.size = 3 * sizeof(uint64_t);
  OK(forebay_read_query(run, "Density > -2", 0, 1, 0, NULL, NULL, &summary));
  EXPECT(summary.steps == 1 && summary.steps_found == 1 && summary.blocks == UINT64_C(0x5555555555555555));
  summary.size = 0;
  EXPECT(forebay_read_query(run, "Density > -2", 0, 1, 0, NULL, NULL, &summary) == FOREBAY_ARGUMENT);
  forebay_read_close(run);
  longer.later = 1;
  EXPECT(forebay_read_open(store, &longer.known, &run) == FOREBAY_UNSUPPORTED && run == NULL);
  longer.known.size = offsetof(forebay_read_options, stored); /* what lies behind is not looked at */
  longer.known.set = "nowhere";
  OK(forebay_read_open(store, &longer.known, &run));
  forebay_read_close(run);
}

int main(int argc, char** argv) {
  forebay_read_run* run;
  if (argc != 2) return 2;
  EXPECT(*forebay_message() == '\0');
  test_open(argv[1]);
  test_sizes(argv[1]);
  OK(forebay_read_open(argv[1], NULL, &run));
  test_inquire(run);
  test_arguments(run);
  test_plan(run);
  forebay_read_close(run);
  return 0;
}
