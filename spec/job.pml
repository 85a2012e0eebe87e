/*
 * A job: calls of two clients for the same ticks, runs that crash or lose their lock, requests that are late or run
 * twice, and runs that are repeated.
 *
 * Stands for    lua/job/begin, finish; lua/parts/job; src/locks/job: job, run-once; src/servers/redis/job-commands.
 *
 * Each option of the loop is one step that nothing can divide: a script, or one turn of the client's event loop.
 *
 * Simplifications, and why they hide no error:
 *  - The lock is one variable: the token of its present hold. plain.pml checks the lock itself. An owner id is used for
 *    one hold only, so the token stands for the owner.
 *  - A client makes one call for each tick, and no call while another call of it runs: the client refuses these calls.
 *  - A hold can be lost at any time, as after a lease that has ended, a forced release or a crash. The client may
 *    continue with its work. At most LOSSES holds are lost.
 *  - A copy of a request arrives at any time, or never. Each client has at most one copy beside its present request.
 *  - In parts 3 and 4 time passes in steps. The calls for tick k begin at PERIOD * k plus the skew of the client's clock.
 *    All other steps take any time.
 *
 * Guards that can be left out, one -D for each:
 *   NO_HOLD_TEST     a run begins although the caller has lost the lock
 *   NO_TOKEN_TEST    the end of a run is stored although another run has begun
 *   NO_COPY_TEST     the second copy of a request to begin takes its own run for crashed
 *   ANY_TICK         a call for an earlier tick runs
 *   SAME_TICK        a call for the same tick runs
 *   SKIP_REPEATS     a run that has crashed is repeated with `skip`
 *   ENDS_REPEAT      a run that has ended is repeated
 *   RELEASE_FIRST    the client releases the lock before the end of the run is stored
 *   NO_AT_LEAST      a call soon after the start of a run begins another run
 *   NOW              a call counts from when its request arrives, and not from its beginning
 */
#include "common.h"

/* Parts 1 and 2: each call has a tick. Parts 3 and 4: `atLeastMs`. Parts 2 and 4 repeat runs that crash. */
#ifndef PART
#define PART 1
#endif
#define TIMED (PART > 2)
#define REPEATS (PART == 2 || PART == 4)
#define TICKS 2
#define PERIOD 3
#define AT_LEAST 2
#define LOSSES 2
#define MOST_TIME 8

/* The states of a call. */
#define IDLE 0
#define WANTS 1  /* it requests the lock */
#define BEGINS 2 /* it holds the lock, and its request to begin has no answer */
#define WORKS 3
#define ENDS 4   /* its function has ended, and the end is not stored */
#define STORED 5 /* it releases the lock */
/* The states of the record. */
#define RUNNING 1
#define DONE 2
#define CRASHED 3

/* The server. */
byte lock, tokens, time;
byte recToken, recState, recTick, recUntil, recEnded;
/* The clients. */
byte state[2], tick[2], token[2], asked[2], made[2];
/* A late copy of a request to begin, and a late copy of a request to finish: its token; 0 if there is none. */
byte lateBegin[2], lateTick[2], lateAsked[2], lateFinish[2];
byte losses, answer, i;
/* Ghosts: started runs and stored ends of each tick; functions that have ended, by token; a clean end of a tick. */
byte runs[3];
bool isStored[3], hasEnded[9], isClean[3];
byte lastTick;

#define BEGUN 1
#define SERVED 2
#define LOST 3

inline record(t, k, a) {
	/* The token of the record rises, so each store can fence. */
	assert(t > recToken);
	recToken = t; recState = RUNNING; recEnded = 0;
	/* A call that repeats a run serves the tick of this run, too. It does not delay the next tick. */
	recUntil = (!TIMED -> 0 : (i != 2 -> time + AT_LEAST : (a + AT_LEAST > recUntil -> a + AT_LEAST : recUntil)));
	recTick = (i == 2 && recTick > k -> recTick : k)
}

/* The script begin: for a call with token t, for tick k, asked at time a. */
inline begin(t, k, a) {
	answer = 0;
	if
#ifndef NO_HOLD_TEST
	:: lock != t -> answer = LOST; REACHED(1)
#endif
#ifndef NO_COPY_TEST
	:: lock == t && recToken == t && recState == RUNNING -> answer = BEGUN; REACHED(2)
#endif
	:: else
	fi;
	if
	:: answer == 0 && (recToken > t || (recToken == t && recState != RUNNING)) -> answer = LOST; REACHED(13)
	:: else
	fi;
	if
	:: answer == 0 ->
		if :: recState == RUNNING -> recState = CRASHED; recEnded = time; REACHED(3) printf("          server: the last run has crashed\n") :: else fi;
		i = 0; /* 1 if an earlier run serves the call, 2 if the call repeats the last run */
		if
		:: recState == 0
#ifdef ENDS_REPEAT
		:: recState != 0 && REPEATS -> i = 2
#endif
#ifdef SKIP_REPEATS
		:: recState == CRASHED
#else
		:: recState == CRASHED && REPEATS -> i = 2; REACHED(4)
#endif
		:: else ->
			if
#ifdef SAME_TICK
			:: !TIMED && k < recTick -> i = 1
#elif defined(ANY_TICK)
			:: !TIMED && k == recTick -> i = 1
#else
			:: !TIMED && k <= recTick -> i = 1
#endif
#ifdef NOW
			:: TIMED && (time < recUntil || (recState != CRASHED && time < recEnded)) -> i = 1
#elif !defined(NO_AT_LEAST)
			:: TIMED && (a < recUntil || (recState != CRASHED && a < recEnded)) -> i = 1
#endif
			:: else
			fi
		fi;
		if
		:: i == 1 ->
			answer = SERVED; REACHED(5)
		:: else -> answer = BEGUN; record(t, k, a)
		fi;
		i = 0
	:: else
	fi
}

/* The script finish. */
inline finish(t) {
	if
#ifdef NO_TOKEN_TEST
	:: recState != 0 ->
#else
	:: recToken == t ->
#endif
		if
		:: recState != DONE -> recState = DONE; recEnded = time; isStored[recTick] = 1;
			/* The record shows the end of a run only if the function of this run has ended. */
			assert(hasEnded[recToken])
		:: else
		fi
	:: else -> REACHED(6)
	fi
}

/* A client loses its hold. */
inline lose(t) {
	lock = 0; losses++; printf("          the hold with token %d is lost\n", t)
}

#define isDue(c) (TIMED && made[c] < TICKS && time >= PERIOD * made[c] + c && state[c] == IDLE)

active [2] proctype client() {
	byte c = _pid;
end:	do
	/* A call begins. In parts 1 and 2 it may be as late as it wants. */
	:: atomic { state[c] == IDLE && made[c] < TICKS && (!TIMED || time == PERIOD * made[c] + c) ->
		made[c]++; tick[c] = made[c]; asked[c] = time; state[c] = WANTS; printf("client %d: calls for tick %d\n", c, tick[c]) }
	/* The time of a call has passed, because the last call still ran. */
	:: atomic { TIMED && made[c] < TICKS && time > PERIOD * made[c] + c -> made[c]++; REACHED(7) }
	:: atomic { state[c] == WANTS && lock == 0 ->
		tokens++; token[c] = tokens; lock = tokens; state[c] = BEGINS; printf("client %d: has the lock, token %d\n", c, tokens) }
	/* Without repeats, a call does not wait for the lock. With repeats, it may be aborted. */
	:: atomic { state[c] == WANTS && lock != 0 -> state[c] = IDLE; tick[c] = 0; asked[c] = 0 }

	/* The request to begin reaches the server, and its answer the client. */
	:: atomic { state[c] == BEGINS ->
		begin(token[c], tick[c], asked[c]);
		if
		:: answer == BEGUN ->
			tick[c] = recTick;
			printf("client %d: runs tick %d\n", c, tick[c]);
			/* Without repeats, a tick has at most one run. With repeats, no tick whose run has ended is run again. */
			assert(REPEATS || runs[tick[c]] == 0);
			assert(!isStored[tick[c]]); assert(!isClean[tick[c]]);
			/* The ticks run in their order. */
			assert(tick[c] >= lastTick);
			lastTick = tick[c]; runs[tick[c]] = 1; state[c] = WORKS;
			if :: lateBegin[c] == 0 -> lateBegin[c] = token[c]; lateTick[c] = made[c]; lateAsked[c] = asked[c] :: true fi
		/* The answer is lost, and the client sends the request again. */
		:: answer == BEGUN && lateBegin[c] == 0 -> lateBegin[c] = token[c]; lateTick[c] = tick[c]; lateAsked[c] = asked[c]; REACHED(8)
		/* The answer is lost, and the call fails. */
		:: answer == BEGUN -> state[c] = STORED; REACHED(9)
		:: answer != BEGUN -> state[c] = STORED;
			/* A call is served by the run of another call. */
			assert(answer == LOST || recToken != token[c])
		fi;
		answer = 0 }
	:: atomic { lateBegin[c] != 0 -> begin(lateBegin[c], lateTick[c], lateAsked[c]); answer = 0;
		lateBegin[c] = 0; lateTick[c] = 0; lateAsked[c] = 0; REACHED(10) }
	:: atomic { lateBegin[c] != 0 -> lateBegin[c] = 0; lateTick[c] = 0; lateAsked[c] = 0 }

	/* The function ends, and the client stores the end. */
	:: atomic { state[c] == WORKS -> hasEnded[token[c]] = 1; state[c] = ENDS;
		if :: lock == token[c] -> isClean[tick[c]] = 1 :: else fi;
		printf("client %d: the function has ended\n", c)
#ifdef RELEASE_FIRST
		if :: lock == token[c] -> lock = 0 :: else fi
#endif
	}
	:: atomic { state[c] == ENDS -> finish(token[c]); state[c] = STORED;
		if :: lateFinish[c] == 0 -> lateFinish[c] = token[c] :: true fi }
	/* The end cannot be stored: the call fails. */
	:: atomic { state[c] == ENDS -> state[c] = STORED; isClean[tick[c]] = 0; REACHED(11) }
	:: atomic { lateFinish[c] != 0 -> finish(lateFinish[c]); lateFinish[c] = 0 }
	:: atomic { lateFinish[c] != 0 -> lateFinish[c] = 0 }
	:: atomic { state[c] == STORED ->
		if :: lock == token[c] -> lock = 0 :: else fi;
		state[c] = IDLE; token[c] = 0; tick[c] = 0; asked[c] = 0 }

	/* The hold is lost, and the client may continue with its work, or has crashed. */
	:: atomic { lock != 0 && lock == token[c] && losses < LOSSES -> lose(token[c]);
		if :: state[c] == ENDS -> isClean[tick[c]] = 0 :: else fi }
	:: atomic { state[c] > BEGINS && state[c] < STORED && lock != token[c] -> REACHED(12)
		if :: state[c] == ENDS -> isClean[tick[c]] = 0 :: else fi;
		state[c] = IDLE; token[c] = 0; tick[c] = 0; asked[c] = 0; printf("client %d: has crashed, and starts again\n", c) }
	od
}

active proctype clock() {
	/* Time passes when each client has made its calls that are due now. */
end:	do
	:: atomic { TIMED && time < MOST_TIME && !isDue(0) && !isDue(1) -> time++; printf("          a step of time passes\n") }
	od
}
