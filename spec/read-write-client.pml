/*
 * The queue of a read-write lock inside a client: three callers of client 0, and client 1 with one caller.
 *
 * Stands for    src/waiting/wait-queue; src/local: racing-waiter, local-lock, release-request, hold-set;
 *               src/locks/read-write: read-write-waiter, read-write-verbs; and what read-write-server.h stands for.
 *
 * Simplifications, and why they hide no error:
 *  - No time passes, no message is lost, no client crashes, and no caller asks again unless it is woken. Time, losses
 *    and crashes are in read-write-turns. A writer that its own client keeps out asks once and not once a second.
 *  - A request is run at once. The answer of a refusal is read later, and messages may come before it.
 *  - Every caller comes again and again, or ends. In part 1 two waiters give up. So the checker finds a waiter that is
 *    never woken: when the other callers have ended, nothing can happen any more.
 *
 * In part 1 client 0 has two callers that read, one of them by lock() or tryLock(), and one that writes. In part 2 the
 * callers of client 0 want the upgradable lock, to write, and to read. The caller of client 1 reads or writes, and in
 * part 2 it writes or has the upgradable lock.
 *
 * The bound: one caller at a time is watched, from its call to lock(). `passed` counts as in read-write-turns. It does
 * not count while a message or an answer for the client is on its way, or while the first waiter in the queue of the
 * client is about to ask. `passed` must never exceed
 *     to read: 1; behind a reader and a writer of its own client: 4, because these two wait for one write each, one of
 *     them writes itself, and one more write may follow;
 *     to write: 2, or 3 in part 2 (the caller of client 1 writes once before it, or has the upgradable lock and waiting
 *     readers are let in, and one more for a reader of its own client that is called before it);
 *     for the upgradable lock: 3.
 * tryLock() never acquires the lock while a waiting writer is the first in the queue of its client.
 *
 * Guards that can be left out, one -D for each:
 *   TRY_OVERTAKES    tryLock() to read asks although a writer of its client waits (read-write-waiter: start)
 *   WRITER_UNKNOWN   a writer that readers of its own client keep out does not ask (read-write-waiter: keptOutMs)
 *   PLACE_GIVEN_UP   a reader that is let in gives up the place of its client, although other readers wait
 *                    (isLastOfKind)
 *   SLEEPER_FORGOTTEN  a release does not wake the waiters of its own client (local-lock: checkAgain)
 *   NEXT_NOT_LED     when the first waiter leaves, the next waiter does not ask (local-lock: advance)
 *   PLACE_KEPT       a client whose writer has given up keeps its place (read-write-verbs: isLast)
 *   SHARED_LINE      calls for the upgradable lock are in the queue of the other calls (wait-queue: aside)
 */
#include "common.h"

#ifndef PART
#define PART 1
#endif
#define CLIENTS 2
#define OWNERS 4
#define LEASE 1
#define ALIVE 1
#define PHASE 1
#define TOP 0
#ifndef MOST_TO_READ
#define MOST_TO_READ 1
#endif
#ifndef MOST_BEHIND
#define MOST_BEHIND 4
#endif
#ifndef MOST_TO_WRITE
#define MOST_TO_WRITE (PART == 1 -> 2 : 3)
#endif
#ifndef MOST_UPGRADABLE
#define MOST_UPGRADABLE 3
#endif

#define TO_READ 1
#define TO_HAVE_UPGRADABLE 2
#define TO_HAVE_WRITE 3
#define IDLE 0
#define QUEUED 1 /* behind others of its client */
#define ASKS 2
#define TOLD 3   /* refused: the answer is on its way */
#define SLEEPS 4
#define HOLDS 5
#define LEAVES 6
#define OVER 7
#define clientOf(c) (c == 3 -> 1 : 0)
#define tries(c) (c == 2 && isTry)

byte state[OWNERS], wants[OWNERS];
byte turn[3];            /* the queue of client 0: 1 is the first */
bool rung[OWNERS], seen[OWNERS];
bool waitsHere[OWNERS];  /* sleeps until its client releases, or until it is the first */
bool isTry;              /* caller 2 tries once */
bool toReaders[CLIENTS], toWriter[CLIENTS], toUpgradable[CLIENTS]; /* messages */
byte watched, passed, gaveUp;
bool isBehind;           /* the watched caller reads, and was called behind a writer of its client */

byte n, q, script, phaseBefore, firstBefore;
#define NONE 0
#define ACQUIRE_READ 1
#define ACQUIRE_WRITE 2
#define RELEASE_READ 3
#define RELEASE_WRITE 4

inline tell(m) {
	if
	:: m < CLIENTS -> toWriter[m] = 1
	:: m >= CLIENTS && m < 2 * CLIENTS -> toUpgradable[m - CLIENTS] = 1
	fi
}
inline tellReaders() { toReaders[0] = inReaders[0]; toReaders[1] = inReaders[1] }
#include "read-write-server.h"

#ifdef SHARED_LINE
#define isAside(c) 0
#else
#define isAside(c) (wants[c] == TO_HAVE_UPGRADABLE)
#endif
#define isWaiting(c) (state[c] == ASKS || state[c] == TOLD || state[c] == SLEEPS || state[c] == QUEUED)
#define isFirst(c) (c == 3 || isAside(c) || turn[c] == 1)
#define isReaderAtFront(c) (turn[c] > 0 && wants[c] == TO_READ && !isWriterBefore(c))
#define isWriterBefore(c) ((turn[0] > 0 && turn[0] < turn[c] && wants[0] != TO_READ) || \
	(turn[1] > 0 && turn[1] < turn[c] && wants[1] != TO_READ) || (turn[2] > 0 && turn[2] < turn[c] && wants[2] != TO_READ))
#define firstWants(w) ((turn[0] == 1 && wants[0] == w) || (turn[1] == 1 && wants[1] == w) || (turn[2] == 1 && wants[2] == w))
#define asideWaits ((isWaiting(0) && isAside(0)) || (isWaiting(1) && isAside(1)) || (isWaiting(2) && isAside(2)))
/* True if a caller of client 0 has the lock, so that another caller of client 0 has to wait. */
#define holdsHere(c, d) (c != d && state[d] == HOLDS)
#define writesHere(c, d) (holdsHere(c, d) && wants[d] == TO_HAVE_WRITE)
#define isKeptOutByWriter(c) (c < 3 && (writesHere(c, 0) || writesHere(c, 1) || writesHere(c, 2)))
#define isKeptOutByReader(c) (c < 3 && wants[c] == TO_HAVE_WRITE && (holdsHere(c, 0) || holdsHere(c, 1) || holdsHere(c, 2)))
/* A writer that readers of its client keep out asks once, so that the server knows the writer. */
#ifdef WRITER_UNKNOWN
#define mayAsk(c) (!isKeptOutByWriter(c) && !isKeptOutByReader(c))
#else
#define mayAsk(c) (!isKeptOutByWriter(c) && !(isKeptOutByReader(c) && seen[c]))
#endif

inline leaveQueue(c) {
	if
	:: c < 3 && turn[c] > 0 ->
		for (q : 0 .. 2) { if :: turn[q] > turn[c] -> turn[q] = turn[q] - 1 :: else fi }
		turn[c] = 0; q = 0
	:: else
	fi;
	seen[c] = 0; rung[c] = 0; waitsHere[c] = 0;
#ifndef NEXT_NOT_LED
	/* The first in the queue asks by itself. */
	for (q : 0 .. 2) {
		if
		:: state[q] == QUEUED && isFirst(q) -> state[q] = ASKS
		:: state[q] == SLEEPS && isFirst(q) && waitsHere[q] && mayAsk(q) -> state[q] = ASKS; waitsHere[q] = 0
		:: else
		fi
	}
#endif
	q = 0
}

inline rings(c) {
	if
	:: state[c] == SLEEPS -> state[c] = ASKS; waitsHere[c] = 0
	:: state[c] == TOLD -> rung[c] = 1
	:: else
	fi
}

/* A message wakes the first of its kind in the client. */
inline ringFirst(k, w) {
	if
	:: k == 1 && isWaiting(3) && wants[3] == w -> rings(3)
	:: k == 1 && !(isWaiting(3) && wants[3] == w) -> skip
	:: k == 0 -> for (q : 0 .. 2) { if :: isWaiting(q) && isFirst(q) && wants[q] == w -> rings(q) :: else fi } q = 0
	fi
}

inline callerStep() {
	if
	:: state[c] == IDLE && (PART == 1 -> c != 1 : c == 2) -> wants[c] = TO_READ; begins(c)
	:: state[c] == IDLE && (c == 1 || c == 3) -> wants[c] = TO_HAVE_WRITE; begins(c)
	:: state[c] == IDLE && PART == 2 && (c == 0 || c == 3) -> wants[c] = TO_HAVE_UPGRADABLE; begins(c)
	:: state[c] == IDLE -> state[c] = OVER; printf("caller %d: ends\n", c)
	/* It tries once, unless a writer of its client waits, or would have to wait. */
#ifdef TRY_OVERTAKES
	:: PART == 1 && state[c] == IDLE && c == 2 && !isKeptOutByWriter(c) ->
#else
	:: PART == 1 && state[c] == IDLE && c == 2 && !isKeptOutByWriter(c) && !(turn[1] == 1 && (seen[1] || state[0] == HOLDS)) ->
#endif
		wants[c] = TO_READ; isTry = 1; script = ACQUIRE_READ
	/* It is woken, but a holder of its own client is in the way. It sleeps until this holder releases. */
	:: state[c] == ASKS && !mayAsk(c) -> state[c] = SLEEPS; waitsHere[c] = 1; REACHED(1)
	:: state[c] == ASKS && mayAsk(c) -> script = (wants[c] == TO_HAVE_WRITE -> ACQUIRE_WRITE : ACQUIRE_READ)
	:: state[c] == TOLD -> state[c] = (rung[c] -> ASKS : SLEEPS); waitsHere[c] = (!rung[c] && !isFirst(c)); rung[c] = 0; seen[c] = 1
	:: (state[c] == QUEUED || state[c] == TOLD || state[c] == SLEEPS) && gaveUp < (PART == 1 -> 2 : 0) -> gaveUp++; REACHED(2)
		printf("caller %d: gives up\n", c);
		if :: watched == c + 1 -> watched = 0; passed = 0; isBehind = 0 :: else fi;
		state[c] = LEAVES; d_step { leaveQueue(c) }
	:: (state[c] == HOLDS || state[c] == LEAVES) -> script = (wants[c] == TO_HAVE_WRITE -> RELEASE_WRITE : RELEASE_READ)
	:: state[c] == OVER -> break
	fi
}

inline begins(c) {
	printf("caller %d: wants the lock (%d)\n", c, wants[c]);
	d_step {
		if
		:: c < 3 && !isAside(c) ->
			turn[c] = 1;
			for (q : 0 .. 2) { if :: q != c && turn[q] >= turn[c] -> turn[c] = turn[q] + 1 :: else fi }
			q = 0
		:: else
		fi;
		state[c] = (isFirst(c) -> ASKS : QUEUED)
	};
	if :: watched == 0 -> watched = c + 1; isBehind = (c < 3 && wants[c] == TO_READ && isWriterBefore(c)) :: true fi
}

#define lastToRead(c) (c == 3 || !((0 != c && isReaderAtFront(0) && state[0] != TOLD) || (1 != c && isReaderAtFront(1) && state[1] != TOLD) || (2 != c && isReaderAtFront(2) && state[2] != TOLD)))

inline passes() { assert(passed < (wants[watched - 1] == TO_READ -> (isBehind -> MOST_BEHIND : MOST_TO_READ) : (wants[watched - 1] == TO_HAVE_WRITE -> MOST_TO_WRITE : MOST_UPGRADABLE))); passed++; REACHED(3) }
/* Nothing counts while a message or an answer for the client is on its way, or while its first waiter will ask. */
#define isBusy(d) (state[d] == ASKS || state[d] == TOLD)
#define isClientBusy (toReaders[0] || toWriter[0] || toUpgradable[0] || (turn[0] == 1 && isBusy(0)) || (turn[1] == 1 && isBusy(1)) || (turn[2] == 1 && isBusy(2)))
#define isOtherBusy (toReaders[1] || toWriter[1] || toUpgradable[1])
#define counts (watched > 0 && watched != c + 1 && !isBusy(watched - 1) && (watched == 4 -> !isOtherBusy : !isClientBusy))

active [OWNERS] proctype caller() {
	byte c = _pid, k = clientOf(_pid);
	bool waits, isLast;
	do
	:: atomic {
		callerStep();
		if
		:: script == ACQUIRE_READ || script == ACQUIRE_WRITE ->
			phaseBefore = phase;
			d_step { findFirst(); firstBefore = f; f = 0 };
			waits = !tries(c);
#ifdef PLACE_GIVEN_UP
			isLast = 1;
#else
			isLast = lastToRead(c);
#endif
			if
			:: script == ACQUIRE_READ -> d_step { upgradable[c] = (wants[c] == TO_HAVE_UPGRADABLE); acquireRead(c, k, waits, isLast, 1) }
			:: else -> d_step { acquireWrite(c, k, 1, 0, 1) }
			fi;
			counter = 1; highest = 0; waits = 0; isLast = 0;
			if
			:: answer == GRANTED ->
				state[c] = HOLDS;
				printf("caller %d: is granted the lock (%d)\n", c, wants[c]);
				if
				:: tries(c) -> REACHED(4)
					/* tryLock() overtakes no writer of its client that waits. */
					assert(!(firstWants(TO_HAVE_WRITE) && seen[1]));
					isTry = 0
				:: else
				fi;
				if
				:: watched == c + 1 -> watched = 0; passed = 0; isBehind = 0; REACHED(5)
				:: counts && wants[c] == TO_READ && wants[watched - 1] == TO_HAVE_WRITE && phaseBefore == 0 && isFirst(watched - 1) &&
				   (firstBefore == 0 || firstBefore == clientOf(watched - 1) + 1) -> passes()
				:: counts && wants[c] == TO_HAVE_UPGRADABLE && wants[watched - 1] != TO_READ -> passes()
				:: counts && wants[c] == TO_HAVE_WRITE -> passes()
				:: else
				fi;
				d_step {
					leaveQueue(c);
					/* Readers at the front go together. */
					if
					:: c < 3 && wants[c] == TO_READ ->
						for (n : 0 .. 2) {
							if
							:: isReaderAtFront(n) && state[n] == QUEUED -> state[n] = ASKS
							:: isReaderAtFront(n) && state[n] != QUEUED -> rings(n); REACHED(6)
							:: else
							fi
						}
						n = 0
					:: else
					fi
				}
			:: answer == HELD && tries(c) -> wants[c] = 0; upgradable[c] = 0; isTry = 0
			:: answer == HELD && !tries(c) -> state[c] = TOLD; printf("caller %d: waits\n", c)
			fi;
			answer = 0; answerToken = 0; isNew = 0; phaseBefore = 0; firstBefore = 0
		:: script == RELEASE_READ || script == RELEASE_WRITE ->
			phaseBefore = phase;
			/* isLast: the first in its client waits for another kind. */
#ifdef PLACE_KEPT
			isLast = 0;
#else
			isLast = (c == 3 || (wants[c] == TO_HAVE_UPGRADABLE -> !asideWaits : !firstWants(wants[c])));
#endif
			if
			:: script == RELEASE_READ -> d_step { releaseRead(c, k, isLast, 0) }
			:: else -> d_step { releaseWrite(c, k, isLast, 0, 0) }
			fi;
			isLast = 0;
			printf("caller %d: has released (%d)\n", c, wants[c]);
			if
			:: phaseBefore == 0 && phase > 0 -> REACHED(7) if :: counts && wants[watched - 1] != TO_READ -> passes() :: else fi
			:: else
			fi;
			state[c] = IDLE; wants[c] = 0; upgradable[c] = 0; answer = 0; phaseBefore = 0;
#ifndef SLEEPER_FORGOTTEN
			/* The waiters of the same client look again. */
			d_step {
				if
				:: c < 3 -> for (q : 0 .. 2) { if :: isWaiting(q) && isFirst(q) -> rings(q) :: else fi } q = 0
				:: else
				fi
			}
#endif
		:: else
		fi;
		script = NONE
	}
	od
}

active proctype messages() {
end:
	do
	:: d_step { toReaders[0] -> toReaders[0] = 0; ringFirst(0, TO_READ) }
	:: d_step { toReaders[1] -> toReaders[1] = 0; ringFirst(1, TO_READ) }
	:: d_step { toWriter[0] -> toWriter[0] = 0; ringFirst(0, TO_HAVE_WRITE) }
	:: d_step { toWriter[1] -> toWriter[1] = 0; ringFirst(1, TO_HAVE_WRITE) }
	:: d_step { toUpgradable[0] -> toUpgradable[0] = 0; ringFirst(0, TO_HAVE_UPGRADABLE) }
	:: d_step { toUpgradable[1] -> toUpgradable[1] = 0; ringFirst(1, TO_HAVE_UPGRADABLE) }
	od
}
