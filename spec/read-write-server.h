/*
 * The server of a read-write lock: each script is one step.
 *
 * Stands for    lua/read-write/acquire-read, acquire-write, release, renew; lua/parts/read-write-lock, -leases, -queues,
 *               -turns; lua/admin/take-read-write; src/servers/records/read-write: read-write, -holds, -turns.
 *
 * A model that includes it defines OWNERS, CLIENTS, LEASE, ALIVE, PHASE and TOP, and the messages: tell(m) is for the
 * waiter at the place m, tellReaders() for all waiting readers. The clock of the server is `highest`: a token that is
 * made from the time is above every token before it.
 */
#define READS 1
#define WRITES 2

#define GRANTED 1
#define HELD 2
#define GONE 3
#define FREED 4
#define KEPT 5

/* The places of the queue `writers`: two of each client, and one of each owner that upgrades. */
#define PLACES (2 * CLIENTS + OWNERS)
#define TO_WRITE(k) (k)
#define FOR_UPGRADABLE(k) (CLIENTS + k)
#define TO_UPGRADE(o) (2 * CLIENTS + o)
#define isForUpgradable(m) (m >= CLIENTS && m < 2 * CLIENTS)

/* The lock: a hash with a mode, the readers and the writer, and one expiry for all. */
byte mode, writer, writes, lockTtl;
byte reads[OWNERS];
byte readTtl[OWNERS];      /* each reader has its own key, whose expiry is the lease */
bool upgradable[OWNERS];   /* the name of the reader shows it */
byte counter, highest;
/* The queues. */
byte place[PLACES], alive[PLACES];
bool inReaders[CLIENTS];
byte readerAlive[CLIENTS];
byte phase;

byte answer, answerToken;
bool isNew;                /* the script made a new hold */
byte h, l, f, j, u, longest;
bool waited, isShut, isUpgrade, isTold, anyReader;

/*
 * The conditions of the two scripts that acquire, with and without each guard. f is the first place of the queue + 1, l
 * is the number of holders, and u is 1 if a living owner has the upgradable lock.
 */
#ifdef READS_BESIDE_WRITE
#define isWrittenByOthers(o) 0
#else
#define isWrittenByOthers(o) (mode == WRITES && writer != o + 1)
#endif
#ifdef NO_GATE
#define isShutForReaders 0
#else
#define isShutForReaders (f > 0 && !isForUpgradable(f - 1) && phase == 0)
#endif
#ifdef UPGRADABLE_BARGES
#define isShutForUpgradable(k, waits) isShutForReaders
#else
#define isShutForUpgradable(k, waits) (f > 0 && !(waits && f - 1 == FOR_UPGRADABLE(k)))
#endif
#ifdef TWO_UPGRADABLE
#define hasUpgradable 0
#else
#define hasUpgradable (u == 1)
#endif
#ifdef WRITES_BESIDE_READS
#define isFree (mode != WRITES)
#elif defined(UPGRADE_BESIDE_READS)
#define isFree (l == 0 || (isUpgrade && mode == READS))
#else
#define isFree (l == 0 || (isUpgrade && mode == READS && l == 1))
#endif
#ifdef OUT_OF_TURN
#define isNext(o, k, waits) 1
#elif defined(UPGRADE_IN_TURN)
#define isNext(o, k, waits) (f == 0 || (waits && f - 1 == (isUpgrade -> TO_UPGRADE(o) : TO_WRITE(k))))
#define GOES_FIRST 0
#else
#define isNext(o, k, waits) (isUpgrade || f == 0 || (waits && f - 1 == TO_WRITE(k)))
#endif
#ifndef GOES_FIRST
#define GOES_FIRST 1
#endif
#ifdef UPGRADE_BEFORE_PHASE
#define isKeptOutByPhase (phase > 0 && !isUpgrade)
#else
#define isKeptOutByPhase (phase > 0)
#endif

inline clearLock() {
	mode = 0; writer = 0; writes = 0; lockTtl = 0;
	for (j : 0 .. OWNERS - 1) { reads[j] = 0 }
	j = 0
}

inline prolong() {
#ifndef NO_PROLONG
	if :: lockTtl < LEASE -> lockTtl = LEASE :: else fi
#else
	skip
#endif
}

/* Removes readers whose lease is over. Then l is the number of holders. */
inline dropDead() {
	l = 0; longest = 0;
	for (j : 0 .. OWNERS - 1) {
		if
#ifdef DEAD_READERS_COUNT
		:: reads[j] > 0 -> l++; longest = LEASE
#else
		:: reads[j] > 0 && readTtl[j] == 0 -> reads[j] = 0
		:: reads[j] > 0 && readTtl[j] > 0 -> l++; if :: readTtl[j] > longest -> longest = readTtl[j] :: else fi
#endif
		:: else
		fi
	}
	j = 0;
	if :: writer > 0 -> l++ :: else fi;
	if
	:: l == 0 -> clearLock()
	:: l > 0 && writer == 0 && lockTtl > longest -> lockTtl = longest
	:: else
	fi;
	longest = 0
}

/* waited: true if there was such a place. */
inline removePlace(m) {
	if
	:: place[m] > 0 ->
		for (j : 0 .. PLACES - 1) { if :: place[j] > place[m] -> place[j] = place[j] - 1 :: else fi }
		j = 0; place[m] = 0; alive[m] = 0; waited = 1
	:: else -> waited = 0
	fi
}

/* f = the first place + 1, 0 if the queue is empty. Removes a place whose waiter has died. */
inline findFirst() {
	do
	:: true ->
		f = 0;
		for (j : 0 .. PLACES - 1) { if :: place[j] == 1 -> f = j + 1 :: else fi }
		j = 0;
		if
		:: f == 0 -> break
#ifdef DEAD_PLACES_COUNT
		:: f > 0 -> break
#else
		:: f > 0 && alive[f - 1] > 0 -> break
		:: f > 0 && alive[f - 1] == 0 -> removePlace(f - 1)
#endif
		fi
	od;
	waited = 0
}

/* anyReader: true if a reader is in the queue of readers, dead or alive. */
inline findReaders() {
	anyReader = 0;
	for (j : 0 .. CLIENTS - 1) { if :: inReaders[j] -> anyReader = 1 :: else fi }
	j = 0
}

/* The same for living readers. Dead readers behind a living reader stay, because only the front is checked. */
inline findLivingReaders() {
	anyReader = 0;
	for (j : 0 .. CLIENTS - 1) { if :: inReaders[j] && readerAlive[j] > 0 -> anyReader = 1 :: else fi }
	if
	:: !anyReader -> for (j : 0 .. CLIENTS - 1) { inReaders[j] = 0 }
	:: else
	fi;
	j = 0
}

inline endPhase() {
#ifndef PHASE_GOES_ON
	findReaders();
	if :: !anyReader -> phase = 0 :: else fi;
	anyReader = 0
#else
	skip
#endif
}

inline leaveWriters(m) {
	removePlace(m);
	if :: waited -> endPhase() :: else fi
}

inline leaveReaders(k) {
	if
	:: inReaders[k] -> inReaders[k] = 0; readerAlive[k] = 0; waited = 1; endPhase()
	:: else -> waited = 0
	fi
}

inline enterWriters(m, isFirst) {
	if
	:: place[m] > 0 -> skip
	:: place[m] == 0 && isFirst ->
		for (j : 0 .. PLACES - 1) { if :: place[j] > 0 -> place[j] = place[j] + 1 :: else fi }
		place[m] = 1
	:: else ->
		f = 0;
		for (j : 0 .. PLACES - 1) { if :: place[j] > f -> f = place[j] :: else fi }
		place[m] = f + 1; f = 0
	fi;
	j = 0; alive[m] = ALIVE
}

/* u = 1 if a living owner has the upgradable lock. */
inline findUpgradable() {
	u = 0;
	for (j : 0 .. OWNERS - 1) { if :: reads[j] > 0 && readTtl[j] > 0 && upgradable[j] -> u = 1 :: else fi }
	j = 0
}

/* left: the number of holders, of which none writes. */
inline tellNext(left, areReadersFirst) {
	findFirst();
	findLivingReaders();
	isTold = 0;
	if
	:: anyReader && (areReadersFirst || f == 0 || isForUpgradable(f - 1) || phase > 0) ->
#ifdef PHASE_FOR_KNOWN_WRITERS
		if :: areReadersFirst && f > 0 -> phase = PHASE :: else fi;
#elif !defined(NO_PHASE)
		if :: areReadersFirst -> phase = PHASE :: else fi;
#endif
		tellReaders(); isTold = 1
	:: else
	fi;
	if
	:: f > 0 && (isForUpgradable(f - 1) || ((left == 0 || (left == 1 && f > 2 * CLIENTS)) && !isTold)) -> tell(f - 1)
	:: else
	fi;
	isTold = 0; anyReader = 0; f = 0
}

inline mint() {
	answerToken = counter + 1;
#ifndef NO_CLOCK_FLOOR
	if :: highest + 1 > answerToken -> answerToken = highest + 1 :: else fi;
#endif
	if :: highest < answerToken -> highest = answerToken :: else fi
}

/*
 * acquire-read by the owner o of the client k. It has a place in the queue if it waits. isLast: no other reader of its
 * client will ask.
 */
inline acquireRead(o, k, waits, isLast, wanted) {
	isNew = 0; answerToken = 0;
#ifndef DEAD_READER_HELD
	if :: reads[o] > 0 && readTtl[o] == 0 -> reads[o] = 0; dropDead(); l = 0 :: else fi;
#endif
	h = reads[o];
	if
	:: wanted > 1 && h == 0 -> answer = GONE
	:: else ->
		if :: waits && !upgradable[o] -> leaveWriters(TO_WRITE(k)) :: else fi;
		findFirst();
		findUpgradable();
		isShut = (upgradable[o] -> isShutForUpgradable(k, waits) : isShutForReaders);
		if
		:: h == 0 && (isWrittenByOthers(o) || (mode != WRITES && isShut) || (mode != 0 && upgradable[o] && hasUpgradable)) ->
			answer = HELD;
			if
			:: waits && upgradable[o] -> enterWriters(FOR_UPGRADABLE(k), 0)
			:: waits && !upgradable[o] -> inReaders[k] = 1; readerAlive[k] = ALIVE
			:: else
			fi
		:: else ->
			answer = GRANTED; isNew = (h == 0);
			answerToken = counter;
			if
			:: counter == 0 -> mint();
#ifdef READ_SETS_COUNTER
				counter = answerToken
#else
				if :: mode != WRITES -> counter = answerToken :: else fi
#endif
			:: else
			fi;
			raise(reads[o], wanted);
			if :: mode == 0 -> mode = READS; lockTtl = LEASE :: else fi;
			if
			:: h == 0 -> readTtl[o] = LEASE
			:: h > 0 && readTtl[o] > 0 -> readTtl[o] = LEASE
			:: else
			fi;
			prolong();
			if
			:: upgradable[o] && waits -> leaveWriters(FOR_UPGRADABLE(k))
			:: !upgradable[o] && waits && (isLast) -> leaveReaders(k)
			:: else
			fi
		fi
	fi;
	isShut = 0; u = 0; f = 0; h = 0; waited = 0
}

/* Sets the wanted count, and does not add to the count. */
inline raise(holds, wanted) {
#ifdef BLIND_COUNTS
	if :: holds < 3 -> holds = holds + 1 :: else fi
#else
	if :: holds < wanted -> holds = wanted :: else fi
#endif
}

/* acquire-write. `upgrades`: from the upgradable lock that its owner has. */
inline acquireWrite(o, k, waits, upgrades, wanted) {
	isNew = 0; answerToken = 0; isUpgrade = upgrades;
	h = (writer == o + 1 -> writes : 0);
	if
	:: wanted > 1 && h == 0 -> answer = GONE
#ifndef UPGRADE_OF_WHAT_IS_GONE
	:: wanted == 1 && h == 0 && isUpgrade && (reads[o] == 0 || readTtl[o] == 0) -> answer = GONE
#endif
	:: else ->
		answer = GRANTED;
		if
		:: h == 0 ->
			l = 0;
			if
			:: mode == WRITES -> l = 1
			:: mode == READS -> dropDead()
			:: else
			fi;
			if :: waits && !isUpgrade -> leaveReaders(k) :: else fi;
			findFirst();
			if
			:: isFree && isNext(o, k, waits) && !isKeptOutByPhase -> skip
			:: else ->
				answer = HELD;
				if
				:: waits && isUpgrade -> enterWriters(TO_UPGRADE(o), GOES_FIRST)
				:: waits && !isUpgrade -> enterWriters(TO_WRITE(k), 0)
				:: else
				fi
			fi
		:: else
		fi;
		if
		:: answer == GRANTED ->
			isNew = (h == 0);
			if :: isNew && mode == READS && l == 0 -> mode = 0 :: else fi;
			if :: mode == 0 -> lockTtl = LEASE :: else -> prolong() fi;
			mode = WRITES; writer = o + 1; raise(writes, wanted);
			if
			:: !isNew && (counter > 0 || wanted > 1) -> answerToken = counter
			:: else -> mint(); counter = answerToken
			fi;
			if
			:: waits && isUpgrade -> leaveWriters(TO_UPGRADE(o))
			:: waits && !isUpgrade -> leaveWriters(TO_WRITE(k))
			:: else
			fi
		:: else
		fi
	fi;
	l = 0; h = 0; f = 0; isUpgrade = 0; waited = 0
}

inline lower(holds, wanted) {
#ifdef BLIND_COUNTS
	holds = holds - 1
#else
	if :: holds > wanted -> holds = wanted :: else fi
#endif
}

/* The release of the write lock. isLast: no caller of its client waits to write. */
inline releaseWrite(o, k, isLast, tok, wanted) {
	if :: isLast -> leaveWriters(TO_WRITE(k)) :: else fi;
	if
#ifdef NO_TOKEN_CHECK
	:: writer != o + 1 ->
#else
	:: writer != o + 1 || (counter > tok && tok > 0) ->
#endif
		answer = GONE;
		leaveWriters(TO_UPGRADE(o));
		leaves(isLast)
	:: else ->
		lower(writes, wanted);
		if
		:: writes > 0 -> answer = KEPT
		:: else ->
			answer = FREED; writer = 0;
#ifdef DOWNGRADE_FREES
			clearLock()
#else
			mode = READS; dropDead()
#endif
			;
			tellNext(l, 1)
		fi
	fi;
	l = 0; waited = 0
}

/* Tells the waiters behind the waiter that has left, if they are next. */
inline leaves(isLast) {
#ifndef LEAVES_IN_SILENCE
	if
	:: (waited || isLast) && mode != WRITES -> l = 0; if :: mode == READS -> dropDead() :: else fi; tellNext(l, 0)
	:: else
	fi
#else
	skip
#endif
}

inline releaseRead(o, k, isLast, wanted) {
	if
	:: isLast && upgradable[o] -> leaveWriters(FOR_UPGRADABLE(k))
	:: isLast && !upgradable[o] -> leaveReaders(k)
	:: else
	fi;
	if
	:: reads[o] == 0 -> answer = GONE; waited = 0; leaves(isLast)
	:: else ->
		lower(reads[o], wanted);
		if
		:: reads[o] > 0 -> answer = KEPT
		:: else ->
			answer = FREED; readTtl[o] = 0;
			if
			:: mode == WRITES -> skip
			:: else ->
				dropDead();
				findFirst();
				if
				:: l == 0 -> tellNext(0, 0)
#ifdef LAST_BUT_ONE_IN_SILENCE
				:: l > 0 && upgradable[o] -> tellNext(l, 0)
#else
				:: l > 0 && (upgradable[o] || (l == 1 && f > 2 * CLIENTS)) -> tellNext(l, 0)
#endif
				:: else
				fi
			fi
		fi
	fi;
	l = 0; f = 0; waited = 0
}

/* renew: lengthens what is there. */
inline renewRead(o) {
	if
	:: reads[o] > 0 && readTtl[o] > 0 -> answer = GRANTED; readTtl[o] = LEASE; prolong()
#ifdef RENEW_REVIVES
	:: else -> answer = GRANTED; isNew = 1; reads[o] = 1; readTtl[o] = LEASE; lockTtl = LEASE; mode = (mode == 0 -> READS : mode)
#else
	:: else -> answer = GONE
#endif
	fi
}

inline down(x) { x = (x > 0 -> x - 1 : 0) }

/* One tick of the leases. */
inline leasesTick() {
	for (j : 0 .. OWNERS - 1) { down(readTtl[j]) }
	j = 0;
	if
	:: lockTtl == 1 -> clearLock()
	:: lockTtl > 1 -> lockTtl = lockTtl - 1
	:: else
	fi
}
