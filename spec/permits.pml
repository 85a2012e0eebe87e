/*
 * The semaphore whose permits have leases: expiry, renewal, release by name and by id, changes of the number.
 *
 * Stands for    lua/permits/acquire, hand-over, release, release-ids, renew, set; lua/parts/acquire-leased-permits,
 *               release-leased-permits, permits, waiting-clients, late;
 *               src/locks/semaphore: permit-verbs, permit-requests, permit; src/lease/hold, validity;
 *               src/servers/redis/semaphore/permit-commands; src/servers/pending-releases.
 *
 * Each option of the loop is one step that nothing can divide: a script, or one turn of a client's event loop.
 *
 * Simplifications, and why they hide no error:
 *  - Three callers, each of a client of its own. Caller 1 wants both permits, the others want one.
 *    Several callers of one client are in semaphore.pml: the queue is the same code.
 *  - Time is in ticks. A lease lasts LEASE ticks, or one tick less if the server's clock runs fast. The holder counts
 *    VALID.
 *  - In part 1 the requests of caller 0 are late, run twice, and lose their answers. The others ask in one step.
 *  - In part 2 all ask in one step, and an operator changes the number, takes permits by their ids, or deletes the
 *    number. The operator's request may run twice and late.
 *  - A waiter asks again within a tick. A message only makes it ask sooner, and messages are in semaphore.pml.
 *    A client that sleeps for longer counts as dead here, and keeps its place until the place ends.
 *  - No request runs after its time limit: its copies are removed after LIFE ticks.
 *  - Renewals are answered at once: late renewals are in plain.pml.
 *  - A hand-over is a release and an acquisition in one step. Here they are two steps. semaphore.pml has hand-overs.
 *  - Tokens are in plain.pml, because the code is the same.
 *
 * Guards that can be left out, one -D for each:
 *   NO_MARGIN         validity is the whole lease
 *   FROM_REPLY        validity counts from the answer
 *   BLIND_RELEASE     a release adds the permits, even if their lease has ended
 *   BLIND_ACQUIRE     an acquisition does not check if its owner already has the permits
 *   NO_EXPIRY         an acquisition does not give back expired permits
 *   EXPIRED_STAYS     expired permits are given back, but stay in the list
 *   RENEW_REVIVES     a renewal takes permits again that were given back
 *   NO_NOT_AFTER      a request may run at any time
 *   SETTLE_EARLY      the first release of a name settles it, even if a request may still be on its way
 *   REUSE_IDS         the next acquisition of a caller has the same ids
 *   CHANGE_TWICE      the server does not remember a change
 *   SET_IGNORES_TAKEN a change that sets the number ignores the taken permits
 *   LIMIT_IGNORES_TAKEN  an acquisition that sets a missing number ignores the taken permits
 *   NO_TOO_MANY       a waiter that wants more permits than exist keeps its place
 *   NO_PLACE_END      the place of a dead waiter stays
 */
#include "common.h"

#ifndef PART
#define PART 1
#endif
#define LATE (PART == 1)
#define OPERATOR (PART == 2)
#define LIMIT 2
#define LEASE 3
#ifdef NO_MARGIN
#define VALID 3
#else
#define VALID 2
#endif
#define ALIVE 2
#define LIFE 2
/* Ticks until a dead waiter is passed over, and then a waiter whose requests are lost. */
#define STUCK (2 * ALIVE + 1)

#define IDLE 0
#define WAITS 1
#define HOLDS 2
#define FREES 3
#define LEFT 4
#define DEAD 5

#define WANTS(k) (k == 1 -> 2 : 1)

/* The server. A permit is in the list while `taken`, even if its lease has ended. */
short pool = LIMIT;
bool isSet = 1;
bool taken[3];
byte ttl[3], since[3], place[3], alive[3];
byte ids[3]; /* which acquisition of its caller has them */

byte state[3], valid[3], rounds[3], nth[3];
bool asks[3];
/* Caller 0: copies of its request and of its release, their lives in ticks, and the validity that an answer gives. */
byte copies, life, proof, releases, releaseLife, releaseOf;
bool current, answered, doubt, releasing, wasFreed;
/* The operator: 1 adds one, 2 sets the number to one, 3 sets it to two, 4 takes permits of a caller by their ids. */
byte change, changes, changeLife, victim, victimIds, effects;
bool remembered, hasChanged, isLost;

/* Ghosts. */
short inAll = LIMIT;
byte calls, stuck;
bool outside[3], crashed;
byte first, i;

#define waits(k) (state[k] == WAITS)
#define valids(k) (state[k] == HOLDS && valid[k] > 0 && !outside[k])
#define inList(k) (taken[k] -> WANTS(k) : 0)
#define leased(k) (taken[k] && ttl[k] > 0)

inline findFirst() {
	first = 0;
	if :: place[0] > 0 -> first = 1 :: else fi;
	if :: place[1] > 0 && (first == 0 || place[1] < place[first - 1]) -> first = 2 :: else fi;
	if :: place[2] > 0 && (first == 0 || place[2] < place[first - 1]) -> first = 3 :: else fi
}

/* Permits are conserved, and a holder that relies on its permits has them. */
inline conserved() {
	assert(!isSet || pool + inList(0) + inList(1) + inList(2) == inAll);
	assert((!valids(0) || leased(0)) && (!valids(1) || leased(1)) && (!valids(2) || leased(2)))
}

/* If the number is lost, returned permits create it again, because INCRBY does. */
inline isNew() {
	if :: !isSet && pool > 0 -> isSet = 1; inAll = pool + inList(0) + inList(1) + inList(2) :: else fi
}

/* Each script begins with this. */
inline giveBackExpired() {
	for (i : 0 .. 2) {
		if
		:: taken[i] && ttl[i] == 0 -> pool = pool + WANTS(i); REACHED(1)
#ifndef EXPIRED_STAYS
			taken[i] = 0; ids[i] = 0
#endif
		:: else
		fi
	}
	i = 0;
	isNew()
}

inline lease(k) {
	if :: ttl[k] = LEASE :: ttl[k] = LEASE - 1 fi
}

bool granted, tooMany;
inline acquire(k) {
	granted = 0; tooMany = 0;
#ifndef NO_EXPIRY
	giveBackExpired();
#endif
	if
	:: !isSet -> isSet = 1; inAll = LIMIT; REACHED(2)
#ifdef LIMIT_IGNORES_TAKEN
		pool = LIMIT
#else
		pool = LIMIT - inList(0) - inList(1) - inList(2)
#endif
	:: else
	fi;
	findFirst();
	if
#ifndef BLIND_ACQUIRE
	:: taken[k] && ids[k] == nth[k] -> granted = 1; lease(k); REACHED(3)
#endif
#ifndef NO_TOO_MANY
	:: !(taken[k] && ids[k] == nth[k]) && inAll > 0 && WANTS(k) > inAll -> tooMany = 1; place[k] = 0; alive[k] = 0; REACHED(4)
#endif
	:: else ->
		if
		:: pool >= WANTS(k) && (first == 0 || first == k + 1 || place[first - 1] > since[k]) ->
			/* The caller wants the permits, or will give them back. */
			assert(waits(k) || state[k] == LEFT || state[k] == FREES);
			granted = 1; pool = pool - WANTS(k); taken[k] = 1; ids[k] = nth[k]; lease(k); place[k] = 0; alive[k] = 0;
			printf("          server: caller %d takes %d\n", k, WANTS(k));
			/* Never more permits than exist. */
			assert((leased(0) -> WANTS(0) : 0) + (leased(1) -> WANTS(1) : 0) + (leased(2) -> WANTS(2) : 0) <= inAll)
		:: else -> place[k] = since[k]; alive[k] = ALIVE; printf("          server: caller %d has to wait\n", k)
		fi
	fi;
	first = 0; conserved()
}

inline holdsNow(k, left) {
	state[k] = HOLDS; valid[k] = left; outside[k] = 0; printf("caller %d: HOLDS its permits\n", k); conserved(); REACHED(5)
}

/* `permits/release`, in the name of an acquisition of that caller. */
inline release(k, whose) {
	giveBackExpired(); wasFreed = 0;
	if
#ifdef BLIND_RELEASE
	:: true -> pool = pool + WANTS(k); taken[k] = 0; ttl[k] = 0; ids[k] = 0
#else
	:: taken[k] && ids[k] == whose -> wasFreed = 1; pool = pool + WANTS(k); taken[k] = 0; ttl[k] = 0; ids[k] = 0
	:: else -> REACHED(6)
#endif
	fi;
	isNew();
	place[k] = (whose == nth[k] || !waits(k) -> 0 : place[k]);
	conserved()
}

inline clear0() { copies = 0; life = 0; proof = 0; current = 0; answered = 0; doubt = 0 }

active [3] proctype caller() {
	byte k = _pid;
	d_step { rounds[k] = (k == 0 -> 2 : 1) }
end:	do
	:: atomic { state[k] == IDLE && rounds[k] > 0 && !(k == 0 && copies > 0) ->
		rounds[k]--; nth[k]++; calls++; since[k] = calls; state[k] = WAITS; asks[k] = 1;
		printf("caller %d: waits for %d\n", k, WANTS(k)) }
	:: atomic { waits(k) && asks[k] && !(LATE && k == 0) ->
		asks[k] = 0; acquire(k);
		if
		:: granted -> holdsNow(k, VALID)
		:: tooMany -> state[k] = IDLE; since[k] = 0; printf("caller %d: is told that there are not so many\n", k)
		:: else
		fi; granted = 0; tooMany = 0 }
	/* Caller 0 sends requests, which arrive at any time; answers are read at any time, or lost. */
	:: atomic { LATE && k == 0 && waits(0) && asks[0] && !current && copies < 2 ->
		asks[0] = 0; current = 1; copies++; life = LIFE; proof = VALID; printf("caller 0: asks\n") }
	:: atomic { LATE && k == 0 && copies > 0 ->
		copies--; acquire(0);
		if
		:: granted && current && waits(0) && !answered -> answered = 1
		:: granted && current && waits(0) && !answered -> printf("          its answer is lost\n"); doubt = 1; current = 0; asks[0] = 1
		:: !granted && current && waits(0) -> current = 0
		:: else
		fi; granted = 0; tooMany = 0 }
	:: atomic { k == 0 && answered && waits(0) ->
		if
#ifdef FROM_REPLY
		:: true -> holdsNow(0, VALID)
#else
		:: proof > 0 -> holdsNow(0, proof)
		:: else -> printf("caller 0: the answer came too late\n"); state[0] = LEFT; REACHED(7)
#endif
		fi;
		current = 0; answered = 0; proof = 0; asks[0] = 0 }
	:: atomic { k == 0 && current && !answered && !doubt && waits(0) -> current = 0; doubt = 1; asks[0] = 1; printf("caller 0: has no answer yet\n") }
	/* The wait ends: timeout or abort. */
	:: atomic { k == 0 && waits(0) && LATE -> printf("caller 0: gives up\n"); state[0] = LEFT; current = 0; answered = 0; proof = 0; asks[0] = 0; REACHED(8) }
	:: atomic { k == 0 && state[0] == LEFT ->
		release(0, nth[0]);
		if
#ifdef SETTLE_EARLY
		:: true ->
#else
		:: copies == 0 ->
#endif
			state[0] = IDLE; doubt = 0; since[0] = 0; life = (copies == 0 -> 0 : life)
		:: skip
		fi; wasFreed = 0 }

	/* A holder renews, and is told if its permits are gone. */
	:: atomic { state[k] == HOLDS && valid[k] > 0 && valid[k] < VALID ->
		if
		:: leased(k) && ids[k] == nth[k] -> lease(k); valid[k] = VALID; printf("caller %d: renewed\n", k); REACHED(9)
#ifdef RENEW_REVIVES
		:: !taken[k] -> taken[k] = 1; ids[k] = nth[k]; lease(k); valid[k] = VALID
#endif
		:: else -> valid[k] = 0
		fi; conserved() }
	/* It releases what it has, or what it has lost. */
	:: atomic { state[k] == HOLDS && !(LATE && k == 0) ->
		printf("caller %d: releases\n", k); valid[k] = 0; release(k, nth[k]);
		state[k] = IDLE; since[k] = 0; outside[k] = 0; wasFreed = 0 }
	:: atomic { LATE && k == 0 && state[0] == HOLDS && releases == 0 ->
		printf("caller 0: sends its release, twice\n"); valid[0] = 0; state[0] = FREES; releases = 2; releaseOf = nth[0] }
	:: atomic { k == 0 && releases > 0 ->
		releases--; release(0, releaseOf); REACHED(10)
		if :: state[0] == FREES && releaseOf == nth[0] ->
			/* A copy of its request may still come. Then its name is settled in the background. */
			state[0] = (doubt && copies > 0 -> LEFT : IDLE); doubt = 0; since[0] = 0; outside[0] = 0
		:: else
		fi;
		if :: releases == 0 -> releaseOf = 0 :: else fi; wasFreed = 0 }
	:: atomic { k > 0 && !crashed && (waits(k) || state[k] == HOLDS) ->
		crashed = 1; printf("caller %d: CRASHES\n", k); state[k] = DEAD; asks[k] = 0; rounds[k] = 0; valid[k] = 0; since[k] = 0; REACHED(11) }
	od
}

#ifdef REUSE_IDS
#define sameIds true
#else
#define sameIds (ids[victim] == victimIds)
#endif

/* The request of the operator runs. */
inline changeNow() {
	if
#ifndef CHANGE_TWICE
	:: remembered -> REACHED(12)
#endif
	:: else ->
		remembered = 1; giveBackExpired();
		if
		:: change == 4 ->
			if
			:: taken[victim] && sameIds ->
				/* Only the acquisition whose ids were given is told that it was taken away. */
				if :: ids[victim] == victimIds -> outside[victim] = 1 :: else fi;
				pool = pool + WANTS(victim); taken[victim] = 0; ttl[victim] = 0; ids[victim] = 0; isNew(); REACHED(13)
				printf("          server: the permits of caller %d are taken away\n", victim)
			:: else
			fi
		:: else ->
			effects++; assert(effects == 1); REACHED(14)
			if
			:: !isSet -> pool = 0; inAll = inList(0) + inList(1) + inList(2); isSet = 1
			:: else
			fi;
			if
			:: change == 1 -> pool++; inAll++
#ifdef SET_IGNORES_TAKEN
			:: change > 1 -> inAll = change - 1; pool = inAll
#else
			:: change > 1 -> inAll = change - 1; pool = inAll - inList(0) - inList(1) - inList(2)
#endif
			fi;
			printf("          server: there are %d permits\n", inAll)
		fi
	fi;
	conserved()
}

inline down(x) { x = (x > 0 -> x - 1 : 0) }
#define urgent (asks[0] && waits(0) && !LATE || asks[1] && waits(1) || asks[2] && waits(2))
#define couldHave(k) (waits(k) && WANTS(k) <= inAll)

active proctype world() {
	do
	:: atomic { OPERATOR && !hasChanged ->
		hasChanged = 1; changes = 2; changeLife = LIFE;
		if
		:: change = 1
		:: change = 2
		:: change = 3
		:: taken[0] -> change = 4; victim = 0; victimIds = ids[0]
		:: taken[1] -> change = 4; victim = 1; victimIds = ids[1]
		fi; printf("operator: change %d, sent twice\n", change) }
	:: atomic { changes > 0 -> changes--; changeNow(); if :: changes == 0 -> remembered = 0; effects = 0; changeLife = 0; victim = 0; victimIds = 0; change = 0 :: else fi }
	:: atomic { OPERATOR && !isLost && isSet -> isLost = 1; isSet = 0; pool = 0; printf("          server: the number is lost\n"); REACHED(15) }
	/* Waiters ask again within a tick. */
	:: atomic { !urgent ->
		printf("-- time passes\n");
		for (i : 0 .. 2) {
			down(ttl[i]); down(valid[i]);
#ifndef NO_PLACE_END
			down(alive[i]); if :: alive[i] == 0 -> place[i] = 0 :: else fi;
#endif
			asks[i] = (waits(i) && !(LATE && i == 0 && current) -> 1 : asks[i])
		}
		i = 0; down(proof);
#ifndef NO_NOT_AFTER
		if :: life == 1 -> copies = 0 :: else fi; down(life);
		if :: changeLife == 1 -> changes = 0; remembered = 0; effects = 0; change = 0; victim = 0; victimIds = 0 :: else fi; down(changeLife);
#endif
		assert((!valids(0) || leased(0)) && (!valids(1) || leased(1)) && (!valids(2) || leased(2)));
		/* No caller waits forever while permits are free. */
		if
		:: (couldHave(1) || couldHave(2)) && !leased(0) && !leased(1) && !leased(2) -> stuck++; assert(stuck <= STUCK)
		:: else -> stuck = 0
		fi }
	od
}
