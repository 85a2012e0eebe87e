/*
 * The leader election: two candidates, their terms, and two clients that listen to `changed`.
 *
 * Stands for    src/locks/leader: campaign, leader-election, leader-elections, leader-watch, term;
 *               src/servers/redis/election-channel; src/lease/hold, validity.
 *
 * Each option of the loop is one step that nothing can divide: a script, or one turn of a client's event loop.
 *
 * Simplifications, and why they hide no error:
 *  - To lead is to hold the fair lock. Its queue, its grants and its proofs are in fair.pml. Here a grant is one step
 *    of the server. The candidate learns of its grant at any time, or never. Then the server confirms the grant.
 *  - Each campaign has its own name: 2n and 2n + 1 are the nth campaigns of candidates 0 and 1.
 *  - Watch 0 is in the client of candidate 0, watch 1 in a client without a candidate.
 *  - In part 1 time is in ticks, and passes at any moment: a process may sleep between any two of its steps. A lease
 *    lasts LEASE ticks, or one tick less if the server's clock runs fast. The leader counts VALID.
 *  - In part 2 no lease ends. When nothing else can happen, all watches look, and then all leaders renew. These steps
 *    stand for timers. Messages are lost.
 *  - A server that lags behind may answer one look, as a replica may after it takes over.
 *  - Bounded: two campaigns of candidate 0, one campaign of candidate 1, one use of force.
 *
 * Guards that can be left out, one -D for each:
 *   NO_MARGIN        validity is the whole lease
 *   TRUST_GRANT      a candidate leads by a grant that the server has not confirmed
 *   RESIGN_AT_ONCE   a resignation does not wait for the function
 *   REUSE_NAMES      a candidate stands again under its old name
 *   NO_EPOCH         a client reports the answer to a look that began before its own term
 *   NO_TOKEN_ORDER   a client reports a leader although it has reported a leader with a higher token
 *   NO_ACCEPTS       a client reports its own term although it does not lead by its own clock, or the opposite
 *   NO_IS_OVER       a client reports its own term although it has given up this term
 *   NO_VERIFY        a leader that sees another leader does not ask the server if it still leads
 *   NO_TIMER         a watch looks only after a message
 *   NO_STAND_AGAIN   a candidate that lost its term does not stand again
 */
#include "common.h"

#ifndef PART
#define PART 1
#endif
/* Part 1: watch 0, and leases that end. Part 2: both watches, and messages that are lost. Part 3: as part 1, watch 1. */
#define TIME (PART != 2)
#define IS_USED(w) (PART == 2 || w == (PART == 3))
#ifndef WITH_FORCE
#define WITH_FORCE (PART == 2)
#endif
#define LEASE 3
#ifdef NO_MARGIN
#define VALID 3
#else
#define VALID 2
#endif
/* Candidate 1 stands only once, because its second campaign would be like a campaign of candidate 0. */
#define MOST(c) (c == 1 -> 1 : 2)
#ifndef TOP
#define TOP (PART == 2 -> 4 : 3) /* the most terms of a run */
#endif

#define OUT 0
#define WAITS 1
#define LEADS 2
#define DRAINS 3 /* it was asked to end, and its function runs */
#define LOST 4   /* the term is lost, and its function runs */

#ifdef REUSE_NAMES
#define NAME(c) (2 + c)
#else
#define NAME(c) (2 * nth[c] + c)
#endif
#define NOTHING 99 /* the watch has reported nothing yet */

/* The server. */
byte owner, token, ttl;
bool place[2], isFirst; /* the candidates in the queue, and which of the two came first */
byte oldOwner, oldToken; /* the state on a server that lags behind */

byte state[2], nth[2], valid[2], debt[2];
bool gaveUp[2], stays[2], outside[2], wantsOut[2];

/* The watches. A look: 0 none, 1 on its way, 2 answered, 3 verified. */
byte look[2], seen[2], seenToken[2], told[2] = NOTHING, lastToken[2];
bool needed[2], isOld[2], lags[2];

/* Ghosts. */
byte begun, toldKey[2], seenKey[2], phase;
bool forced, lagged;
byte i;

/* A candidate that no longer stands: it has given up, or it has no more campaigns. */
#define isDone(c) (gaveUp[c] || (nth[c] == MOST(c) && state[c] == OUT))
#define leads(c) (state[c] == LEADS && valid[c] > 0)
#define isMine(who) (who != 0 && who == NAME(0))
#define relies(c) ((state[c] == LEADS || state[c] == DRAINS) && valid[c] > 0 && !outside[c])

inline alone() { assert(!(relies(0) && relies(1))) }

inline wake() {
	for (i : 0 .. 1) {
		if :: needed[i] = IS_USED(i) :: phase == 0 && !TIME -> printf("          a message to watch %d is lost\n", i); REACHED(1) fi
	}
	i = 0
}

/* The server gives a free lock to the first in the queue. */
inline grantNext() {
	oldOwner = owner; oldToken = token;
	if
	:: token < TOP && place[0] && (!place[1] || !isFirst) -> owner = NAME(0); place[0] = 0; token++; ttl = LEASE; printf("          server: granted to campaign %d, token %d\n", owner, token)
	:: token < TOP && place[1] && (!place[0] || isFirst) -> owner = NAME(1); place[1] = 0; token++; ttl = LEASE; printf("          server: granted to campaign %d, token %d\n", owner, token)
	:: else -> owner = 0; ttl = 0; printf("          server: nobody leads\n"); wake()
	fi
}

/* Reports each term once, and no term that is older than an earlier report. */
inline tell(w, who, tok, key) {
	if
	:: who == told[w]
#ifndef NO_TOKEN_ORDER
	:: who != told[w] && who != 0 && tok < lastToken[w] -> REACHED(2)
#endif
	:: else ->
		printf("watch %d: tells %d, token %d\n", w, who, tok);
		/* Never an older leader after a newer leader. A server that lags behind may answer that there is no leader. */
		assert(who == 0 || tok >= lastToken[w]);
		assert(lags[w] || key >= toldKey[w]);
		/* The report agrees with the state of the candidate of the same client. */
		assert(w == 1 || (isMine(who) -> leads(0) : !leads(0)));
		/* A client does not report its own term after this term is over. */
		assert(w == 1 || who == 0 || who % 2 == 1 || leads(0));
		told[w] = who; toldKey[w] = (key > toldKey[w] -> key : toldKey[w]); REACHED(3)
		if :: who != 0 -> lastToken[w] = tok :: else fi
	fi
}

inline begins(c) {
	assert(token > begun); begun = token;
	state[c] = LEADS; valid[c] = VALID; outside[c] = 0; place[c] = 0;
	printf("candidate %d: LEADS, token %d\n", c, token); REACHED(4)
	alone();
	if :: stays[c] = 1 :: skip fi;
	if
	:: c == 0 ->
#ifndef NO_EPOCH
		if :: look[0] > 0 -> isOld[0] = 1 :: else fi;
#endif
		if :: IS_USED(0) -> tell(0, owner, token, 2 * token) :: else fi
	:: else
	fi;
	wake()
}

/* A renewal: asks the server if this candidate still leads. */
inline renew(c) {
	if
	:: owner == NAME(c) ->
		valid[c] = VALID; if :: ttl = LEASE :: TIME -> ttl = LEASE - 1 fi
	:: else -> state[c] = LOST; valid[c] = 0; stays[c] = 0; printf("candidate %d: has lost its term\n", c); REACHED(5)
	fi
}

/* `accepts` of the client of candidate 0: a report must agree with the state of this candidate. */
#define isGivenUp(who) (who != 0 && who % 2 == 0 && !(who == NAME(0) && state[0] != OUT))
#ifdef NO_IS_OVER
#define accepts(who) (isMine(who) -> leads(0) : !leads(0))
#elif defined(NO_ACCEPTS)
#define accepts(who) true
#else
#define accepts(who) (isMine(who) -> leads(0) : !leads(0) && !isGivenUp(who))
#endif

active [2] proctype candidate() {
	byte c = _pid;
end:	do
	/* It stands: at first, and again after a loss. */
	:: atomic { state[c] == OUT && nth[c] < MOST(c) && !gaveUp[c] && (nth[c] == 0 || !wantsOut[c]) &&
#ifdef NO_STAND_AGAIN
		nth[c] == 0 &&
#endif
		true ->
		nth[c]++; state[c] = WAITS; place[c] = 1; isFirst = (place[1 - c] -> 1 - c : c);
		printf("candidate %d: stands as %d\n", c, NAME(c));
		if :: owner == 0 -> grantNext() :: else fi }
	:: atomic { state[c] == WAITS && owner == 0 && !place[c] -> place[c] = 1; isFirst = (place[1 - c] -> 1 - c : c) }
	:: atomic { place[c] && owner == 0 && token < TOP -> grantNext() }
	/* It hears of its grant. */
#ifdef TRUST_GRANT
	:: atomic { state[c] == WAITS && ((owner == NAME(c)) || (TIME && oldOwner == NAME(c) && oldToken > begun && owner != 0)) ->
		if :: owner == NAME(c) -> begins(c) :: else -> state[c] = LEADS; valid[c] = VALID; alone() fi }
#else
	:: atomic { state[c] == WAITS && owner == NAME(c) -> if :: ttl = LEASE :: TIME -> ttl = LEASE - 1 fi; begins(c) }
#endif
	/* It gives up before it hears: an abort, or an outage, after which it may stand again. */
	:: atomic { state[c] == WAITS && debt[c] == 0 && nth[c] < MOST(c) -> state[c] = OUT; place[c] = 0; debt[c] = NAME(c); printf("candidate %d: gives up waiting\n", c); REACHED(6)
		if :: gaveUp[c] = 1 :: skip fi }
	/* A lock that may have been granted to it is released in the background. */
	:: atomic { debt[c] > 0 ->
		if :: owner == debt[c] -> printf("          server: campaign %d is released\n", debt[c]); REACHED(7) grantNext() :: else fi; debt[c] = 0 }
	/* It resigns: its function is asked to end, and the lease is renewed until it has. */
	:: atomic { state[c] == LEADS && !stays[c] ->
		state[c] = DRAINS; gaveUp[c] = 1; printf("candidate %d: resigns\n", c); REACHED(8)
#ifdef RESIGN_AT_ONCE
		if :: owner == NAME(c) -> grantNext() :: else fi
#endif
	}
	:: atomic { state[c] == DRAINS || (state[c] == LEADS && !stays[c]) ->
		printf("candidate %d: its function has ended\n", c); gaveUp[c] = 1;
		state[c] = OUT; valid[c] = 0; outside[c] = 0;
		if :: owner == NAME(c) -> grantNext() :: else fi }
	:: atomic { state[c] == LOST -> state[c] = OUT; outside[c] = 0; printf("candidate %d: its function has ended after the loss\n", c) }
	:: atomic { TIME && (state[c] == LEADS || state[c] == DRAINS) ->
		if
		:: valid[c] == 0 -> state[c] = LOST; stays[c] = 0; REACHED(9)
		:: valid[c] > 0 && valid[c] < VALID -> renew(c); alone()
		fi }
	od
}

active [2] proctype watch() {
	byte w = _pid - 2;
	d_step { needed[w] = IS_USED(w) }
end:	do
	:: atomic { needed[w] && look[w] == 0 -> needed[w] = 0; look[w] = 1; isOld[w] = 0 }
	:: atomic { look[w] == 1 -> look[w] = 2;
		if
		:: seen[w] = owner; seenToken[w] = token
		:: TIME && !lagged -> lagged = 1; lags[w] = 1; seen[w] = oldOwner; seenToken[w] = oldToken; printf("          server: one that lags behind answers\n"); REACHED(10)
		fi;
		seenKey[w] = 2 * seenToken[w] + (seen[w] == 0) }
	:: atomic { look[w] == 2 -> look[w] = 3;
#ifndef NO_VERIFY
		if
		:: w == 0 && !isOld[0] && !isMine(seen[0]) && leads(0) -> REACHED(11) renew(0)
		:: else
		fi
#endif
	}
	:: atomic { look[w] == 3 ->
		if
		:: isOld[w] -> needed[w] = 1; REACHED(12)
		:: !isOld[w] && (w == 1 || accepts(seen[w])) -> tell(w, seen[w], seenToken[w], seenKey[w])
		:: else -> REACHED(13)
		fi;
		look[w] = 0; isOld[w] = 0; lags[w] = 0; seen[w] = 0; seenToken[w] = 0; seenKey[w] = 0 }
	od
}

active proctype world() {
end:	do
	:: atomic { WITH_FORCE && !forced && owner != 0 -> forced = 1; printf("          server: the term is ended by force\n"); REACHED(14)
		outside[0] = (owner == NAME(0) || outside[0]); outside[1] = (owner == NAME(1) || outside[1]); grantNext() }
	:: atomic { TIME && (ttl > 0 || valid[0] > 0 || valid[1] > 0) ->
		printf("-- time passes\n");
		valid[0] = (valid[0] > 0 -> valid[0] - 1 : 0); valid[1] = (valid[1] > 0 -> valid[1] - 1 : 0);
		if :: ttl == 1 -> oldOwner = owner; oldToken = token; owner = 0; ttl = 0; printf("          server: the lease of the leader ends\n"); REACHED(15)
		   :: ttl > 1 -> ttl-- :: else fi;
		needed[0] = IS_USED(0); needed[1] = IS_USED(1) }
	:: atomic { !TIME && timeout ->
		if
		:: phase == 0 -> phase = 1;
#ifndef NO_TIMER
			needed[0] = 1; needed[1] = 1
#endif
		:: phase == 1 || phase == 2 ->
			/* Both watches have reported the present leader, even if messages were lost. */
			assert(told[0] == owner && told[1] == owner);
			if
			:: phase == 1 -> phase = 2;
				for (i : 0 .. 1) { if :: state[i] == LEADS -> renew(i) :: else fi } i = 0;
				needed[0] = 1; needed[1] = 1
			:: else ->
				/* While a candidate has not given up, there is a leader. */
				assert(owner != 0 || (isDone(0) && isDone(1)) || token == TOP);
				break
			fi
		fi }
	od
}
