/*
 * Three masters, three attempts: votes, agreement, validity, renewal, repair, release, amnesia.
 *
 * Stands for    lua/quorum/vote, agree, restore, enrol; lua/lock/renew, release;
 *               src/servers/quorum: quorum-lock, token-agreement, majority, renew;
 *               src/servers/quorum/master: attempts, delayed-restart; src/servers/pending-releases.
 *
 * Simplifications, and why they hide no error:
 *  - Each attempt has its own name, so its client does not matter. Three attempts are three clients, or one client that
 *    tries again.
 *  - A vote, an agreement or a restore is one request for each master. It arrives at any time within its time limit, or
 *    never. Its answer is read at once or lost. An answer that is read late is like an answer that is counted late, and
 *    every step allows this.
 *  - Time is in ticks, and all clocks have one speed. Drift and margin are in plain.pml.
 *  - The clock of a master is ahead of every token, because it counts µs and there are fewer attempts.
 *  - Attempts are numbered in the order in which they begin. They are alike, so one order is enough.
 *  - The model has no hand-over, because at each master a hand-over is a release and a vote in one step. It has no
 *    messages, crowds and pauses, because only the time of a request depends on them.
 *  - Bounded: one master is emptied, three attempts at most, one renewal.
 *
 * Guards that can be left out, one -D for each:
 *   NO_REST        a master that forgot votes at once
 *   NO_MAJORITY    one vote is enough
 *   NO_AGREE       the token is the highest token of the votes, but the other masters do not learn it
 *   NO_GIVE_BACK   a failed attempt does not give back its votes
 *   RELEASE_ONCE   a vote is given back only once, even if an earlier request may arrive after that
 *   NO_CLOCK_FLOOR a counter that is missing counts as 0
 *   FROM_REPLY     validity counts from the agreement
 *   RENEW_BY_ONE   a renewal counts when one master has the lock
 *   LATE_RESTORE   a restore may run at any time, even after the release was confirmed
 * An error that the design does not prevent:
 *   DELETED_KEY    one key is deleted on one master, and this master does not notice it
 */
#include "common.h"

#define N 3
#define LEASE 2
#define VALID 2
#define REST 2
#ifdef NO_MAJORITY
#define MAJORITY 1
#else
#define MAJORITY 2
#endif
/* Part 1: two attempts, a renewal and its repairs. Part 2: three attempts, two at a time, whose answers are not lost.
 * Part 3: two attempts, and a master that forgets. Masters are alike, so this is always master 0. Part 4: parts 1 and 3
 * in one. */
#ifndef PART
#define PART 1
#endif
#define RENEWALS (PART == 1 || PART == 4)
#define FORGETS (PART >= 3)

#define IDLE 0
#define VOTES 1
#define HOLDS 2
#define OVER 3  /* released, given up or lost: its votes are given back */
#define ENDED 4 /* nothing is left of it */

/* Masters. An owner is an attempt + 1. */
byte owner[3], ttl[3], counter[3], rests[3];
/* For each attempt and master: */
bool sent[9], restoring[9], debt[9], granted[9], confirmed[9], renewed[9], gone[9];
byte vote[9];
#define AT(a, m) (3 * a + m)

byte state[N], proof[N], valid[N], token[N], asked[N], renewal[N];
bool renewing[N];
byte issued, highest, forgets, renewals, i, t;
#ifdef DELETED_KEY
bool deleted;
#endif

#define valids(a) (state[a] == HOLDS && valid[a] > 0)
#define three(x, a) (x[AT(a, 0)] + x[AT(a, 1)] + x[AT(a, 2)])

inline alone(a) {
	assert(!((a != 0 && valids(0)) || (a != 1 && valids(1)) || (a != 2 && valids(2))))
}

inline most(a) {
	t = 0;
	for (i : 0 .. 2) { if :: granted[AT(a, i)] && vote[AT(a, i)] > t -> t = vote[AT(a, i)] :: else fi }
	i = 0
}

inline endIt(a) {
	state[a] = OVER; valid[a] = 0; proof[a] = 0; token[a] = 0; renewing[a] = 0; renewal[a] = 0; asked[a] = 0;
	for (i : 0 .. 2) {
		granted[AT(a, i)] = 0; confirmed[AT(a, i)] = 0; vote[AT(a, i)] = 0; renewed[AT(a, i)] = 0; gone[AT(a, i)] = 0;
#ifndef NO_GIVE_BACK
		debt[AT(a, i)] = 1
#endif
	}
	i = 0
}

#ifdef LATE_RESTORE
#define mayRestore(a, m) false
#else
#define mayRestore(a, m) restoring[AT(a, m)]
#endif

inline down(x) { x = (x > 0 -> x - 1 : 0) }

#define timers (ttl[0] + ttl[1] + ttl[2] + rests[0] + rests[1] + rests[2] + valid[0] + valid[1] + valid[2] \
	+ proof[0] + proof[1] + proof[2] + three(sent, 0) + three(sent, 1) + three(sent, 2) \
	+ three(restoring, 0) + three(restoring, 1) + three(restoring, 2))

active proctype world() {
	byte a, m;
	state[2] = (PART == 2 -> IDLE : ENDED);
	do
	:: atomic { if :: a = 0 :: a = 1 :: a = 2 fi; if :: m = 0 :: m = 1 :: m = 2 fi;
		if
		:: m == 0 && state[a] == IDLE && (a == 0 || state[a - 1] != IDLE) && (a < 2 || state[0] == ENDED || state[1] == ENDED) ->
			printf("attempt %d: asks all masters for their votes\n", a);
			state[a] = VOTES; proof[a] = VALID; asked[a] = issued;
			sent[AT(a, 0)] = 1; sent[AT(a, 1)] = 1; sent[AT(a, 2)] = 1
		/* A vote reaches a master. */
		:: sent[AT(a, m)] ->
			sent[AT(a, m)] = 0;
			if
			:: rests[m] == 0 && (owner[m] == 0 || owner[m] == a + 1) ->
				/* An attempt gets a vote only if it still wants the vote, or if the vote will be given back. */
				assert(state[a] == VOTES || state[a] == HOLDS || debt[AT(a, m)]);
				if
				:: owner[m] == 0 ->
					t = counter[m] + 1;
#ifndef NO_CLOCK_FLOOR
					if :: counter[m] == 0 -> t = highest + 1 :: else fi;
#endif
					counter[m] = t; highest = (t > highest -> t : highest); owner[m] = a + 1; ttl[m] = LEASE; t = 0
				:: else
				fi;
				printf("          master %d: votes for attempt %d, token %d\n", m, a, counter[m]);
				if
				:: state[a] == VOTES && three(confirmed, a) == 0 -> granted[AT(a, m)] = 1; vote[AT(a, m)] = counter[m]
				:: PART != 2 || state[a] != VOTES || three(confirmed, a) > 0 -> printf("          its answer is lost, or too late\n")
				fi
			:: else -> printf("          master %d: refuses attempt %d\n", m, a)
			fi
		/* An agreement: masters with a lower token learn the token, if the attempt is their owner. */
		:: state[a] == VOTES && granted[AT(a, m)] && three(granted, a) >= MAJORITY && !confirmed[AT(a, m)] ->
			most(a);
			if
			:: vote[AT(a, m)] == t -> confirmed[AT(a, m)] = 1
#ifdef NO_AGREE
			:: else -> confirmed[AT(a, m)] = 1
#else
			:: vote[AT(a, m)] != t && owner[m] == a + 1 ->
				counter[m] = (counter[m] < t -> t : counter[m]); confirmed[AT(a, m)] = 1; REACHED(1)
				printf("          master %d: agrees on token %d for attempt %d\n", m, t, a)
			:: else
#endif
			fi; t = 0
		:: m == 0 && state[a] == VOTES && three(confirmed, a) >= MAJORITY && proof[a] > 0 ->
			most(a); token[a] = t; state[a] = HOLDS; valid[a] = proof[a]; proof[a] = 0;
#ifdef FROM_REPLY
			valid[a] = VALID;
#endif
			printf("attempt %d: HOLDS the lock, token %d\n", a, t); REACHED(2)
			assert(t > asked[a]); issued = (t > issued -> t : issued); t = 0; alone(a);
			for (i : 0 .. 2) { granted[AT(a, i)] = 0; confirmed[AT(a, i)] = 0; vote[AT(a, i)] = 0 } i = 0; asked[a] = 0
		:: m == 0 && state[a] == VOTES -> printf("attempt %d: comes to nothing\n", a); endIt(a); REACHED(3)

		/* Renewal, and repair. */
		:: m == 0 && valids(a) && !renewing[a] && renewals < RENEWALS ->
			renewals++; renewing[a] = 1; renewal[a] = VALID; printf("attempt %d: asks for a renewal\n", a)
		:: state[a] == HOLDS && renewing[a] && !renewed[AT(a, m)] && !gone[AT(a, m)] ->
			if
			:: owner[m] == a + 1 -> ttl[m] = LEASE; renewed[AT(a, m)] = 1; printf("          master %d: renews attempt %d\n", m, a)
			:: else -> gone[AT(a, m)] = 1; printf("          master %d: has nothing of attempt %d\n", m, a)
			fi
#ifdef RENEW_BY_ONE
		:: m == 0 && valids(a) && renewing[a] && three(renewed, a) >= 1 ->
#else
		:: m == 0 && valids(a) && renewing[a] && three(renewed, a) >= MAJORITY ->
#endif
			valid[a] = (renewal[a] > valid[a] -> renewal[a] : valid[a]); renewing[a] = 0; renewal[a] = 0; REACHED(4)
			printf("attempt %d: renewed\n", a);
			for (i : 0 .. 2) {
				if :: gone[AT(a, i)] -> restoring[AT(a, i)] = 1; printf("attempt %d: gives the lock back to master %d\n", a, i) :: else fi;
				renewed[AT(a, i)] = 0; gone[AT(a, i)] = 0
			}
			i = 0; alone(a)
		:: m == 0 && state[a] == HOLDS && renewing[a] && three(gone, a) >= 2 ->
			printf("attempt %d: is lost, no majority has it\n", a); endIt(a); REACHED(5)
		:: restoring[AT(a, m)] ->
			restoring[AT(a, m)] = 0;
			if
			:: owner[m] == 0 ->
				assert(state[a] == HOLDS || debt[AT(a, m)]);
				owner[m] = a + 1; ttl[m] = LEASE; REACHED(6)
				counter[m] = (counter[m] < token[a] -> token[a] : counter[m]);
				printf("          master %d: has attempt %d again\n", m, a)
			:: else
			fi

		:: m == 0 && state[a] == HOLDS -> printf("attempt %d: lets go\n", a); endIt(a)
		:: debt[AT(a, m)] ->
			if :: owner[m] == a + 1 -> owner[m] = 0; ttl[m] = 0; REACHED(7) printf("          master %d: is free of attempt %d\n", m, a) :: else fi;
#ifndef RELEASE_ONCE
			if :: !sent[AT(a, m)] && !mayRestore(a, m) -> debt[AT(a, m)] = 0 :: else fi
#else
			debt[AT(a, m)] = 0
#endif
		:: m == 0 && state[a] == OVER && three(debt, a) == 0 -> state[a] = ENDED
		:: else
		fi; a = 0; m = 0 }

	:: atomic { forgets < FORGETS ->
		forgets++; owner[m] = 0; ttl[m] = 0; counter[m] = 0; REACHED(8)
#ifndef NO_REST
		rests[m] = REST;
#endif
		printf("          master %d: is restarted EMPTY\n", m) }
#ifdef DELETED_KEY
	:: atomic { !deleted ->
		deleted = 1; owner[m] = 0; ttl[m] = 0; printf("          master %d: the key of the lock is DELETED\n", m) }
#endif

	:: atomic { timers > 0 ->
		printf("-- time passes\n");
		for (i : 0 .. 2) {
			if :: ttl[i] == 1 -> owner[i] = 0 :: else fi;
			down(ttl[i]); down(rests[i]); down(valid[i]); down(proof[i]); down(renewal[i])
		}
		for (i : 0 .. 8) {
			sent[i] = 0;
#ifndef LATE_RESTORE
			restoring[i] = 0
#endif
		}
		i = 0 }
	:: atomic { state[0] == ENDED && state[1] == ENDED && state[2] == ENDED && timers == 0 -> break }
	od
}
