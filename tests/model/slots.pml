/* SPDX-License-Identifier: Apache-2.0
 *
 * The slot protocol: publish, take, hold, reclaim (docs/protocols/slot.md; the step names W., R., D. are the same there).
 *
 * One publisher, subscriber 0 with THREADS threads, subscriber 1 with one. One Promela step = one access to shared memory; what
 * a process does between two of them is folded into the step (`atomic`). Sequential consistency only: the orders of the real
 * code are the memory-order checker's work.
 *
 * Shape (-D): DEPTH, NPUB publications, THREADS 1..2, ONE_SUB, NO_SPARE (the formula's slots without its + 1), KEEP (every thread keeps its last sample while it
 * takes the next), LAZY (reclaim only when the free list is empty, else before every loan), ATTACH (subscribers come and, the
 * second, go at any time; helper thread; epoch), KILL_SUB, KILL_PUB (death at any step), OBSERVER.
 * Everything else in capitals is a mutant: one essential step left out or moved. Each must fail (run_models.sh).
 */
#ifndef DEPTH
#define DEPTH 1
#endif
#ifndef NPUB
#define NPUB 4
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifdef ONE_SUB
#define SUBS   1
#define TAKERS THREADS
#else
#define SUBS   2
#define TAKERS (THREADS + 1)
#endif
/* depth + loans + 1 + sum(holds + threads). Without KEEP a thread drops its sample before it takes again, so one is enough for it. */
#ifdef KEEP
#define HELD (2 * TAKERS)
#else
#define HELD TAKERS
#endif
#if defined(ONE_SLOT_LESS)
#define NSLOTS (DEPTH + HELD)
#elif defined(NO_SPARE)
#define NSLOTS (DEPTH + 1 + HELD)
#else
#define NSLOTS (DEPTH + 1 + 1 + HELD)
#endif

#ifdef ATTACH
#define ATTACHED 1
#else
#define ATTACHED 0
#endif

#define PACK(n, s) ((n) * 16 + (s))
#define NUM(e)     ((e) / 16)
#define SLOT(e)    ((e) % 16)
#define AT(k, s)   ((k) * NSLOTS + (s))
#define BIT(i)     (1 << (i))
#define OVER       (pub_done || pub_dead)

/* The publisher's area */
byte latest;                 /* pack(n, slot); 0: nothing yet */
byte ring[DEPTH];
byte seq[NSLOTS];            /* n: alive as publication n; 0: dead */
byte word0[NSLOTS];          /* the payload: two words, so that a torn read shows */
byte word1[NSLOTS];

/* The subscribers' areas */
byte hold[SUBS * NSLOTS];
byte cursor[SUBS];

/* The publisher's process: table of attached subscribers, its mappings of their areas, its epoch */
bit  table[SUBS];
bit  mapped[SUBS];
byte epoch;                  /* odd: the publishing thread may be using an area it found in the table */

/* The sockets */
bit  asked[SUBS];
bit  answered[SUBS];
bit  hung_up[SUBS];          /* closed by the subscriber, or by the kernel after its death */

bit  ready[SUBS];
byte left_threads[SUBS];
bit  sub_dead[SUBS];
bit  pub_dead, pub_done;

/* Ghosts: only assertions look at them */
byte in_hand[SUBS * NSLOTS]; /* valid samples that a user still reads */
byte base[SUBS];             /* where counting begins: attach */
byte counted[SUBS];          /* samples delivered + samples reported as missed */

#ifdef ATTACH
#define ENTER epoch++;
#else
#define ENTER
#endif
#define LEAVE ENTER

inline check_free_of_readers() {
    k = 0;
    do
    :: k < SUBS ->
        assert(in_hand[AT(k, s)] == 0 || sub_dead[k]); /* I2: a held slot is never refilled */
        k++
    :: else -> k = 0; break
    od
}

/* Which slots could be reclaimed: not free, not among the last DEPTH publications. Only the publisher's own knowledge. */
inline candidates() {
    cand = 0;
    i = 0;
    do
    :: i < NSLOTS ->
        if
        :: !(fre & BIT(i)) && (seq[i] == 0 || seq[i] + DEPTH < n) -> cand = cand | BIT(i)
        :: else
        fi;
        i++
    :: else -> i = 0; break
    od
}

inline next_alive() {
    do
    :: i < NSLOTS && !((cand & BIT(i)) && seq[i] != 0) -> i++
    :: else -> break
    od
}

inline mark_dead() { /* D1, one store a step */
    do
    :: atomic {
            next_alive();
            if :: i < NSLOTS -> seq[i] = 0 :: else fi;
            next_alive();
            if :: i == NSLOTS -> i = 0; break :: else fi
        }
    od
}

inline scan() { /* D2, D3: a hold word carries the counters of eight slots, so one load a subscriber */
    do
    :: atomic {
#ifdef STALE_TABLE
        t = old_table[k];
#else
        t = table[k]; /* D2 */
#endif
#ifdef ATTACH
       }
       atomic {
#endif
            if
            :: t ->
                assert(mapped[k]); /* I6 */
                do
                :: i < NSLOTS -> if :: hold[AT(k, i)] -> cand = cand & (255 - BIT(i)) :: else fi; i++
                :: else -> i = 0; break
                od
            :: else
            fi;
            t = 0;
            k++;
            if :: k == SUBS -> k = 0; break :: else fi
        }
    od
}

inline reclaim() {
    candidates();
#if defined(NO_DEAD_MARK)
    scan();
#elif defined(DEAD_AFTER_SCAN)
    scan();
    mark_dead();
#else
    mark_dead();
    scan();
#endif
}

#include "slots_publisher.pml"

#define GIVE_BACK(x) hold[AT(me, x)]--
#define CLEAR        old = 0; e = 0; next = 0; s = 0

proctype Reader(byte me; bit first) {
    byte old, e, x, next, s;
#ifdef KEEP
    byte kept = 255;
#endif
    {
        if
        :: first ->
#ifdef ATTACH
            asked[me] = 1;
            if
            :: answered[me]
            :: atomic { OVER && !answered[me] -> hung_up[me] = 1; goto out }
            fi;
#endif
            atomic {
                e = latest;
                if :: NUM(e) > DEPTH -> cursor[me] = NUM(e) - DEPTH :: else -> cursor[me] = 0 fi;
                base[me] = cursor[me];
                e = 0;
                ready[me] = 1
            }
        :: else -> if :: ready[me] :: hung_up[me] && !ready[me] -> goto out fi
        fi;

again:
        /* A poll that finds nothing changes nothing, so polls are only modelled when there is something or all is over. */
#ifdef CURSOR_AFTER_LATEST
        atomic { (NUM(latest) > cursor[me] || OVER) -> e = latest }; /* as first written: R1, then the cursor, `==` */
        atomic {
            old = cursor[me];
            if
            :: NUM(e) == old && OVER -> goto fin
            :: NUM(e) == old && !OVER -> goto again
            :: else
            fi
        }
#else
        if
        :: atomic { (NUM(latest) > cursor[me] || OVER) -> old = cursor[me] } /* R0: the cursor first */
#ifdef ATTACH
        :: atomic { me == 1 -> goto fin } /* leaves when it likes */
#endif
        fi;
        atomic {
            e = latest; /* R1 */
            if
            :: NUM(e) <= old && OVER -> goto fin
            :: NUM(e) <= old && !OVER -> CLEAR; goto again
            :: else
            fi;
#endif
#if DEPTH > 1
            next = old + 1;
            if :: NUM(e) >= DEPTH + next -> next = NUM(e) - DEPTH + 1 :: else fi
#ifndef CURSOR_AFTER_LATEST
        }
#endif

walk:   /* from the oldest that may still be there to the newest, which is in hand already */
        if
        :: next == NUM(e) -> s = SLOT(e)
        :: else ->
            atomic {
                x = ring[next % DEPTH]; /* R1b */
                if
                :: NUM(x) == next -> s = SLOT(x); x = 0
                :: else ->
#ifdef RING_RETRY
                    /* as first written: "again from R1". Nothing differs until `latest` moves, so wait for that. */
                    goto retry
#else
                    assert(NUM(x) > next);
                    x = 0; next++; goto walk /* publication NUM(x) takes its place: lost */
#endif
                fi
            }
        fi;
#else
            next = NUM(e);
            s = SLOT(e)
#ifndef CURSOR_AFTER_LATEST
        }
#else
        ;
#endif
#endif

#ifdef CURSOR_BEFORE_HOLD
        atomic { if :: cursor[me] == old -> cursor[me] = next :: else -> goto again fi }
#endif
#ifdef CHECK_BEFORE_HOLD
        if :: seq[s] == next -> skip :: else -> goto again fi;
        hold[AT(me, s)]++;
#else
        hold[AT(me, s)]++; /* R2 */
#ifndef NO_RECHECK
        atomic {
            if
            :: seq[s] == next /* R3 */
            :: else ->
                assert(latest != e); /* I8: a subscriber that must try again was overtaken by a publication */
                goto undo
            fi
        }
#endif
#endif

#ifdef CURSOR_BEFORE_HOLD
        atomic { in_hand[AT(me, s)]++; counted[me] = counted[me] + next - old; assert(counted[me] + base[me] == cursor[me]) }
#else
        atomic { /* R6 */
            if
#ifdef CURSOR_STORE
            :: true ->
#else
            :: cursor[me] == old ->
#endif
                cursor[me] = next;
                in_hand[AT(me, s)]++;
                assert(next > old);                              /* I4: in order, */
                counted[me] = counted[me] + next - old;          /* this one and next - old - 1 missed */
                assert(counted[me] + base[me] == cursor[me])     /* each exactly once */
            :: else -> goto undo
            fi
        }
#endif
#ifdef RELEASE_BEFORE_READ
        GIVE_BACK(s);
#endif
        assert(word0[s] == next); /* I1: never torn */
        assert(word1[s] == next);
#ifdef KEEP
        atomic {
            if :: kept != 255 -> in_hand[AT(me, kept)]--; GIVE_BACK(kept) :: else fi;
            kept = s; CLEAR; goto again
        }
#elif defined(DETACH_WITH_SAMPLE)
        if
        :: me == 1 -> atomic { hung_up[me] = 1; goto later }
        :: else
        fi;
later:  atomic { assert(word0[s] == next); in_hand[AT(me, s)]--; GIVE_BACK(s); CLEAR; goto again }
#elif defined(RELEASE_BEFORE_READ)
        atomic { in_hand[AT(me, s)]--; CLEAR; goto again }
#else
        atomic { in_hand[AT(me, s)]--; GIVE_BACK(s); CLEAR; goto again } /* R5 */
#endif

undo:
#ifdef NO_UNDO
        atomic { CLEAR; goto again }
#elif DEPTH > 1
        atomic { /* R4 */
            GIVE_BACK(s);
            if
            :: cursor[me] == old && next < NUM(e) -> s = 0; next++; goto walk
            :: else -> CLEAR; goto again
            fi
        }
#else
        atomic { GIVE_BACK(s); CLEAR; goto again } /* R4 */
#endif
#ifdef RING_RETRY
retry:  atomic { latest != e -> x = 0; CLEAR; goto again }
#endif

fin:
#ifdef KEEP
        atomic { if :: kept != 255 -> in_hand[AT(me, kept)]--; GIVE_BACK(kept); kept = 255 :: else fi }
#endif
        atomic {
            if /* I3: nothing lost */
            :: OVER && !(ATTACHED && me == 1) -> assert(counted[me] + base[me] == NUM(latest))
            :: else
            fi;
            CLEAR;
            left_threads[me]++;
            if
            :: me == 1 || left_threads[me] == THREADS ->
                hung_up[me] = 1;
                do /* I7: all counters are back */
                :: s < NSLOTS -> assert(hold[AT(me, s)] == 0); s++
                :: else -> s = 0; break
                od
            :: else
            fi
        }
out:    skip
    } unless { sub_dead[me] }
}

#ifdef ATTACH
/* The publisher's helper thread: serves the sockets. */
proctype Helper() {
    byte seen;
    {
        do
#ifdef TABLE_AFTER_ANSWER
#define ADMIT(k) :: asked[k] && !answered[k] && !hung_up[k] -> mapped[k] = 1; answered[k] = 1; table[k] = 1
#else
#define ADMIT(k) :: asked[k] && !answered[k] && !hung_up[k] -> mapped[k] = 1; table[k] = 1; answered[k] = 1
#endif
#ifdef UNMAP_WITHOUT_QUIESCENCE
#define DISMISS(k) :: hung_up[k] && table[k] -> table[k] = 0; mapped[k] = 0
#elif defined(UNMAP_BEFORE_CLEAR)
#define DISMISS(k) :: hung_up[k] && table[k] -> seen = epoch; ((seen % 2 == 0) || epoch != seen) -> mapped[k] = 0; table[k] = 0; seen = 0
#else
#define DISMISS(k) :: hung_up[k] && table[k] -> table[k] = 0; seen = epoch; \
                      atomic { ((seen % 2 == 0) || epoch != seen) -> mapped[k] = 0; seen = 0 }
#endif
        ADMIT(0)
        DISMISS(0)
#if SUBS > 1
        ADMIT(1)
        DISMISS(1)
#endif
#ifdef WATCHDOG
        :: table[0] && !hung_up[0] && answered[0] -> table[0] = 0 /* mutant: "has not been heard of for long" */
#endif
        :: OVER -> break
        od
    } unless { pub_dead }
}
#endif

#if defined(KILL_SUB) || defined(KILL_PUB)
/* Death comes between any two steps. The kernel hangs up after the last instruction of the last thread. */
proctype Killer() {
    do
#ifdef KILL_SUB
    :: atomic { !sub_dead[0] && !hung_up[0] -> sub_dead[0] = 1; hung_up[0] = 1 }
#endif
#ifdef KILL_PUB
    :: atomic { !pub_dead && !pub_done -> pub_dead = 1 }
#endif
    :: break
    od
}
#endif

#ifdef OBSERVER
/* Copies word by word and never writes: no hold, no cursor. */
proctype Observer() {
    byte e, a, b;
    do
    :: atomic { (latest != e) -> e = latest };
#ifdef OBSERVER_CHECK_FIRST
        if
        :: seq[SLOT(e)] == NUM(e) ->
            a = word0[SLOT(e)];
            b = word1[SLOT(e)];
            assert(a == NUM(e) && b == NUM(e))
        :: else
        fi;
        atomic { a = 0; b = 0 }
#else
        a = word0[SLOT(e)];
        b = word1[SLOT(e)];
#ifdef OBSERVER_NO_RECHECK
        assert(a == NUM(e) && b == NUM(e));
#else
        atomic { if :: seq[SLOT(e)] == NUM(e) -> assert(a == NUM(e) && b == NUM(e)) :: else fi; a = 0; b = 0 } /* I9 */
#endif
#endif
    :: OVER -> break
    od
}
#endif

init {
    atomic {
        byte k = 0;
#ifndef ATTACH
        do :: k < SUBS -> table[k] = 1; mapped[k] = 1; k++ :: else -> break od;
#endif
        run Publisher();
        run Reader(0, 1);
#if THREADS > 1
        run Reader(0, 0);
#endif
#if SUBS > 1
        run Reader(1, 1);
#endif
#ifdef ATTACH
        run Helper();
#endif
#if defined(KILL_SUB) || defined(KILL_PUB)
        run Killer();
#endif
#ifdef OBSERVER
        run Observer();
#endif
        k = 0
    }
}
