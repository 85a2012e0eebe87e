/*
 * Lost wake-ups: three clients wait for releases of a lock by messages that may be lost.
 *
 * Stands for    src/local/acquire, local-lock, hand-over-budget; src/waiting/wait-queue, release-listener;
 *               src/servers/redis/connection/subscriptions; the PUBLISH at the end of lua/lock/release and hand-over.
 *
 * Simplifications, and why they hide no error:
 *  - A live holder releases at some time. After the crash of a holder, its lease may end at any time.
 *  - With CRASH=0 no lease ever ends by itself. If no message wakes a waiter, the waiter is stuck, and the checker
 *    reports a state in which nothing can happen although a client waits.
 *  - Every request is answered. A lost answer loses no wake-up, because a client without an answer asks again.
 *  - Client 0 has two callers that wait, the others have one. The connection of client 1 is cut CUTS times.
 *  - Rounds, cuts and crashes are bounded, so every run that is not stuck ends. There are no cycles (checked with -DNP
 *    and pan -l).
 *
 * Guards that can be left out, one -D for each:
 *   NO_SECOND_TRY     the confirmation of the subscription wakes no waiter
 *   NO_WAKE_ON_UP     a connection that comes back wakes no waiter
 *   ALL_LEAVE         a caller that leaves the local queue does not wake the next caller
 *   NO_TTL            a waiter does not look when the holder's lease ends
 *   RING_NOT_KEPT     a wake-up that comes while the waiter asks is forgotten
 */
#include "common.h"

#define N 3
#ifndef CRASH
#define CRASH 0
#endif
#ifndef CUTS
#define CUTS 2
#endif

/* A client: asks, sleeps, or holds; or has nothing more to do. */
#define IDLE 0
#define ASKS 1
#define TOLD 2   /* answered "held", not asleep yet */
#define SLEEPS 3
#define HOLDS 4
#define OVER 5

byte owner; /* client + 1; 0: no owner */
bool dying; /* the holder has crashed: only its TTL ends the hold */
byte state[N], callers[N], rounds[N];
bool rung[N];       /* woken while it does not sleep */
/* The subscription: wanted, on its way, known to the server, confirmed to the client. */
bool wants[N], asked[N], subscribed[N], confirmed[N], up[N], answer[N];
bool message[N];    /* on its way to the client */
bool gives[N];      /* its caller leaves */
byte cuts;
bool crashed, aborted;
byte i;

inline wake(c) {
	if
	:: state[c] == SLEEPS -> state[c] = ASKS
	:: state[c] == ASKS || state[c] == TOLD -> rung[c] = 1
	:: else
	fi
}

inline publish() {
	for (i : 0 .. 2) { if :: subscribed[i] && up[i] && i != c -> message[i] = 1 :: else fi }
	i = 0
}

inline unsubscribe(c) { wants[c] = 0; asked[c] = 0; subscribed[c] = 0; confirmed[c] = 0; answer[c] = 0; message[c] = 0 }

active [N] proctype client() {
	byte c = _pid;
	d_step {
		callers[c] = (c == 0 -> 2 : 1); rounds[c] = (c == 2 -> 1 : 0); up[c] = 1
	}
	do
	:: atomic { state[c] == IDLE && callers[c] > 0 -> state[c] = ASKS; printf("client %d: a caller waits\n", c)
	}
	:: atomic { state[c] == IDLE && callers[c] == 0 -> state[c] = OVER; unsubscribe(c)
	}
	:: atomic { state[c] == ASKS && owner == 0 ->
		owner = c + 1; state[c] = HOLDS; callers[c]--; rung[c] = 0;
		printf("client %d: HOLDS the lock\n", c); REACHED(1)
		if
		:: callers[c] == 0 -> unsubscribe(c)
		:: else
		fi
	}
	:: atomic { state[c] == ASKS && owner != 0 -> state[c] = TOLD; wants[c] = 1; rung[c] = 0; printf("client %d: is told that it is held\n", c)
	}
	:: atomic { state[c] == TOLD ->
		if
#ifndef RING_NOT_KEPT
		:: rung[c] -> state[c] = ASKS; rung[c] = 0
#endif
		:: else -> state[c] = SLEEPS; rung[c] = 0; printf("client %d: sleeps\n", c)
		fi
	}
	/* Its hold ends: handed over inside the client, yielded, or freed. */
	:: atomic { state[c] == HOLDS && owner == c + 1 ->
		if
		:: callers[c] > 0 -> callers[c]--; printf("client %d: hands the lock over to its next caller\n", c); REACHED(2)
		:: callers[c] > 0 -> owner = 0; printf("client %d: yields to others\n", c); REACHED(3)
			publish();
			state[c] = ASKS
		:: owner = 0; printf("client %d: releases the lock\n", c); publish(); state[c] = IDLE
		:: rounds[c] > 0 -> rounds[c]--; callers[c]++; owner = 0; printf("client %d: releases it, and will want it again\n", c); publish(); state[c] = IDLE
		:: CRASH && !crashed -> crashed = 1; dying = 1; callers[c] = 0; printf("client %d: CRASHES\n", c); state[c] = OVER; unsubscribe(c); REACHED(4)
		fi
	}
	/* The first of the local queue gives up; the next one asks for itself. */
	:: atomic { c == 0 && (state[c] == SLEEPS || state[c] == TOLD) && callers[c] > 1 && !aborted ->
		aborted = 1; callers[c]--; printf("client 0: its first caller gives up\n"); REACHED(5)
#ifdef ALL_LEAVE
		message[c] = 0; state[c] = SLEEPS; rung[c] = 0
#else
		state[c] = ASKS; rung[c] = 0
#endif
	}
	/* The subscription. */
	:: atomic { wants[c] && up[c] && !asked[c] -> asked[c] = 1; printf("client %d: sends subscribe\n", c)
	}
	:: atomic { asked[c] && up[c] && !subscribed[c] -> subscribed[c] = 1; answer[c] = 1; printf("          server: client %d listens\n", c)
	}
	:: atomic { answer[c] && up[c] -> answer[c] = 0; confirmed[c] = 1; printf("client %d: hears that it listens\n", c); REACHED(6)
#ifndef NO_SECOND_TRY
		wake(c)
#endif
	}
	:: atomic { message[c] ->
		message[c] = 0; printf("client %d: is woken by a message\n", c); REACHED(7) wake(c)
	}
	:: atomic { c == 1 && up[1] && cuts < CUTS && wants[1] ->
		cuts++; up[1] = 0; asked[1] = 0; subscribed[1] = 0; confirmed[1] = 0; answer[1] = 0; message[1] = 0;
		printf("client 1: its connection for messages breaks\n"); REACHED(8)
		/* It wakes at once, and again when the subscription is confirmed again. */
		wake(1)
	}
	:: atomic { !up[c] -> up[c] = 1; printf("client %d: is connected again\n", c)
#ifdef NO_WAKE_ON_UP
		; asked[c] = wants[c]; subscribed[c] = wants[c]; confirmed[c] = wants[c]
#endif
	}
	/* The holder's lease is over, and the waiter looks. */
#ifndef NO_TTL
	:: atomic { state[c] == SLEEPS && dying -> owner = 0; dying = 0; state[c] = ASKS; printf("client %d: looks, for the lease of the holder is over\n", c); REACHED(9)
	}
#endif
	:: state[c] == OVER -> break
	od
}
