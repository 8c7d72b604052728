/* Locks on lists of byte ranges of files, for the processes of one user on any number of nodes (docs/locks.md).
 *
 * The servers are those of `forebay lockd`. A lock is a lease: it is valid until forebay_lock_valid_ms() is over, and
 * forebay_lock_keep() renews it. Call that before each piece of I/O; when it fails, do not touch the file any more.
 * Locks are advisory: they hold among programs that take them. The order of calls:
 *
 *     forebay_lock_connect                        once in a process
 *       forebay_lock_name                         once for a file, unless the programs agree on a name of their own
 *       forebay_lock_lock or forebay_lock_try
 *         forebay_lock_keep, then I/O             for each piece of I/O
 *       forebay_lock_unlock
 *     forebay_lock_disconnect
 *
 * Functions that can fail return FOREBAY_OK or another code of forebay.h, and forebay_message() says why, with the file
 * and the server. None prints, exits, aborts, throws or starts a thread, unless FOREBAY_LOCK_KEEP=auto in the
 * environment asks for locks that are kept (docs/locks.md): then the first lock at each server starts one, which no
 * signal is delivered to. Any of them returns FAILED when memory is used up. Pointers that a function is given are used
 * until it returns, and not kept. Offsets and lengths are bytes, times are milliseconds by a clock that nobody sets. */
#ifndef FOREBAY_FOREBAY_LOCK_H
#define FOREBAY_FOREBAY_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include "forebay/forebay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any number of shared locks may have a byte at once, or one exclusive lock. */
enum { FOREBAY_LOCK_SHARED = 0, FOREBAY_LOCK_EXCLUSIVE = 1 };

/* `count` repetitions, each `stride` bytes after the one before. A count of 0 means that the whole term is nothing. */
typedef struct forebay_lock_level {
  uint64_t count;
  uint64_t stride;
} forebay_lock_level;

/* `length` bytes at `start`, repeated by each of at most 8 levels, of which the last varies fastest. All bytes must be
 * below 2^63 - 1, the greatest offset of a file. Terms may overlap each other, and their repetitions may: a list is a
 * set of bytes. The caller owns the levels. Neither structure ever gets another member. */
typedef struct forebay_lock_term {
  uint64_t start;
  uint64_t length;
  const forebay_lock_level* levels; /* may be NULL if there are none */
  size_t level_count;
} forebay_lock_term;

/* Connections to lock servers. Thread-safe: one is enough for a process. A child of fork() may use its parent's, and
 * gets connections and locks of its own by it. */
typedef struct forebay_lock_client forebay_lock_client;

/* A lock that is held. Used by one thread at a time, and different ones by different threads at once. May outlive its
 * client. In a child of fork() a parent's lock is not held: forebay_lock_keep() and forebay_lock_unlock() give LOST
 * there, and nothing that the child does ends the lock of its parent. */
typedef struct forebay_lock forebay_lock;

/* Servers as "ADDRESS,ADDRESS;ADDRESS": ';' between servers, ',' between the addresses of one; tcp:HOST:PORT or
 * unix:PATH. All programs that lock the same files must give the same servers in the same order: a hash of the file's
 * name chooses among them. `secret_file` is the path of the servers' secret, which must belong to this user and be
 * closed to others. NULL stands for FOREBAY_LOCK_SERVERS and FOREBAY_LOCK_SECRET of the environment; without a secret
 * only Unix sockets of the same user's server can be used. Connects to nothing yet: the first lock does. Codes:
 * ARGUMENT (no servers, or what is given is no list of addresses, or FOREBAY_LOCK_KEEP is neither auto nor never),
 * DENIED (the secret belongs to another user, or others can read it), FAILED (there is no such file, or it holds no
 * secret). On success *client is to be given to forebay_lock_disconnect(); after an error it is NULL. Thread-safe. */
FOREBAY_API int forebay_lock_connect(const char* servers, const char* secret_file, forebay_lock_client** client);

/* Frees the client. NULL is ignored. No other thread may be in a call with it. Locks that are still held stay so until
 * they are unlocked, and their connections stay as long. Waits for nobody. */
FOREBAY_API void forebay_lock_disconnect(forebay_lock_client* client);

/* Waits until all bytes of `terms` are granted at once; no terms are the whole file, and terms without a byte are
 * granted without a server. `name` is what all programs call the file, 1 to 4096 bytes (forebay_lock_name() makes one
 * of a path); the file need not be there, and is not opened. `access` is FOREBAY_LOCK_SHARED or FOREBAY_LOCK_EXCLUSIVE.
 *
 * Requests that conflict are granted in the order in which they reached the server, those of one process among them: a
 * thread that asks for bytes that it holds waits for itself. A process that holds one lock and waits for another can
 * be part of a deadlock, which nobody notices; ask for all bytes in one call instead, or give a timeout.
 *
 * `timeout_ms` < 0 waits for ever, as does more than a year. A server that does not answer for as long as its lease
 * lasts, or that cannot be reached within 10 seconds, is lost; while one is silent, further calls fail at once and it
 * is asked again after 10, 20, 40 and then every 60 seconds. A connection that had ended before the call is made anew.
 * While it waits the leases of this process are renewed.
 *
 * Codes: TIMEOUT (nothing is held: the request is withdrawn), LOST (no server, or it was lost while this call waited),
 * ARGUMENT (a pointer is missing, a name is too long, a term has more than 8 levels or bytes beyond the greatest
 * offset), DENIED (the server does not know the secret, or is another user's), LIMIT (more terms than the server takes,
 * 1,048,576 unless it was configured otherwise, or more memory than it has for one process), FAILED (a server's host is
 * not known, MUNGE cannot be used). On success *lock is to be given to forebay_lock_unlock(); after an error it is
 * NULL. Thread-safe. */
FOREBAY_API int forebay_lock_lock(forebay_lock_client* client, const char* name, int access,
                                  const forebay_lock_term* terms, size_t term_count, int64_t timeout_ms,
                                  forebay_lock** lock);

/* The same without waiting for others: BUSY if the bytes are not free, or are wanted by somebody who came before. It
 * waits for the server's answer, as forebay_lock_lock() does for a connection. Codes: BUSY, and those of
 * forebay_lock_lock() but for TIMEOUT. */
FOREBAY_API int forebay_lock_try(forebay_lock_client* client, const char* name, int access,
                                 const forebay_lock_term* terms, size_t term_count, forebay_lock** lock);

/* Makes sure that the lock is valid for `wanted_ms` from now, or half of the lease if that is less; less than 0 counts
 * as 0. To be called before each piece of I/O, which then must not take longer than `wanted_ms` and the servers' grace.
 * Where half of the lease is left it costs one reading of the clock; else it asks the server, and waits for a lease at
 * most. Codes: LOST (the lease has ended or cannot be renewed: do not touch the file; the lock is still to be unlocked,
 * which frees it), ARGUMENT (NULL), FAILED. */
FOREBAY_API int forebay_lock_keep(forebay_lock* lock, int64_t wanted_ms);

/* For how many milliseconds from now the lock is valid, unless it is renewed; 0 if it is not, and for NULL. A lock
 * without a byte is valid for ever. Asks nobody. */
FOREBAY_API int64_t forebay_lock_valid_ms(const forebay_lock* lock);

/* Gives the lock back and frees it, whatever it returns. Waits for nobody, unless the lease is over by this process's
 * clock: then the server is asked. NULL is ignored. Codes: LOST (the lease ended before this call, or the server is
 * lost: others may have had the bytes, and what was written since may be mixed with what they wrote), FAILED. */
FOREBAY_API int forebay_lock_unlock(forebay_lock* lock);

/* The name of the file at `path`: absolute, without links, with a NUL at its end in the `size` bytes at `name`, which
 * the caller owns; 4096 are always enough. The file need not be there, its directory must; a link that leads to nothing
 * stands for the file that opening it would make. Programs get the same name where the file system is mounted at the
 * same place; a hard link has a name of its own. Codes: ARGUMENT (no path, or `size` bytes are too few), FAILED (the
 * directory is not there or must not be searched, or links go in a circle). Thread-safe; needs no client. */
FOREBAY_API int forebay_lock_name(const char* path, char* name, size_t size);

#ifdef __cplusplus
}
#endif

#endif
