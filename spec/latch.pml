/*
 * The count-down latch: rounds, requests that are late or run twice, clocks that are set, and one awaiter.
 *
 * Stands for    lua/latch/set-count, count-down, delete-count, look; lua/parts/latch, once, late;
 *               src/locks/latch: awaiter, latch-watch, latches; src/servers/redis/latch-commands;
 *               src/servers/redis/calls/server-clock; src/servers/once-request.
 *
 * Each option of the loop is one step that nothing can divide: a script, or one turn of the client's event loop.
 *
 * Simplifications, and why they hide no error:
 *  - Client 0 has the requests and the awaiter. The other clients act in one step, at once. Their lateness is the
 *    lateness of client 0.
 *  - A tick passes before and after each set. So a call is never so close to a set that the client's doubt about the
 *    clock matters. Only the order of the two moments matters.
 *  - Client 0 already knows the server's time. The server's clock may then be set, by more than any request takes.
 *    The server refuses a client that does not know the time yet. The refusal tells the client the time.
 *  - Answers to the first request of client 0 may be lost. Then the client sends the request again. The second request
 *    may only be late.
 *  - No copy of a request runs after its time limit. At this limit the server forgets the request, in one step.
 *  - If the client learns the new time by a slow answer, its clock is inexact by that delay. `exempt` marks such
 *    requests, because no promise for calls without the number of a round covers them.
 *  - A subscription is confirmed some time after the first look, and wakes the awaiter. Breaks are in wake-up.pml.
 *    Messages are not lost here: a look every few seconds finds what a lost message told.
 *  - The model has no Redisson, which stores no number of its rounds.
 *
 * Guards that can be left out, one -D for each:
 *   NO_ROUND_CHECK   a count-down does not compare the time of its call with the round
 *   DELETE_ANY       a delete does not compare the time of its call with the round
 *   LATE_COUNTS      after the answer that the round is over, the client always assumes that a clock was set
 *   NO_ASK_AGAIN     the client never assumes this
 *   COUNT_TWICE      the server does not remember a request
 *   NO_UNTIL         a copy may run after the server has forgotten the request
 *   SET_AGAIN        the server does not remember a set that found a count
 *   NO_FUTURE_CHECK  a round from the future counts as later than the call
 *   NO_FAR_CHECK     a request whose time is too far ahead is not refused
 *   ASKED_KEPT       a refused request keeps the time of its call by the old clock
 *   NO_SET_AT        the first look of an awaiter decides its round, even if this round was set after the call
 *   COUNT_DECIDES    the answer to a count-down decides the round of an awaiter
 *   SAW_ANY          an awaiter believes an answer to a request from before its call
 *   LOOK_OF_BEFORE   an awaiter believes a look that was sent before its call
 *   NO_SECOND_LOOK   the confirmation of the subscription does not wake the awaiter
 */
#include "common.h"

/* Part 1: two requests, and a clock that is set forward. Part 2: an awaiter, and one request of the same client.
 * Part 3: two requests, and a clock that is set back. */
#ifndef PART
#define PART 1
#endif
#define Q 2
#define REQUESTS (PART == 2 -> 1 : 2)
#define WITH_AWAITER (PART == 2)
#define COUNT 2
#ifndef SETS
#define SETS 2
#endif
#define JUMP 16
#define B 32 /* added to each offset, so that none is below zero */

/* The kinds of requests. */
#define COUNT_DOWN 1
#define DELETE 2
#define SET 3
/* The answers to a request. */
#define DONE 1
#define IS_OVER 2
#define FORGOTTEN 3

/* The server. `now` is even except while a count is set; the server's clock is now + shift. */
byte now, shift, count, round;
byte memory[Q], memoryLeft[Q], memoryRound[Q]; /* 1: it did something, 2: it did nothing */

/* Client 0: the clock of the server as it knows it, and its requests. */
byte off, doubt, least, most;
byte kind[Q], askedAt[Q], named[Q], asked[Q], current[Q], made;
bool again[Q], mayHaveRun[Q];
/* Copies on their way, two for each request: when sent, the time of the call, and what is known of the clock. */
bool flies[4];
byte sentAt[4], says[4], sure[4];
#define AT(q, i) (2 * (q) + i)
byte answer[Q], left[Q], ofRound[Q], serverTime[Q], answeredTo[Q];

/* The awaiter. A round is 0 if it is unknown. */
bool awaits, isTrue, called;
byte calledAt, madeBefore, itsRound, counted;
byte look; /* 0 none, 1 on its way, 2 answered */
byte lookSentAt, lookCount, lookRound, lookTime;
bool covers, earlyLook, rung, listens, confirmed, message;

/* Ghosts: how many rounds there were, the round of each call, how often it did something. */
byte rounds, roundOf[Q], effects[Q], awaitedRound;
bool live, exempt[Q], awaitExempt, isSet, quit;
byte i, j, o, w;

#define serverNow (now + shift)
#define isOverNow(r) (!(live && rounds == r))

/* The client learns the server's time `u` from the answer to a request that it sent at `s`. */
inline hear(u, s) {
	o = u + B - s; w = now - s;
	if
	:: o >= off - doubt && o - w <= off ->
		if
		:: o - w > most || o < least -> least = o - w; most = o
		:: else -> least = (o - w > least -> o - w : least); most = (o < most -> o : most)
		fi
	:: else -> off = o; doubt = w; least = o - w; most = o; REACHED(1)
	fi;
	o = 0; w = 0
}

inline publish() {
	if :: confirmed && awaits -> message = 1 :: else fi
}

inline setCount() {
	now++; round = serverNow; count = COUNT; rounds++; live = 1; now++; publish();
	printf("          server: a count is set, round %d\n", rounds)
}

inline open() { count = 0; round = 0; live = 0; publish(); printf("          server: round %d is over\n", rounds) }

inline send(q) {
	i = (flies[AT(q, 0)] -> 1 : 0);
	j = AT(q, i);
#ifdef ASKED_KEPT
	says[j] = (least + most + 2 * askedAt[q] > asked[q] -> least + most + 2 * askedAt[q] : asked[q]); asked[q] = says[j];
#else
	says[j] = (asked[q] > 0 -> asked[q] : least + most + 2 * askedAt[q]);
#endif
	flies[j] = 1; sentAt[j] = now; sure[j] = off - doubt;
	/* Its clock is inexact. */
	if :: least != most -> exempt[q] = 1 :: else fi;
	current[q] = i + 1; i = 0; j = 0;
	printf("client 0: sends request %d\n", q)
}

inline land(j) { flies[j] = 0; sentAt[j] = 0; says[j] = 0; sure[j] = 0 }

inline endRequest(q) {
	current[q] = 0; answer[q] = 0; left[q] = 0; ofRound[q] = 0; serverTime[q] = 0; answeredTo[q] = 0;
	askedAt[q] = 0; asked[q] = 0; again[q] = 0; mayHaveRun[q] = 0;
	if :: kind[q] < 4 -> kind[q] = kind[q] + 4 :: else fi;
	tidy(q)
}
/* Clears a request that has ended, when none of its copies is on its way. */
inline tidy(q) {
	if
	:: kind[q] >= 4 && !flies[AT(q, 0)] && !flies[AT(q, 1)] ->
		memory[q] = 0; memoryLeft[q] = 0; memoryRound[q] = 0; kind[q] = 7; named[q] = 0; roundOf[q] = 0;
		effects[q] = 0; exempt[q] = 0
	:: else
	fi
}
#define isOpen(q) (kind[q] > 0 && kind[q] < 4)
#define what(q) (kind[q] >= 4 -> kind[q] - 4 : kind[q])

#ifdef NO_FAR_CHECK
#define isFar(j) false
#else
#define isFar(j) (sure[j] > serverNow + B - sentAt[j])
#endif
#ifdef NO_FUTURE_CHECK
#define isLater(j) (2 * (round + B) > says[j])
#else
#define isLater(j) (2 * (round + B) > says[j] && round <= serverNow)
#endif
#ifdef NO_ROUND_CHECK
#define counts(q, j) (named[q] == 0 || named[q] == round)
#else
#define counts(q, j) (named[q] == 0 -> !isLater(j) : named[q] == round)
#endif
#ifdef DELETE_ANY
#define deletes(j) true
#else
#define deletes(j) (count == 0 || !isLater(j))
#endif

inline remember(q, did) {
#ifdef COUNT_TWICE
	skip
#else
	memory[q] = did
#endif
}

inline acts(q) {
	effects[q]++;
	/* Each request acts once at most. */
	assert(effects[q] == 1)
}

/* A copy of a request reaches the server. */
inline arrive(q, k) {
	j = AT(q, k);
	r = FORGOTTEN; v = 0; u = 0;
	if
	:: memory[q] > 0 -> r = DONE; v = memoryLeft[q]; u = memoryRound[q]; REACHED(2)
	:: memory[q] == 0 && what(q) == COUNT_DOWN && count == 0 && named[q] == 0 -> r = DONE
	:: memory[q] == 0 && !(what(q) == COUNT_DOWN && count == 0 && named[q] == 0) && isFar(j) -> REACHED(3)
	:: memory[q] == 0 && !(what(q) == COUNT_DOWN && count == 0 && named[q] == 0) && !isFar(j) ->
		if
		:: what(q) == COUNT_DOWN ->
			if
			:: count > 0 && counts(q, j) ->
				/* It counts in the round of its call, and in no other. */
				acts(q); assert(exempt[q] || (live && rounds == roundOf[q])); REACHED(4)
				count--; printf("          server: request %d is counted, %d left\n", q, count);
				r = DONE; v = count; u = round; memoryLeft[q] = v; memoryRound[q] = u;
				remember(q, 1);
				if :: count == 0 -> open() :: else fi
			:: else -> r = IS_OVER; u = round; REACHED(5)
			fi
		:: what(q) == DELETE ->
			if
			:: deletes(j) ->
				r = DONE;
				if
				:: count > 0 ->
					acts(q); assert(exempt[q] || rounds == roundOf[q]); REACHED(6)
					printf("          server: request %d deletes the count\n", q);
					remember(q, 1); open()
				:: else -> remember(q, 2)
				fi
			:: else -> r = IS_OVER; u = round
			fi
		:: what(q) == SET ->
			r = DONE;
			if
			:: count > 0 -> printf("          server: request %d finds a count\n", q);
				/* It has found a count, and must not set one later. */
				effects[q] = 1;
#ifndef SET_AGAIN
				remember(q, 2)
#endif
			:: count == 0 && rounds < SETS -> acts(q); setCount(); remember(q, 1); v = COUNT; REACHED(7)
			:: else -> remember(q, 2)
			fi
		fi
	fi;
	if
	:: current[q] == k + 1 ->
		current[q] = 3; answer[q] = r; left[q] = v; ofRound[q] = u; serverTime[q] = serverNow; answeredTo[q] = sentAt[j];
		if :: r == DONE -> serverTime[q] = 0; answeredTo[q] = 0 :: else fi
	:: else
	fi;
	land(j); r = 0; v = 0; u = 0; j = 0;
	tidy(q)
}
byte r, v, u;

inline settle() {
	/* It goes on only when its round is over. */
	assert(isOverNow(awaitedRound)); REACHED(8)
	printf("client 0: its awaiter goes on\n");
	awaits = 0; isTrue = 1; itsRound = 0; counted = 0; rung = 0; message = 0; listens = 0; confirmed = 0;
	calledAt = 0; madeBefore = 0; awaitedRound = 0; covers = 0; awaitExempt = 0
}

/* `sawBy` of the awaiter: handles the answer to request `q` of its own client. */
inline sawBy(q, n, rd) {
	if
#ifdef SAW_ANY
	:: awaits ->
#else
	:: awaits && q >= madeBefore ->
#endif
		if
		:: n == 0 -> REACHED(9) settle()
		:: n > 0 && itsRound != 0 && rd != itsRound -> REACHED(10) settle()
		:: n > 0 && itsRound != 0 && rd == itsRound
		:: n > 0 && itsRound == 0 ->
#ifdef COUNT_DECIDES
			itsRound = rd
#else
			counted = (counted == 0 -> rd : counted)
#endif
		fi
	:: else
	fi
}

/* The client reads the answer to its request. */
inline read(q) {
	r = answer[q]; answer[q] = 0; current[q] = 0;
	if
	:: r == DONE ->
		printf("client 0: request %d is answered\n", q);
		if
		:: kind[q] == COUNT_DOWN -> sawBy(q, left[q], ofRound[q])
		:: kind[q] == DELETE && named[q] == 0 -> sawBy(q, 0, 0)
		:: kind[q] == SET && left[q] > 0 -> sawBy(q, 0, 0)
		:: else
		fi;
		endRequest(q)
	:: r == FORGOTTEN ->
		hear(serverTime[q], answeredTo[q]);
		if :: mayHaveRun[q] -> endRequest(q) :: else fi
	:: r == IS_OVER ->
		hear(serverTime[q], answeredTo[q]);
		if
#ifdef NO_ASK_AGAIN
		:: true ->
#elif defined(LATE_COUNTS)
		:: named[q] != 0 ->
#else
		:: named[q] != 0 || ofRound[q] + B > most + askedAt[q] ->
#endif
			printf("client 0: hears that the round of request %d is over\n", q);
			/* The round is really over, so no count-down is left out. */
			assert(named[q] != 0 || isOverNow(roundOf[q])); REACHED(11)
			if :: named[q] == 0 -> sawBy(q, 0, 0) :: else fi;
			endRequest(q)
		:: else ->
			printf("client 0: its clock was wrong, it asks again\n"); REACHED(12)
#ifdef LATE_COUNTS
			asked[q] = 2 * (ofRound[q] + B);
#else
			if :: again[q] -> asked[q] = 2 * (ofRound[q] + B); exempt[q] = 1 :: else fi;
#endif
			again[q] = 1
		fi
	fi;
	if :: isOpen(q) -> left[q] = 0; ofRound[q] = 0; serverTime[q] = 0; answeredTo[q] = 0 :: else fi;
	r = 0
}

active proctype world() {
	d_step {
		off = B + (PART == 3 -> JUMP : 0); least = off; most = off; shift = off - B
	}
	do
	/* The other clients: they set the count, count down and delete, at once. */
	:: atomic { !quit && count == 0 && rounds < SETS -> setCount() }
	:: atomic { !quit && count > 0 -> count--; printf("          server: another client counts down, %d left\n", count);
		if :: count == 0 -> open() :: else fi }
	/* The server's clock is set. */
	:: atomic { !quit && !isSet && PART != 2 -> isSet = 1; shift = (PART == 3 -> 0 : JUMP);
		/* The server cannot tell that a round was set after the call of a request, if the clock is set after that. */
		for (i : 0 .. 1) { if :: kind[i] > 0 && kind[i] < 7 && roundOf[i] != rounds -> exempt[i] = 1 :: else fi } i = 0;
		printf("          server: its clock is set\n") }
	:: atomic { !quit -> quit = 1; printf("          nothing new happens from now on\n") }

	/* Client 0 asks for a change. */
	:: atomic { !quit && made < REQUESTS ->
		if
		:: kind[made] = COUNT_DOWN
		:: kind[made] = COUNT_DOWN; if :: count > 0 -> named[made] = round :: else fi
		:: kind[made] = DELETE
		:: kind[made] = SET
		fi;
		printf("client 0: asks for %e, request %d, round %d\n", kind[made], made, rounds);
		askedAt[made] = now; roundOf[made] = (live -> rounds : 0);
		send(made); made++ }
	/* The awaiter. Another awaiter of its client may have looked before. */
	:: atomic { WITH_AWAITER && !quit && !called && !earlyLook && look == 0 ->
		earlyLook = 1; look = 1; lookSentAt = now; printf("client 0: looks for another awaiter\n") }
	:: atomic { WITH_AWAITER && !quit && !called ->
		called = 1; awaits = 1; rung = 1; calledAt = now; madeBefore = made; awaitedRound = (live -> rounds : 0);
		printf("client 0: awaits the end of round %d\n", awaitedRound) }
	:: atomic { awaits && rung && look == 0 -> rung = 0; look = 1; lookSentAt = now; covers = 1;
		printf("client 0: looks\n") }
	:: atomic { look == 1 -> look = 2; lookCount = count; lookRound = round; lookTime = serverNow;
		printf("          server: tells that %d are left\n", count) }
	:: atomic { look == 2 ->
		printf("client 0: reads the answer to its look\n");
		hear(lookTime, lookSentAt);
		if
#ifdef LOOK_OF_BEFORE
		:: awaits ->
#else
		:: awaits && covers ->
#endif
			if
			:: lookCount == 0 -> settle()
			:: lookCount > 0 && itsRound != 0 && lookRound != itsRound -> REACHED(14) settle()
			:: lookCount > 0 && itsRound == 0 && counted != 0 && lookRound != counted -> settle()
#ifndef NO_SET_AT
			:: lookCount > 0 && itsRound == 0 && (counted == 0 || lookRound == counted) && lookRound + B > most + calledAt ->
				REACHED(15) settle()
			:: lookCount > 0 && itsRound == 0 && (counted == 0 || lookRound == counted) && lookRound + B <= most + calledAt ->
				itsRound = lookRound; counted = 0; listens = 1
#else
			:: lookCount > 0 && itsRound == 0 && (counted == 0 || lookRound == counted) ->
				itsRound = lookRound; counted = 0; listens = 1
#endif
			:: lookCount > 0 && itsRound != 0 && lookRound == itsRound
			fi
		:: else
		fi;
		look = 0; lookSentAt = 0; lookCount = 0; lookRound = 0; lookTime = 0; covers = 0 }
	:: atomic { awaits && listens && !confirmed -> confirmed = 1; printf("client 0: its subscription is confirmed\n"); REACHED(16)
#ifndef NO_SECOND_LOOK
		rung = 1
#endif
	}
	:: atomic { message -> message = 0; rung = 1; printf("client 0: is woken by a message\n"); REACHED(17) }

	/* Nothing can happen any more. No awaiter waits for a round that is over. */
	:: atomic { timeout -> assert(!(awaits && isOverNow(awaitedRound))); break }
	od
}

/* A request of client 0. Its copies arrive in any order; its answers are read at any time, or lost. */
active [Q] proctype request() {
	byte q = _pid - 1;
end:	do
	:: atomic { flies[AT(q, 0)] -> arrive(q, 0) }
	:: atomic { flies[AT(q, 1)] -> arrive(q, 1) }
	:: atomic { answer[q] != 0 -> read(q) }
	:: atomic { q == 0 && isOpen(q) && current[q] != 0 && !mayHaveRun[q] && !(flies[AT(q, 0)] && flies[AT(q, 1)]) ->
		printf("client 0: has no answer to request %d\n", q); REACHED(13)
		mayHaveRun[q] = 1; again[q] = 0; asked[q] = 0; current[q] = 0; answer[q] = 0; left[q] = 0; ofRound[q] = 0; serverTime[q] = 0; answeredTo[q] = 0 }
	:: atomic { isOpen(q) && current[q] == 0 && !(flies[AT(q, 0)] && flies[AT(q, 1)]) -> send(q) }
	/* No copy of it may run any more, and it is forgotten. */
	:: atomic { memory[q] > 0 ->
		printf("          server: request %d is forgotten\n", q); memory[q] = 0;
		if :: isOpen(q) -> endRequest(q) :: else fi;
#ifndef NO_UNTIL
		land(AT(q, 0)); land(AT(q, 1));
#endif
		tidy(q) }
	od
}
