/*
 * A lock that its client keeps after a release, for the next call of this client: the keeper, and two waiters of other
 * clients.
 *
 * Stands for    src/local/kept-lock, acquire, release, revocations, request-inbox; src/locks/lock/holdfast-lock (waitsFor).
 *
 * Each option of the loop is one step that nothing can divide. Any step may follow any other step.
 *
 * Simplifications, and why they hide no error:
 *  - Late and repeated requests and lost answers are in `plain`. Here a request is run and answered once.
 *  - The messages of the channel of the lock always arrive, because they are in `wake-up`. The messages to the keeper
 *    arrive only while it is subscribed, and a cut loses them.
 *  - PART 1 has time: leases that end, renewals, and the end of keepMs. It checks exclusion and tokens.
 *  - In PART 2 no time passes, so only a message frees a kept lock. If no message wakes a waiter, the checker reports a
 *    state in which nothing can happen although a waiter waits.
 *  - Rounds, turns and cuts are bounded.
 *
 * Guards that can be left out, one -D for each:
 *   KEEP_EXPIRED      a call gets the kept lock without a look at the clock
 *   KEEP_AS_NEW       the lease begins again for each call
 *   KEEP_PAST_TOKENS  the client counts on after the last reserved token
 *   KEEP_DEAF         the client keeps a lock that it acquired before it received messages
 *   NO_FREE_ON_CUT    the client still keeps the lock after its subscription broke
 *   FORGET_WANTED     a message during a hold, or before the answer with the grant, is forgotten
 *   NO_MESSAGE        a waiter sends no message to the keeper
 *   ONE_MESSAGE       a waiter sends a message only after its first refusal
 */
#include "common.h"

#ifndef PART
#define PART 1
#endif
#define LEASE 3
#define VALID 2
#ifdef KEEP_AS_NEW
#define RESERVE 2 /* The second call without a request is the first that is wrong. */
#else
#define RESERVE 1
#endif
#define ROUNDS 4
#define TURNS 2
#define CUTS 1

/* The keeper. */
#define IDLE 0
#define ASKS 1    /* its request is on its way */
#define GRANTED 2 /* the answer with the grant is on its way */
#define HOLDS 3
#define KEPT 4
#define FREES 5   /* its release is on its way */
/* A waiter. */
#define TOLD 6    /* refused; its message to the keeper is on its way */
#define SLEEPS 7

#define KEEPER 3

byte owner;   /* the waiter + 1, or KEEPER; 0: no owner */
byte counter; /* the last token, reserved tokens included */
byte ttl;     /* of the hold of the keeper */

byte state, token, last, valid, proof, rounds, asked;
bool listens;  /* the server has the subscription of the keeper */
bool knows;    /* the keeper has the confirmation */
bool since;    /* the keeper had it when it sent the granted request, and has missed no message since */
bool isWanted; /* another client has asked for the lock */
bool message;  /* on its way to the keeper */
byte cuts;

byte wstate[2], wasked[2], turns[2];
bool rung[2], sent[2];
byte issued; /* ghost: the highest token of any hold */
byte i;

#ifdef KEEP_EXPIRED
#define mayUse true
#else
#define mayUse (valid > 0)
#endif
#ifdef KEEP_PAST_TOKENS
#define hasTokens true
#else
#define hasTokens (token < last)
#endif
#ifdef KEEP_DEAF
#define hears true
#else
#define hears (since && knows)
#endif
#if PART == 1
#define isValid (valid > 0)
#else
#define isValid true
#endif

inline begin(tok, atLeast) {
	/* A token is above all tokens of holds that began before the request. */
	assert(tok > atLeast);
	if :: tok > issued -> issued = tok :: else fi
}

/* The keeper enters: no waiter is inside. */
inline keeperEnters(tok) {
	token = tok; begin(token, asked); asked = 0;
	assert(!isValid || (wstate[0] != HOLDS && wstate[1] != HOLDS))
}

inline wakeAll() {
	for (i : 0 .. 1) {
		if
		:: wstate[i] == SLEEPS -> wstate[i] = ASKS
		:: wstate[i] == TOLD -> rung[i] = 1
		:: else
		fi
	}
	i = 0
}

inline free() { owner = 0; ttl = 0; wakeAll() }

inline waiter(w) {
	if
	:: wstate[w] == IDLE && turns[w] > 0 -> turns[w]--; wasked[w] = issued; wstate[w] = ASKS
	:: wstate[w] == ASKS && owner == 0 ->
		counter++; owner = w + 1; wstate[w] = HOLDS; rung[w] = 0; sent[w] = 0;
		begin(counter, wasked[w]); wasked[w] = 0;
		assert(!(state == HOLDS && valid > 0) && wstate[1 - w] != HOLDS); REACHED(1)
	:: wstate[w] == ASKS && owner == KEEPER -> wstate[w] = TOLD
	:: wstate[w] == ASKS && owner != 0 && owner != KEEPER -> wstate[w] = SLEEPS
	:: wstate[w] == TOLD ->
#ifndef NO_MESSAGE
		if
#ifdef ONE_MESSAGE
		:: listens && !sent[w] -> message = 1
#else
		:: listens -> message = 1
#endif
		:: else
		fi;
#endif
		sent[w] = 1;
		wstate[w] = (rung[w] -> ASKS : SLEEPS); rung[w] = 0
	:: wstate[w] == HOLDS -> wstate[w] = IDLE; if :: owner == w + 1 -> free() :: else fi
	fi
}

active proctype world() {
	rounds = ROUNDS; turns[0] = TURNS; turns[1] = TURNS - 1; cuts = CUTS;
#if PART == 1
end:
#endif
	do
	/* The keeper. */
	:: atomic { state == IDLE && rounds > 0 -> rounds--; asked = issued; since = knows; state = ASKS; proof = VALID }
	:: atomic { state == ASKS && owner == 0 ->
		counter = counter + 1 + RESERVE; last = counter; owner = KEEPER; ttl = LEASE; state = GRANTED }
#if PART == 1
	:: atomic { state == ASKS && proof == 0 -> proof = VALID; since = knows } /* Asks again. */
	:: atomic { state == GRANTED && proof == 0 -> state = FREES; asked = 0 } /* Too late to be of use. */
#endif
	:: atomic { state == GRANTED && proof > 0 ->
		state = HOLDS; valid = proof; proof = 0; keeperEnters(last - RESERVE) }
	:: atomic { state == HOLDS && isValid -> /* The last release. */
		if
		:: hasTokens && hears && !isWanted -> state = KEPT; REACHED(2)
		:: else -> state = FREES; isWanted = 0; valid = 0
		fi }
	:: atomic { state == KEPT && rounds > 0 && mayUse -> /* The next call, without a request. */
		rounds--; asked = issued; state = HOLDS;
#ifdef KEEP_AS_NEW
		valid = VALID;
#endif
		keeperEnters(token + 1); REACHED(3) }
	:: atomic { message ->
		message = 0;
		if
		:: state == KEPT -> state = FREES; valid = 0; REACHED(4)
#ifndef FORGET_WANTED
		:: state != KEPT -> isWanted = 1; REACHED(5)
#else
		:: else
#endif
		fi }
	:: atomic { state == FREES -> state = IDLE; token = 0; last = 0; if :: owner == KEEPER -> free() :: else fi }

	/* The subscription of the keeper. */
	:: atomic { !listens && !knows -> listens = 1 }
	:: atomic { listens && !knows -> knows = 1 }
	:: atomic { cuts > 0 && listens -> cuts--; listens = 0; message = 0 }
	:: atomic { !listens && knows -> /* Learns of the cut. */
		knows = 0; since = 0;
#ifndef NO_FREE_ON_CUT
		if :: state == KEPT -> state = FREES; valid = 0; REACHED(6) :: else fi
#endif
		}

	/* The waiters. */
	:: atomic { waiter(0) }
	:: atomic { waiter(1) }

#if PART == 1
	/* Time. */
	:: atomic { ttl + valid + proof > 0 ->
		valid = (valid > 0 -> valid - 1 : 0); proof = (proof > 0 -> proof - 1 : 0);
		if :: ttl > 1 -> ttl-- :: ttl == 1 -> REACHED(7) free() :: else fi }
	:: atomic { (state == HOLDS || state == KEPT) && valid > 0 && owner == KEEPER -> ttl = LEASE; valid = VALID; REACHED(8) }
	:: atomic { (state == HOLDS || state == KEPT) && valid == 0 -> state = FREES; isWanted = 0 } /* Lost. */
	:: atomic { state == KEPT -> state = FREES; valid = 0 } /* keepMs is over. */
#else
	:: atomic { rounds == 0 && turns[0] == 0 && turns[1] == 0 && wstate[0] == IDLE && wstate[1] == IDLE &&
		(state == IDLE || state == KEPT) && !message && knows == listens -> break }
#endif
	od
}
