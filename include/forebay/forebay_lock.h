/* Locks on lists of byte ranges of files, for the processes of one user on any number of nodes (docs/locks.md).
 *
 * The servers are those of `forebay lockd`. A lock is a lease: it is valid until forebay_lock_valid_ms() is over, and
 * forebay_lock_keep() renews it. Call that before each piece of I/O; when it fails, do not touch the file any more.
 *
 * Functions that can fail return FOREBAY_LOCK_OK or another code, and forebay_lock_message() tells more. None prints,
 * exits, aborts, throws or starts a thread. */
#ifndef FOREBAY_FOREBAY_LOCK_H
#define FOREBAY_FOREBAY_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include "forebay/forebay.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  FOREBAY_LOCK_OK = 0,
  FOREBAY_LOCK_BUSY = 1,     /* a try: the bytes are not free */
  FOREBAY_LOCK_TIMEOUT = 2,  /* the time is over; the request is withdrawn */
  FOREBAY_LOCK_LOST = 3,     /* the server is lost, or the lease has ended: others may have the bytes */
  FOREBAY_LOCK_ARGUMENT = 4, /* the call makes no sense */
  FOREBAY_LOCK_DENIED = 5,   /* the server does not let this process in, or the secret cannot be read */
  FOREBAY_LOCK_LIMIT = 6,    /* the list is longer, or needs more memory, than the server takes */
  FOREBAY_LOCK_FAILED = 7    /* anything else, for instance an error of the system */
};

enum { FOREBAY_LOCK_SHARED = 0, FOREBAY_LOCK_EXCLUSIVE = 1 };

/* `count` repetitions, each `stride` bytes after the one before. */
typedef struct forebay_lock_level {
  uint64_t count;
  uint64_t stride;
} forebay_lock_level;

/* `length` bytes at `start`, repeated by each of at most 8 levels, of which the last varies fastest. */
typedef struct forebay_lock_term {
  uint64_t start;
  uint64_t length;
  const forebay_lock_level* levels; /* may be NULL if there are none */
  size_t level_count;
} forebay_lock_term;

/* Connections to lock servers. Thread-safe: one is enough for a process. */
typedef struct forebay_lock_client forebay_lock_client;

/* A lock that is held. Used by one thread at a time. */
typedef struct forebay_lock forebay_lock;

/* Servers as "ADDRESS,ADDRESS;ADDRESS": ';' between servers, ',' between the addresses of one; tcp:HOST:PORT or
 * unix:PATH. All programs that lock the same files must give the same servers in the same order. `secret_file` is the
 * path of the servers' secret. NULL stands for FOREBAY_LOCK_SERVERS and FOREBAY_LOCK_SECRET of the environment; without
 * a secret only Unix sockets of the same user's server can be used. Connects to nothing yet: the first lock does.
 * Codes: ARGUMENT, DENIED, FAILED. On success *client is to be given to forebay_lock_disconnect(). */
FOREBAY_API int forebay_lock_connect(const char* servers, const char* secret_file, forebay_lock_client** client);

/* NULL is ignored. Locks that are still held stay so until they are unlocked. */
FOREBAY_API void forebay_lock_disconnect(forebay_lock_client* client);

/* Waits until all bytes of `terms` are granted at once; no terms are the whole file. `name` is what all programs call
 * the file, 1 to 4096 bytes (forebay_lock_name() makes one of a path). `timeout_ms` < 0 waits for ever; what takes
 * longer than the servers' lease to be answered by a server ends as LOST. Codes: TIMEOUT, LOST, ARGUMENT, DENIED,
 * LIMIT, FAILED. On success *lock is to be given to forebay_lock_unlock(). In a child of fork() a parent's lock is not
 * held. */
FOREBAY_API int forebay_lock_lock(forebay_lock_client* client, const char* name, int access,
                                  const forebay_lock_term* terms, size_t term_count, int64_t timeout_ms,
                                  forebay_lock** lock);

/* The same without waiting for others: BUSY if the bytes are not free. */
FOREBAY_API int forebay_lock_try(forebay_lock_client* client, const char* name, int access,
                                 const forebay_lock_term* terms, size_t term_count, forebay_lock** lock);

/* Makes sure that the lock is valid for `wanted_ms` from now, or half of the lease if that is less. Codes: LOST,
 * ARGUMENT, FAILED. */
FOREBAY_API int forebay_lock_keep(forebay_lock* lock, int64_t wanted_ms);

/* For how many milliseconds from now the lock is valid; 0 if it is not. */
FOREBAY_API int64_t forebay_lock_valid_ms(const forebay_lock* lock);

/* Gives the lock back and frees it, whatever it returns. LOST tells that the lease ended before: others may have had
 * the bytes. NULL is ignored. */
FOREBAY_API int forebay_lock_unlock(forebay_lock* lock);

/* The name of the file at `path`: absolute, without links; the file need not be there, its directory must. Codes:
 * ARGUMENT, also if `size` bytes are too few; FAILED. */
FOREBAY_API int forebay_lock_name(const char* path, char* name, size_t size);

/* What went wrong in the last call of this thread that failed. Valid until the next one. */
FOREBAY_API const char* forebay_lock_message(void);

#ifdef __cplusplus
}
#endif

#endif
