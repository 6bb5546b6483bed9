/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of events (docs/protocols/trace.md; the step names T. are the same there): threads write, an observer copies.
 *
 * Writer 0 begins. With KILL it may die between any two steps, and writer 1 then takes the ring over. Each word of event n says n + 1 and
 * the writer. One step = one access to shared memory. Sequential consistency only: the checker's scenario 'trace' has the orders.
 *
 * Shape (-D): EVENTS of the ring, NEVENTS that are written, BATCH that the observer copies at once, LATE (its first look is at any time),
 * KILL. Everything else in capitals is a mutant (run_models.sh).
 */
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef NEVENTS
#define NEVENTS 5
#endif
#ifndef BATCH
#define BATCH 2
#endif

/* The area */
byte written;
byte event[4]; /* word w of slot s: 2 * s + w; EVENTS is 2 at most */

bit killed, dead, finished;

/* The observer's */
byte accepted, overwritten;

#ifdef ONE_TOO_MANY /* takes the event that may be under way for a whole one */
#define OLDEST_WHOLE(w) ((w) <= EVENTS -> 0 : (w) - EVENTS)
#else
#define OLDEST_WHOLE(w) ((w) < EVENTS -> 0 : (w) - EVENTS + 1)
#endif
#define MOST(a, b) ((a) > (b) -> (a) : (b))
#define LEAST(a, b) ((a) < (b) -> (a) : (b))

proctype Writer(bit me) {
    byte n;
    {
        do
        :: n = written; /* T1 */
           if
           :: n >= NEVENTS -> break
           :: else
           fi;
#ifdef WRITTEN_FIRST
           written = n + 1;
#endif
           event[2 * (n % EVENTS)] = 2 * (n + 1) + me; /* T3 */
           event[2 * (n % EVENTS) + 1] = 2 * (n + 1) + me;
#ifndef WRITTEN_FIRST
           written = n + 1; /* T4 */
#endif
           n = 0
        od;
        atomic { n = 0; finished = 1; goto end }
    } unless {
#ifdef KILL
        atomic { me == 0 && killed -> dead = 1; n = 0 }
#else
        false
#endif
    };
end: skip
}

/* The kernel says that the thread does not exist, and another one takes its ring. */
proctype NextThread() {
#ifdef TAKE_FROM_THE_LIVING
    run Writer(1)
#else
    (dead || finished);
    if
    :: dead ->
#ifdef RESET
        written = 0;
#endif
        run Writer(1)
    :: else
    fi
#endif
}

proctype Killer() { killed = 1 }

proctype Observer() {
    byte begun, next, w, from, to, n, whole;
    byte word0[BATCH], word1[BATCH];
#ifdef LATE
    next = written;
    begun = next;
#endif
    do
    :: atomic { next == NEVENTS -> break }
    :: else ->
        w = written; /* T5 */
        d_step {
            assert(w >= next); /* I28 */
            from = MOST(next, OLDEST_WHOLE(w));
            to = LEAST(w, from + BATCH);
            n = from
        }
        do
        :: n < to ->
            word0[n - from] = event[2 * (n % EVENTS)]; /* T6 */
            word1[n - from] = event[2 * (n % EVENTS) + 1];
            n++
        :: else -> break
        od;
#ifndef NO_SECOND_LOOK
        w = written; /* T8 */
#else
        skip;
#endif
        d_step {
            whole = LEAST(MOST(OLDEST_WHOLE(w), from), to);
            overwritten = overwritten + whole - next;
            n = whole;
            do
            :: n < to ->
                assert(word0[n - from] == word1[n - from]); /* I27 */
                assert(word0[n - from] / 2 == n + 1);
                accepted++;
                n++
            :: else -> break
            od;
            next = to;
            assert(begun + accepted + overwritten == next); /* I28 */
            n = 0; w = 0; from = 0; to = 0; whole = 0;
            for (n : 0 .. BATCH - 1) { word0[n] = 0; word1[n] = 0 }
            n = 0
        }
    od
}

init {
    atomic {
        run Writer(0);
#if defined(KILL) || defined(TAKE_FROM_THE_LIVING)
        run NextThread();
#endif
#ifdef KILL
        run Killer();
#endif
        run Observer()
    }
}
