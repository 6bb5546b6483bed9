/* SPDX-License-Identifier: Apache-2.0
 *
 * The wake-up: wait, ring, pre-wake, time-out, events, death (docs/protocols/bell.md; the step names W., B., L. are the same there).
 *
 * One publisher; subscriber 0 with two threads (0 and 1), subscriber 1 with one (2). All share one bell. What a sample is and
 * how it is held is slots.pml; here a publication is a number and take is the cursor's compare-and-swap. One step = one access to
 * shared memory or one system call. FUTEX_WAIT compares and queues in one step, FUTEX_WAKE empties the queue in one step: both
 * hold the kernel's bucket lock. Sequential consistency only.
 *
 * Shape (-D): NPUB, THREADS 1..2 of subscriber 0, ONE_SUB, PREWAKE (loans ring; one may be abandoned), SPIN rounds, TIMEOUTS (how often
 * thread 2 may time out), EVENT (a helper thread has an event for subscriber 0), HANGUP (the publisher's end is told), KILL_PUB,
 * KILL_SUB (subscriber 1), ATTACH (subscriber 1 comes at any time). Everything else in capitals is a mutant (run_models.sh).
 */
#ifndef NPUB
#define NPUB 3
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifndef SPIN
#define SPIN 1
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0
#endif

/* The publisher's area */
byte latest;
byte filling;      /* n: publication n is being filled; 0: no loan is out */
byte bell;         /* the futex word; only the publisher writes it */

/* The subscribers' areas */
byte waiting[2];
byte cursor[2];

/* The subscribers' processes: set by the helper thread */
bit event;         /* subscriber 0 has an event to deliver */
bit gone[2];       /* the publisher has hung up */

/* The kernel's futex queue of the bell */
bit asleep[3];

bit table[2];      /* the publisher's table */
bit asked, answered;
bit pub_dead, pub_done, sub_dead;
bit told[3];       /* thread has returned "the publisher is gone" */

#define SOMEONE_SLEEPS (asleep[0] || asleep[1] || asleep[2])
#define WAKE_ALL       asleep[0] = 0; asleep[1] = 0; asleep[2] = 0
#define WAKE_ONE_OF_THEM \
    if \
    :: asleep[0] -> asleep[0] = 0 \
    :: asleep[1] -> asleep[1] = 0 \
    :: asleep[2] -> asleep[2] = 0 \
    :: !SOMEONE_SLEEPS \
    fi

inline look() { /* W4: is anybody attached waiting? */
#ifdef ATTACH
    any = (waiting[0] != 0);
#ifdef STALE_TABLE
    t = old_table;
#else
    t = table[1];
#endif
    atomic { any = any || (t && waiting[1] != 0); t = 0 }
#else
    any = (waiting[0] != 0);
    any = any || (waiting[1] != 0)
#endif
}

proctype Publisher() {
    byte n = 1;
    bit any, t, rung;
#ifdef STALE_TABLE
    bit old_table;
#endif
#ifdef PREWAKE
    bit abandoned;
#endif
    {
        do
        :: n <= NPUB ->
            rung = 0;
#ifdef PREWAKE
            filling = n; /* L1 */
            look();
            if
            :: any ->
                bell++; /* W5 */
                atomic { /* at most CPUs - 1 readers, none on the publisher's CPU: here, some one of them */
                    WAKE_ONE_OF_THEM;
                    any = 0; rung = 1
                }
            :: else
            fi;
            if
            :: !abandoned ->
                abandoned = 1;
#ifndef ABANDON_KEEPS_FILLING
                filling = 0;
#endif
                goto next
            :: true
            fi;
#endif
#ifdef STALE_TABLE
            old_table = table[1];
#endif
#ifdef LOOK_BEFORE_PUBLISH
            look();
            latest = n;
#else
            latest = n; /* W3 */
#ifdef PREWAKE
            filling = 0; /* L1 */
#endif
            look();
#endif
            if
#ifdef RING_ONLY_IN_LOAN
            :: any && !rung ->
#else
            :: any ->
#endif
#if defined(NO_BELL_STORE)
                atomic { WAKE_ALL; any = 0 }
#elif defined(WAKE_BEFORE_BELL)
                atomic { WAKE_ALL; any = 0 }
                bell++;
#elif defined(WAKE_ONE)
                bell++;
                atomic { WAKE_ONE_OF_THEM; any = 0 }
#else
                bell++; /* W5 */
                atomic { WAKE_ALL; any = 0 }
#endif
            :: else
            fi;
#if defined(PREWAKE) && defined(LOOK_BEFORE_PUBLISH)
            filling = 0;
#endif
            n++;
next:       skip
        :: else -> break
        od;
        pub_done = 1
    } unless { pub_dead }
}

#define ME    (id == 2)
#define CLEAR b = 0; c = 0; e = 0
proctype Waiter(byte id) {
    byte b, c, e, k, timeouts;
    {
#ifdef ATTACH
        if
        :: id == 2 -> asked = 1; if :: answered :: (pub_dead || pub_done) && !answered -> told[2] = 1; goto out fi
        :: else
        fi;
#else
        skip;
#endif
take:
        atomic {
            if :: latest > cursor[ME] -> c = cursor[ME]; e = latest :: else -> c = cursor[ME]; goto wait fi
        }
        atomic { if :: cursor[ME] == c -> assert(e > c); cursor[ME] = e :: else fi; CLEAR; goto take }
wait:
#if defined(WAIT_FLAG_AFTER_CHECK)
        b = bell;
        atomic { if :: latest > c -> CLEAR; goto take :: else fi }
        waiting[ME]++;
#elif defined(BELL_AFTER_CHECK)
        waiting[ME]++;
        atomic { if :: latest > c -> goto leave :: else fi }
        b = bell;
#elif defined(NO_CHECK)
        b = bell;
        waiting[ME]++;
#else
        b = bell;       /* B1 */
        waiting[ME]++;  /* B2 */
        atomic { if :: latest > c -> goto leave :: else fi } /* B3 */
#endif
#ifdef EVENT
        atomic { if :: id != 2 && event -> event = 0; goto leave :: else fi } /* B3e: the event is delivered */
#endif
#ifdef HANGUP
        atomic { if :: gone[ME] -> goto hang_up :: else fi }                    /* B3g */
#endif
sleep:
        atomic { if :: bell == b -> asleep[id] = 1 :: else -> b = 0; goto woken fi } /* FUTEX_WAIT */
        b = 0;
#ifndef HANGUP
end_asleep:
#endif
        if
        :: !asleep[id]
#if TIMEOUTS > 0
        :: atomic { id == 2 && asleep[id] && timeouts < TIMEOUTS -> asleep[id] = 0; timeouts++ }
#ifdef TIMEOUT_KEEPS_WAITING
            goto take
#else
            goto leave
#endif
#endif
        fi;
woken:
#ifdef PREWAKE
        waiting[ME]--; /* B4 */
        do /* a loan may have rung: spin for the publication, bounded */
#ifdef NO_SPIN_BOUND
        :: true ->
#else
        :: k < SPIN ->
            k++;
#endif
            atomic { e = latest; if :: e > c -> break :: else fi }
            atomic { if :: filling == 0 -> break :: else -> e = 0 fi } /* L2 */
#ifndef NO_SPIN_BOUND
        :: else -> break
#endif
        od;
        atomic {
            e = 0; k = 0;
#ifdef SPIN_THEN_SLEEP
            b = bell; waiting[ME]++; goto sleep
#else
            CLEAR; goto take
#endif
        }
#endif
leave:
        atomic { waiting[ME]--; CLEAR; goto take } /* B4 */
#ifdef HANGUP
hang_up:
        waiting[ME]--;
        atomic {
#ifndef END_BEFORE_LAST
            if :: latest > cursor[ME] -> CLEAR; goto take :: else fi; /* X: what it left comes first */
#endif
            assert(latest == cursor[ME]); /* I12 */
            told[id] = 1
        }
#endif
out:    skip
    } unless { id == 2 && sub_dead }
}

/* A subscriber's helper thread. It may not write the bell (one writer a page), so its FUTEX_WAKE can come just before the
 * waiter's FUTEX_WAIT. Therefore: flag first, then wake again and again until the waiter has seen it, or nobody waits.
 * A wake that finds nobody asleep changes nothing, so only the others are steps here. */
#if defined(KICK_ONCE)
#define KICK(sub, seen) atomic { WAKE_ALL }
#elif defined(KICK_ONE)
#define KICK(sub, seen) do :: atomic { ((seen) || waiting[sub] == 0) -> break } :: atomic { SOMEONE_SLEEPS -> WAKE_ONE_OF_THEM; break } od
#else
#define KICK(sub, seen) do :: atomic { ((seen) || waiting[sub] == 0) -> break } :: atomic { SOMEONE_SLEEPS -> WAKE_ALL } od
#endif

#ifdef EVENT
proctype EventHelper() {
#ifdef KICK_LOOKS_FIRST
    if :: waiting[0] == 0 -> event = 1; goto out :: else fi;
#endif
    event = 1;
    KICK(0, event == 0);
out: skip
}
#endif

#ifdef HANGUP
proctype HangupHelper(byte sub) {
    (pub_dead || pub_done) -> gone[sub] = 1;
    KICK(sub, false)
}
#endif

#ifdef ATTACH
proctype PublisherHelper() {
    {
        do
        :: asked && !answered ->
#ifdef TABLE_AFTER_ANSWER
            answered = 1; table[1] = 1
#else
            table[1] = 1; answered = 1
#endif
        :: pub_done || answered -> break
        od
    } unless { pub_dead }
}
#endif

#if defined(KILL_PUB) || defined(KILL_SUB)
proctype Killer() {
    do
#ifdef KILL_PUB
    :: atomic { !pub_dead && !pub_done -> pub_dead = 1 }
#endif
#ifdef KILL_SUB
    :: atomic { !sub_dead -> sub_dead = 1; asleep[2] = 0 }
#endif
    :: break
    od
}
#endif

/* When nothing can move any more, nobody may sleep on something to do. */
proctype Monitor() {
    timeout -> atomic {
        assert(!(asleep[0] || asleep[1]) || latest == cursor[0]); /* I10: no missed wake-up */
        assert(!asleep[2] || latest == cursor[1]);
        assert(!(asleep[0] || asleep[1]) || !event);              /* I13: nor a missed event */
        assert(waiting[0] == asleep[0] + asleep[1]);              /* I14: a thread that does not wait costs no ring */
        assert(sub_dead || waiting[1] == asleep[2])
    }
}

init {
    atomic {
        table[0] = 1;
#ifndef ATTACH
        table[1] = 1;
#endif
        run Publisher();
        run Waiter(0);
#if THREADS > 1
        run Waiter(1);
#else
        told[1] = 1;
#endif
#ifdef ONE_SUB
        told[2] = 1;
#else
        run Waiter(2);
#endif
#ifdef EVENT
        run EventHelper();
#endif
#ifdef HANGUP
        run HangupHelper(0);
#ifndef ONE_SUB
        run HangupHelper(1);
#endif
#endif
#ifdef ATTACH
        run PublisherHelper();
#endif
#if defined(KILL_PUB) || defined(KILL_SUB)
        run Killer();
#endif
#ifndef LIVENESS
        run Monitor()
#endif
    }
}

/* Under weak fairness (pan -f): every attached, living subscriber sees the last publication. */
#ifdef LTL_SEEN
ltl seen { <> (cursor[0] == NPUB && cursor[1] == NPUB) }
#endif
/* Every thread is told of the publisher's end, however it came about. */
#ifdef LTL_TOLD
ltl all_told { <> (told[0] && told[1] && told[2]) }
#endif
