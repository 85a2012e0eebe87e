/*
 * The fair lock: a queue in Redis, grants to its head, heartbeats; three waiters and a plain client.
 *
 * Stands for    lua/fair/acquire, heartbeat, release; lua/lock/renew; lua/parts/queue;
 *               src/locks/fair: fair-queue, place, heartbeat; src/servers/pending-releases.
 *
 * Each option of the loop is one step that nothing can divide; any may follow any other, so a process may
 * pause between any two of its steps for any time.
 *
 * Simplifications, and why they hide no error:
 *  - Time is in ticks: a claim window is CLAIM ticks, a lease LEASE, a place ALIVE after a heartbeat. A
 *    waiter relies on a grant for CLAIM - 1, as with any lease.
 *  - A request to acquire or a heartbeat is on its way for any time within LIFE (notAfterUs). Its answer is read at
 *    once or lost. The waiter counts from before the request was sent, so a late answer is like an early request.
 *  - Each client has one waiter, with one attempt at a time under a name that is not used again. A waiter that leaves
 *    repeats its release in the background, until no earlier request can arrive after it.
 *  - Requests of waiter 0 may be late. Requests of the other waiters arrive at once, and their answers may be lost. A
 *    late request finds another state of the server, but this state may also change before a request is sent.
 *  - Messages of grants are lost, or wait unread for any time. If a client no longer listens to its inbox, the server
 *    may know this (PUBSUB NUMSUB). If the process of the client is frozen, the server does not know it.
 *  - Waiter 1 may crash. A crash of another waiter is an endless pause, which every step allows.
 *  - Bounded: TOP tokens, and one flush, which also loses the counter.
 *
 * Guards that can be left out, one -D for each:
 *   NO_PROOF        a waiter acts on any message of a grant
 *   PROOF_BY_ARRIVAL  a waiter counts the claim window from the arrival of the message
 *   NO_TOKEN_TEST   a waiter does not compare the token of the message with the token of its last answer
 *   NO_UNKNOWN_TEST a waiter treats a lost last token as a low token
 *   NO_CLAIM_WINDOW a grant that the waiter does not confirm never ends
 *   NO_PUT_BACK     a heartbeat does not put back a place that is missing
 *   NO_REFUSE       a waiter that has left does not refuse a grant, and does not release
 *   NO_NOT_AFTER    a heartbeat may run at any time
 *   NEW_TICKET      a place is put back with a new ticket, at the end
 *   FREE_FIRST      a free lock goes to the next waiter that asks, not to the first waiter in the queue
 */
#include "common.h"

#define N 3
#define CLAIM 2
#define LEASE 3
#define ALIVE 2
#define LIFE 2
#define SURE 1 /* a claim window minus drift and margin */
#define VALID 2
#ifndef TOP
#define TOP 3
#endif
#ifndef PART
#define PART 1
#endif
/* Part 1 has two waiters, late requests, faults and the plain client; part 2 three waiters. */
#define WITH_PLAIN (PART == 1)
#define WITH_FAULTS (PART == 1)

#ifdef NO_UNKNOWN_TEST
#define UNKNOWN 1
#else
#define UNKNOWN 0
#endif
#ifdef NO_CLAIM_WINDOW
#define CLAIM_TTL 0
#else
#define CLAIM_TTL CLAIM
#endif
#define OUT 0
#define QUEUES 1
#define HOLDS 2
#define DONE 3
#define DEAD 4
#define PLAIN 4 /* the plain client as owner; waiter c is the owner c + 1; 0: no owner */

/* The server. */
byte owner, ttl, counter;
byte ticket[N];  /* the place in the queue, 0 for none */
byte alive[N];   /* ticks until the client counts as dead */
byte tickets;

byte state[N], mine[N];     /* its ticket, as the client knows it */
byte proof[N];              /* ticks for which its last answer "still queued" is a proof */
byte seen[N];               /* the last token in that answer; 0: unknown */
bool asks[N], beats[N];     /* a request on its way, for life[] ticks */
byte life[N], worth[N];     /* and the ticks of proof that its answer gives */
byte inbox[N];              /* the token of a grant in an unread message */
byte valid[N], token[N];
bool leaves[N];             /* its place or grant is to be taken back */
bool deaf[N];               /* its client does not listen to the inbox, and the server knows this */
byte holder, plainValid;    /* the plain client */
byte issued; /* ghost: the token of the last hold */
bool flushes, crashed, lost; /* lost: the last token is not known to the server */
bool overtaken[N];          /* ghost: was passed over, or lost its place with a flush */
byte c, d, i, t, head, asker;

#define valids(c) (state[c] == HOLDS && valid[c] > 0)
#define isAlive(c) (alive[c] > 0 && !deaf[c])

inline alone(c) {
	assert(!((c != 0 && valids(0)) || (c != 1 && valids(1)) || (c != 2 && valids(2)) || (c != 3 && plainValid > 0)))
}

inline clearLeft(c) { mine[c] = 0; proof[c] = 0; seen[c] = 0; inbox[c] = 0; token[c] = 0; valid[c] = 0 }

inline begin(c, tok, left) {
	state[c] = HOLDS; token[c] = tok; valid[c] = left;
	proof[c] = 0; seen[c] = 0; inbox[c] = 0; mine[c] = 0; asks[c] = 0; beats[c] = 0; life[c] = 0; worth[c] = 0;
	assert(tok > issued); issued = tok; alone(c);
	REACHED(1)
}

/* The first in the queue; 0: the queue is empty. */
inline findHead() {
	head = 0;
	for (i : 0 .. 2) {
		if :: ticket[i] > 0 && (head == 0 || ticket[i] < ticket[head - 1]) -> head = i + 1 :: else fi
	}
	i = 0
}

/* A free or released lock goes to the first live waiter. If no waiter is alive, it goes to the asker. */
inline grantNext() {
	if
	:: counter < TOP ->
		do
		:: true ->
			findHead();
#ifdef FREE_FIRST
			if :: asker != 0 -> head = 0 :: else fi;
#endif
			if
			:: head == 0 -> break
			:: head != 0 && (head == asker || isAlive(head - 1)) -> break
			:: else -> ticket[head - 1] = 0; overtaken[head - 1] = 1; REACHED(2)
				printf("          server: waiter %d is passed over\n", head - 1)
			fi
		od;
		if
		:: head == 0 && asker != 0 -> head = asker
		:: else
		fi;
		if
		:: head != 0 ->
			t = (mine[head - 1] > 0 -> mine[head - 1] : (ticket[head - 1] > 0 -> ticket[head - 1] : 255));
			/* First come, first served, among the live waiters. */
			for (i : 0 .. 2) {
				assert(!(state[i] == QUEUES && mine[i] > 0 && i != head - 1 && !overtaken[i] && mine[i] < t && isAlive(i)))
			}
			i = 0; t = 0; overtaken[head - 1] = 0;
			/* No grant goes to a waiter that has left completely. */
			assert(!(state[head - 1] == DONE && !leaves[head - 1]));
			counter++; lost = 0; owner = head; ticket[head - 1] = 0;
			ttl = (head == asker -> LEASE : CLAIM_TTL);
			if
			:: head == asker
			:: head != asker ->
				printf("          server: granted to waiter %d, token %d\n", head - 1, counter); REACHED(3)
				if
				:: inbox[head - 1] = counter
				:: printf("          its message is lost\n")
				fi
			fi
		:: else -> owner = 0; ttl = 0
		fi
	:: else -> owner = 0; ttl = 0
	fi;
	head = 0
}

/* The script `fair/acquire`. */
inline acquireFair(c) {
	if
	:: owner == c + 1 -> ttl = (ttl < LEASE -> LEASE : ttl)
	:: else ->
		if :: owner == 0 && counter < TOP -> asker = c + 1; grantNext(); asker = 0 :: else fi;
		if
		:: owner != c + 1 ->
			if
			:: ticket[c] == 0 && tickets < 4 ->
				if :: mine[c] == 0 -> tickets++; ticket[c] = tickets :: else -> ticket[c] = mine[c] fi
			:: else
			fi;
			alive[c] = ALIVE
		:: else
		fi
	fi
}

/* The script `fair/heartbeat`, for the place of this client. */
inline beat(c) {
	alive[c] = ALIVE;
	if
#ifndef NO_PUT_BACK
#ifdef NEW_TICKET
	:: owner != c + 1 && ticket[c] == 0 && tickets < 4 -> tickets++; ticket[c] = tickets; overtaken[c] = 0; REACHED(4)
#else
	:: owner != c + 1 && ticket[c] == 0 -> ticket[c] = mine[c]; overtaken[c] = 0; REACHED(4)
#endif
#endif
	:: else
	fi;
	if :: owner == 0 -> grantNext() :: else fi
}

/* A request reaches the server, and its answer is read, or lost. */
inline arrives(c) {
	if
		:: asks[c] ->
			acquireFair(c);
			if
			:: state[c] == QUEUES && !leaves[c] ->
				if
				:: owner == c + 1 && worth[c] > 0 -> t = counter;
					printf("waiter %d: HOLDS the lock by an answer, token %d\n", c, counter);
					begin(c, t, worth[c] + 1); t = 0; REACHED(5)
				:: owner != c + 1 ->
					if :: mine[c] == 0 -> mine[c] = ticket[c] :: else fi;
					if :: worth[c] > proof[c] -> proof[c] = worth[c] :: else fi;
					seen[c] = (lost -> UNKNOWN : counter)
				:: printf("          the answer to waiter %d is lost\n", c)
				fi
			:: else
			fi;
			asks[c] = 0; life[c] = 0; worth[c] = 0
		:: else ->
			beat(c);
			if
			:: state[c] == QUEUES && !leaves[c] ->
				if
				:: owner != c + 1 ->
					/* It has a place, or the lock. */
					assert(ticket[c] > 0);
					if :: worth[c] > proof[c] -> proof[c] = worth[c] :: else fi;
					seen[c] = (lost -> UNKNOWN : counter)
				:: owner == c + 1 -> inbox[c] = counter; REACHED(6)
				:: printf("          the answer to waiter %d is lost\n", c)
				fi
			:: else
			fi;
			beats[c] = 0; life[c] = 0; worth[c] = 0
	fi
}

inline down(x) { x = (x > 0 -> x - 1 : 0) }

#define timers (ttl + plainValid + alive[0] + alive[1] + alive[2] + proof[0] + proof[1] + proof[2] \
	+ valid[0] + valid[1] + valid[2] + life[0] + life[1] + life[2] + worth[0] + worth[1] + worth[2])

#define over(c) (state[c] == DONE || state[c] == DEAD)

active proctype world() {
	state[2] = (PART == 1 -> DONE : OUT);
	do
	:: atomic { if :: c = 0 :: c = 1 :: c = 2 fi;
		if
		/* It asks, or sends a heartbeat if it has a place. */
		:: (state[c] == OUT || state[c] == QUEUES) && !asks[c] && !beats[c] && life[c] == 0 ->
			if
			:: state[c] == OUT -> asks[c] = 1; printf("waiter %d: asks\n", c); state[c] = QUEUES
			:: state[c] == QUEUES && (c == 0 || mine[c] == 0) -> asks[c] = 1; printf("waiter %d: asks again\n", c)
			:: state[c] == QUEUES && mine[c] > 0 -> beats[c] = 1; printf("waiter %d: heartbeat\n", c)
			fi;
			life[c] = LIFE; worth[c] = SURE;
			if :: c != 0 || PART == 2 -> arrives(c) :: else fi
		:: life[c] > 0 && (asks[c] || beats[c]) -> arrives(c)

		/* A message of a grant is read. */
		:: inbox[c] > 0 && state[c] == QUEUES && !leaves[c] && !asks[c] ->
			t = inbox[c]; inbox[c] = 0;
			if
#ifdef NO_PROOF
			:: true ->
				printf("waiter %d: HOLDS the lock by a message, token %d\n", c, t);
				begin(c, t, SURE)
#elif defined(PROOF_BY_ARRIVAL)
			:: t > seen[c] && seen[c] > 0 ->
				printf("waiter %d: HOLDS the lock by a message, token %d\n", c, t);
				begin(c, t, SURE)
#elif defined(NO_TOKEN_TEST)
			:: proof[c] > 0 ->
				printf("waiter %d: HOLDS the lock by a message, token %d\n", c, t);
				begin(c, t, proof[c])
#else
			:: t > seen[c] && seen[c] > 0 && proof[c] > 0 ->
				printf("waiter %d: HOLDS the lock by a message, token %d\n", c, t);
				REACHED(7)
				begin(c, t, proof[c])
#endif
			:: else -> printf("waiter %d: a message proves nothing, it asks\n", c); REACHED(8)
			fi; t = 0

		/* It confirms: its first message lifts the claim to the whole lease. */
		:: state[c] == HOLDS && valid[c] > 0 ->
			if
			:: owner == c + 1 -> ttl = LEASE; valid[c] = VALID; alone(c); REACHED(9)
				printf("waiter %d: renewed\n", c)
			:: else -> valid[c] = 0
			fi
		/* It releases the lock, or has lost it. */
		:: state[c] == HOLDS ->
			printf("waiter %d: lets go\n", c);
			state[c] = DONE; valid[c] = 0;
			if :: owner == c + 1 -> grantNext() :: else fi;
			clearLeft(c)

		/* Its wait ends: timeout or abort. */
		:: state[c] == QUEUES && !leaves[c] && c != 2 ->
			printf("waiter %d: gives up waiting\n", c); state[c] = DONE; mine[c] = 0; proof[c] = 0; seen[c] = 0; REACHED(10)
#ifndef NO_REFUSE
			leaves[c] = 1
#endif
		:: leaves[c] ->
			/* The release in the background is repeated while an earlier request may arrive after it. */
			ticket[c] = 0;
			if :: owner == c + 1 -> grantNext(); REACHED(11) :: else fi;
#ifndef NO_NOT_AFTER
			if :: !asks[c] && !beats[c] -> leaves[c] = 0; inbox[c] = 0; printf("waiter %d: has left\n", c) :: else fi
#else
			leaves[c] = 0; inbox[c] = 0; printf("waiter %d: has left\n", c)
#endif
		/* A crash, or an inbox that breaks and comes back. */
		:: WITH_FAULTS && c == 1 && !crashed && !over(1) && state[1] != OUT ->
			crashed = 1; printf("waiter 1: CRASHES\n"); valid[1] = 0; leaves[1] = 0; REACHED(12)
			asks[1] = 0; beats[1] = 0; life[1] = 0; worth[1] = 0; state[1] = DEAD; clearLeft(1);
			if :: deaf[1] = 1 :: skip fi
		:: else
		fi; c = 0 }

	/* A client of the plain lock takes a free one. */
	:: atomic { WITH_PLAIN && holder == 0 && owner == 0 && counter < TOP ->
		holder = 1; owner = PLAIN; counter++; lost = 0; ttl = LEASE; plainValid = VALID;
		printf("plain client: HOLDS the lock, token %d\n", counter);
		assert(counter > issued); issued = counter; alone(3) }
	:: atomic { holder == 1 && owner == PLAIN ->
		holder = 2; plainValid = 0; printf("plain client: releases it\n"); owner = 0; ttl = 0 }

	:: atomic { WITH_FAULTS && !flushes && counter > 0 && !(owner >= 1 && owner <= 3 && state[owner - 1] == QUEUES) && !valids(0) && !valids(1) && !valids(2) && plainValid == 0 ->
		flushes = 1; printf("          server: FLUSHED\n"); REACHED(13)
		lost = 1; owner = 0; ttl = 0; for (i : 0 .. 2) { ticket[i] = 0; alive[i] = 0; overtaken[i] = 1 } i = 0 }

	:: atomic { timers > 0 ->
		printf("-- time passes\n");
		if
		:: ttl > 0 ->
			ttl--; if :: ttl == 0 -> if :: owner >= 1 && owner <= 3 -> overtaken[owner - 1] = 1 :: else fi; owner = 0; printf("          server: the lock is free, its time is over\n") :: else fi
		:: else
		fi;
		down(plainValid);
		for (i : 0 .. 2) {
			down(alive[i]);
			if :: alive[i] == 0 && ticket[i] > 0 -> overtaken[i] = 1 :: else fi;
			down(proof[i]); down(valid[i]); down(worth[i]);
#ifndef NO_NOT_AFTER
			if :: life[i] == 1 -> asks[i] = 0; beats[i] = 0; worth[i] = 0 :: else fi;
			down(life[i])
#endif
		}
		i = 0 }

	/* The lock does not stay with a waiter that is gone. */
	:: atomic { timers == 0 && owner >= 1 && owner <= 3 && over(owner - 1) && !leaves[owner - 1] -> assert(false) }

	/* All have left, or were served: nothing is left behind. */
	:: atomic { over(0) && over(1) && over(2) && timers == 0 && owner == 0 && !leaves[0] && !leaves[1] && !leaves[2] -> break }
	od
}
