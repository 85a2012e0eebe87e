/*
 * Runs of the fair lock: consecutive places of one client, which the client serves without a request between them.
 *
 * Stands for    lua/fair/release with `most` and `served`; lua/parts/queue: runs; src/locks/fair: fair-run, fair-queue,
 *               place, confirm-grant; src/local: passed-on, release.
 *
 * Client A has the places 0 to 3, client B has the place 4. The place 0 has the lock first. The other places join in
 * any order. Late requests, proofs of messages, heartbeats and a crash are in `fair.pml`. Each option of the loop is
 * one step that nothing can divide. Any may follow any other, so a process may pause between any two of its steps for
 * any time.
 *
 * Simplifications, and why they hide no error:
 *  - B reads its grants at once and never waits for an answer. Late steps of a waiter are in `fair.pml`.
 *  - A message to A is read while its claim window surely lasts, or never. The message lists the run behind the place.
 *  - Calls in one turn of the event loop join one after another. This is one of the orders in which places join here.
 *  - A release of A arrives or not, its answer is read or not, and a copy of it may arrive at any later time.
 *  - The confirmation of a grant is on its way for any time, and its answer is read or lost.
 *  - Time is in ticks: a claim window lasts CLAIM ticks, a lease LEASE ticks. A holder relies on one tick less of each.
 *  - If force ends a hold of A, A may not know this. Then A and B may both work, and the tokens of B are higher. So the
 *    model checks no exclusion and no order for a hold that was taken by force (`outside`).
 *  - Bounded: TOP tokens, one force.
 *
 * Guards that can be left out, one -D for each:
 *   NO_RESERVE   the tokens of a run are not reserved
 *   NO_SERVED    a release does not remove the places that were served in the run
 *   ANY_PLACE    the lock is passed on to any place of the client, not only to the places of the run
 *   RUN_OVER_B   a run goes on behind the place of the other client
 *   OLD_RUN      the client keeps the run of the first message to a place, and takes the token of a later message
 *   NO_PROOF     the lock is passed on although the lease may be over
 *   NEW_PROOF    the next holder counts its lease from the hand-over
 *   OWN_ID       the last of the run releases under its own name
 *   OWN_TOKEN    the last of the run releases with its own token instead of the last token of the run
 */
#include "common.h"

#define N 5
#define B 4
#define CLAIM 2
#define LEASE 3
#define SURE 1
#define VALID 2
#define TOP 9

#define OUT 0
#define QUEUES 1
#define HOLDS 2
#define DONE 3

/* The server. The place p is the owner p + 1; 0: no owner. */
byte owner, ttl, counter, tickets;
byte ticket[N];

byte state[N], mine[N]; /* its ticket, which it keeps */
byte inbox[B], proof[B];
byte rest[B];           /* the run in the message: a bit for each place */
bool leaves[B];         /* its place or grant is to be taken back in the background */
bool inRun[B], served[B];
/* The hold of client A: its place, the place whose name it has in Redis, and its tokens. */
byte holder, id, token, last, valid;
bool outside;
byte confirms, worth;   /* the name in a confirmation on its way, and the validity that its answer gives */
byte copyId, copyToken; /* a release that may arrive once more */
bool copyServed[B];
byte bValid;
byte issued;            /* ghost: the highest token of a hold */
bool overtaken[N];      /* ghost: its grant ended unread */
bool forces;
bool next[B];
byte i, p, head, more, t;

#define exclusive() assert(!(holder != 0 && valid > 0 && !outside && bValid > 0))

inline findHead() {
	head = 0;
	for (i : 0 .. B) {
		if :: ticket[i] > 0 && (head == 0 || ticket[i] < ticket[head - 1]) -> head = i + 1 :: else fi
	}
	i = 0
}

inline ends(x) { state[x] = DONE; mine[x] = 0; overtaken[x] = 0; inbox[x] = 0; proof[x] = 0; rest[x] = 0 }

inline endRun() { inRun[0] = 0; inRun[1] = 0; inRun[2] = 0; inRun[3] = 0 }

#define bits (next[0] + 2 * next[1] + 4 * next[2] + 8 * next[3])
#define has(x, place) ((x >> place) & 1)
#define count(x) (has(x, 0) + has(x, 1) + has(x, 2) + has(x, 3))

#ifdef RUN_OVER_B
#define beforeB(x) true
#else
#define beforeB(x) (ticket[B] == 0 || ticket[x] < ticket[B])
#endif
#ifdef OLD_RUN
#define RUN_IN_MESSAGE (rest[head - 1] > 0 -> rest[head - 1] : bits)
#else
#define RUN_IN_MESSAGE bits
#endif

/* A place of client A begins to hold: x is its place, under the name of y. */
inline begin(x, y, first, final, left) {
	if :: holder != 0 && holder != x + 1 -> ends(holder - 1) :: else fi;
	mine[x] = 0; overtaken[x] = 0;
	holder = x + 1; id = y; state[x] = HOLDS; token = first; last = final; valid = left; inbox[x] = 0; proof[x] = 0; rest[x] = 0;
	assert(outside || first > issued);
	if :: first > issued -> issued = first :: else fi;
	exclusive()
}

inline forget() { holder = 0; id = 0; token = 0; last = 0; valid = 0; outside = 0; endRun() }

/*
 * The first of the queue gets the lock for its claim window. A grant to A also has the next places of A, up to the
 * place of B, and reserves their tokens. With `answers`, the grant is the answer to a release of A. Otherwise it is a
 * message.
 */
inline grantNext(answers) {
	findHead();
	if
	:: head == 0 || counter + N > TOP -> owner = 0; ttl = 0
	:: else ->
		/* A release of A says which of its places are served. */
		assert(!(answers && head <= B && served[head - 1]));
		ticket[head - 1] = 0; owner = head; ttl = CLAIM; overtaken[head - 1] = 0; more = 0;
		for (i : 0 .. 3) {
			next[i] = (head <= B && ticket[i] > 0 && beforeB(i));
			more = more + next[i]
		}
		i = 0; t = counter + 1;
#ifdef NO_RESERVE
		counter = t;
#else
		counter = t + more;
#endif
		if
		:: head == B + 1 ->
			printf("client B: HOLDS the lock, token %d\n", counter);
			state[B] = HOLDS; ttl = LEASE; bValid = VALID; assert(counter > issued); issued = counter; exclusive()
		:: head <= B ->
			if
			:: answers && state[head - 1] == QUEUES ->
				printf("client A: place %d HOLDS the lock, token %d, and %d may follow\n", head - 1, t, more);
				outside = 0; endRun();
				for (i : 0 .. 3) { inRun[i] = next[i] }
				i = 0; begin(head - 1, head, t, t + more, SURE); REACHED(1)
			:: !answers && state[head - 1] == QUEUES ->
				inbox[head - 1] = counter; proof[head - 1] = SURE; rest[head - 1] = RUN_IN_MESSAGE
			:: printf("          the grant to place %d is not heard of\n", head - 1); REACHED(2)
			fi
		fi
	fi;
	head = 0; t = 0; more = 0; next[0] = 0; next[1] = 0; next[2] = 0; next[3] = 0
}

/* A claim window or a lease ends, or force takes the lock. */
inline endOwner() {
	if :: owner != 0 && state[owner - 1] == QUEUES -> overtaken[owner - 1] = 1 :: else fi;
	owner = 0; ttl = 0
}

#ifdef OWN_ID
#define NAME holder
#else
#define NAME id
#endif
#ifdef OWN_TOKEN
#define UNDER token
#else
#define UNDER last
#endif

#ifdef NO_PROOF
#define PROVED true
#else
#define PROVED (valid > 0)
#endif
#ifdef ANY_PLACE
#define FOLLOWS(x) true
#else
#define FOLLOWS(x) inRun[x]
#endif

#define isBefore(x, y) (inRun[x] && state[x] == QUEUES && mine[x] < mine[y])

#define timers (ttl + valid + bValid + proof[0] + proof[1] + proof[2] + proof[3] + worth)
#define over(x) (state[x] == DONE)

inline down(x) { x = (x > 0 -> x - 1 : 0) }

active proctype world() {
	do
	/* It asks for the first time. */
	:: atomic { if :: p = 0 :: p = 1 :: p = 2 :: p = 3 :: p = B fi;
		if
		:: state[p] == OUT && (p == 0 || state[0] != OUT) && (p < 2 || p == B || state[p - 1] != OUT) ->
			findHead(); tickets++; mine[p] = tickets;
			if
			:: owner == 0 && head == 0 && counter < TOP ->
				counter++; owner = p + 1; ttl = LEASE; printf("place %d: HOLDS the lock at once, token %d\n", p, counter);
				if
				:: p == B -> state[B] = HOLDS; bValid = VALID; assert(counter > issued); issued = counter; exclusive()
				:: else -> outside = 0; endRun(); begin(p, p + 1, counter, counter, VALID)
				fi
			:: else -> ticket[p] = tickets; state[p] = QUEUES; printf("place %d: queues\n", p)
			fi; head = 0
		/* It asks again: its request finds its grant, puts its place back, and moves the queue on. */
		:: state[p] == QUEUES && owner == p + 1 && p != B ->
			ttl = LEASE; outside = 0; endRun(); printf("place %d: finds that it HOLDS the lock, token %d\n", p, counter);
			begin(p, p + 1, counter, counter, VALID); REACHED(3)
		:: state[p] == QUEUES && owner == 0 ->
			ticket[p] = mine[p]; grantNext(false)
		:: p != B && state[p] == QUEUES && inbox[p] > 0 && proof[p] > 0 ->
			t = inbox[p]; more = count(rest[p]); outside = (owner != p + 1 || counter != t);
			for (i : 0 .. 3) { inRun[i] = has(rest[p], i) }
			i = 0; printf("place %d: HOLDS the lock by a message, token %d, and %d may follow\n", p, t - more, more);
			if :: more > 0 -> skip; REACHED(14) :: else fi;
			begin(p, p + 1, t - more, t, SURE); t = 0; more = 0
		/* Its wait ends. */
		:: p != B && state[p] == QUEUES ->
			ends(p); leaves[p] = 1; printf("place %d: gives up waiting\n", p); REACHED(4)
		:: p != B && leaves[p] ->
			leaves[p] = 0; ticket[p] = 0;
			if :: owner == p + 1 -> grantNext(false) :: else fi
		/* A grant to a place that has left or was served is passed on. */
		:: p != B && state[p] == DONE && owner == p + 1 && id != p + 1 ->
			printf("place %d: refuses a grant\n", p); grantNext(false); REACHED(5)
		:: else
		fi; p = 0 }

	/* The hold of client A is passed on inside the client, to the next of the run. */
	:: atomic { holder != 0 && token < last && PROVED ->
		if :: p = 1 :: p = 2 :: p = 3 fi;
		if
		:: state[p] == QUEUES && FOLLOWS(p) && !isBefore(1, p) && !isBefore(2, p) && !isBefore(3, p) ->
			printf("client A: passes the lock on to place %d, token %d\n", p, token + 1);
			/* First come, first served. */
			for (i : 0 .. B) { assert(outside || !(state[i] == QUEUES && !overtaken[i] && mine[i] < mine[p])) }
			i = 0; ends(holder - 1); served[p] = 1; t = token + 1;
#ifdef NO_PROOF
			valid = (valid == 0 -> 1 : valid);
#endif
#ifdef NEW_PROOF
			valid = VALID;
#endif
			begin(p, id, t, last, valid); t = 0; REACHED(6)
		:: else
		fi; p = 0 }

	/* Its release. */
	:: atomic { holder != 0 ->
		printf("client A: place %d releases the lock of place %d\n", holder - 1, NAME - 1);
		ends(holder - 1); copyId = NAME; copyToken = UNDER;
#ifndef NO_SERVED
		copyServed[1] = served[1]; copyServed[2] = served[2]; copyServed[3] = served[3];
#endif
		if
		:: /* It arrives. */
			for (i : 0 .. 3) { if :: copyServed[i] -> ticket[i] = 0 :: else fi }
			i = 0;
			if
			:: owner == copyId && counter == copyToken -> forget(); grantNext(true); REACHED(7)
			:: else ->
				/* The release finds a hold that is valid. */
				assert(valid == 0 || outside); forget()
			fi;
			served[1] = 0; served[2] = 0; served[3] = 0
		:: /* It is lost, or arrives later. */
			forget(); REACHED(8)
		fi }
	:: atomic { copyId != 0 ->
		printf("          a release of place %d arrives\n", copyId - 1);
		for (i : 0 .. 3) { if :: copyServed[i] -> ticket[i] = 0 :: else fi; copyServed[i] = 0 }
		i = 0;
		if :: owner == copyId && counter == copyToken -> grantNext(false); REACHED(9) :: else fi;
		copyId = 0; copyToken = 0 }
	/* It is lost, and settled in the background. */
	:: atomic { holder != 0 && valid == 0 ->
		printf("client A: place %d has lost the lock\n", holder - 1); REACHED(10)
		ends(holder - 1); t = id; forget();
		if :: owner == t -> grantNext(false) :: skip fi; t = 0 }

	/* Its confirmation, for the name in Redis. So it counts for the place that has the hold when the answer comes. */
	:: atomic { holder != 0 && valid > 0 && confirms == 0 -> confirms = id; worth = VALID }
	:: atomic { confirms != 0 ->
		if
		:: owner == confirms ->
			ttl = LEASE;
			if
			:: holder != 0 && id == confirms && valid > 0 && worth > valid -> valid = worth; exclusive(); REACHED(11)
			:: skip
			fi
		:: else ->
			if
			:: holder != 0 && id == confirms -> valid = 0; outside = 0; REACHED(12)
			:: skip
			fi
		fi; confirms = 0; worth = 0 }

	:: atomic { state[B] == HOLDS ->
		printf("client B: releases it\n"); state[B] = DONE; mine[B] = 0; bValid = 0;
		if :: owner == B + 1 -> grantNext(false) :: else fi }

	:: atomic { !forces && owner != 0 ->
		forces = 1; printf("          the lock is taken from place %d by force\n", owner - 1); REACHED(13)
		if :: owner == B + 1 -> state[B] = DONE; bValid = 0 :: id == owner -> outside = 1 :: else fi;
		endOwner() }

	:: atomic { timers > 0 ->
		printf("-- time passes\n");
		if :: ttl == 1 -> endOwner(); printf("          the lock is free, its time is over\n") :: else -> down(ttl) fi;
		down(valid); down(bValid); down(worth); down(proof[0]); down(proof[1]); down(proof[2]); down(proof[3]) }

	:: atomic { over(0) && over(1) && over(2) && over(3) && over(B) && holder == 0 && copyId == 0 -> break }
	od
}
