// Whether some serial order explains what accesses found. Words that are written carry the number of the write, so it
// is known which write every word that was read comes from. From that follow orders that must hold:
//   a read comes after every write that it found something of;
//   a write that comes before a read, and covers a word where the read found another write, comes before that one;
//   a read that found a write comes before every write of the same word which comes after that write;
//   accesses of one rank come in the order of the program.
// They are drawn until nothing new follows; if one of them closes a circle, no order explains what was found. Of what
// is explained not everything need have an order (deciding that is NP-complete), but every circle is an error.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { serial_words = 2048, serial_most = 64 };

struct serial_access {
  int rank, step;
  int writes;
  int count;
  int* words;        // where, in the order of the data
  const int* found;  // of a read: the number of the access whose write was found, a word each
  uint64_t covers[serial_words / 64];
};

struct serial_history {
  int count;  // number 0 wrote everything before the others
  struct serial_access accesses[serial_most];
  uint64_t after[serial_most];  // which accesses come after this one
  char problem[300];
};

static inline int serial_covers(const struct serial_access* access, int word) {
  return (int)(access->covers[word / 64] >> (word % 64) & 1);
}

// 1 if it is new, 0 if it was known, -1 if it closes a circle.
static inline int serial_before(struct serial_history* history, int first, int second) {
  const uint64_t one = 1;
  if (history->after[first] >> second & 1) return 0;
  if (first == second || (history->after[second] >> first & 1)) return -1;
  for (int i = 0; i < history->count; ++i)
    if (i == first || (history->after[i] >> first & 1)) history->after[i] |= history->after[second] | one << second;
  return 1;
}

static inline int serial_fails(struct serial_history* history, int read, int word, int found, int other) {
  const struct serial_access* r = &history->accesses[read];
  const struct serial_access* a = &history->accesses[found];
  const struct serial_access* b = &history->accesses[other];
  snprintf(
      history->problem, sizeof history->problem,
      "the read of rank %d in step %d found at word %d the write of rank %d, step %d; what else was found says that "
      "the write of rank %d, step %d, must be seen there or must not be seen elsewhere",
      r->rank, r->step, word, a->rank, a->step, b->rank, b->step);
  return -1;
}

// What one word that was read tells: 1 something new, 0 nothing, -1 that there is no order.
static inline int serial_word(struct serial_history* history, int read, int word, int found) {
  int news = serial_before(history, found, read);
  if (news < 0) return serial_fails(history, read, word, found, found);
  for (int other = 0; other < history->count; ++other) {
    const struct serial_access* write = &history->accesses[other];
    if (other == found || !write->writes || !serial_covers(write, word)) continue;
    int more = 0;
    if (history->after[other] >> read & 1) more = serial_before(history, other, found);
    if (more >= 0 && (history->after[found] >> other & 1)) {
      news |= more;
      more = serial_before(history, read, other);
    }
    if (more < 0) return serial_fails(history, read, word, found, other);
    news |= more;
  }
  return news;
}

// Whether no circle was found; else `problem` says what is wrong.
static inline int serial_explained(struct serial_history* history) {
  memset(history->after, 0, sizeof history->after);
  for (int i = 1; i < history->count; ++i) serial_before(history, 0, i);
  for (int i = 1; i < history->count; ++i)
    for (int j = 1; j < history->count; ++j)
      if (history->accesses[i].rank == history->accesses[j].rank &&
          history->accesses[i].step < history->accesses[j].step)
        serial_before(history, i, j);
  for (int news = 1; news;) {
    news = 0;
    for (int read = 1; read < history->count; ++read) {
      const struct serial_access* access = &history->accesses[read];
      for (int i = 0; !access->writes && i < access->count; ++i) {
        const int more = serial_word(history, read, access->words[i], access->found[i]);
        if (more < 0) return 0;
        news |= more;
      }
    }
  }
  return 1;
}
