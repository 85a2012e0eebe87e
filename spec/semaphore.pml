/*
 * The plain semaphore: a counter, requests that are late or run twice, a queue of clients, four callers.
 *
 * Stands for    lua/semaphore/acquire, hand-over, release, give-back, leave; lua/parts/acquire-plain-permits,
 *               waiting-clients, answered, late;
 *               src/locks/semaphore: semaphores, permit-verbs, client-place; src/local/racing-waiter, request;
 *               src/servers/redis/semaphore: semaphore-commands, answered-names; src/servers/pending-releases.
 *
 * Each option of the loop is one step that nothing can divide: a script, or one turn of a client's event loop.
 *
 * Simplifications, and why they hide no error:
 *  - Callers 0 and 1 are of client 0, caller 2 is of client 1 and wants both permits, caller 3 is of client 2.
 *  - In part 1 the requests of caller 0 are late, run twice, and lose their answers. The others ask in one step. If
 *    they were late, they would only find another state of the server, and this state may also change before they ask.
 *  - In part 2 all ask in one step. Messages are lost, a caller crashes, and a client sleeps until its place ends.
 *  - No copy of a request runs after its time limit, and the server forgets the request later: both in one step.
 *  - In part 1 no time passes: only messages wake waiters. Subscriptions are in wake-up.pml.
 *    There is one exception: after a late copy of a caller that has left, a waiter may have to ask again by itself.
 *  - In part 2 time passes only when nothing else can happen. Then the places of the dead end, and all waiters ask.
 *  - A release in the background is one step that may run again and again.
 *  - A hand-over is a release and a request of the same client in one step. Late copies of a hand-over are late copies
 *    of both, which this model has one by one.
 *  - Bounded: each caller has one or two acquisitions, one caller gives up, and the server refuses requests once.
 *
 * Guards that can be left out, one -D for each:
 *   TAKE_TWICE        the server does not remember an acquisition
 *   NO_RETURNED_MARK  the server does not remember a give-back, and the client settles at once
 *   GIVE_BACK_TWICE   a give-back does not check if the permits are still taken
 *   ADD_TWICE         the server does not remember a release
 *   FORGET_DOUBTFUL   a request is forgotten at its first answer, although an earlier copy may come
 *   NO_NOT_AFTER      a copy may run after the server has forgotten the request
 *   RELEASE_ONCE      a release that was refused is not tried again
 *   NO_FIRST_WRITE    a full server refuses a release
 *   OVERTAKE          permits go to the next caller that asks
 *   BARGE             a try that does not wait takes permits while others wait
 *   KEEP_PLACE        the next caller of a client has the place of the previous caller
 *   NO_LEAVE          after the last caller of a client has left, the place of the client stays
 *   NO_NEXT_ASKS      after a caller has left, the next caller of its client does not ask
 *   NO_TELL_REST      a caller that takes permits does not tell the client that is next
 *   HAND_OVER_BLIND   a hand-over does not check if another client is next
 *   NO_TELL_HANDED    a hand-over that serves no caller does not tell the client that is next
 *   MISSED_HINT       the next caller of a client does not ask, although a message came before the answer
 *   NO_ASK_AT_ONCE    the next caller of a client does not ask, although permits are free for it
 *   NO_PLACE_END      the place of a dead client stays
 *   NO_POLL           a waiter asks again only after a message
 */
#include "common.h"

#ifndef PART
#define PART 1
#endif
#define PERMITS 2
#define LATE (PART == 1)   /* requests of caller 0 may be late */
#define TIME (PART == 2)   /* messages are lost, and time passes */
#define BEYOND 100 /* the time of a try that does not wait: after all others */

#define IDLE 0
#define WAITS 1
#define HOLDS 2
#define FREES 3
#define LEFT 4 /* it gave up, and what it may have is given back */
#define DEAD 5

#define CLIENT(k) (k == 0 -> 0 : k - 1)
#define WANTS(k) (k == 2 -> 2 : 1)

/* The server. Places hold since when the client waits; 0 is none. */
byte available = PERMITS;
byte place[3], wanted[3];
byte taken, returned, added; /* the requests of caller 0 that the server remembers */
byte trouble; /* 1: it refuses all, 2: it is full */

byte state[4], since[4], rounds[4];
bool asked[4], asks[3], leaves[3];
/* Requests of caller 0: copies on their way, if it waits for an answer, and if a request had no answer. */
byte copies, releases;
bool current, doubt, asLast, releasing, releaseDoubt;
byte sentSince; /* since when it waits, as its request states */
byte sentBehind; /* since when the next caller of its client waits; 0 if there is none */
bool coming, comingGave; /* its grant is on its way */
bool gave; /* the grant gave the place to the next caller of the client, which need not ask */

/* Ghosts. */
byte calls, lost;
bool excused[4], aborted, troubled, crashed, slept, ticked, wasLate;
byte first, wasFirst, i;

#define waits(k) (state[k] == WAITS)
#define isLastOf(k) (CLIENT(k) != 0 || !waits(0) || !waits(1))
#define behind(k) (isLastOf(k) -> 0 : since[1 - k])
#define anyWaits(c) (c == 0 -> (waits(0) || waits(1)) : waits(c + 1))
#define isFirstHere(k) (k > 1 || (k == 0 && (!waits(1) || since[0] < since[1])) || (k == 1 && (!waits(0) || since[1] < since[0])))
#define held(k) (state[k] == HOLDS -> WANTS(k) : 0)

/* Permits are conserved: there are never more than were set. */
inline conserved() { assert(available + held(0) + held(1) + held(2) + held(3) <= PERMITS) }

/* The client that has waited for the longest, plus one; 0: no client. */
inline findFirst() {
	first = 0;
	if :: place[0] > 0 -> first = 1 :: else fi;
	if :: place[1] > 0 && (first == 0 || place[1] < place[first - 1]) -> first = 2 :: else fi;
	if :: place[2] > 0 && (first == 0 || place[2] < place[first - 1]) -> first = 3 :: else fi
}

/* A message tells the client that is next. */
inline tellNext(but) {
	findFirst();
	if
	:: available > 0 && first != 0 && first != but && wanted[first - 1] <= available ->
		if
		:: asks[first - 1] = anyWaits(first - 1)
		:: TIME -> printf("          its message to client %d is lost\n", first - 1); REACHED(1)
		fi
	:: else
	fi
}

/* No caller that has a place is overtaken. */
inline overtakes(k, at) {
	for (i : 0 .. 3) {
		if
		:: i != k && waits(i) && asked[i] && !excused[i] && !(i == 0 && taken == 1) && since[i] < at -> assert(false)
		:: else
		fi
	}
	i = 0
}

inline take(k, at) {
	available = available - WANTS(k); overtakes(k, at);
	ticked = 0
}

/*
 * A caller has its permits, or has left. The next caller of its client asks, unless the grant gave the place to this
 * caller, and no message came since the request.
 */
inline goesOn(k) {
	since[k] = 0; asked[k] = 0; excused[k] = 0;
#ifdef NO_NEXT_ASKS
	asks[CLIENT(k)] = 0;
#else
	if
	:: gave && anyWaits(0) -> REACHED(17)
#ifdef MISSED_HINT
		asks[0] = 0;
#endif
		/* It sleeps. If it could have its permit, a message woke it. */
		findFirst(); assert(TIME || asks[0] || first != 1 || available < wanted[0]); first = 0
	:: else -> asks[CLIENT(k)] = anyWaits(CLIENT(k))
	fi;
#endif
	gave = 0;
	if
	:: !anyWaits(CLIENT(k)) && place[CLIENT(k)] > 0 -> leaves[CLIENT(k)] = 1
	:: else
	fi
}

/* `semaphore/acquire`, of a caller who waits since `told`. Sets `granted` and `gave`. */
bool granted;
inline acquire(k, last, told, next) {
	granted = 0; gave = 0;
	findFirst(); wasFirst = first;
#ifndef KEEP_PLACE
	if :: first == CLIENT(k) + 1 && place[CLIENT(k)] < told -> place[CLIENT(k)] = told; findFirst() :: else fi;
#endif
	if
#ifdef OVERTAKE
	:: available >= WANTS(k) ->
#else
	:: available >= WANTS(k) && (first == 0 || first == CLIENT(k) + 1 || place[first - 1] > told) ->
#endif
		granted = 1; take(k, told);
		printf("          server: caller %d takes %d\n", k, WANTS(k));
		if :: k == 0 -> taken = 1 :: else fi;
		if :: last -> place[CLIENT(k)] = 0; wanted[CLIENT(k)] = 0
#ifndef NO_ASK_AT_ONCE
		   /* The next caller asks at once, for it wants one permit. */
		   :: !last && available > 0 -> if :: place[0] > 0 -> wanted[0] = 1; REACHED(2) :: else fi
		   :: !last && available == 0 ->
#else
		   :: !last ->
#endif
			/* Only client 0 has a next caller. The place belongs to the next caller from now on, if it still waits. */
			place[0] = next; wanted[0] = 1; gave = 1;
			if :: waits(1 - k) && since[1 - k] == next -> asked[1 - k] = 1; excused[1 - k] = 0 :: else fi
		fi;
#ifndef NO_TELL_REST
		if :: last -> tellNext(0) :: else -> tellNext(CLIENT(k) + 1) fi
#endif
	:: else ->
		place[CLIENT(k)] = told; wanted[CLIENT(k)] = WANTS(k); asked[k] = waits(k); excused[k] = 0;
		printf("          server: caller %d has to wait\n", k);
		if :: wasFirst == CLIENT(k) + 1 -> findFirst(); if :: first != CLIENT(k) + 1 -> REACHED(3) tellNext(0) :: else fi :: else fi
	fi;
	first = 0; wasFirst = 0
}

inline holdsNow(k) {
	state[k] = HOLDS; printf("caller %d: HOLDS its permits\n", k); conserved(); goesOn(k)
}

/* A copy of the request of caller 0 reaches the server. */
inline arrive0() {
	copies--;
	/* This may remove the place of the next caller of its client, until this caller asks again, within a second. */
	if :: state[0] == LEFT && !returned -> wasLate = 1; excused[1] = 1 :: else fi;
	if
	:: returned -> granted = 0; REACHED(4)
#ifndef TAKE_TWICE
	:: !returned && taken == 1 -> granted = 1; REACHED(5)
	:: !returned && taken == 0 && trouble == 0 -> acquire(0, asLast, sentSince, sentBehind)
	:: !returned && taken == 0 && trouble > 0 -> granted = 0
#else
	:: !returned && trouble == 0 -> acquire(0, asLast, sentSince, sentBehind)
	:: !returned && trouble > 0 -> granted = 0
#endif
	fi;
	if
	:: current && !coming && state[0] == WAITS ->
		if
		:: granted -> coming = 1; comingGave = gave
		/* It was refused, or has to wait. */
		:: !granted -> current = 0; if :: trouble > 0 || returned -> asks[0] = 1 :: else fi
		:: !doubt -> current = 0; doubt = 1; asks[0] = 1; printf("caller 0: its answer is lost\n"); REACHED(6)
		fi
	:: else
	fi;
	granted = 0; gave = 0;
	if :: copies == 0 -> sentSince = 0; asLast = 0; sentBehind = 0 :: else fi
}

/* Caller 0 reads its grant. Messages may have come before it. */
inline grantRead() {
	current = 0; coming = 0; gave = comingGave; comingGave = 0;
#ifdef FORGET_DOUBTFUL
	taken = 0;
#else
	if :: !doubt -> taken = 0 :: else fi;
#endif
	holdsNow(0)
}

/* `semaphore/give-back`, in the background. */
inline giveBack(keeps) {
	findFirst(); wasFirst = (first == 1 && !waits(1));
	if :: !waits(1) -> place[0] = 0; wanted[0] = 0 :: else fi;
#ifdef GIVE_BACK_TWICE
	if :: taken == 1 || returned ->
#else
	if :: taken == 1 ->
#endif
		available = available + 1; taken = 0; ticked = 0; conserved(); REACHED(7)
		printf("          server: the permit of caller 0 is given back\n"); tellNext(0)
	:: else -> if :: wasFirst -> tellNext(0) :: else fi
	fi;
	taken = 0; returned = keeps; first = 0; wasFirst = 0
}

/* `semaphore/hand-over`, from caller `from` to caller `to`, both of client 0. */
inline handOver(from, to) {
	state[from] = IDLE; printf("caller %d: hands its permit over\n", from);
	available = available + 1; ticked = 0; conserved();
#ifdef HAND_OVER_BLIND
	place[0] = since[to]; granted = 1; take(to, since[to]); place[0] = behind(to); wanted[0] = (behind(to) > 0 -> 1 : 0);
#else
	acquire(to, isLastOf(to), since[to], behind(to));
#endif
	if
	:: granted -> holdsNow(to)
	:: else -> REACHED(19)
#ifndef NO_TELL_HANDED
		tellNext(0)
#endif
	fi;
	granted = 0; gave = 0; first = 0
}

/* Permits are added, once for each release. */
inline addOf(k) { available = available + WANTS(k); ticked = 0; conserved(); tellNext(0); first = 0 }

inline leave(c) {
	leaves[c] = 0;
#ifndef NO_LEAVE
	if
	:: !anyWaits(c) -> findFirst(); place[c] = 0; wanted[c] = 0; REACHED(16)
		if :: first == c + 1 -> tellNext(0) :: else fi; first = 0
	:: else
	fi
#endif
}

active [4] proctype caller() {
	byte k = _pid;
	d_step { rounds[k] = (k == 3 -> 2 : 1) }
end:	do
	:: atomic { state[k] == IDLE && rounds[k] > 0 && !(k == 0 && (copies > 0 || releases > 0 || taken || returned || added)) ->
		rounds[k]--;
		if
		:: calls++; since[k] = calls; state[k] = WAITS; printf("caller %d: waits for %d\n", k, WANTS(k));
			if :: isFirstHere(k) -> asks[CLIENT(k)] = 1 :: else fi
		:: k == 3 && trouble == 0 -> /* a try that does not wait */
			findFirst();
			if
#ifdef BARGE
			:: available > 0 ->
#else
			:: available > 0 && first == 0 ->
#endif
				printf("caller 3: tries, and HOLDS its permit\n"); take(3, BEYOND); state[3] = HOLDS; conserved(); REACHED(8)
			:: else
			fi; first = 0
		fi }
	/* The first of its client asks. */
	:: atomic { waits(k) && isFirstHere(k) && asks[CLIENT(k)] && !(LATE && k == 0) && trouble == 0 ->
		asks[CLIENT(k)] = 0; acquire(k, isLastOf(k), since[k], behind(k));
		if :: granted -> if :: k == 0 -> taken = 0 :: else fi; holdsNow(k) :: else fi; granted = 0 }
	:: atomic { LATE && k == 0 && waits(0) && isFirstHere(0) && asks[0] && !current && copies < 2 ->
		asks[0] = 0; current = 1; copies++; asLast = isLastOf(0); sentSince = since[0]; sentBehind = behind(0);
		printf("caller 0: asks\n") }
	:: atomic { k == 0 && copies > 0 -> arrive0() }
	:: atomic { k == 0 && coming && waits(0) -> grantRead() }
	:: atomic { k == 0 && current && waits(0) && !doubt && copies < 2 ->
		current = 0; coming = 0; comingGave = 0; doubt = 1; asks[0] = 1; printf("caller 0: has no answer yet\n") }
	/* Its wait ends: timeout or abort. */
	:: atomic { waits(k) && !aborted && k != 3 ->
		aborted = 1; printf("caller %d: gives up\n", k); REACHED(9)
		if :: k == 0 && (doubt || current) -> state[0] = LEFT :: else -> state[k] = IDLE fi;
		if :: k == 0 -> current = 0; coming = 0; comingGave = 0 :: else fi;
		goesOn(k) }
	:: atomic { k == 0 && state[0] == LEFT && trouble != 1 ->
#ifdef NO_RETURNED_MARK
		giveBack(0); state[0] = IDLE; doubt = 0
#else
		if
		:: giveBack(1)
		/* No copy may run any more. */
		:: copies = 0; giveBack(0); state[0] = IDLE; doubt = 0
		fi
#endif
	}
	/* It releases what it has. */
	:: atomic { state[k] == HOLDS && !(LATE && k == 0) && trouble == 0 ->
		state[k] = IDLE; printf("caller %d: releases %d\n", k, WANTS(k)); addOf(k) }
	/* It hands its permit over to the first waiter of its client, which sleeps. Only client 0 has two callers. */
	:: atomic { TIME && k < 2 && state[k] == HOLDS && waits(1 - k) && asked[1 - k] && !asks[0] && trouble == 0 ->
		handOver(k, (1 - k)) }
	/* The same from caller 0 with its release, whose copy counts now, to caller 1. */
	:: atomic { LATE && k == 0 && state[0] == FREES && releases > 0 && releasing && added == 0 && trouble == 0 && waits(1) && asked[1] && !asks[0] ->
		releases--; added = 1; releasing = 0; REACHED(18)
		handOver(0, 1);
		if :: !releaseDoubt -> added = 0 :: else fi }
	:: atomic { LATE && k == 0 && state[0] == HOLDS -> state[0] = FREES }
	:: atomic { k == 0 && state[0] == FREES && !releasing && releases < 2 -> releasing = 1; releases++; printf("caller 0: sends its release\n") }
	:: atomic { k == 0 && releases > 0 ->
		releases--;
		if
#ifdef NO_FIRST_WRITE
		:: trouble > 0 ->
#else
		:: trouble == 1 ->
#endif
			printf("          server: refuses the release\n"); releasing = 0; REACHED(10)
#ifdef RELEASE_ONCE
			if :: state[0] == FREES -> state[0] = IDLE :: else fi
#else
			/* It is tried again, for longer than a failover takes. A full server may stay full. */
			if :: trouble == 2 && state[0] == FREES -> state[0] = IDLE :: skip fi
#endif
		:: else ->
			if
#ifndef ADD_TWICE
			:: added == 1 -> REACHED(11)
#endif
			:: else -> added = 1; printf("          server: the release of caller 0 counts\n"); addOf(0)
			fi;
			if
			:: releasing ->
				if
				:: releasing = 0; state[0] = IDLE;
#ifdef FORGET_DOUBTFUL
					added = 0
#else
					if :: !releaseDoubt -> added = 0 :: else fi
#endif
				:: !releaseDoubt -> releasing = 0; releaseDoubt = 1; printf("caller 0: the answer to its release is lost\n")
				fi
			:: else
			fi
		fi }
	:: atomic { k == 0 && releasing && !releaseDoubt && releases < 2 -> releasing = 0; releaseDoubt = 1 }
	/* No copy of these requests runs any more, and they are forgotten. */
	:: atomic { k == 0 && state[0] == IDLE && (taken == 1 || copies > 0 || doubt) ->
		taken = 0; doubt = 0; REACHED(12)
#ifndef NO_NOT_AFTER
		copies = 0
#endif
	}
	:: atomic { k == 0 && state[0] == IDLE && (added == 1 || releases > 0 || releaseDoubt) ->
		added = 0; releaseDoubt = 0;
#ifndef NO_NOT_AFTER
		releases = 0
#endif
	}
	/* A crash. The permits of a holder never come back. */
	:: atomic { TIME && k > 1 && !crashed && (waits(k) || state[k] == HOLDS) ->
		crashed = 1; printf("caller %d: CRASHES\n", k); REACHED(13)
		if :: state[k] == HOLDS -> lost = WANTS(k) :: else fi;
		state[k] = DEAD; asks[CLIENT(k)] = 0; leaves[CLIENT(k)] = 0; asked[k] = 0; rounds[k] = 0 }
	od
}

active proctype world() {
	do
	/* No caller of a client waits any more, so the client leaves its place. */
	:: atomic { leaves[0] && trouble == 0 -> leave(0) }
	:: atomic { leaves[1] && trouble == 0 -> leave(1) }
	:: atomic { leaves[2] && trouble == 0 -> leave(2) }
	:: atomic { LATE && !troubled -> troubled = 1; if :: trouble = 1 :: trouble = 2 fi; printf("          server: refuses requests\n") }
	:: atomic { trouble > 0 -> trouble = 0; printf("          server: works again\n") }
	/* A client sleeps until its place ends. */
	:: atomic { TIME && !slept && place[1] > 0 && waits(2) -> slept = 1; excused[2] = 1; place[1] = 0; wanted[1] = 0; REACHED(14)
		printf("client 1: sleeps, and its place ends\n"); tellNext(0); first = 0 }
	/* Nothing else can happen. */
	:: atomic { timeout ->
		if
		:: (TIME || wasLate) && !ticked -> ticked = 1; printf("-- time passes\n"); REACHED(15)
#ifndef NO_PLACE_END
			for (i : 0 .. 2) { if :: !anyWaits(i) -> place[i] = 0; wanted[i] = 0 :: else fi } i = 0;
#endif
#ifndef NO_POLL
			asks[0] = anyWaits(0); asks[1] = anyWaits(1); asks[2] = anyWaits(2)
#endif
		:: else ->
			/* No caller waits while permits are free, and only a crash loses permits. */
			assert(available + lost == PERMITS);
			findFirst();
			assert(first != 0 || !(waits(0) || waits(1) || waits(2) || waits(3)));
			assert(first == 0 || (anyWaits(first - 1) && available < wanted[first - 1] && lost > 0));
			break
		fi }
	od
}
