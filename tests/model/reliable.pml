/* SPDX-License-Identifier: Apache-2.0
 *
 * Reliable delivery: publish waits for cursors, time-out, demotion, catch-up, death, attach (docs/protocols/slot.md, steps Q.).
 *
 * One publisher, two reliable subscribers: 0 with THREADS threads, 1 with one. Slots are slots.pml's concern: here a publication
 * can be taken while its number is in the ring and it is among the last DEPTH, as if reclaim ran at once. One step = one access.
 * A wait that finds the cursor unchanged changes nothing, so it is modelled as waiting for the change.
 *
 * Shape (-D): DEPTH, NPUB, THREADS, STOP (subscriber 1 may stop for ever at any step: SIGSTOP, or a user that never
 * takes), KILL_SUB (subscriber 1 dies at any step), ATTACH (subscriber 1 comes at any time), LATE_TIMEOUT (the time-out
 * fires only when nothing else can move, else at any time). Everything else in capitals is a mutant (run_models.sh).
 */
#ifndef DEPTH
#define DEPTH 1
#endif
#ifndef NPUB
#define NPUB 4
#endif
#ifndef THREADS
#define THREADS 1
#endif

byte latest;
byte ring[DEPTH];

byte cursor[2];                     /* the subscribers' areas */

bit  table[2];                      /* the publisher's process */
byte start[2];                      /* nothing up to here is owed to the subscriber */
bit  demoted[2];

bit  asked, answered;
bit  stopped, sub_dead, pub_done;

/* Ghosts */
byte forgiven[2];                   /* the highest publication that was overwritten while its subscriber was demoted */
bit  timed_out[2];

#define CLEAR old = 0; e = 0; next = 0; x = 0

#ifdef NO_TABLE_RELOAD
#define ATTACHED(k) seen
#else
#define ATTACHED(k) table[k]
#endif
#define OWED(k) (ATTACHED(k) && !demoted[k] && cursor[k] + DEPTH < n && start[k] + DEPTH < n)

/* Q1: before publication n takes the place of n - DEPTH */
inline await(k) {
    atomic {
#ifdef NO_TABLE_RELOAD
        seen = table[k];
#endif
#ifdef PROMOTE_UNCAUGHT
        demoted[k] = 0
#else
        if
        :: demoted[k] && cursor[k] + DEPTH >= n -> demoted[k] = 0 /* Q3: it has caught up */
        :: else
        fi
#endif
    }
#ifdef NO_WAIT
    skip
#else
    if
    :: atomic { !OWED(k) -> skip }
#ifndef NO_DEMOTION
#ifdef LATE_TIMEOUT
    :: atomic { timeout && OWED(k) ->
        assert(!(k == 1 && sub_dead)); /* I18: nobody waits for the dead until the time-out */
        assert(k == 1 && stopped);     /* I16: only one that does not take is demoted, */
        assert(!timed_out[k]);         /* I17: and a reader that does not continue costs one time-out, not one a publication */
#else
    :: atomic { OWED(k) ->
#endif
        demoted[k] = 1; timed_out[k] = 1 } /* T1 */
#endif
    fi
#endif
}

proctype Publisher() {
    byte n = 1;
#ifdef NO_TABLE_RELOAD
    bit seen;
#endif
    do
    :: n <= NPUB ->
#ifndef WAIT_AFTER_RING
        await(0);
        await(1);
#endif
        atomic {
            if :: demoted[0] && n > DEPTH -> forgiven[0] = n - DEPTH :: else fi;
            if :: demoted[1] && n > DEPTH -> forgiven[1] = n - DEPTH :: else fi;
            ring[n % DEPTH] = n /* W2 */
        }
#ifdef WAIT_AFTER_RING
        await(0);
        await(1);
#endif
        atomic { latest = n; n++ } /* W3 */
    :: else -> break
    od;
    pub_done = 1
}

proctype Reader(byte me) {
    byte old, e, next, x;
    {
#ifdef ATTACH
        if
        :: me == 1 -> asked = 1; (answered || pub_done);
            if :: !answered -> goto out :: else fi;
            cursor[1] = start[1]; /* S2: in the answer */
        :: else
        fi;
#else
        skip;
#endif
again:
        atomic { (latest > cursor[me] || pub_done) -> old = cursor[me] }
        atomic {
            e = latest;
            if
            :: e <= old && pub_done -> goto out
            :: e <= old && !pub_done -> CLEAR; goto again
            :: else -> next = old + 1; if :: e >= DEPTH + next -> next = e - DEPTH + 1 :: else fi
            fi
        }
        do
        :: atomic {
                x = ring[next % DEPTH];
#if DEPTH == 1
                if :: x == next -> break :: else -> CLEAR; goto again fi
#else
                if :: x == next -> break :: else -> next = x - DEPTH + 1 fi
#endif
            }
        od;
#ifdef CURSOR_BEFORE_HOLD
        atomic { if :: cursor[me] == old -> cursor[me] = next :: else -> CLEAR; goto again fi }
        atomic {
            if :: next + DEPTH > latest -> assert(next - 1 <= old || next - 1 <= forgiven[me]) :: else -> assert(next <= forgiven[me]) fi;
            CLEAR; goto again
        }
#else
        atomic { if :: next + DEPTH > latest -> skip :: else -> CLEAR; goto again fi } /* R2, R3 */
        atomic { /* R6 */
            if
            :: cursor[me] == old ->
                assert(next == old + 1 || next - 1 <= forgiven[me]); /* I15: nothing lost but what was forgiven */
                cursor[me] = next
            :: else
            fi;
            CLEAR; goto again
        }
#endif
out:    skip
    } unless { me == 1 && (sub_dead || stopped) }
}

/* The publisher's helper thread */
proctype Helper() {
    do
#ifdef ATTACH
    :: asked && !answered && !sub_dead ->
#ifdef START_BEFORE_ENTRY
        start[1] = latest;
        table[1] = 1;
#else
        start[1] = latest; /* S0: not too late */
        table[1] = 1;      /* A1 */
        start[1] = latest; /* S1: what was published before the entry was visible is not owed */
#endif
        answered = 1
#endif
    :: atomic { sub_dead && table[1] -> table[1] = 0 }
    :: pub_done -> break
    od
}

proctype Fate() {
end:
    do
#ifdef STOP
    :: atomic { !stopped && !sub_dead && !pub_done -> stopped = 1; break }
#endif
#ifdef KILL_SUB
    :: atomic { !sub_dead && !pub_done -> sub_dead = 1; break }
#endif
    :: break
    od
}

init {
    atomic {
        table[0] = 1;
#ifndef ATTACH
        table[1] = 1;
#endif
        run Publisher();
        run Reader(0);
#if THREADS > 1
        run Reader(0);
#endif
        run Reader(1);
        run Helper();
        run Fate()
    }
}
