/*
 * The holds of a read-write lock: readers, writers, upgrades, a writer that reads as well; leases and tokens.
 *
 * Stands for    what read-write-server.h stands for; src/local: acquire, reenter, release-request, holds, request;
 *               src/locks/read-write: read-write-verbs, read-write-waiter, upgradable-lease;
 *               src/servers/pending-releases; src/servers/redis/read-write.
 *
 * Each option of the loop is one step that nothing can divide. Any step may follow any other, so a process may pause
 * between any two of its steps for any time, and may crash.
 *
 * Simplifications, and why they hide no error:
 *  - A refused caller has no place in a queue, and asks again at any time. The queue would only refuse more requests.
 *    The queue is in read-write-turns.
 *  - Time is in ticks: a lease lasts LEASE ticks at the server and for its holder, who counts from before the request
 *    was sent. Drift and margin are in `plain`.
 *  - Client 0 has two requests on their way, each for any time within LIFE (notAfterUs). Releases and renewals have no
 *    such limit. Its answers are late as well, or are lost. The requests of the others arrive at once, and their answers
 *    may be lost.
 *  - A name is used again only if no request in that name is on its way, so this is the same as a new name.
 *  - Bounded: TOP tokens, and one attempt of client 0. In part 2 an operator takes one hold by force. In part 3 the counter
 *    is evicted once, while no client asks to write: a first request that runs again after that has another token.
 *
 * Part 1 has a client that reads or writes, and reads while it writes, beside a reader and a writer. Part 2 has a client
 * that upgrades, a reader with the upgradable lock or without, a writer, and the operator. Part 3 has a client that
 * re-enters, and reads while it writes, beside a writer.
 *
 * Guards that can be left out, one -D for each:
 *   READS_BESIDE_WRITE   a reader is let in beside a writer (acquire-read)
 *   WRITES_BESIDE_READS  a writer is let in beside readers (acquire-write)
 *   UPGRADE_BESIDE_READS an upgrade does not wait for the other readers (acquire-write)
 *   TWO_UPGRADABLE       a second upgradable hold beside the first (acquire-read)
 *   DEAD_READER_HELD     a reader whose lease is over still has its field, and counts as a holder (acquire-read)
 *   NO_PROLONG           the expiry of the lock stays the expiry of the first reader (read-write-leases: prolong)
 *   RENEW_REVIVES        a late renewal takes a lock that was released (renew)
 *   DOWNGRADE_FREES      the release of the write lock deletes the lock, although its owner still reads (release)
 *   UPGRADE_OF_WHAT_IS_GONE  an upgrade does not need the upgradable lock (acquire-write)
 *   TOKEN_BEHIND_WRITE   the upgradable hold keeps the token that it had before its owner wrote (holds)
 *   NO_CLOCK_FLOOR       tokens begin again at 1 if the counter is lost (parts/token)
 *   READ_SETS_COUNTER    a writer that reads sets a lost counter above its own token (acquire-read)
 *   NO_NOT_AFTER         a request may run at any time (parts/late)
 *   SETTLE_EARLY         a caller that has left is settled by its first release (pending-releases)
 *   FROM_REPLY           a lease counts from its answer (request)
 *   BLIND_COUNTS         scripts add to a count or subtract from it (acquire-read, acquire-write, release)
 *   NO_TOKEN_CHECK       the operator takes any hold of the name, not only the hold that it saw (take-read-write)
 */
#include "common.h"

#define OWNERS 3
#define CLIENTS 1
#define LEASE 2
#define ALIVE 1
#define PHASE 0
#define LIFE 1
#define TOP 3
#ifndef PART
#define PART 1
#endif
#define TRIES 1

inline tell(m) { skip }
inline tellReaders() { skip }
#include "read-write-server.h"

/* The states of an owner, for reading and for writing. */
#define OUT 0
#define ASKS 1
#define HOLDS 2
#define LEAVES 3 /* releases in the background, until none of its requests can be on its way */
byte reading[OWNERS], writing[OWNERS];
byte readValid[OWNERS], writeValid[OWNERS];
byte readToken[OWNERS], writeToken[OWNERS];
byte readAsked[OWNERS], writeAsked[OWNERS]; /* ghost: the last token of a writer when it began to ask */
byte readWants, writeWants;                 /* the hold counts, as client 0 has them */
byte wrote[OWNERS];                         /* ghost: the token of its own last write */
byte since[OWNERS];                         /* ghost: the last token of a writer when it took the upgradable lock */
bool outside[OWNERS];                       /* ghost: taken by force, so no promise covers it */
byte tries, issued;
/* Two requests of client 0 on their way, or their answers. */
#define NONE 0
#define ACQUIRE_READ 1
#define ACQUIRE_WRITE 2
#define RELEASE_READ 3
#define RELEASE_WRITE 4
#define RENEW_READ 5
byte kind[2], wanted[2], life[2], worth[2], said[2], saidToken[2], under[2];
bool evicted, tookOne;
byte seenOwner, seenToken; /* what the operator has seen: a writer + 1, and its token */
byte c, q, s;
/* The actions at the end of a step: a request to send, a script to run, a hold that begins. */
byte sends, sendsWanted, script, owner, count, token, from, begins, beginsToken, beginsLeft;

#define validRead(o) (reading[o] == HOLDS && readValid[o] > 0 && !outside[o])
#define validWrite(o) (writing[o] == HOLDS && writeValid[o] > 0 && !outside[o])
#define keepsOutReader(o, p) ((o) != (p) && validWrite(o))
#define keepsOutWriter(o, p) ((o) != (p) && (validWrite(o) || validRead(o)))

/* No writer beside another writer, and no reader beside a writer of another owner. */
inline alone() {
	assert(!(validWrite(0) && (validWrite(1) || validWrite(2) || validRead(1) || validRead(2))));
	assert(!(validWrite(1) && (validWrite(2) || validRead(0) || validRead(2))));
	assert(!(validWrite(2) && (validRead(0) || validRead(1))));
	assert(!(validRead(0) && validRead(1) && upgradable[0] && upgradable[1]));
	/* A hold that is valid is held at the server, which would accept its release. */
	assert(!validRead(0) || (reads[0] > 0 && readTtl[0] > 0));
	assert(!validRead(1) || (reads[1] > 0 && readTtl[1] > 0));
	assert(!validWrite(0) || (writer == 1 && counter <= writeToken[0]));
	assert(!validWrite(2) || (writer == 3 && counter <= writeToken[2]))
}

#define upgrades(o) (PART == 2 && (o) == 0)
#define isOut(o) (reading[o] == OUT && writing[o] == OUT)

inline endsRead(o) {
	reading[o] = OUT; readValid[o] = 0; readToken[o] = 0; readAsked[o] = 0; since[o] = 0;
	if :: o == 0 -> readWants = 0 :: else fi;
	if :: isOut(o) -> outside[o] = 0; wrote[o] = 0 :: else fi
}

inline endsWrite(o) {
	writing[o] = OUT; writeValid[o] = 0; writeToken[o] = 0; writeAsked[o] = 0;
	if :: o == 0 -> writeWants = 0 :: else fi;
	if :: isOut(o) -> outside[o] = 0; wrote[o] = 0 :: else fi
}

inline clear(s) { kind[s] = NONE; wanted[s] = 0; life[s] = 0; worth[s] = 0; said[s] = 0; saidToken[s] = 0; under[s] = 0 }

inline swap(x, y) { s = x; x = y; y = s }

#define onWay(k) (kind[0] == k || kind[1] == k)
/* True if a request to acquire may run after a release that is sent now. */
#ifdef SETTLE_EARLY
#define comesBehind(k) 0
#elif defined(NO_NOT_AFTER)
#define comesBehind(k) ((kind[0] == k && life[0] > 0) || (kind[1] == k && life[1] > 0))
#else
#define comesBehind(k) ((kind[0] == k && said[0] == 0) || (kind[1] == k && said[1] == 0))
#endif

#define timers (lockTtl + readTtl[0] + readTtl[1] + readTtl[2] + readValid[0] + readValid[1] + readValid[2] \
	+ writeValid[0] + writeValid[1] + writeValid[2] + life[0] + life[1] + worth[0] + worth[1])

/* The steps of client 0: most of them send a request. */
inline client0() {
	if
	:: tries < TRIES && isOut(0) && !onWay(ACQUIRE_READ) && !onWay(ACQUIRE_WRITE) ->
		tries++;
		if
		:: reading[0] = ASKS; readAsked[0] = issued; upgradable[0] = upgrades(0); sends = ACQUIRE_READ; sendsWanted = 1
			printf("owner 0: asks to read\n")
		:: PART != 2 -> writing[0] = ASKS; writeAsked[0] = issued; sends = ACQUIRE_WRITE; sendsWanted = 1
			printf("owner 0: asks to write\n")
		fi
	:: PART != 2 && validWrite(0) && reading[0] == OUT && !onWay(ACQUIRE_READ) ->
		reading[0] = ASKS; readAsked[0] = issued; sends = ACQUIRE_READ; sendsWanted = 1; REACHED(6)
		printf("owner 0: asks to read as well\n")
	:: PART == 2 && validRead(0) && writing[0] == OUT && !onWay(ACQUIRE_WRITE) ->
		writing[0] = ASKS; writeAsked[0] = issued; sends = ACQUIRE_WRITE; sendsWanted = 1
		printf("owner 0: asks to upgrade\n")
	/* It asks again, or gives up. */
	:: reading[0] == ASKS && !onWay(ACQUIRE_READ) -> sends = ACQUIRE_READ; sendsWanted = 1; printf("owner 0: asks to read again\n")
	:: writing[0] == ASKS && !onWay(ACQUIRE_WRITE) -> sends = ACQUIRE_WRITE; sendsWanted = 1; printf("owner 0: asks to write again\n")
	:: reading[0] == ASKS -> reading[0] = LEAVES; printf("owner 0: gives up to read\n")
	:: writing[0] == ASKS -> writing[0] = LEAVES; printf("owner 0: gives up to write\n")
	/* It re-enters, and undoes that. */
	:: PART == 3 && validRead(0) && readWants == 1 && !onWay(ACQUIRE_READ) && !onWay(RELEASE_READ) ->
		readWants = 2; sends = ACQUIRE_READ; sendsWanted = 2; printf("owner 0: re-enters to read\n")
	:: PART == 3 && validRead(0) && readWants == 2 -> readWants = 1; sends = RELEASE_READ; sendsWanted = 1
		printf("owner 0: releases one of two\n")
	:: PART == 3 && validWrite(0) && writeWants == 1 && !onWay(ACQUIRE_WRITE) && !onWay(RELEASE_WRITE) ->
		writeWants = 2; sends = ACQUIRE_WRITE; sendsWanted = 2; printf("owner 0: re-enters to write\n"); REACHED(7)
	:: PART == 3 && validWrite(0) && writeWants == 2 -> writeWants = 1; sends = RELEASE_WRITE; sendsWanted = 1
		printf("owner 0: releases one of two\n")
	/* It renews. */
	:: PART == 1 && validRead(0) && !onWay(RENEW_READ) -> sends = RENEW_READ; printf("owner 0: renews its read lock\n")
	/* It releases a lock, or has lost it. An upgrade ends before the upgradable lock. */
	:: reading[0] == HOLDS && (readWants < 2 || readValid[0] == 0) && !(PART == 2 && writing[0] == HOLDS) ->
		reading[0] = LEAVES; readValid[0] = 0; printf("owner 0: reads no more\n");
		if :: PART == 2 && writing[0] == ASKS -> writing[0] = LEAVES :: else fi
	:: writing[0] == HOLDS && (writeWants < 2 || writeValid[0] == 0) ->
		writing[0] = LEAVES; writeValid[0] = 0; printf("owner 0: writes no more\n")
	/* Its release is repeated until no earlier request can arrive after it. A sent release may arrive at any time. */
	:: PART != 2 && reading[0] == LEAVES && !onWay(RELEASE_READ) -> sends = RELEASE_READ; sendsWanted = 0
	:: writing[0] == LEAVES && !onWay(RELEASE_WRITE) -> sends = RELEASE_WRITE; sendsWanted = 0
	:: reading[0] == LEAVES && (PART != 2 || writing[0] == OUT) -> script = RELEASE_READ; owner = 0
	:: writing[0] == LEAVES -> script = RELEASE_WRITE; owner = 0; token = writeToken[0]
	fi
}

/* Client 0 reads the answer in s. */
inline readsAnswer(s) {
	if
	:: kind[s] == ACQUIRE_READ && reading[0] == ASKS && said[s] == GRANTED && worth[s] > 0 ->
		readWants = 1; owner = 0; begins = READS; beginsToken = saidToken[s]; beginsLeft = worth[s]
	/* A caller whose upgradable lock is over gets no lock to write. */
	:: kind[s] == ACQUIRE_WRITE && writing[0] == ASKS && said[s] == GRANTED && worth[s] > 0 &&
	   (PART != 2 || (reading[0] == HOLDS && readValid[0] > 0)) ->
		writeWants = 1; owner = 0; begins = WRITES; beginsToken = saidToken[s]; beginsLeft = worth[s]
	:: kind[s] == ACQUIRE_WRITE && writing[0] == ASKS && said[s] == GONE ->
		writing[0] = LEAVES; readValid[0] = 0; REACHED(8)
	:: (kind[s] == ACQUIRE_READ || kind[s] == RENEW_READ) && reading[0] == HOLDS && said[s] == GRANTED && readValid[0] > 0 ->
		if :: worth[s] > readValid[0] -> readValid[0] = worth[s] :: else fi;
		if :: saidToken[s] > readToken[0] -> readToken[0] = saidToken[s] :: else fi
	:: kind[s] == ACQUIRE_WRITE && writing[0] == HOLDS && said[s] == GRANTED && writeValid[0] > 0 ->
		if :: worth[s] > writeValid[0] -> writeValid[0] = worth[s] :: else fi
	:: else
	fi;
	clear(s)
}

/* The others, whose requests arrive at once: 1 reads, maybe by the upgradable lock; 2 writes. */
inline others() {
	if :: PART != 3 -> owner = 1 :: owner = 2 fi;
	if
	:: PART != 3 && owner == 1 && reading[1] == OUT && writing[1] == OUT -> reading[1] = ASKS; readAsked[1] = issued;
		script = ACQUIRE_READ;
		if :: PART == 2 -> upgradable[1] = 1 :: upgradable[1] = 0 fi
	:: reading[owner] == ASKS -> script = ACQUIRE_READ
	:: owner == 2 && writing[owner] == OUT -> writing[owner] = ASKS; writeAsked[owner] = issued;
		script = ACQUIRE_WRITE
	:: writing[owner] == ASKS -> script = ACQUIRE_WRITE
	:: PART == 2 && reading[owner] == HOLDS && readValid[owner] > 0 -> script = RENEW_READ
	:: writing[owner] > OUT -> script = RELEASE_WRITE; token = writeToken[owner]
	:: reading[owner] > OUT -> script = RELEASE_READ
	fi;
	count = (script <= ACQUIRE_WRITE -> 1 : 0)
}

/* Removes answers, and requests that can find no hold, because their name is no longer used. */
inline forgets(acquire, release, renew) {
	for (s : 0 .. 1) {
		if
		:: (kind[s] == acquire && said[s] > 0) || kind[s] == release -> clear(s)
#ifndef RENEW_REVIVES
		:: kind[s] == renew -> clear(s)
#endif
		:: else
		fi
	}
	s = 0
}

/* Handles an answer for the owners whose requests arrive at once, and for a release that client 0 repeats. */
inline heard(o) {
	if
	:: script == RELEASE_READ ->
		/* A hold that is valid is held at the server too. */
		assert(!validRead(o) || answer == FREED);
		if
		:: o != 0 || !comesBehind(ACQUIRE_READ) -> endsRead(o); printf("owner %d: has released its read lock\n", o);
			if
			:: o == 0 -> forgets(ACQUIRE_READ, RELEASE_READ, RENEW_READ); REACHED(9)
			:: else
			fi
		:: else
		fi
	:: script == RELEASE_WRITE ->
		assert(!validWrite(o) || answer == FREED);
		if
		:: o != 0 || !comesBehind(ACQUIRE_WRITE) -> endsWrite(o); printf("owner %d: has released its write lock\n", o);
			if
			:: o == 0 -> forgets(ACQUIRE_WRITE, RELEASE_WRITE, NONE)
			:: else
			fi
		:: else
		fi
	:: script == RENEW_READ ->
		if
		:: answer == GRANTED -> readValid[o] = LEASE; printf("owner %d: has renewed its read lock\n", o); REACHED(10)
		:: else -> assert(outside[o]); readValid[o] = 0
		fi
	:: answer == GRANTED && script == ACQUIRE_READ -> begins = READS; beginsToken = answerToken; beginsLeft = LEASE
	:: answer == GRANTED && script == ACQUIRE_WRITE ->
		begins = WRITES; beginsToken = answerToken; beginsLeft = LEASE
	:: answer == GRANTED -> printf("          the answer to owner %d is lost\n", o)
	:: else
	fi
}

active proctype world() {
	do
	:: atomic {
		if
		:: client0()
		/* A request of client 0 reaches the server, or is lost. */
		:: if :: kind[0] != NONE && said[0] == 0 -> from = 1 :: kind[1] != NONE && said[1] == 0 -> from = 2 fi;
			script = kind[from - 1]; owner = 0; count = wanted[from - 1]; token = under[from - 1]
		/* Its answer is read. */
		:: if :: said[0] > 0 -> s = 0 :: said[1] > 0 -> s = 1 fi;
			readsAnswer(s); s = 0
		:: others()
		/* The counter is evicted. */
		:: PART == 3 && !evicted && counter > 0 && writing[0] != ASKS && !onWay(ACQUIRE_WRITE) -> evicted = 1; counter = 0; REACHED(11)
			printf("          server: the counter is LOST\n")
		/* An operator sees a writer, and takes the lock from it later; or takes it from a reader. */
		:: PART == 2 && !tookOne && seenOwner == 0 && writer > 0 -> seenOwner = writer; seenToken = counter
			printf("          the operator sees the writer %d, token %d\n", writer - 1, counter)
		:: PART == 2 && !tookOne && seenOwner > 0 -> tookOne = 1; owner = seenOwner - 1; token = seenToken; script = RELEASE_WRITE; from = 3
		:: PART == 2 && !tookOne && seenOwner == 0 && reads[0] > 0 && mode == READS -> tookOne = 1; script = RELEASE_READ; owner = 0; from = 3
		:: timers > 0 ->
			d_step { printf("-- time passes\n");
			leasesTick();
			for (q : 0 .. 2) { down(readValid[q]); down(writeValid[q]) }
			for (q : 0 .. 1) {
#ifndef FROM_REPLY
				down(worth[q]);
#endif
#ifndef NO_NOT_AFTER
				if :: (life[q] == 1 && said[q] == 0) || (said[q] == GRANTED && worth[q] == 0) -> clear(q) :: else -> down(life[q]) fi
#else
				down(life[q])
#endif
			}
			q = 0 }
		fi;

		/* Sends a request. If two requests are already on their way, one of them is lost. */
		if
		:: sends != NONE ->
			if
			:: kind[0] == NONE -> s = 0
			:: kind[0] != NONE && kind[1] == NONE -> s = 1
			:: kind[0] != NONE && kind[1] != NONE -> s = 0
			:: kind[0] != NONE && kind[1] != NONE -> s = 1
			fi;
			clear(s); kind[s] = sends; wanted[s] = sendsWanted;
			if :: sends <= ACQUIRE_WRITE || sendsWanted > 0 -> life[s] = LIFE :: else fi;
			if :: sends == RELEASE_WRITE -> under[s] = writeToken[0] :: else fi;
			if :: sends == RELEASE_WRITE || sends == RELEASE_READ -> skip :: else -> worth[s] = LEASE fi;
			s = 0; sends = NONE; sendsWanted = 0
		:: else
		fi;

		/* The server runs a script. */
		d_step {
		if
		:: script == ACQUIRE_READ && highest < TOP -> acquireRead(owner, 0, 0, 1, count)
		:: script == ACQUIRE_WRITE && highest < TOP -> acquireWrite(owner, 0, 0, upgrades(owner), count)
		:: script == RELEASE_READ -> releaseRead(owner, 0, 0, count)
		:: script == RELEASE_WRITE -> releaseWrite(owner, 0, 0, token, count)
		:: script == RENEW_READ -> renewRead(owner)
		:: else -> script = NONE
		fi
		};
		/* A script makes a hold only for a caller that wants the hold, or that will release it. */
		assert(!(isNew && (script == ACQUIRE_READ || script == RENEW_READ) && reading[owner] == OUT));
		assert(!(isNew && script == ACQUIRE_WRITE && writing[owner] == OUT));
		if
		:: script == NONE
		/* An answer to client 0 is on its way, or is lost. An answer that client 0 would ignore counts as lost. */
		:: script != NONE && (from == 1 || from == 2) ->
			if
			:: (answer == GRANTED && worth[from - 1] > 0) || (answer == GONE && script == ACQUIRE_WRITE) ->
				said[from - 1] = answer; saidToken[from - 1] = answerToken; life[from - 1] = 0; under[from - 1] = 0; wanted[from - 1] = 0
			:: answer == GRANTED && worth[from - 1] > 0 -> printf("          the answer to owner 0 is lost\n"); clear(from - 1)
			:: else -> clear(from - 1)
			fi
		:: script != NONE && from == 3 ->
			if
			:: answer == FREED -> REACHED(12)
				printf("          the operator has taken the lock from owner %d\n", owner);
				/* Only the hold that was seen is taken. */
				assert(!(script == RELEASE_WRITE && writing[owner] == HOLDS && writeToken[owner] > seenToken));
				outside[owner] = !isOut(owner)
			:: else
			fi;
			seenOwner = 0; seenToken = 0
		:: script != NONE && from == 0 -> heard(owner)
		fi;

		/* A hold begins. */
		d_step {
		if
		:: begins == READS ->
			reading[owner] = HOLDS; readValid[owner] = beginsLeft; readToken[owner] = beginsToken;
			printf("owner %d: READS, token %d\n", owner, beginsToken); REACHED(1)
			/* Its token is not below the token of an earlier writer, and not below the token of its own last write. */
			assert(beginsToken >= readAsked[owner]);
			assert(beginsToken >= wrote[owner]);
			if :: upgrades(owner) -> since[owner] = issued; REACHED(2) :: else fi;
			if :: writing[owner] == HOLDS -> REACHED(5) :: else fi
		:: begins == WRITES ->
			writing[owner] = HOLDS; writeValid[owner] = beginsLeft; writeToken[owner] = beginsToken;
			printf("owner %d: WRITES, token %d\n", owner, beginsToken); REACHED(3)
			/* Its token is above all tokens of writers from before its request. */
			assert(beginsToken > writeAsked[owner]);
			if
			/* No other owner has written since it took the upgradable lock. */
			:: upgrades(owner) -> assert(issued == since[owner]); since[owner] = beginsToken; REACHED(4)
			:: else
			fi;
			if :: beginsToken > issued -> issued = beginsToken :: else fi;
			wrote[owner] = beginsToken;
#ifndef TOKEN_BEHIND_WRITE
			if :: reading[owner] == HOLDS && readToken[owner] < beginsToken -> readToken[owner] = beginsToken :: else fi;
#endif
			/* From now on, its read hold has no lower token. */
			assert(!(validRead(owner) && readToken[owner] < beginsToken))
		:: else
		fi;
		alone();
		/* The order in which the model stores the two requests makes no difference. */
		if
		:: kind[0] < kind[1] || (kind[0] == kind[1] && said[0] < said[1]) ->
			swap(kind[0], kind[1]); swap(wanted[0], wanted[1]); swap(life[0], life[1]); swap(worth[0], worth[1]); swap(said[0], said[1]); swap(saidToken[0], saidToken[1]); swap(under[0], under[1]); s = 0
		:: else
		fi;
		script = NONE; owner = 0; count = 0; token = 0; from = 0; begins = 0; beginsToken = 0; beginsLeft = 0;
		answer = 0; answerToken = 0; isNew = 0;
		/* All leases are over: nothing is left. */
		assert(timers > 0 || mode == 0)
		}
	}
	od
}
