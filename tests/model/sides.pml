/* SPDX-License-Identifier: Apache-2.0
 *
 * Two sides with the same content (docs/protocols/sides.md; the step names S. are the same there): a writer changes them, readers read the one
 * that is shown, each as often as it likes.
 *
 * One step = one access to shared memory; a change of a side is two steps, so that a reader in it could be seen. Sequential consistency only: the
 * checker's scenario 'sides' has the orders.
 *
 * Shape (-D): NREADERS, NCHANGES. Everything else in capitals is a mutant (run_models.sh).
 */
#ifndef NREADERS
#define NREADERS 2
#endif
#ifndef NCHANGES
#define NCHANGES 3
#endif

bit shown, version;
byte inside[2];
byte side[2];    /* number of the last change of each */
byte readers[2]; /* ghost: readers that look at the side now */
byte changed;    /* ghost: number of the last change that has returned */

inline change(s) {
    assert(readers[s] == 0); /* I31 */
    side[s] = n;
    assert(readers[s] == 0)
}

proctype Writer() {
    byte n = 1;
    bit old, w;
    do
    :: n <= NCHANGES ->
        d_step { old = shown; w = version } /* S5 */
#ifdef CHANGES_THE_SHOWN_SIDE
        old = 1 - old;
#endif
        change(1 - old);
#ifndef SHOWN_LAST
        shown = 1 - old; /* S6 */
#endif
#ifndef NO_FIRST_WAIT
        inside[1 - w] == 0; /* S7 */
#endif
#ifndef ONE_WAIT
        version = 1 - w; /* S8 */
        inside[w] == 0; /* S7 */
#endif
#ifdef SHOWN_LAST
        shown = 1 - old;
#endif
        change(old);
        d_step { changed = n; n++ }
    :: else -> break
    od
}

proctype Reader() {
    bit v, s;
    byte known;
end: do
    :: changed < NCHANGES ->
        known = changed; /* what must be seen: the change has returned before the read begins */
        v = version; /* S1 */
#ifndef LOOKS_FIRST
        inside[v]++; /* S2 */
#endif
        atomic { s = shown; readers[s]++ } /* S3 */
#ifdef LOOKS_FIRST
        inside[v]++;
#endif
        assert(side[s] >= known); /* I32 */
#ifdef LEAVES_EARLY
        inside[v]--;
        readers[s]--;
#else
        readers[s]--;
        inside[v]--; /* S4 */
#endif
        d_step { v = 0; s = 0; known = 0 }
    :: else -> break
    od
}

init {
    atomic {
        byte i;
        run Writer();
        for (i : 1 .. NREADERS) { run Reader() }
    }
}
