/*
 * The turns of a read-write lock among clients: who waits for whom, and who is told of a release.
 *
 * Stands for    what read-write-server.h stands for; src/locks/read-write: read-write-verbs, read-write-waiter;
 *               src/local: racing-waiter, release-request; src/servers/waiting-time.
 *
 * Simplifications, and why they hide no error:
 *  - Each client has one caller. The queue inside a client is in read-write-client.
 *  - A request is run at once. Its answer is read later, and messages may come before it. Lost answers and late requests
 *    are in read-write: a waiter that has no answer asks again.
 *  - Every client comes again and again, or ends. Two waiters give up. So the checker finds a waiter that is never
 *    woken: when the other clients have ended, nothing can happen any more.
 *  - Parts 1 and 2 have no time, no lost messages and no crash. No client asks again without a message, so a message
 *    must wake each waiter.
 *  - Parts 3 and 4 have time. A waiter asks again after POLL ticks at the latest. The messages of one release may be
 *    lost. One client may crash, as a holder or as a waiter. Live clients renew in time, so a lease ends only after a
 *    crash.
 *
 * The bound: one waiter at a time is watched, from the moment when it has its place. `passed` counts each write of
 * others, each upgradable hold of others, each time that waiting readers are let in together (a phase), and each reader
 * that is let in outside of a phase while the watched waiter is the first in the queue. For a waiting reader, only
 * writes count. `passed` must never exceed
 *     to read: 1;    to upgrade: 0;    to write: 2 for each other writer and 3 for each client that upgrades;
 *     for the upgradable lock: the same, without itself.
 * A writer that crashes does not let the waiting readers in: its lease ends, and the first client that asks is next. So
 * a crash adds 1. With time, `idle` counts the ticks in which the watched waiter waits although no client holds the
 * lock. `idle` must never exceed MOST_IDLE: the time for which a dead waiter counts, one POLL of the waiter behind it,
 * and one POLL for a lost message.
 *
 * Guards that can be left out, one -D for each:
 *   NO_GATE              a reader is let in although a writer waits (read-write-turns: isShut)
 *   NO_PHASE             waiting readers are not let in before the next writer (tellNext)
 *   PHASE_FOR_KNOWN_WRITERS  waiting readers are let in first only if a writer already waits (tellNext)
 *   PHASE_GOES_ON        a phase does not end with the last waiting reader (waitsNoMore)
 *   OUT_OF_TURN          a writer does not wait for waiters that have waited longer (acquire-write)
 *   UPGRADABLE_BARGES    the upgradable lock follows the rules of readers, not the order of writers (isShut)
 *   UPGRADE_BEFORE_PHASE an upgrade does not wait for readers that are being let in (acquire-write)
 *   UPGRADE_IN_TURN      an upgrade queues behind writers that wait for the upgrade (acquire-write: GOES_ON)
 *   LEAVES_IN_SILENCE    the release of a waiter that gives up wakes no waiter (release)
 *   LAST_BUT_ONE_IN_SILENCE  no message tells an upgrade that its owner is the only holder (release)
 *   EARLY_FORGOTTEN      a message that comes before the answer is forgotten (read-write-verbs: #early)
 *   DEAD_PLACES_COUNT    a place counts although its waiter has died (firstOf)
 *   DEAD_READERS_COUNT   a reader counts although its lease is over (dropDead)
 *   NO_POLL              a waiter asks again only after a message (ASK_AGAIN_MS)
 */
#include "common.h"

#ifndef PART
#define PART 1
#endif
#define WITH_TIME (PART > 2)
#if PART > 2
#define CLIENTS 3
#else
#define CLIENTS 4
#endif
#define OWNERS CLIENTS
#define LEASE (WITH_TIME -> 7 : 1)
#define ALIVE (WITH_TIME -> 3 : 1)
#define PHASE (WITH_TIME -> 2 : 1)
#define POLL 1
#ifndef MOST_IDLE
#define MOST_IDLE 4
#endif
#define TOP 0

/* The lock that a client wants. */
#define TO_READ 1
#define TO_HAVE_UPGRADABLE 2
#define TO_HAVE_WRITE 3
#define TO_HAVE_UPGRADE 4
/* The states of a client. */
#define IDLE 0
#define ASKS 1
#define TOLD 2   /* refused: the answer is on its way */
#define SLEEPS 3
#define HOLDS 4
#define LEAVES 5 /* has given up */
#define OVER 6
byte state[CLIENTS], wants[CLIENTS];
bool message[CLIENTS], rung[CLIENTS], wrote[CLIENTS];
byte poll[CLIENTS];
byte watched, passed, idle;
bool watches; /* the next waiter is watched */
bool crashed, dead[CLIENTS];
byte gaveUp;

#define isWaiting(c) (state[c] == ASKS || state[c] == TOLD || state[c] == SLEEPS)
/*
 * Part 1 has two writers and two readers, part 2 two clients that upgrade, a writer and a reader. Part 3 has a writer, a
 * reader, and a client that is either; part 4 a client that upgrades, a writer and a reader.
 */
#define isUpgrader(c) ((PART == 2 && c < 2) || (PART == 4 && c < 1))
#define isWriter(c) ((PART == 1 && c < 2) || (PART == 2 && c == 2) || (PART == 3 && c < 2) || (PART == 4 && c == 1))
#define isReader(c) (PART == 3 && c == 1 || !isWriter(c) && !isUpgrader(c))
#define UPGRADERS (PART == 2 -> 2 : (PART == 4 -> 1 : 0))
#define WRITERS (PART == 1 || PART == 3 -> 2 : 1)

inline sendTo(c) {
	if
	:: isWaiting(c) && !dead[c] && !loses -> message[c] = 1
	:: isWaiting(c) && !dead[c] && loses -> printf("          the message for client %d is lost\n", c)
	:: else
	fi
}

byte n;
bool loses, lostSome; /* the next messages are lost, which happens once */
inline tell(m) {
	n = (m < CLIENTS -> m : (m < 2 * CLIENTS -> m - CLIENTS : m - 2 * CLIENTS));
	sendTo(n); n = 0
}
inline tellReaders() {
	for (n : 0 .. CLIENTS - 1) { if :: wants[n] == TO_READ -> sendTo(n) :: else fi }
	n = 0
}
#include "read-write-server.h"

#define bound ( \
	wants[watched - 1] == TO_READ -> 1 : ( \
	wants[watched - 1] == TO_HAVE_UPGRADE -> 0 : ( \
	wants[watched - 1] == TO_HAVE_WRITE -> 2 * (WRITERS - 1) + 3 * UPGRADERS : \
	2 * WRITERS + 3 * (UPGRADERS - 1))))

inline passes() { assert(passed < bound + crashed); passed++ }

byte script, phaseBefore, firstBefore;
#define NONE 0
#define ACQUIRE_READ 1
#define ACQUIRE_WRITE 2
#define RELEASE_READ 3
#define RELEASE_WRITE 4

#define isLive(c) (!dead[c])
/* Time passes only if no client has work that it does at once. */
#define mayTick (WITH_TIME && !mustAct(0) && !mustAct(1) && !mustAct(2))
#define isBusy(c) (message[c] || state[c] == ASKS || state[c] == TOLD || state[c] == LEAVES)
#ifdef NO_POLL
#define mustAct(c) (!dead[c] && isBusy(c))
#else
#define mustAct(c) (!dead[c] && (isBusy(c) || (state[c] == SLEEPS && poll[c] == 0)))
#endif

#define isAsleep(c) (state[c] == SLEEPS && !dead[c])

inline asks(what) { state[c] = ASKS; wants[c] = what }

inline clientStep() {
	if
	:: isLive(c) && state[c] == IDLE && isWriter(c) -> asks(TO_HAVE_WRITE); printf("client %d: wants to write\n", c)
	:: isLive(c) && state[c] == IDLE && isUpgrader(c) -> asks(TO_HAVE_UPGRADABLE); printf("client %d: wants the upgradable lock\n", c)
	:: isLive(c) && state[c] == IDLE && (isReader(c)) -> asks(TO_READ); printf("client %d: wants to read\n", c)
	:: isLive(c) && state[c] == IDLE -> state[c] = OVER; printf("client %d: ends\n", c)
	:: isLive(c) && state[c] == ASKS && wants[c] <= TO_HAVE_UPGRADABLE -> script = ACQUIRE_READ
	:: isLive(c) && state[c] == ASKS && wants[c] > TO_HAVE_UPGRADABLE -> script = ACQUIRE_WRITE
	/* The answer tells the client since when it waits, and so which messages are for this client. */
	:: state[c] == TOLD && !dead[c] -> state[c] = (rung[c] -> ASKS : SLEEPS); rung[c] = 0; poll[c] = (WITH_TIME -> POLL : 0)
	:: message[c] ->
		message[c] = 0; REACHED(1)
		if
		:: state[c] == SLEEPS -> state[c] = ASKS; poll[c] = 0; printf("client %d: is woken\n", c)
#ifndef EARLY_FORGOTTEN
		:: state[c] == TOLD -> rung[c] = 1; REACHED(2)
#endif
		:: else
		fi
#ifndef NO_POLL
	:: isLive(c) && WITH_TIME && state[c] == SLEEPS && poll[c] == 0 -> state[c] = ASKS; printf("client %d: asks again\n", c); REACHED(3)
#endif
	:: isLive(c) && (state[c] == SLEEPS || state[c] == TOLD) && gaveUp < (WITH_TIME -> 1 : 2) -> gaveUp++; state[c] = LEAVES; rung[c] = 0; poll[c] = 0; message[c] = 0; REACHED(4)
		printf("client %d: gives up\n", c)
	:: isLive(c) && ((state[c] == HOLDS || state[c] == LEAVES) && wants[c] <= TO_HAVE_UPGRADABLE) -> script = RELEASE_READ
	:: isLive(c) && ((state[c] == HOLDS || state[c] == LEAVES) && wants[c] > TO_HAVE_UPGRADABLE) -> script = RELEASE_WRITE
	:: isLive(c) && state[c] == HOLDS && wants[c] == TO_HAVE_UPGRADABLE && !wrote[c] -> asks(TO_HAVE_UPGRADE); printf("client %d: wants to upgrade\n", c)
	/* One client crashes. */
	:: WITH_TIME && !crashed && state[c] != OVER && state[c] != IDLE ->
		crashed = 1; dead[c] = 1; message[c] = 0; rung[c] = 0; poll[c] = 0; printf("client %d: CRASHES\n", c); REACHED(5)
		if :: watched == c + 1 -> watched = 0; passed = 0; idle = 0 :: else fi
	fi
}

#define isOver(c) (state[c] == OVER || dead[c])

active [CLIENTS] proctype client() {
	byte c = _pid;
	do
	:: atomic {
		clientStep();
		if :: script >= RELEASE_READ && WITH_TIME && !lostSome -> loses = 1; lostSome = 1 :: true fi;
		if :: script <= ACQUIRE_WRITE && script > NONE && watched == 0 -> watches = 1 :: true fi;
		if
		:: script == ACQUIRE_READ || script == ACQUIRE_WRITE ->
			phaseBefore = phase;
			d_step { findFirst(); firstBefore = f; f = 0 };
			if
			:: script == ACQUIRE_READ -> d_step { upgradable[c] = isUpgrader(c); acquireRead(c, c, 1, 1, 1) }
			:: else -> d_step { acquireWrite(c, c, 1, (wants[c] == TO_HAVE_UPGRADE), 1) }
			fi;
			counter = 1; highest = 0;
			if
			:: answer == GRANTED ->
				state[c] = HOLDS; rung[c] = 0; message[c] = 0;
				printf("client %d: is granted the lock (%d)\n", c, wants[c]);
				if :: wants[c] == TO_HAVE_UPGRADE -> wrote[c] = 1; REACHED(6) :: else fi;
				if
				:: watched == c + 1 -> watched = 0; passed = 0; REACHED(7)
				:: watched > 0 && watched != c + 1 && wants[c] == TO_READ ->
					if
					:: wants[watched - 1] != TO_READ && phaseBefore == 0 && firstBefore > 0 && firstBefore != CLIENTS + watched &&
					   (firstBefore == watched || firstBefore == 2 * CLIENTS + watched) -> passes()
					:: else
					fi
				:: watched > 0 && watched != c + 1 && wants[c] == TO_HAVE_UPGRADABLE ->
					if :: wants[watched - 1] != TO_READ -> passes() :: else fi
				:: watched > 0 && watched != c + 1 && wants[c] > TO_HAVE_UPGRADABLE -> passes(); REACHED(8)
				:: else
				fi;
				idle = 0
			:: answer == HELD ->
				state[c] = TOLD;
				printf("client %d: waits\n", c);
				/* One waiter at a time is watched. */
				if :: watches -> watched = c + 1 :: else fi
			:: answer == GONE ->
				/* Its upgradable lock is over: only a crash ends one. */
				assert(false)
			fi;
			answer = 0; answerToken = 0; isNew = 0; phaseBefore = 0; firstBefore = 0
		:: script == RELEASE_READ || script == RELEASE_WRITE ->
			phaseBefore = phase;
			if
			:: script == RELEASE_READ -> d_step { releaseRead(c, c, 1, 0) }
			:: else -> d_step { releaseWrite(c, c, 1, 0, 0) }
			fi;
			if
			:: phaseBefore == 0 && phase > 0 ->
				REACHED(9)
				if :: watched > 0 && watched != c + 1 && wants[watched - 1] != TO_READ -> passes() :: else fi
			:: else
			fi;
			printf("client %d: has released (%d)\n", c, wants[c]);
			if :: watched == c + 1 -> watched = 0; passed = 0; idle = 0 :: else fi;
			if
			:: wants[c] == TO_HAVE_UPGRADE -> state[c] = HOLDS; wants[c] = TO_HAVE_UPGRADABLE
			:: else -> state[c] = IDLE; wants[c] = 0; wrote[c] = 0; upgradable[c] = 0
			fi;
			answer = 0; phaseBefore = 0
		:: else
		fi;
		script = NONE; loses = 0; watches = 0
	}
	:: isOver(c) -> break
	od
}

#if PART > 2
active proctype time() {
	do
	:: d_step {
		mayTick && (lockTtl > 0 || isAsleep(0) || isAsleep(1) || isAsleep(2));
			printf("-- time passes\n");
			for (n : 0 .. CLIENTS - 1) {
				down(poll[n]); down(readerAlive[n]);
				/* Clients that live renew. */
				if
				:: !dead[n] && reads[n] > 0 -> readTtl[n] = LEASE; lockTtl = LEASE
				:: !dead[n] && writer == n + 1 -> lockTtl = LEASE
				:: else -> down(readTtl[n])
				fi
			}
			for (n : 0 .. PLACES - 1) { down(alive[n]) }
			n = 0;
			down(phase);
			if :: lockTtl == 1 -> clearLock() :: lockTtl > 1 -> lockTtl = lockTtl - 1 :: else fi;
			if
			:: watched > 0 ->
				u = (writer > 0);
				for (n : 0 .. CLIENTS - 1) { if :: reads[n] > 0 && readTtl[n] > 0 -> u = 1 :: else fi }
				n = 0;
				if :: u == 0 -> assert(idle < MOST_IDLE); idle++ :: else fi; u = 0
			:: else
			fi
	}
	:: isOver(0) && isOver(1) && isOver(2) -> break
	od
}
#endif
