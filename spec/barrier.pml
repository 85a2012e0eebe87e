/*
 * The cyclic barrier: rounds, requests that are late or run twice, calls that leave, and arrivals whose leases end.
 *
 * Stands for    lua/barrier/arrive, leave; lua/parts/barrier, late; src/locks/barrier: party, barriers;
 *               src/servers/redis/barrier-commands.
 *
 * Each option of the loop is one step that nothing can divide: a script, or one turn of the client's event loop.
 *
 * Simplifications, and why they hide no error:
 *  - Client 0 makes two calls, one after the other. The parties of other clients arrive and leave in one step: their
 *    lateness is the lateness of client 0. Their arrivals end at any time, as after a crash.
 *  - Requests of client 0 arrive in any order. Real requests on one connection keep their order.
 *  - A request to leave is sent again only when the previous copy is lost or has run. More copies change nothing.
 *  - In part 1 no time passes: the server forgets an outcome in one step, when no copy of the request may run any more.
 *  - In part 2 time passes in ticks, with one call. A lease has LEASE ticks, and a renewal is due after one tick. The
 *    clock of the server may count two ticks for one, but only once. The client may stand still, and a client that
 *    stands still forever has crashed.
 *  - A message is read before the next tick, or is lost. It may be about an earlier round, which another call of the
 *    client awaited. Subscriptions that break are in wake-up.pml.
 *  - The model has no failovers.
 *
 * Guards that can be left out, one -D for each:
 *   COUNT_TWICE      an arrival is counted by number, not by its id
 *   NO_PASSED_MARK   the server does not store which arrivals have passed
 *   NO_LEFT_MARK     the server does not store which arrivals were withdrawn
 *   NO_NOT_AFTER     a copy may run after the server has forgotten the outcome
 *   FORGET_DOUBTFUL  the client reports an outcome although a request was not answered
 *   FORGET_OPEN      the client reports an outcome although a request waits for its answer
 *   LEAVE_BLIND      a request to leave is answered 'left' although the round is over
 *   FALSE_AT_ONCE    the call gives false at the end of its time, without an answer of the server
 *   NO_ROUND         a renewal counts in the current round, even if this is another round
 *   NO_EXPIRY        an arrival counts after its lease
 *   NO_RENEWAL       a party that is subscribed does not renew its arrival
 *   NO_LEASE_TEST    a message ends the wait although the arrival may not have counted
 *   NO_MARGIN        the client does not subtract the drift of clocks
 *   FROM_REPLY       the lease counts from the answer
 *   ANY_MESSAGE      a message about any round ends the wait
 *   LONG_REQUESTS    a request may run for longer than a lease
 */
#include "common.h"

/* Part 1: two calls, no time. Part 2: one call, time, two parties. Part 3: the same with three parties. */
#ifndef PART
#define PART 1
#endif
#define TIME (PART > 1)
#define PARTIES (PART == 3 -> 3 : 2)
#define CALLS (TIME -> 1 : 2)
#define ROUNDS 3 /* other clients begin no round after this many */
#define MOST_LOST (TIME -> 1 : 2) /* the most lost answers of a call */

#define LEASE 4
#ifdef LONG_REQUESTS
#define UNTIL 6
#else
#define UNTIL 2 /* no copy runs after this many ticks */
#endif
#ifdef NO_MARGIN
#define MARGIN 0
#else
#define MARGIN 1
#endif
#define BOUND 2 /* without a fault, a party is counted, or knows of the end of its round, within this many ticks */

/* The states of a call. */
#define WAITS 1
#define LEAVES 2  /* its time is over, and it asks if it was counted */
#define ABORTED 3 /* it leaves in the background */
#define PASSED 4
#define LEFT 5
#define GONE 6
/* The answers to a request. */
#define WAITING 7
#define LATE 8

/* The server: the arrivals of client 0 and of others, the current round, outcomes. */
bool here[2];
byte leaseLeft[2], others, extra, round, outcome[2];
/* Client 0. `sure`: the number of ticks for which its arrival certainly counts. */
byte state[2], itsRound[2], sure, made, lost[2];
bool doubt[2], due[2], subscribed, confirmed, reports;
byte timer;
/* Requests to arrive: copies on their way, their ages, the rounds they name, and the copy for which the call waits. */
bool flies[4];
byte age[4], names[4];
bool forgets[4];
byte current[2], answer[2], answerAge[2], ofRound[2];
#define AT(x, k) (2 * (x) + k)
/* Requests to leave: 1 on its way, 2 answered 'left', 3 answered 'passed'. */
byte leaving[2];
byte message;

/* Ghosts: in which round an arrival was counted at the end, whether it was withdrawn, for how long it has waited. */
byte countedIn[2], lag;
bool withdrawn[2], frozen, frozeOnce, isFast;
byte i;

#define isOpenCall(x) (state[x] == WAITS || state[x] == LEAVES)
#define arrived (here[0] + here[1] + others + extra)
#define isOver(x) (state[x] > ABORTED || (state[x] == ABORTED && withdrawn[x]))

inline land(j) { flies[j] = 0; age[j] = 0; names[j] = 0; forgets[j] = 0 }

/* The script removes the arrivals whose leases have ended. */
inline expire() {
#ifndef NO_EXPIRY
	if :: TIME && here[0] && leaseLeft[0] == 0 -> here[0] = 0; REACHED(1) printf("          server: the lease of client 0 has ended\n") :: else fi
#else
	skip
#endif
}

inline passes(x) {
	if
	:: here[x] ->
		/* Only a call that is not over is counted, and only while its lease lasts. */
		assert(!isOver(x)); assert(countedIn[x] == 0); assert(!TIME || leaseLeft[x] > 0);
		here[x] = 0; leaseLeft[x] = 0; countedIn[x] = round;
#ifndef NO_PASSED_MARK
		outcome[x] = PASSED
#endif
	:: else
	fi
}

/* The round is over when all parties have arrived. */
inline endIfComplete() {
	if
	:: arrived >= PARTIES ->
		printf("          server: round %d is over\n", round);
		/* Each arrival is counted once, so all parties have arrived. */
		assert(extra == 0);
		passes(0); passes(1); others = 0; extra = 0; REACHED(2)
		if
		:: confirmed && message == 0 -> message = round
		:: confirmed && message == 0 -> lag = 0; REACHED(3) printf("          its message is lost\n")
		:: else -> lag = 0
		fi
	:: else
	fi
}

/* A copy of a request to arrive reaches the server. */
inline arrive(x, k) {
	j = AT(x, k); r = WAITING;
	expire();
	if
	:: forgets[j] -> outcome[0] = 0; REACHED(4)
	:: else
	fi;
	if
	:: outcome[x] != 0 -> r = (outcome[x] == PASSED -> PASSED : GONE); REACHED(5)
#ifndef NO_NOT_AFTER
	:: outcome[x] == 0 && age[j] > UNTIL -> r = LATE
	:: outcome[x] == 0 && age[j] <= UNTIL &&
#else
	:: outcome[x] == 0 &&
#endif
#ifdef NO_ROUND
		false -> skip
#else
		names[j] != 0 && (arrived == 0 || names[j] != round) -> r = GONE; REACHED(6)
#endif
	:: else ->
		if :: arrived == 0 -> round++; printf("          server: round %d begins\n", round) :: else fi;
		printf("          server: counts call %d in round %d\n", x, round);
		/* The server counts no call that is over or has passed. It counts a call only in the round that the call knows. */
		assert(!isOver(x)); assert(countedIn[x] == 0); assert(itsRound[x] == 0 || itsRound[x] == round);
		if
		:: here[x] -> REACHED(7)
#ifdef COUNT_TWICE
			extra = 1
#endif
		:: else -> here[x] = 1
		fi;
		leaseLeft[x] = (TIME -> LEASE : 0); lag = 0;
		u = round;
		endIfComplete();
		if :: countedIn[x] != 0 -> r = PASSED :: else fi
	fi;
	if
	:: current[x] == k + 1 -> current[x] = 3; answer[x] = r; answerAge[x] = age[j]; ofRound[x] = (r == WAITING -> u : 0)
	:: else -> REACHED(8)
	fi;
	land(j); r = 0; u = 0; j = 0;
	tidy(x)
}
byte r, u, j;

/* Clears a call that has ended, when none of its requests is on its way. */
inline tidy(x) {
	if
	:: state[x] > ABORTED && !flies[AT(x, 0)] && !flies[AT(x, 1)] && current[x] != 3 -> lost[x] = 0; current[x] = 0
	:: else
	fi
}

/* A call settles. */
inline settle(x, as) {
	/* The call gives true exactly if it was counted at the end of a round. */
	assert((as == PASSED) == (countedIn[x] != 0));
	printf("client 0: call %d ends, %d\n", x, as);
	state[x] = as;
#ifdef FORGET_DOUBTFUL
	reports = (x == 0 && current[x] == 0);
#elif defined(FORGET_OPEN)
	reports = (x == 0 && !doubt[x]);
#else
	reports = (x == 0 && !doubt[x] && current[x] == 0);
#endif
	rest(x)
}
/* Clears the variables that a call no longer needs after its end. */
inline rest(x) {
	due[x] = 0; itsRound[x] = 0; sure = 0; timer = 0; message = 0; subscribed = 0; confirmed = 0; lag = 0; doubt[x] = 0;
	if :: current[x] == 3 -> current[x] = 0 :: else fi;
	answer[x] = 0; answerAge[x] = 0; ofRound[x] = 0;
	tidy(x)
}

/* The client reads the answer to its request. */
inline read(x) {
	r = answer[x]; u = ofRound[x]; j = answerAge[x];
	current[x] = 0; answer[x] = 0; answerAge[x] = 0; ofRound[x] = 0;
	if
	:: state[x] == WAITS ->
		if
		:: r == WAITING ->
			itsRound[x] = u; timer = TIME;
#ifdef FROM_REPLY
			sure = (TIME -> LEASE - MARGIN : 0);
#else
			sure = (TIME -> (LEASE > MARGIN + j -> LEASE - MARGIN - j : 0) : 0);
#endif
			subscribed = 1
		:: r == LATE -> due[x] = 1
		:: r == PASSED -> REACHED(9) settle(x, PASSED)
		:: r == GONE -> REACHED(10) settle(x, GONE)
		fi
	:: else
	fi;
	r = 0; u = 0; j = 0
}

#ifdef NO_RENEWAL
#define isRenewed (itsRound[0] != 0 && timer == 0 && !confirmed)
#else
#define isRenewed (itsRound[0] != 0 && timer == 0)
#endif
#define canSend(x) (!flies[AT(x, 0)] || !flies[AT(x, 1)])
#define isUrgent (!frozen && state[0] == WAITS && (((due[0] || isRenewed) && current[0] == 0 && canSend(0)) || (current[0] != 0 && current[0] < 3 && age[AT(0, current[0] - 1)] >= 1) || current[0] == 3 || message != 0))

inline older(k) {
	if
	:: flies[k] ->
		age[k] = age[k] + 1 + v;
		if
		:: age[k] > UNTIL && current[0] != k + 1 -> land(k)
		:: age[k] > UNTIL && current[0] == k + 1 -> age[k] = UNTIL + 1
		:: else
		fi
	:: else
	fi
}
byte v;

active proctype world() {
end:	do
	/* The parties of other clients. */
	:: atomic { arrived > 0 || round < ROUNDS ->
		expire();
		if :: arrived == 0 && round < ROUNDS -> round++; others++; printf("          server: another party begins round %d\n", round)
		:: arrived > 0 -> others++; printf("          server: another party arrives in round %d\n", round)
		:: else
		fi;
		endIfComplete() }
	:: atomic { others > 0 -> others--; printf("          server: another party leaves\n") }

	/* Client 0 calls. */
	:: atomic { !frozen && made < CALLS && (made == 0 || state[0] > WAITS && state[0] != LEAVES) ->
		state[made] = WAITS; due[made] = 1; printf("client 0: makes call %d\n", made); made++ }
	:: atomic { TIME && !frozen && state[0] == WAITS && isRenewed && !due[0] && current[0] == 0 -> due[0] = 1 }
	:: atomic { subscribed && !confirmed && !frozen -> confirmed = 1; REACHED(11)
		printf("client 0: its subscription is confirmed\n");
		if :: state[0] == WAITS -> due[0] = 1 :: state[0] != WAITS && state[1] == WAITS -> due[1] = 1 :: else fi }
	:: atomic { message != 0 && !frozen ->
		i = (state[0] == WAITS -> 0 : 1);
		if
#ifdef ANY_MESSAGE
		:: state[i] == WAITS && (!TIME || sure > 0) -> settle(i, PASSED)
#elif defined(NO_LEASE_TEST)
		:: state[i] == WAITS && message == itsRound[i] -> settle(i, PASSED)
#else
		:: state[i] == WAITS && message == itsRound[i] && (!TIME || sure > 0) -> REACHED(12) settle(i, PASSED)
		:: state[i] == WAITS && message == itsRound[i] && TIME && sure == 0 -> due[i] = 1; REACHED(13)
#endif
		:: else
		fi;
		message = 0; i = 0 }

	/* Another call of the client was subscribed before, so a message may be about an earlier round. */
	:: atomic { !TIME && subscribed && message == 0 && round > 1 -> message = round - 1; REACHED(18)
		printf("          a message about an earlier round comes late\n") }

	/* A tick passes. Before that, the client does all work that is due, unless it stands still. */
	:: atomic { TIME && !isUrgent && (state[0] != 0 || flies[0] || flies[1]) ->
		v = 0;
		if :: true :: !isFast -> isFast = 1; v = 1; printf("          the clock of the server is fast\n") fi;
		older(0); older(1);
		if :: leaseLeft[0] > 1 + v -> leaseLeft[0] = leaseLeft[0] - 1 - v :: else -> leaseLeft[0] = 0 fi;
		v = 0;
		if :: sure > 0 -> sure-- :: else fi;
		if :: timer > 0 -> timer-- :: else fi;
		if :: current[0] == 3 && answerAge[0] < LEASE -> answerAge[0]++ :: else fi;
		/* Without a fault, no party waits uncounted, or after the end of its round. */
		if
		:: state[0] == WAITS && !frozen && canSend(0) && (countedIn[0] != 0 || !here[0] || leaseLeft[0] == 0) ->
			lag++; assert(lag <= BOUND)
		:: else -> lag = 0
		fi;
		printf("          a tick passes\n") }
	:: atomic { TIME && !frozen && !frozeOnce && state[0] == WAITS -> frozen = 1; frozeOnce = 1; lag = 0; REACHED(14)
		printf("client 0: stands still\n") }
	:: atomic { frozen -> frozen = 0; lag = 0; printf("client 0: continues\n") }
	od
}

/* The requests of a call of client 0. Copies arrive in any order; answers are read at any time, or lost. */
active [2] proctype request() {
	byte x = _pid - 1;
end:	do
	:: atomic { !frozen && state[x] == WAITS && due[x] && current[x] == 0 && canSend(x) ->
		due[x] = 0; i = (flies[AT(x, 0)] -> 1 : 0);
		flies[AT(x, i)] = 1; age[AT(x, i)] = 0; names[AT(x, i)] = itsRound[x];
		if :: x == 1 && reports && itsRound[1] == 0 -> forgets[AT(x, i)] = 1; reports = 0 :: else fi;
		current[x] = i + 1; i = 0; printf("client 0: sends a request to arrive, call %d\n", x) }
	:: atomic { flies[AT(x, 0)] -> arrive(x, 0) }
	:: atomic { flies[AT(x, 1)] -> arrive(x, 1) }
	:: atomic { !frozen && current[x] == 3 -> read(x) }
	/* Without an answer in time, the client sends another request. */
	:: atomic { !frozen && state[x] == WAITS && current[x] != 0 && lost[x] < MOST_LOST ->
		printf("client 0: has no answer, call %d\n", x); REACHED(15)
		lost[x]++;
		doubt[x] = 1; current[x] = 0; answer[x] = 0; answerAge[x] = 0; ofRound[x] = 0; due[x] = 1; lag = 0 }
	:: atomic { flies[AT(x, 0)] && current[x] != 1 -> land(AT(x, 0)); tidy(x) }
	:: atomic { flies[AT(x, 1)] && current[x] != 2 -> land(AT(x, 1)); tidy(x) }

	/* The time of the call ends, or its caller aborts. */
	:: atomic { !frozen && state[x] == WAITS -> printf("client 0: the time of call %d is over\n", x); due[x] = 0;
#ifdef FALSE_AT_ONCE
		settle(x, LEFT)
#else
		state[x] = LEAVES; leaving[x] = 1
#endif
	}
	:: atomic { !frozen && isOpenCall(x) -> printf("client 0: call %d is aborted\n", x); REACHED(16)
		leaving[x] = 1; state[x] = ABORTED; rest(x) }
	/* A request to leave reaches the server. */
	:: atomic { leaving[x] == 1 ->
		if
#ifdef LEAVE_BLIND
		:: true ->
#else
		:: outcome[x] == PASSED -> leaving[x] = 3; REACHED(17)
		:: outcome[x] != PASSED ->
#endif
			leaving[x] = 2; here[x] = 0; leaseLeft[x] = 0;
			printf("          server: call %d leaves\n", x);
#ifndef NO_LEFT_MARK
			outcome[x] = LEFT;
#endif
			withdrawn[x] = 1
		fi }
	:: atomic { !frozen && leaving[x] > 1 ->
		if
		:: state[x] == LEAVES -> if :: leaving[x] == 3 -> settle(x, PASSED) :: else -> settle(x, LEFT) fi
		/* The answer is lost, so the call asks again. */
		:: state[x] == LEAVES -> leaving[x] = 1
		:: state[x] == ABORTED -> state[x] = (leaving[x] == 3 -> PASSED : LEFT); tidy(x)
		:: state[x] == ABORTED -> leaving[x] = 1
		fi;
		if :: leaving[x] > 1 -> leaving[x] = 0 :: else fi }
	/* The server forgets the outcome of a call when no copy of its requests may run any more. */
	:: atomic { outcome[x] != 0 && state[x] > ABORTED && leaving[x] == 0 && !TIME -> outcome[x] = 0;
		printf("          server: forgets call %d\n", x);
#ifndef NO_NOT_AFTER
		land(AT(x, 0)); land(AT(x, 1)); if :: current[x] > 0 -> current[x] = 0 :: else fi;
#endif
		tidy(x) }
	od
}
