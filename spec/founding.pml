/*
 * Three masters without a mark, two clients that found a new deployment, two attempts, masters that are emptied.
 *
 * Stands for    lua/quorum/enrol, claim, found, and the mark in lua/quorum/vote;
 *               src/servers/quorum/founding; src/servers/quorum/master: delayed-restart, enrolment.
 *
 * Simplifications, and why they hide no error:
 *  - An attempt has only its votes and its validity. Agreement, renewal and release are in quorum.pml, because no vote
 *    depends on them here.
 *  - A request arrives at any time within one tick, or never. A claim arrives at any time, and any number of times,
 *    because a client sends it again if its connection breaks. Its answer is read at once or lost.
 *  - Master 0 is claimed first, and makes the id of the deployment. Two claims on one master differ by the number of
 *    times that the master was emptied before. In the code they differ by the time of the master.
 *  - Time is in ticks of one speed.
 *  - Bounded: masters are emptied twice, but the last master that votes is not emptied. If all masters were emptied, a
 *    new client could not know that there was a deployment.
 *
 * Guards that can be left out, one -D for each:
 *   NO_CLAIM       a client that founds looks at all masters first, and then lets each master without a mark vote
 *   NO_FOUNDER     every client that has all claims lets masters vote, and not only one client
 *   ANY_CLAIM      a master votes although its claim is not the claim that it answered
 *   ANY_DEPLOYMENT claims of different deployments count together
 *   NO_REST        a master votes at once, without a rest
 */
#include "common.h"

#define LEASE 2
#ifdef NO_REST
#define REST 0
#else
#define REST 2
#endif
#define EMPTIED 2

/* Marks: no mark, claimed for a deployment, and a mark with which the master votes after its rest. */
#define NONE 0
#define CLAIMED 1
#define KNOWN 2
byte mark[3], deployment[3], emptied[3], rests[3];
/* An owner is an attempt + 1. */
byte owner[3], ttl[3];

#define IDLE 0
#define VOTES 1
#define HOLDS 2
#define ENDED 3
byte state[2], valid[2];
bool sent[6], granted[6];
#define AT(a, m) (3 * a + m)
#define three(x, a) (x[AT(a, 0)] + x[AT(a, 1)] + x[AT(a, 2)])

/* Clients that found. */
#define CLAIMING 0
#define FOUNDING 1
#define GONE 2
byte phase[2], founds[2];
/* For each client and master: true if the client has the claim, and the number of this claim. */
bool has[6];
byte which[6];

byte times, i;

#ifdef ANY_CLAIM
#define isSame(f, m) (mark[m] == CLAIMED && deployment[m] == founds[f])
#else
#define isSame(f, m) (mark[m] == CLAIMED && deployment[m] == founds[f] && emptied[m] == which[AT(f, m)])
#endif
/* The last master that votes is not emptied. */
#define isVoter(m) (mark[m] == KNOWN && rests[m] == 0)
#define isSpare(m) (!isVoter(m) || (m != 0 && isVoter(0)) || (m != 1 && isVoter(1)) || (m != 2 && isVoter(2)))

#define timers (ttl[0] + ttl[1] + ttl[2] + rests[0] + rests[1] + rests[2] + valid[0] + valid[1])

inline down(x) { x = (x > 0 -> x - 1 : 0) }

active proctype world() {
	byte a, m;
	do
	:: atomic { if :: a = 0 :: a = 1 fi; if :: m = 0 :: m = 1 :: m = 2 fi;
		if
		/* Attempts. */
		:: m == 0 && state[a] == IDLE && (a == 0 || state[0] != IDLE) ->
			printf("attempt %d: asks all masters for their votes\n", a);
			state[a] = VOTES; valid[a] = LEASE; sent[AT(a, 0)] = 1; sent[AT(a, 1)] = 1; sent[AT(a, 2)] = 1
		:: sent[AT(a, m)] && mark[m] != NONE && rests[m] == 0 && owner[m] == 0 ->
			sent[AT(a, m)] = 0; owner[m] = a + 1; ttl[m] = LEASE; granted[AT(a, m)] = 1;
			printf("          master %d: votes for attempt %d\n", m, a)
		:: m == 0 && state[a] == VOTES && valid[a] > 0 && three(granted, a) >= 2 ->
			state[a] = HOLDS; REACHED(1) printf("attempt %d: HOLDS the lock\n", a);
			granted[AT(a, 0)] = 0; granted[AT(a, 1)] = 0; granted[AT(a, 2)] = 0;
			assert(!(state[1 - a] == HOLDS && valid[1 - a] > 0))

		/* A client that does not found, or no longer founds, tells a master to rest. */
		:: a == 0 && mark[m] == NONE -> mark[m] = KNOWN; rests[m] = REST; REACHED(2) printf("          master %d: rests\n", m)

#ifdef NO_CLAIM
		:: phase[a] == CLAIMING && mark[m] == NONE && !has[AT(a, m)] ->
			has[AT(a, m)] = 1; printf("client %d: sees no mark on master %d\n", a, m);
			if :: three(has, a) == 3 -> phase[a] = FOUNDING :: else fi
		:: phase[a] == FOUNDING && mark[m] == NONE ->
			mark[m] = KNOWN; REACHED(3) printf("          master %d: votes, says client %d\n", m, a)
#else
		:: phase[a] == CLAIMING && (m == 0 || founds[a] > 0) ->
			if
			:: mark[m] == NONE ->
				mark[m] = CLAIMED; rests[m] = REST; deployment[m] = (m == 0 -> emptied[0] + 1 : founds[a]);
				printf("          master %d: is claimed for deployment %d\n", m, deployment[m])
			:: else
			fi;
			if
			:: mark[m] == CLAIMED && m == 0 && founds[a] == 0 ->
				founds[a] = deployment[0]; has[AT(a, 0)] = 1; which[AT(a, 0)] = emptied[0]
#ifdef ANY_DEPLOYMENT
			:: mark[m] == CLAIMED && m != 0 ->
				deployment[m] = founds[a]; has[AT(a, m)] = 1; which[AT(a, m)] = emptied[m]
#else
			:: mark[m] == CLAIMED && m != 0 && deployment[m] == founds[a] ->
				has[AT(a, m)] = 1; which[AT(a, m)] = emptied[m]
#endif
			:: true
			fi
		/* The first master decides which client founds. */
		:: m == 0 && phase[a] == CLAIMING && three(has, a) == 3 ->
			phase[a] = GONE;
			if
			:: isSame(a, 0) ->
				mark[0] = KNOWN; deployment[0] = 0; rests[0] = 0; phase[a] = FOUNDING; REACHED(3)
				printf("          master 0: votes, client %d founds the deployment\n", a)
#ifdef NO_FOUNDER
			:: else -> phase[a] = FOUNDING
#else
			:: else
#endif
			fi
		:: m != 0 && phase[a] == FOUNDING && isSame(a, m) ->
			mark[m] = KNOWN; deployment[m] = 0; rests[m] = 0; REACHED(4)
			printf("          master %d: votes, says client %d\n", m, a)
#endif
		:: else
		fi; a = 0; m = 0 }

	:: atomic { times < EMPTIED -> if :: m = 0 :: m = 1 :: m = 2 fi;
		if
		:: isSpare(m) ->
			times++; owner[m] = 0; ttl[m] = 0; mark[m] = NONE; deployment[m] = 0; rests[m] = 0; emptied[m]++; REACHED(5)
			printf("          master %d: is EMPTIED\n", m)
		:: else
		fi; m = 0 }

	:: atomic { timers > 0 ->
		printf("-- time passes\n");
		for (i : 0 .. 2) {
			if :: ttl[i] == 1 -> owner[i] = 0 :: else fi;
			/* A master that has rested long enough votes, and its claim no longer counts. */
			if :: mark[i] == CLAIMED && rests[i] <= 1 -> mark[i] = KNOWN; deployment[i] = 0 :: else fi;
			down(ttl[i]); down(rests[i])
		}
		for (i : 0 .. 5) { sent[i] = 0 }
		for (i : 0 .. 1) {
			down(valid[i]);
			if
			:: state[i] != IDLE && valid[i] == 0 ->
				state[i] = ENDED; granted[AT(i, 0)] = 0; granted[AT(i, 1)] = 0; granted[AT(i, 2)] = 0
			:: else
			fi
		}
		i = 0 }
	:: atomic { state[0] == ENDED && state[1] == ENDED && timers == 0 -> break }
	od
}
