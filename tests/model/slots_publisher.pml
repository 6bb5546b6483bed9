/* SPDX-License-Identifier: Apache-2.0
 * The publishing process of slots.pml, which includes this. */
proctype Publisher() {
    byte n = 1, s, i, k, cand;
    byte fre = (1 << NSLOTS) - 1;
    bit t;
#ifdef STALE_TABLE
    bit old_table[SUBS];
#endif
    {
        do
        :: n <= NPUB ->
#ifndef RECLAIM_OUTSIDE_EPOCH
            ENTER
#endif
            if
#ifdef LAZY
            :: fre -> skip
            :: else -> reclaim()
#else
            :: n > DEPTH -> reclaim()
            :: else -> skip
#endif
            fi;
#ifndef RECLAIM_OUTSIDE_EPOCH
            LEAVE
#endif
            atomic {
                fre = fre | cand;
                cand = 0;
                assert(fre != 0); /* I5: the writer never waits for a slot */
                do
                :: !(fre & BIT(s)) -> s++
                :: else -> break
                od;
                fre = fre & (255 - BIT(s));
                check_free_of_readers();
                word0[s] = n /* W0 */
            }
            atomic { check_free_of_readers(); word1[s] = n }
            ENTER
#ifdef SEQ_AFTER_LATEST
            ring[n % DEPTH] = PACK(n, s);
            latest = PACK(n, s);
            seq[s] = n;
#elif defined(LATEST_BEFORE_RING)
            seq[s] = n;
            latest = PACK(n, s);
            ring[n % DEPTH] = PACK(n, s);
#else
            seq[s] = n;                   /* W1 */
#if DEPTH > 1
            ring[n % DEPTH] = PACK(n, s); /* W2; depth 1 reads `latest` only */
#endif
#ifdef STALE_TABLE
            atomic { do :: k < SUBS -> old_table[k] = table[k]; k++ :: else -> k = 0; break od }
#endif
#ifndef ATTACH
            atomic { latest = PACK(n, s); s = 0; n++ }
#else
            latest = PACK(n, s);          /* W3 */
#endif
#endif
#ifdef ATTACH
            do /* W4 looks at `waiting` in every attached area; what it does then is bell.pml */
            :: t = table[k];
                atomic { assert(!t || mapped[k]); t = 0; k++; if :: k == SUBS -> k = 0; break :: else fi }
            od;
            atomic { LEAVE s = 0; n++ }
#elif defined(SEQ_AFTER_LATEST) || defined(LATEST_BEFORE_RING)
            atomic { s = 0; n++ }
#endif
        :: else -> break
        od;
        pub_done = 1
    } unless { pub_dead }
}
