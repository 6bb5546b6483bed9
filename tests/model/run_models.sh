#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Verifies the SPIN models of docs/protocols and proves that each essential step is one: without it a model fails.
#   run_models.sh quick              a selection in less than a minute
#   run_models.sh deep [SOURCE]      every model and every mutant, or those of slots, bell, reliable, trace, sides or service
#   run_models.sh trail MUTANT       the shortest way to a mutant's failure, step by step
# Exit status: 0 when all correct models hold and all mutants fail, 1 otherwise, 2 for wrong usage or a missing tool.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mode=${1:-}
case $mode in
    quick) only= ;;
    deep)
        only=${2:-}
        case $only in '' | slots | bell | reliable | trace | sides | service) ;; *) echo "$0: no model is called $only — slots, bell, reliable, trace, sides or service" >&2; exit 2 ;; esac
        ;;
    trail) [ $# -eq 2 ] || { echo "usage: $0 trail MUTANT" >&2; exit 2; } ;;
    *) sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
for tool in spin gcc; do
    command -v $tool >/dev/null || { echo "$0: $tool is missing; install the packages spin and gcc" >&2; exit 2; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/cardan-models.XXXXXX")
trap 'rm -rf "$work"' EXIT

# name | source | shape | search: dfs, or ltl (weak fairness) | q: also in the quick selection
models='
slots: two threads of one subscriber    |slots   |-DNPUB=3 -DONE_SUB|dfs|q
slots: the same, four publications      |slots   |-DNPUB=4 -DONE_SUB|dfs|
slots: two subscribers, three threads   |slots   |-DNPUB=3|dfs|
slots: queue, publisher dies            |slots   |-DDEPTH=2 -DNPUB=4 -DONE_SUB -DTHREADS=1 -DKILL_PUB|dfs|q
slots: queue, two threads, pub. dies    |slots   |-DDEPTH=2 -DNPUB=4 -DONE_SUB -DKILL_PUB|dfs|
slots: queue, attach, subscriber dies   |slots   |-DDEPTH=2 -DNPUB=4 -DONE_SUB -DTHREADS=1 -DATTACH -DKILL_SUB|dfs|
slots: queue, two subscribers           |slots   |-DDEPTH=2 -DNPUB=4 -DTHREADS=1|dfs|
slots: harmless: LATEST_BEFORE_RING     |slots   |-DDEPTH=2 -DNPUB=4 -DONE_SUB -DTHREADS=1 -DKILL_PUB -DLATEST_BEFORE_RING|dfs|
slots: attach, subscriber dies          |slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DATTACH -DKILL_SUB|dfs|q
slots: attach, two threads die          |slots   |-DNPUB=3 -DONE_SUB -DATTACH -DKILL_SUB|dfs|
slots: attach, detach, subscriber dies  |slots   |-DNPUB=3 -DTHREADS=1 -DATTACH -DKILL_SUB|dfs|
slots: attach, detach, publisher dies   |slots   |-DNPUB=3 -DTHREADS=1 -DATTACH -DKILL_PUB|dfs|
slots: enough of them                   |slots   |-DNPUB=8 -DONE_SUB -DTHREADS=1 -DKEEP -DLAZY|dfs|
slots: enough without the spare one     |slots   |-DNPUB=7 -DONE_SUB -DTHREADS=1 -DKEEP -DLAZY -DNO_SPARE|dfs|q
slots: the same, queue                  |slots   |-DDEPTH=2 -DNPUB=7 -DONE_SUB -DTHREADS=1 -DKEEP -DLAZY -DNO_SPARE|dfs|
slots: the same, two threads            |slots   |-DNPUB=5 -DONE_SUB -DLAZY -DNO_SPARE|dfs|
slots: observer                         |slots   |-DNPUB=4 -DONE_SUB -DTHREADS=1 -DOBSERVER|dfs|q
slots: observer, queue, publisher dies  |slots   |-DDEPTH=2 -DNPUB=5 -DONE_SUB -DTHREADS=1 -DOBSERVER -DKILL_PUB|dfs|
bell: two subscribers                   |bell    |-DTHREADS=1 -DNPUB=2|dfs|q
bell: the same, three publications      |bell    |-DTHREADS=1|dfs|
bell: two threads of one subscriber     |bell    |-DONE_SUB -DNPUB=2|dfs|
bell: two subscribers, three threads    |bell    |-DNPUB=1|dfs|
bell: pre-wake, abandoned loan          |bell    |-DTHREADS=1 -DNPUB=2 -DPREWAKE|dfs|
bell: pre-wake, two threads             |bell    |-DONE_SUB -DNPUB=1 -DPREWAKE|dfs|
bell: time-outs and an event            |bell    |-DTHREADS=1 -DNPUB=2 -DTIMEOUTS=2 -DEVENT|dfs|
bell: event, two threads                |bell    |-DONE_SUB -DNPUB=1 -DEVENT|dfs|q
bell: attach, subscriber dies           |bell    |-DTHREADS=1 -DNPUB=2 -DATTACH -DKILL_SUB|dfs|
bell: publisher dies, the end is told   |bell    |-DTHREADS=1 -DNPUB=2 -DHANGUP -DKILL_PUB|dfs|
bell: the same, two threads             |bell    |-DONE_SUB -DNPUB=1 -DHANGUP -DKILL_PUB|dfs|
bell: the same, pre-wake                |bell    |-DONE_SUB -DTHREADS=1 -DNPUB=2 -DPREWAKE -DHANGUP -DKILL_PUB|dfs|q
bell: LTL, seen by both                 |bell    |-DTHREADS=1 -DNPUB=1 -DPREWAKE -DLIVENESS -DLTL_SEEN|ltl|
bell: LTL, the end is told              |bell    |-DONE_SUB -DTHREADS=1 -DNPUB=2 -DPREWAKE -DHANGUP -DKILL_PUB -DLIVENESS -DLTL_TOLD|ltl|
bell: harmless: ABANDON_KEEPS_FILLING   |bell    |-DONE_SUB -DTHREADS=1 -DNPUB=2 -DPREWAKE -DHANGUP -DKILL_PUB -DLIVENESS -DLTL_TOLD -DABANDON_KEEPS_FILLING|ltl|
reliable: a time-out at any moment      |reliable|-DSTOP|dfs|q
reliable: two threads                   |reliable|-DTHREADS=2 -DNPUB=3|dfs|
reliable: queue                         |reliable|-DDEPTH=2 -DNPUB=5 -DSTOP|dfs|
reliable: stopped, demoted once         |reliable|-DSTOP -DLATE_TIMEOUT|dfs|q
reliable: dies while waited for         |reliable|-DKILL_SUB -DLATE_TIMEOUT|dfs|q
reliable: attach                        |reliable|-DATTACH -DSTOP|dfs|
reliable: attach, queue                 |reliable|-DDEPTH=2 -DNPUB=5 -DATTACH -DSTOP|dfs|
reliable: attach, dies while waited for |reliable|-DATTACH -DKILL_SUB -DLATE_TIMEOUT|dfs|
trace: one thread                       |trace   ||dfs|q
trace: the observer comes late          |trace   |-DLATE -DNEVENTS=6|dfs|
trace: another thread takes the ring    |trace   |-DKILL|dfs|q
trace: the same, late, one at a time    |trace   |-DKILL -DLATE -DNEVENTS=6 -DBATCH=1|dfs|
sides: two readers                      |sides   ||dfs|q
sides: three readers                    |sides   |-DNREADERS=3 -DNCHANGES=4|dfs|
service: two pending questions          |service |-DNASK=3|dfs|q
service: the same, the server dies      |service |-DKILL|dfs|
service: one, the server dies           |service |-DPENDING=1 -DKILL|dfs|q
service: three, the server dies         |service |-DPENDING=3 -DKILL|dfs|
'
mutants='
NO_DEAD_MARK            |slots   |-DNPUB=3 -DONE_SUB|bfs|q
DEAD_AFTER_SCAN         |slots   |-DNPUB=3 -DONE_SUB|bfs|q
NO_RECHECK              |slots   |-DNPUB=3 -DONE_SUB|bfs|
CHECK_BEFORE_HOLD       |slots   |-DNPUB=3 -DONE_SUB|bfs|q
NO_UNDO                 |slots   |-DNPUB=3 -DONE_SUB|bfs|
RELEASE_BEFORE_READ     |slots   |-DNPUB=3 -DONE_SUB|bfs|
SEQ_AFTER_LATEST        |slots   |-DNPUB=3 -DONE_SUB|bfs|
CURSOR_STORE            |slots   |-DNPUB=3 -DONE_SUB|bfs|
CURSOR_BEFORE_HOLD      |slots   |-DNPUB=3 -DONE_SUB|bfs|
CURSOR_AFTER_LATEST     |slots   |-DNPUB=3 -DONE_SUB|bfs|q
RING_RETRY              |slots   |-DDEPTH=2 -DNPUB=3 -DONE_SUB -DTHREADS=1 -DKILL_PUB|bfs|q
ONE_SLOT_LESS           |slots   |-DNPUB=7 -DONE_SUB -DTHREADS=1 -DKEEP -DLAZY|bfs|
STALE_TABLE             |slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DATTACH|bfs|
TABLE_AFTER_ANSWER      |slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DATTACH|bfs|q
UNMAP_WITHOUT_QUIESCENCE|slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DATTACH -DKILL_SUB|bfs|q
UNMAP_BEFORE_CLEAR      |slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DATTACH -DKILL_SUB|bfs|
RECLAIM_OUTSIDE_EPOCH   |slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DATTACH -DKILL_SUB|bfs|
WATCHDOG                |slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DATTACH|bfs|
DETACH_WITH_SAMPLE      |slots   |-DNPUB=3 -DTHREADS=1 -DATTACH|bfs|
OBSERVER_NO_RECHECK     |slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DOBSERVER|bfs|q
OBSERVER_CHECK_FIRST    |slots   |-DNPUB=3 -DONE_SUB -DTHREADS=1 -DOBSERVER|bfs|
WAIT_FLAG_AFTER_CHECK   |bell    |-DTHREADS=1 -DNPUB=1|bfs|q
BELL_AFTER_CHECK        |bell    |-DTHREADS=1 -DNPUB=1|bfs|q
NO_CHECK                |bell    |-DTHREADS=1 -DNPUB=1|bfs|
LOOK_BEFORE_PUBLISH     |bell    |-DTHREADS=1 -DNPUB=1|bfs|
NO_BELL_STORE           |bell    |-DTHREADS=1 -DNPUB=1|bfs|
WAKE_BEFORE_BELL        |bell    |-DTHREADS=1 -DNPUB=1|bfs|
WAKE_ONE                |bell    |-DTHREADS=1 -DNPUB=1|bfs|
RING_ONLY_IN_LOAN       |bell    |-DTHREADS=1 -DNPUB=1 -DPREWAKE|bfs|
SPIN_THEN_SLEEP         |bell    |-DTHREADS=1 -DNPUB=1 -DPREWAKE|bfs|
NO_SPIN_BOUND           |bell    |-DONE_SUB -DTHREADS=1 -DNPUB=2 -DPREWAKE -DHANGUP -DKILL_PUB -DLIVENESS -DLTL_TOLD|ltl|
TIMEOUT_KEEPS_WAITING   |bell    |-DTHREADS=1 -DNPUB=1 -DTIMEOUTS=1|bfs|
TABLE_AFTER_ANSWER      |bell    |-DTHREADS=1 -DNPUB=1 -DATTACH|bfs|
STALE_TABLE             |bell    |-DTHREADS=1 -DNPUB=1 -DATTACH|bfs|
KICK_ONCE               |bell    |-DTHREADS=1 -DNPUB=1 -DEVENT|bfs|q
KICK_ONE                |bell    |-DTHREADS=1 -DNPUB=1 -DEVENT|bfs|
KICK_LOOKS_FIRST        |bell    |-DTHREADS=1 -DNPUB=1 -DEVENT|bfs|
END_BEFORE_LAST         |bell    |-DONE_SUB -DTHREADS=1 -DNPUB=1 -DHANGUP -DKILL_PUB|bfs|
NO_WAIT                 |reliable||bfs|
NO_DEMOTION             |reliable|-DSTOP|bfs|q
CURSOR_BEFORE_HOLD      |reliable||bfs|
WAIT_AFTER_RING         |reliable|-DDEPTH=2|bfs|
NO_TABLE_RELOAD         |reliable|-DKILL_SUB -DLATE_TIMEOUT|bfs|
PROMOTE_UNCAUGHT        |reliable|-DSTOP -DLATE_TIMEOUT|bfs|
START_BEFORE_ENTRY      |reliable|-DATTACH|bfs|q
WRITTEN_FIRST           |trace   ||bfs|q
NO_SECOND_LOOK          |trace   ||bfs|q
ONE_TOO_MANY            |trace   ||bfs|q
TAKE_FROM_THE_LIVING    |trace   ||bfs|q
RESET                   |trace   |-DKILL|bfs|
LOOKS_FIRST             |sides   ||bfs|q
LEAVES_EARLY            |sides   ||bfs|q
NO_FIRST_WAIT           |sides   ||bfs|q
ONE_WAIT                |sides   ||bfs|q
SHOWN_LAST              |sides   ||bfs|q
CHANGES_THE_SHOWN_SIDE  |sides   ||bfs|q
ONE_STREAM              |service |-DKILL|bfs|q
KEEPS_WAITING           |service |-DKILL|bfs|
ENDS_BEFORE_THE_LAST    |service |-DKILL|bfs|
ASKS_WITHOUT_A_LOOK     |service ||bfs|q
ANSWERS_WITHOUT_A_LOOK  |service ||bfs|
TAKES_TWICE             |service ||bfs|q
'

trim() { local s=$1; s=${s#"${s%%[![:space:]]*}"}; printf %s "${s%"${s##*[![:space:]]}"}"; }

# verify SOURCE "DEFINES" SEARCH: leaves pan's words in $work/out and a counterexample in $work/m.pml.trail
verify() {
    local flags="-O2 -DSAFETY -DNOCLAIM" args="-m3000000"
    case $3 in
        bfs) flags="-O0 -DSAFETY -DNOCLAIM -DBFS" args="" ;;
        ltl) flags="-O1 -DNFAIR=4" args="-a -f -m1000000" ;;
    esac
    [ "$mode" = quick ] && flags="${flags/-O2/-O0}" # compiling would take longer than searching
    rm -f "$work"/*
    cp "$here/$1.pml" "$work/m.pml"
    cp "$here"/"$1"_*.pml "$work/" 2>/dev/null # what it includes
    (
        cd "$work" || exit 1
        # shellcheck disable=SC2086
        spin $2 -a m.pml && gcc -w -DCOLLAPSE -DMEMLIM=3900 -DVECTORSZ=1024 $flags -o pan pan.c && timeout 1200 ./pan $args
    ) >"$work/out" 2>&1
}
# complete: the search went through every state (neither out of memory nor of depth nor of time) and pan said how it ended
complete() { grep -q 'errors: 0$' "$work/out" && ! grep -qE 'Search not completed|max search depth too small|out of memory|reached -DMEMLIM' "$work/out"; }
caught() { grep -qE '^State-vector.*errors: [1-9]' "$work/out" && [ -f "$work/m.pml.trail" ]; }
# In the words of docs/protocols: the invariant whose assertion failed.
reason() {
    local words
    words=$(grep -m1 '^pan:[0-9]*:' "$work/out" | sed -E 's/^pan:[0-9]*: //; s/ \(at depth.*//')
    case $words in
        *'word0[(n-from)]'*) echo 'I27 an event is not what its thread wrote' ;;
        *accepted* | *'w>=next'*) echo 'I28 neither accepted nor counted as overwritten' ;;
        *word[01]*) echo 'I1 torn read' ;;
        *in_hand*) echo 'I2 held slot refilled' ;;
        *'base[me])==(latest/16)'*) echo 'I3 publication neither taken nor missed' ;;
        *'next>old'*) echo 'I4 taken twice or out of order' ;;
        *'==cursor[me]'*) echo 'I4 not counted exactly once' ;;
        *'fre!=0'*) echo 'I5 no free slot for the writer' ;;
        *mapped*) echo 'I6 unmapped area used' ;;
        *hold*'==0'*) echo 'I7 counter not given back' ;;
        *'latest!=e'*) echo 'I8 reader waits for the publisher' ;;
        *'a==(e/16)'*) echo 'I9 observer saw a torn sample' ;;
        *'!(event)'*) echo 'I13 missed event' ;;
        *'asleep['*'latest=='*) echo 'I10 missed wake-up' ;;
        *'waiting['*'asleep'*) echo 'I14 counted as waiting while not' ;;
        *'latest==cursor'*) echo 'I12 end told before the last sample' ;;
        *'acceptance cycle'*) echo 'I11 runs for ever without getting there' ;;
        *forgiven*) echo 'I15 lost without having been demoted' ;;
        *sub_dead*) echo 'I18 waited for the dead until the time-out' ;;
        *timed_out*) echo 'I17 more than one time-out for one stop' ;;
        *stopped*) echo 'I16 demoted although it takes' ;;
        *'executed['*) echo 'I33 a question is executed twice' ;;
        *'session_of['*) echo 'I37 a question of an earlier session' ;;
        *'waiting==0'* | *'!=q'*) echo 'I36 its end is told wrongly' ;;
        *'published-'*) echo 'I39 overwritten before it was taken' ;;
        *'invalid end state'*) echo 'a process waits forever (invalid end state)' ;;
        *) echo "$words" ;;
    esac
}
states() { grep -m1 'states, stored' "$work/out" | awk '{print $1}'; }

if [ "$mode" = trail ]; then
    found=1
    while IFS='|' read -r name source shape search _; do
        name=$(trim "$name"); source=$(trim "$source")
        [ "$name" = "$2" ] || continue
        found=0
        verify "$source" "$shape -D$name" "$search"
        echo "== $name in $source.pml ($shape): $(reason)"
        # shellcheck disable=SC2086
        (cd "$work" && spin $shape "-D$name" -t -p -g -l m.pml)
    done <<<"$mutants"
    [ $found -eq 0 ] || echo "$0: no mutant is called $2" >&2
    exit $found
fi

# wanted: whether the line just read is one of those asked for
wanted() {
    [ -n "$name" ] || return 1
    [ "$mode" = deep ] || [ "$tier" = q ] || return 1
    [ -z "$only" ] || [ "$(trim "$source")" = "$only" ]
}

failed=0
began=$SECONDS
printf '%-40s | %12s | %7s | %s\n' model states seconds result
while IFS='|' read -r name source shape search tier; do
    wanted || continue
    t=$SECONDS
    verify "$(trim "$source")" "$shape" "$search"
    if complete; then
        result=holds
    else
        failed=$((failed + 1))
        result="FAILED: $(reason) $(grep -m1 -iE 'error:|not completed|MEMLIM|too small' "$work/out")"
    fi
    printf '%-40s | %12s | %7s | %s\n' "$(trim "$name")" "$(states)" $((SECONDS - t)) "$result"
done <<<"$models"

echo
printf '%-26s | %-8s | %-44s | %s\n' mutant model 'caught by' 'trail length'
while IFS='|' read -r name source shape search tier; do
    wanted || continue
    name=$(trim "$name"); source=$(trim "$source")
    verify "$source" "$shape -D$name" "$search"
    if caught; then
        by=$(reason)
        length=$(grep -cE '^[0-9]+:[0-9]+:[0-9]+' "$work/m.pml.trail")
    else
        failed=$((failed + 1))
        by="NOT CAUGHT $(grep -m1 -iE 'error:|not completed|MEMLIM' "$work/out")"
        length=-
    fi
    printf '%-26s | %-8s | %-44s | %s\n' "$name" "$source" "$by" "$length"
done <<<"$mutants"

echo
if [ $failed -eq 0 ]; then
    echo "All models hold and all mutants are caught ($((SECONDS - began)) s)."
else
    echo "$failed of the above are not as they must be ($((SECONDS - began)) s)."
    exit 1
fi
