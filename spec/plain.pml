/*
 * One server, three clients: acquire, re-enter, renew, hand over, pass on, release, settle.
 *
 * Stands for    lua/lock/acquire, release, renew, hand-over, force-release and their parts;
 *               src/local/acquire, request, reenter, release, extend, holds; src/servers/pending-releases;
 *               src/lease/hold, watchdog, validity; src/owner/owner (names).
 *
 * Each option of the loop is one step that nothing can divide: a script on the server, or what a client
 * does in one turn of its event loop. Any step may follow any other, so each process may pause between
 * any two of its steps for any time, and each message may be late, or never come.
 *
 * Simplifications, and why they hide no error:
 *  - Time is in ticks. A lease lasts LEASE ticks, or one tick less if the server's clock runs fast (drift). The holder
 *    counts VALID = LEASE - 1. Only the order of two moments matters, and the model has all orders that the real times
 *    allow. Clients time out, resend and give up at any time.
 *  - A lost message is a message that never runs. A new request may replace an old request that is on its way. The old
 *    request is then lost. So at most two requests of client 0 and one renewal are on their way.
 *  - ioredis sends each command once (src/servers/redis/connection/open-client.ts), so a command that runs twice was
 *    sent twice.
 *  - The clock of the server is ahead of every token that was issued, because the clock counts µs, and the server
 *    issues fewer tokens.
 *  - Client 0 has two callers, which hand the lock over and pass it on. Client 0 also re-enters, and its requests may
 *    be late or lost. The requests of clients 1 and 2 arrive at once.
 *  - Bounded: TOP tokens, a number of attempts and names for each client, one use of force, one flush.
 *  - A release that settles a name is repeated in the background. Each repeat is one step. The name is never used
 *    again, so the time of arrival makes no difference. (With REUSE_NAMES it does. Then this step may also run while
 *    the name is in use.)
 *
 * Guards that can be left out, one -D for each:
 *   NO_MARGIN      validity is the whole lease, with nothing taken off for drift
 *   FROM_REPLY     validity counts from the arrival of the answer
 *   NO_NOT_AFTER   a request has no time limit
 *   UNKNOWN_IS_NO  a client without an answer assumes a refusal, and settles nothing
 *   SETTLE_EARLY   the first confirmed release settles a name, even if a request may still be on its way
 *   SURE_AT_REPLY  the client looks for late requests, which may undo a release, when the answer to the release comes,
 *                  and not when it first sends the release
 *   REUSE_NAMES    a name in doubt is used for the next attempt
 *   BLIND_COUNTS   acquire adds one and release takes one away, whatever the count is
 *   NO_TOKEN_CHECK a release ends any hold of its owner, even a later hold
 *   NO_CLOCK_FLOOR a token is the last token + 1, even if the last token was lost
 *   RENEW_REVIVES  a renewal creates the key again if the key is gone
 *   PASS_AS_NEW    the lease begins again when the lock is passed on inside the client
 *   PASS_TO_ANY    the lock is also passed on to a caller that asked after the last answer of the server
 *   NO_REENTRY_MARK  a re-entry differs from a first acquisition only by its count
 */
#include "common.h"

#define N 3
#define LEASE 3
#define LIFE 1 /* ticks until a request must not run any more: notAfterUs */
#ifdef NO_MARGIN
#define VALID 3
#else
#define VALID 2
#endif
#define NAMES 6 /* 1..3 are of client 0, 4 of client 1, 5 of client 2; 0: no name */
#define FIRST(c) (c == 0 -> 1 : c + 3)
#define LAST(c) (c == 0 -> 3 : c + 3)
#define OF(n) (n <= 3 -> 0 : n - 3)

/* The bounds of each part. */
#ifndef PART
#define PART 1
#endif
#if PART == 1
#define A0 2
#define A1 1
#define A2 1
#define FLUSH 1
#define FORCE 0
#define RENEWALS 1
#define HANDOVERS 0
#define REENTRIES 0
#elif PART == 2
#define A0 3
#define A1 1
#define A2 1
#define FLUSH 0
#define FORCE 1
#define RENEWALS 0
#define HANDOVERS 1
#define REENTRIES 0
#else
#define A0 1
#define A1 1
#define A2 1
#define FLUSH 0
#define FORCE 1
#define RENEWALS 0
#define HANDOVERS 0
#define REENTRIES 1
#endif

#ifndef TOP
#define TOP (3 + HANDOVERS)
#endif

/* The states of a client. */
#define IDLE 0
#define ASKS 1 /* for a first acquisition */
#define HOLDS 2
#define FREES 3 /* its last release */
#define HANDS 4 /* over, to a caller of its own */
/* The states of a name. */
#define UNUSED 0
#define INUSE 1
#define DOUBT 2
#define RETIRED 3
/* Requests and answers. */
#define NONE 0
#define ACQUIRE 1
#define RELEASE 2
#define HANDOVER 3
#define GRANTED 1
#define HELD 2
#define GONE 3
#define FREED 4
#define KEPT 5

/* The server. */
byte owner, count, ttl, counter;

byte state[N], name[N], heir[N], attempts[N];
byte valid[N];    /* ticks left of the hold, by its holder's clock */
byte token[N], last[N];
byte wants[N];    /* the hold count, as the client has it */
bool reenters[N]; /* a re-entry is on its way */
byte asked[N];    /* ghost: the highest token of any hold when this client asked */
bool outside[N];  /* ghost: force or a flush has ended the hold, so no promise covers it */
bool unheard[N];  /* a request in its name was not answered */
bool calm[N];     /* no earlier request could arrive after the last release */
byte proof[N];    /* ticks of validity that an answer to its last request would give */
byte heard[N], heardToken[N], heardReserve[N];
byte current[N];  /* the request for which it waits, 1 or 2; 0: none */
/* The watchdog: 1 asked, 2 still held, 3 gone. */
byte renewal[N], renews[N], renewalProof[N];
bool renewalCounts[N];
/* A second caller of client 0, which waits. */
bool waits;
byte waiterAsked;
bool before, beforeRenewal, known; /* true if it asked before the last request, renewal or proof was sent */
/* Requests on their way: two for each client. */
byte kind[2], who[2], to[2], under[2], upTo[2], life[2];
#define AT(c, i) (i - 1)

byte names[NAMES], doubt[NAMES];
byte issued, highest; /* ghosts: the highest token of any hold, and the highest token that was issued */
bool forces, flushes;
byte i, j, t, c, n, s;
/* The actions at the end of a step. */
byte sends, sendsName, sendsTo, sendsUnder, sendsUpTo, leaves, begins, beginsToken, beginsLast, beginsLeft;
byte answer, answerToken, answerReserve;
bool leavesUnsure, forgets, asksLease;

#define holds(c) (state[c] == HOLDS && valid[c] > 0 && !outside[c])

/* No other hold is valid. */
inline alone(c) {
	assert(!((c != 0 && holds(0)) || (c != 1 && holds(1)) || (c != 2 && holds(2))))
}

inline begin(c, n, tok, lst, left) {
	if :: !unheard[c] -> doubt[n] = 0 :: else fi;
	state[c] = HOLDS; name[c] = n; token[c] = tok; last[c] = lst; valid[c] = left; wants[c] = 1;
	/* A token is greater than all tokens of holds that began before its request. */
	assert(tok > asked[c]);
	if :: tok > issued -> issued = tok :: else fi;
	if :: !outside[c] -> alone(c) :: else fi;
	REACHED(1)
}

/* Removes releases on their way that can find no hold, because the name is not used again. */
inline sweep(n) {
	if
	:: owner != n ->
		for (j : 0 .. 1) { if :: kind[j] == RELEASE && who[j] == n -> clear(j) :: else fi }
		j = 0
	:: else
	fi
}

/*
 * The name is no longer used. If no request in this name is on its way, the name may be used again. Otherwise it is
 * settled. The code never uses a name again, so this model also has cases that the code does not have.
 */
inline leave(n, isUnsure) {
#ifdef UNKNOWN_IS_NO
	names[n] = UNUSED;
#elif defined(REUSE_NAMES)
	names[n] = (isUnsure && doubt[n] > 0 -> DOUBT : UNUSED);
#else
	names[n] = (isUnsure -> DOUBT : UNUSED);
#endif
	if :: names[n] == UNUSED -> doubt[n] = 0 :: else fi;
	if :: attempts[OF(n)] == 0 && names[n] == UNUSED -> sweep(n) :: else fi
}

inline forget(c) {
	name[c] = 0; heir[c] = 0; token[c] = 0; last[c] = 0; valid[c] = 0; wants[c] = 0; reenters[c] = 0;
	asked[c] = 0; outside[c] = 0; unheard[c] = 0; calm[c] = 0; proof[c] = 0; heard[c] = 0; heardToken[c] = 0;
	heardReserve[c] = 0; current[c] = 0; renewalCounts[c] = 0; renewalProof[c] = 0;
	if :: renewal[c] > 1 -> renewal[c] = 0; renews[c] = 0 :: else fi;
	if :: c == 0 -> waits = 0; waiterAsked = 0; before = 0; beforeRenewal = 0; known = 0 :: else fi
}

inline clear(s) { kind[s] = 0; who[s] = 0; to[s] = 0; under[s] = 0; upTo[s] = 0; life[s] = 0 }

/* Sends a request. If two requests are already on their way, one of them is lost. */
inline send(c, k, w, h, tok, wanted) {
	if
	:: kind[AT(c, 1)] == NONE -> i = 1
	:: kind[AT(c, 1)] != NONE && kind[1] == NONE -> i = 2
	:: kind[AT(c, 1)] != NONE && kind[1] != NONE -> i = 1
	:: kind[AT(c, 1)] != NONE && kind[1] != NONE -> i = 2
	fi;
	clear(AT(c, i));
	kind[AT(c, i)] = k; who[AT(c, i)] = w; to[AT(c, i)] = h; under[AT(c, i)] = tok; upTo[AT(c, i)] = wanted;
	/* A release that frees the lock may arrive at any time. All other requests have a time limit. */
	if
	:: k == RELEASE && wanted == 0 -> skip
	:: else ->
		life[AT(c, i)] = LIFE;
		n = (k == HANDOVER -> h : w);
		if :: k != RELEASE -> doubt[n] = LIFE :: else fi;
		n = 0
	fi;
	if :: k != RELEASE -> unheard[c] = unheard[c] || current[c] != 0 :: else fi;
	current[c] = i; heard[c] = 0; heardToken[c] = 0; heardReserve[c] = 0;
	i = 0;
	proof[c] = (k == RELEASE -> 0 : VALID);
	if :: c == 0 && k != RELEASE -> before = waits :: else fi
}

/* A lease as the server counts it: its clock may run fast. */
inline lease() {
	if
	:: t = LEASE
	:: t = LEASE - 1
	fi;
	if :: ttl < t -> ttl = t :: else fi;
	t = 0
}

/* The next token, with one more in reserve for the callers of client 0. */
inline mint(c, atLeast) {
	t = (counter > atLeast -> counter : atLeast) + 1;
#ifndef NO_CLOCK_FLOOR
	if :: highest + 1 > t -> t = highest + 1 :: else fi;
#endif
	if :: highest < t -> highest = t :: else fi;
	if :: HANDOVERS && c == 0 -> t = t + 1; highest = (highest < t -> t : highest) :: else fi;
	counter = t
}

inline give(c, n, tok) {
	owner = n; count = 1; ttl = 0;
	/* A client that gets the lock still uses the name, or will settle it. */
	assert(names[n] == INUSE || names[n] == DOUBT)
}

inline reply(c, s, a, tok, res) {
	if
	:: current[c] == s ->
		if
		:: heard[c] = a; heardToken[c] = tok; heardReserve[c] = res
		:: printf("          the answer to client %d is lost\n", c)
		fi
	:: else
	fi
}

/* A request reaches the server. */
inline arrive(c, s) {
	i = AT(c, s); n = who[i];
	if
	:: kind[i] == ACQUIRE ->
		if
		:: owner == n && !(under[i] && counter > under[i]) ->
			REACHED(2)
#ifdef BLIND_COUNTS
			count = (count < 3 -> count + 1 : 3);
#else
			if :: count < upTo[i] -> count = upTo[i] :: else fi;
#endif
			asksLease = 1;
			if :: upTo[i] == 1 && counter == 0 && !under[i] -> mint(c, 0); t = 0 :: else fi;
			printf("          server: client %d has the lock as name %d, count %d\n", c, n, count);
			answer = GRANTED; answerToken = counter; answerReserve = 0
		:: else ->
			if
#ifdef NO_REENTRY_MARK
			:: owner != n && upTo[i] > 1 -> answer = GONE; answerToken = 0; answerReserve = 0
#else
			:: under[i] != 0 -> answer = GONE; answerToken = 0; answerReserve = 0
#endif
			:: else ->
				if
				:: owner != 0 ->
					printf("          server: held by name %d, not for client %d\n", owner, c);
					answer = HELD; answerToken = 0; answerReserve = 0
				:: owner == 0 && highest + 1 + HANDOVERS <= TOP ->
					assert(!under[i]); /* A re-entry makes no new hold. */
					mint(c, 0); give(c, n, t); t = 0; asksLease = 1;
					printf("          server: granted to client %d as name %d, token %d\n", c, n, counter);
					answer = GRANTED; answerToken = counter; answerReserve = HANDOVERS
				:: else -> skip
				fi
			fi
		fi
	:: kind[i] == RELEASE ->
		if
		:: owner != n -> answer = GONE; answerToken = 0; answerReserve = 0
#ifndef NO_TOKEN_CHECK
		:: owner == n && counter > under[i] -> answer = GONE; answerToken = 0; answerReserve = 0
		:: owner == n && counter <= under[i] ->
#else
		:: owner == n ->
#endif
#ifdef BLIND_COUNTS
			count = count - 1;
			if
			:: count == 0 -> owner = 0; ttl = 0; answer = FREED; answerToken = 0; answerReserve = 0
			:: else -> answer = (upTo[i] == 0 -> FREED : KEPT); answerToken = 0; answerReserve = 0
			fi
#else
			if
			:: upTo[i] == 0 ->
				owner = 0; count = 0; ttl = 0;
				printf("          server: freed by client %d\n", c);
				answer = FREED; answerToken = 0; answerReserve = 0
			:: else -> count = (count > upTo[i] -> upTo[i] : count); answer = KEPT; answerToken = 0; answerReserve = 0
			fi
#endif
		fi
	:: kind[i] == HANDOVER ->
		if
		:: owner == to[i] -> answer = GRANTED; answerToken = counter; answerReserve = 0
		:: owner != to[i] && (owner != n || counter > under[i]) -> answer = GONE; answerToken = 0; answerReserve = 0
		:: owner == n && owner != to[i] && counter <= under[i] && highest + 1 + HANDOVERS <= TOP ->
			mint(c, under[i]); give(c, to[i], t); t = 0; asksLease = 1;
			printf("          server: handed over from name %d to %d, token %d\n", n, to[i], counter);
			answer = GRANTED; answerToken = counter; answerReserve = 1
		:: else -> skip
		fi
	fi;
	if :: owner == 0 -> count = 0; ttl = 0 :: else fi;
	if :: asksLease -> lease() :: else fi;
	if :: answer != 0 -> reply(c, s, answer, answerToken, answerReserve) :: else fi;
	asksLease = 0; answer = 0; answerToken = 0; answerReserve = 0;
	clear(i); i = 0; n = 0
}

inline pickName(c) {
	n = FIRST(c);
	do
	:: n > LAST(c) -> n = 0; break
#ifdef REUSE_NAMES
	:: n <= LAST(c) && (names[n] == UNUSED || names[n] == DOUBT) -> break
#else
	:: n <= LAST(c) && names[n] == UNUSED -> break
#endif
	:: else -> n++
	od
}

inline down(x) { x = (x > 0 -> x - 1 : 0) }

#define timers (ttl + valid[0] + valid[1] + valid[2] + proof[0] \
	+ renewalProof[0] + doubt[1] + doubt[2] + doubt[3] \
	+ life[0] + life[1])

inline tick() {
	printf("-- time passes\n");
	if :: ttl > 0 -> ttl--; if :: ttl == 0 -> owner = 0; count = 0; printf("          server: the lease is over\n") :: else fi :: else fi;
	for (j : 0 .. 2) { down(valid[j]); down(proof[j]); down(renewalProof[j]) }
#ifndef NO_NOT_AFTER
	for (j : 0 .. 1) {
		if
		:: life[j] > 1 -> life[j]--
		:: life[j] == 1 -> clear(j)
		:: else
		fi
	}
#endif
	for (j : 1 .. 3) { down(doubt[j]) }
	j = 0
}

#ifdef PASS_TO_ANY
#define mayFollow true
#else
#define mayFollow known
#endif
#ifdef PASS_AS_NEW
#define isYoung true
#else
#define isYoung (valid[0] == VALID)
#endif
#ifdef REUSE_NAMES
#define isOpen(n) (names[n] == DOUBT || doubt[n] > 0)
#else
#define isOpen(n) (names[n] == DOUBT)
#endif
#ifdef SETTLE_EARLY
#define isCertain(n) true
#else
#define isCertain(n) (doubt[n] == 0)
#endif

active proctype world() {
	attempts[0] = A0; attempts[1] = A1; attempts[2] = A2;
end:	do
	/* Client 0. */
	:: atomic {
		if
		:: state[c] == IDLE && attempts[c] > 0 ->
			pickName(c);
			if
			:: n != 0 ->
				names[n] = INUSE; state[c] = ASKS; name[c] = n; attempts[c]--; asked[c] = issued;
				unheard[c] = (doubt[n] > 0);
				printf("client %d: wants the lock, sends acquire in name %d\n", c, n); n = 0;
				sends = ACQUIRE; sendsName = name[c]; sendsTo = 0; sendsUnder = 0; sendsUpTo = 1
			:: else
			fi
		:: state[c] == ASKS && heard[c] != GRANTED -> /* No answer, or another owner has the lock. */
			printf("client %d: sends acquire again (name %d)\n", c, name[c]);
			if :: heard[c] == HELD -> current[c] = 0 :: else fi;
			sends = ACQUIRE; sendsName = name[c]; sendsTo = 0; sendsUnder = 0; sendsUpTo = 1
		:: state[c] == ASKS && heard[c] == GRANTED ->
#ifdef FROM_REPLY
			proof[c] = VALID;
#endif
			if
			:: proof[c] > 0 ->
				if :: c == 0 -> known = before :: else fi;
				j = proof[c]; t = heardToken[c]; i = heardReserve[c];
				current[c] = 0; heard[c] = 0; heardToken[c] = 0; heardReserve[c] = 0; proof[c] = 0;
				printf("client %d: HOLDS the lock, token %d\n", c, t - i);
				begins = name[c]; beginsToken = t - i; beginsLast = t; beginsLeft = j; i = 0; t = 0; j = 0
			:: else -> /* Too late to be of use: asks again. */
				REACHED(3)
				printf("client %d: the answer is too late, sends acquire again\n", c);
				sends = ACQUIRE; sendsName = name[c]; sendsTo = 0; sendsUnder = 0; sendsUpTo = 1
			fi
		:: state[c] == ASKS -> /* Gives up. */
			printf("client %d: gives up waiting\n", c);
			leaves = name[0]; leavesUnsure = (unheard[c] || heard[c] != HELD); state[c] = IDLE; forgets = 1

		:: REENTRIES && holds(c) && current[c] == 0 && wants[c] == 1 ->
			printf("client %d: re-enters\n", c);
			wants[c] = 2; reenters[c] = 1; sends = ACQUIRE; sendsName = name[c]; sendsTo = 0; sendsUnder = last[c]; sendsUpTo = 2
		:: state[c] == HOLDS && reenters[c] && heard[c] == 0 ->
			/* Asks again, with its present hold count. */
			printf("client %d: sends the re-entry again\n", c);
			sends = ACQUIRE; sendsName = name[c]; sendsTo = 0; sendsUnder = last[c]; sendsUpTo = wants[c]
		:: state[c] == HOLDS && reenters[c] && wants[c] == 2 && heard[c] == 0 ->
			/* The first acquisition is released meanwhile, or the re-entry is given up. */
			wants[c] = 1;
			if
			:: skip
			:: reenters[c] = 0; printf("client %d: gives the re-entry up, sends release to 1\n", c);
				unheard[c] = 1; sends = RELEASE; sendsName = name[c]; sendsTo = 0; sendsUnder = last[c]; sendsUpTo = 1
			fi
		:: state[c] == HOLDS && current[c] != 0 && heard[c] != 0 ->
			if
			:: heard[c] == GRANTED -> valid[c] = (valid[c] > 0 && proof[c] > valid[c] -> proof[c] : valid[c]); REACHED(4)
			:: heard[c] == GONE || heard[c] == HELD -> valid[c] = 0
			:: else
			fi;
			reenters[c] = 0; current[c] = 0; heard[c] = 0; heardToken[c] = 0; heardReserve[c] = 0; proof[c] = 0;
			if :: holds(c) -> alone(c) :: else fi

		:: RENEWALS && holds(c) && renewal[c] != 2 && renewal[c] != 3 ->
			printf("client %d: sends renew\n", c);
			renewal[c] = 1; renews[c] = name[c]; renewalProof[c] = VALID; renewalCounts[c] = 1;
			if :: c == 0 -> beforeRenewal = waits :: else fi
		:: renewal[c] == 1 -> /* Reaches the server. */
			if
			:: owner == renews[c] && owner != 0 -> lease(); t = 2
#ifdef RENEW_REVIVES
			:: owner == 0 -> owner = renews[c]; count = 1; ttl = LEASE; t = 2;
				printf("          server: renews name %d, which was gone\n", renews[c]);
				assert(names[owner] == INUSE || names[owner] == DOUBT)
#endif
			:: else -> t = 3
			fi;
			if :: renewalCounts[c] -> renewal[c] = t :: else renewal[c] = 0; renews[c] = 0 fi;
			t = 0
		:: state[c] == HOLDS && (renewal[c] == 2 || renewal[c] == 3) ->
#ifdef FROM_REPLY
			renewalProof[c] = VALID;
#endif
			if
			:: renewal[c] == 3 -> valid[c] = 0; printf("client %d: hears that its hold is gone\n", c)
			:: renewal[c] == 2 && valid[c] > 0 && renewalProof[c] > valid[c] ->
				valid[c] = renewalProof[c]; REACHED(5)
				printf("client %d: renewed\n", c);
				if :: c == 0 -> known = beforeRenewal :: else fi
			:: else
			fi;
			renewal[c] = 0; renews[c] = 0; renewalProof[c] = 0; renewalCounts[c] = 0;
			if :: holds(c) -> alone(c) :: else fi

		:: state[c] == HOLDS && valid[c] == 0 -> /* Lost: the client releases a hold that the server may still have in its name. */
			printf("client %d: has lost the lock\n", c);
			leaves = name[0]; leavesUnsure = true; state[c] = IDLE; forgets = 1; REACHED(6)
		:: holds(c) && current[c] == 0 -> /* The last release. */
			printf("client %d: sends release (token %d)\n", c, last[c]);
			state[c] = FREES; valid[c] = 0; calm[c] = !(unheard[c] && doubt[name[c]] > 0); sends = RELEASE; sendsName = name[c]; sendsTo = 0; sendsUnder = last[c]; sendsUpTo = 0
		:: state[c] == FREES && heard[c] == 0 ->
			printf("client %d: sends release again (token %d)\n", c, last[c]);
			sends = RELEASE; sendsName = name[c]; sendsTo = 0; sendsUnder = last[c]; sendsUpTo = 0
		:: state[c] == FREES && heard[c] != 0 ->
			/* After the release, the server has no hold in its name. */
			printf("client %d: has released it\n", c);
#ifdef SURE_AT_REPLY
			calm[c] = !(unheard[c] && doubt[name[c]] > 0);
#endif
			assert(owner != name[c] || !calm[c]);
			leaves = name[0]; leavesUnsure = !calm[c]; state[c] = IDLE; forgets = 1; REACHED(7)
		:: state[c] == FREES && heard[c] == 0 -> /* Not confirmed: the release is repeated in the background. */
			leaves = name[0]; leavesUnsure = true; state[c] = IDLE; forgets = 1

		:: HANDOVERS && c == 0 && !waits && attempts[0] > 0 && (state[0] == HOLDS || state[0] == ASKS) ->
			waits = 1; waiterAsked = issued; attempts[0]--;
			printf("client 0: a second caller waits\n")
		:: c == 0 && holds(0) && waits && current[0] == 0 ->
			pickName(0);
			if
			:: n != 0 ->
				calm[0] = !(unheard[0] && doubt[name[0]] > 0);
				names[n] = INUSE; heir[0] = n; state[0] = HANDS; valid[0] = 0;
				asked[0] = waiterAsked; waits = 0; waiterAsked = 0; outside[0] = 0; unheard[0] = (doubt[n] > 0); n = 0;
				renewalCounts[0] = 0; renewalProof[0] = 0; if :: renewal[0] > 1 -> renewal[0] = 0; renews[0] = 0 :: else fi;
				printf("client 0: sends hand-over from name %d to %d\n", name[0], heir[0]);
				sends = HANDOVER; sendsName = name[0]; sendsTo = heir[0]; sendsUnder = last[0]; sendsUpTo = 1
			:: else
			fi
		:: c == 0 && state[0] == HANDS && heard[0] == GRANTED && proof[0] > 0 ->
#ifdef SURE_AT_REPLY
			calm[0] = true;
#endif
			leaves = name[0]; leavesUnsure = !calm[0]; calm[0] = 0;
			known = 0; j = proof[0]; t = heardToken[0]; i = heardReserve[0];
#ifdef FROM_REPLY
			j = VALID;
#endif
			n = heir[0]; heir[0] = 0; current[0] = 0; heard[0] = 0; heardToken[0] = 0; heardReserve[0] = 0; proof[0] = 0; before = 0;
			printf("client 0: its second caller HOLDS the lock, token %d\n", t - i);
			begins = n; beginsToken = t - i; beginsLast = t; beginsLeft = j; n = 0; i = 0; t = 0; j = 0; REACHED(8)
		:: c == 0 && state[0] == HANDS && heard[0] != 0 && !(heard[0] == GRANTED && proof[0] > 0) ->
			/* Gone, or too late: the second caller asks by itself, in its own name. */
			if :: heard[0] == GRANTED -> leaves = name[0]; leavesUnsure = !calm[0]; calm[0] = 0; unheard[0] = 1 :: else names[name[0]] = (calm[0] -> RETIRED : DOUBT); calm[0] = 0 fi;
			name[0] = heir[0]; heir[0] = 0; state[0] = ASKS; token[0] = 0; last[0] = 0; wants[0] = 0; current[0] = 0;
			heard[0] = 0; heardToken[0] = 0; heardReserve[0] = 0; proof[0] = 0; before = 0; known = 0
		:: c == 0 && state[0] == HANDS && heard[0] == 0 -> /* No answer: settles the old name, and asks in the new name. */
			leaves = name[0]; leavesUnsure = true; calm[0] = 0;
			name[0] = heir[0]; heir[0] = 0; state[0] = ASKS; token[0] = 0; last[0] = 0; wants[0] = 0; unheard[0] = 1;
			known = 0; REACHED(9)
			printf("client 0: no answer: settles the one name and asks in the other (%d)\n", name[0]);
			sends = ACQUIRE; sendsName = name[0]; sendsTo = 0; sendsUnder = 0; sendsUpTo = 1
		:: state[0] == HOLDS && valid[0] > 0 && waits && current[0] == 0 && token[0] < last[0] && mayFollow && isYoung ->
			waits = 0; known = 0; asked[0] = waiterAsked; waiterAsked = 0; j = valid[0];
#ifdef PASS_AS_NEW
			j = VALID;
#endif
			printf("client 0: passes the lock on to its second caller, token %d\n", token[0] + 1);
			begins = name[0]; beginsToken = token[0] + 1; beginsLast = last[0]; beginsLeft = j; j = 0; REACHED(10)

		:: else
		fi;
		if :: begins != 0 -> begin(0, begins, beginsToken, beginsLast, beginsLeft) :: else fi;
		if :: leaves != 0 -> leave(leaves, leavesUnsure) :: else fi;
		if :: sends != NONE -> send(0, sends, sendsName, sendsTo, sendsUnder, sendsUpTo) :: else fi;
		if :: forgets -> forget(0) :: else fi;
		begins = 0; beginsToken = 0; beginsLast = 0; beginsLeft = 0; leaves = 0; leavesUnsure = 0; forgets = 0;
		sends = 0; sendsName = 0; sendsTo = 0; sendsUnder = 0; sendsUpTo = 0 }

	/* One of its requests reaches the server. */
	:: atomic { if :: kind[0] != NONE -> s = 1 :: kind[1] != NONE -> s = 2 fi;
		arrive(0, s); s = 0 }


	/* The other clients. Their requests are never late, but the clients may pause or crash. */
	:: atomic { if :: c = 1 :: c = 2 fi;
		n = c + 3;
		if
		:: state[c] == IDLE && attempts[c] > 0 && owner == 0 && highest + 1 + HANDOVERS <= TOP ->
			attempts[c]--; names[n] = INUSE; asked[c] = issued; mint(c, 0); give(c, n, t); lease();
			printf("client %d: HOLDS the lock, token %d\n", c, counter);
			begin(c, n, counter, counter, VALID)
		:: holds(c) && owner == n -> valid[c] = VALID; printf("client %d: renewed\n", c); lease()
		:: state[c] == HOLDS && owner == n && counter <= last[c] ->
			printf("client %d: releases it\n", c); owner = 0; count = 0; ttl = 0;
			state[c] = IDLE; names[n] = UNUSED; forget(c)
		:: state[c] == HOLDS && (valid[c] == 0 || outside[c]) ->
			printf("client %d: has lost the lock\n", c); state[c] = IDLE; names[n] = UNUSED; forget(c)
		:: else
		fi; c = 0; n = 0 }

	/* In the background: releases each hold that a name in doubt may have. */
	:: atomic { if :: n = 1 :: n = 2 :: n = 3 fi;
		if
		:: isOpen(n) ->
			if :: owner == n -> owner = 0; count = 0; ttl = 0; REACHED(11) printf("          server: name %d is settled: freed\n", n) :: else fi;
			if
			:: true
			:: names[n] == DOUBT && isCertain(n) ->
				names[n] = RETIRED; doubt[n] = 0; sweep(n); REACHED(12)
				printf("          name %d is settled for good\n", n)
			fi
		:: else
		fi; n = 0 }

	:: atomic { timers > 0 -> tick() }
	:: atomic { FORCE && !forces && owner != 0 ->
		forces = 1; printf("          server: the lock is taken from name %d by force\n", owner);
		c = OF(owner);
		outside[c] = (name[c] == owner -> 1 : outside[c]);
		owner = 0; count = 0; ttl = 0; c = 0; REACHED(13) }
	:: atomic { FLUSH && !flushes && counter > 0 ->
		flushes = 1; printf("          server: FLUSHED, the counter is lost\n");
		c = OF(owner);
		if :: owner != 0 -> outside[c] = (name[c] == owner -> 1 : outside[c]) :: else fi;
		owner = 0; count = 0; ttl = 0; counter = 0; c = 0; REACHED(14) }
	od
}
