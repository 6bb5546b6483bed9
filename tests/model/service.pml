/* SPDX-License-Identifier: Apache-2.0
 *
 * One client and the servers of a service, one after the other (docs/protocols/service.md): questions, answers, cancelled and declined questions,
 * and the death of a server at any moment. The streams are as slots.pml proves them: each publication is there at once, and taken once, unless
 * DEPTH later ones have overwritten it.
 *
 * One step = one publication, one take, or one message of the connection.
 *
 * Shape (-D): PENDING, NASK, KILL. Everything else in capitals is a mutant (run_models.sh).
 */
#ifndef PENDING
#define PENDING 2
#endif
#ifndef NASK
#define NASK 4
#endif
#define NONE 2 /* no session */
#ifdef ONE_STREAM
#define QUESTIONS(s) questions[0]
#else
#define QUESTIONS(s) questions[s]
#endif

#ifdef ASKS_WITHOUT_A_LOOK
#define LOOKS 255
#else
#define LOOKS PENDING
#endif
#ifdef ENDS_BEFORE_THE_LAST
#define ANSWERS_ARE_TAKEN true
#else
#define ANSWERS_ARE_TAKEN (answers[session].taken == answers[session].published)
#endif

mtype = { Unasked, Waits, Answered, Declined, Died, Cancelled };
typedef Stream { byte published, taken; byte number[PENDING]; byte what[PENDING] }
typedef Held { bit is[NASK + 1] }

Stream questions[2], answers[2];                      /* of each session */
chan cancels[2] = [NASK] of { byte };                 /* the connection: numbers of questions */
chan declines[2] = [NASK] of { byte };
bit dead[2], ended;
byte session;                                         /* of the client */
byte asks, waiting;
byte session_of[NASK + 1], number_of[NASK + 1];
mtype outcome[NASK + 1] = Unasked;
byte executed[NASK + 1];                              /* ghost */

inline put(stream, n, w) {
    assert(stream.published - stream.taken < PENDING); /* I39 */
    stream.number[stream.published % PENDING] = n;
    stream.what[stream.published % PENDING] = w;
    stream.published++
}
inline end_of(q, how) {
    assert(outcome[q] == Waits);
    outcome[q] = how;
    waiting--
}
/* q: the question of this number that waits; 0: none */
inline find(n) {
    q = NASK;
    do
    :: q > 0 && !(outcome[q] == Waits && number_of[q] == n) -> q--
    :: else -> break
    od
}

proctype Client() {
    byte q, n;
    do
    :: d_step {
           (session != NONE && asks < NASK && waiting < PENDING &&
            QUESTIONS(session).published - QUESTIONS(session).taken < LOOKS) ->
           asks++;
           session_of[asks] = session;
           number_of[asks] = QUESTIONS(session).published + 1;
           outcome[asks] = Waits;
           waiting++;
           put(QUESTIONS(session), number_of[asks], asks)
       }
    :: d_step {
           session != NONE && answers[session].taken < answers[session].published ->
           n = answers[session].number[answers[session].taken % PENDING];
           find(n);
           if
           :: q != 0 ->
               assert(answers[session].what[answers[session].taken % PENDING] == q); /* I35 */
               end_of(q, Answered)
           :: else
           fi;
           answers[session].taken++;
           q = 0; n = 0
       }
    :: d_step {
           session != NONE && nempty(declines[session]) ->
           declines[session] ? n;
           find(n);
           if
           :: q != 0 -> end_of(q, Declined)
           :: else
           fi;
           q = 0; n = 0
       }
    :: atomic {
           session != NONE && waiting > 0 ->
           select(q : 1 .. NASK);
           if
           :: outcome[q] == Waits -> /* the program drops its ticket, or the time is over */
               end_of(q, Cancelled);
               cancels[session] ! number_of[q]
           :: else
           fi;
           q = 0
       }
    :: d_step {
           (session != NONE && dead[session] && ANSWERS_ARE_TAKEN) ->
#ifndef KEEPS_WAITING
           q = NASK;
           do
           :: q > 0 ->
               if
               :: outcome[q] == Waits ->
                   n = answers[session].taken;
                   do
                   :: n < answers[session].published ->
                       assert(answers[session].what[n % PENDING] != q); /* I36 */
                       n++
                   :: else -> break
                   od;
                   end_of(q, Died)
               :: else
               fi;
               q--
           :: else -> break
           od;
#endif
           session++;
           q = 0; n = 0
       }
    :: session == NONE || (asks == NASK && waiting == 0) -> break
    od;
    assert(waiting == 0); /* I36: no question is forgotten */
    ended = 1
}

proctype Server(byte s) {
    Held held;
    byte cancelled[PENDING];
    byte q, n;
    do
    :: d_step {
           session == s && QUESTIONS(s).taken < QUESTIONS(s).published ->
           n = QUESTIONS(s).number[QUESTIONS(s).taken % PENDING];
           q = QUESTIONS(s).what[QUESTIONS(s).taken % PENDING];
           assert(n == QUESTIONS(s).taken + 1); /* I39 */
           assert(session_of[q] == s);          /* I37 */
#ifdef TAKES_TWICE
           if
           :: executed[q] == 0 && outcome[q] == Waits
           :: else -> QUESTIONS(s).taken++
           fi;
#else
           QUESTIONS(s).taken++;
#endif
           if
           :: cancelled[n % PENDING] == n -> assert(outcome[q] == Cancelled) /* I38 */
           :: else ->
               executed[q]++;
               assert(executed[q] == 1); /* I33 */
               held.is[q] = 1
           fi;
           q = 0; n = 0
       }
    :: d_step {
           nempty(cancels[s]) ->
           cancels[s] ? n;
           cancelled[n % PENDING] = n;
           n = 0
       }
    :: atomic {
           select(q : 1 .. NASK); /* answers come in any order */
           if
           :: held.is[q] ->
               held.is[q] = 0;
               if
               :: number_of[q] == cancelled[number_of[q] % PENDING]
               :: else ->
                   if
#ifndef ANSWERS_WITHOUT_A_LOOK
                   :: answers[s].published - answers[s].taken >= PENDING -> declines[s] ! number_of[q]
#endif
                   :: else -> put(answers[s], number_of[q], q)
                   fi
               fi
           :: else
           fi;
           q = 0
       }
#ifdef KILL
    :: d_step { session == s && !dead[s] -> dead[s] = 1 }
       break
#endif
    :: ended || session > s -> break
    od
}

init {
    atomic {
        run Client();
        run Server(0);
        run Server(1)
    }
}
