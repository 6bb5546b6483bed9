# SPDX-License-Identifier: Apache-2.0
# bash completion of `cardan`; names of topics are those that are published now.
_cardan() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i path="" domain=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --domain) domain=(--domain "${COMP_WORDS[i + 1]}") ;;
      topic | component | param | run | check | graph | record | bag | play | doctor | bench | demo | completion | list | info | echo | stats | restart | log | get | set | save | ls | cat | verify | cut | merge | recover | export | convert | du | attachment | metadata | extract | add | transport | runtime) path+="${path:+ }${COMP_WORDS[i]}" ;;
    esac
  done
  local words=""
  case $previous in
    --json)
      case $path in bench* | demo* | run) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;; esac ;;
    --folder) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --camera | --lidar | --record | --picture | --svg | --reports | --log | --parameters | --output | --attach | -o | --from | --to) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --peers) case $path in "bench record") words="fio cardan speed rosbag2 rosbag" ;; *) words="raw,sim,uds,tcp,cardan raw sim uds tcp cardan" ;; esac ;;
    --only) words="rate phases cameras mix task bystander pipeline" ;;
    --waits) words="block spin prewake anticipate" ;;
    --scenarios) words="1p1s 1p5s 1p10s 5p1s" ;;
    --compression) words="same none lz4 zstd" ;;
    --images) words="png jpeg video" ;;
    --tell) case $path in play) words="pause resume step step= rate= seek= stop" ;; *) words="pause resume split trigger stop" ;; esac ;;
    --schedule) case $path in "bench record") words="absolute integer-ms both" ;; *) words="asap paced cycle" ;; esac ;;
    --on-full) words="stop delete-oldest" ;;
    --access) words="owner group everyone policy" ;;
    --mode) words="auto direct dontcache sync-range plain" ;;
    --topic | --exclude | --name | --media-type | --offset | --regex | --exclude-regex | --compression-level | --remap | --until | --duration | --depth | --step | --without | --start | --end | --domain | --count | --fields | --list | --quality | --seconds | --type | --rule | --split-size | --split-time | --queue | --queue-time | --min-space | --sync | --last | --after | --meta | --sizes | --rate | --runs | --frames | --minutes | --cameras | --producer-cpu | --task-cpu | --publisher-cpu | --reader-cpus | --reader-cpu | --grace | --log-size | --log-files | --log-level | --stop | --restart | --set | --var) return ;;
  esac
  if [[ -z $words ]]; then
    case $path in
      "") words="topic component param run check graph record bag play doctor bench demo completion --help --version" ;;
      topic) words="list info echo stats --help" ;;
      "topic list") words="--json --verbose --names --domain --help" ;;
      "topic info") words="--json --schema --domain --help" ;;
      "topic echo") words="--once --count --json --fields --list --wait --domain --help" ;;
      "topic stats") words="--all --once --seconds --json --domain --help" ;;
      component) words="list stats restart log --help" ;;
      "component list") words="--json --names --domain --help" ;;
      "component stats") words="--once --seconds --json --domain --help" ;;
      "component restart") words="--json --domain --help" ;;
      "component log") words="info warning error --domain --help" ;;
      param) words="list get set save --help" ;;
      "param save") words="--force --json --domain --help" ;;
      "param list") words="--json --names --domain --help" ;;
      "param get" | "param set") words="--json --domain --help" ;;
      doctor) words="--json --domain --help" ;;
      run) words="--one-process --no-view --json --reports --seconds --grace --set --var --parameters --domain --no-check --log --log-size --log-files --log-level --stop --restart --crash --from --without --output --force --start --help" ;;
      check) words="--json --no-components --var --help" ;;
      graph) words="--svg --mermaid --var --help" ;;
      record) words="--output --regex --type --exclude --exclude-regex --access --rule --compression --compression-level --reliable --start-paused --split-size --split-time --queue --queue-time --min-space --on-full --sync --mode --schedule --explain --no-io-uring --checksums --copy --attach --meta --seconds --last --after --tell --use-sim-time --domain --json --no-view --help" ;;
      bag) words="info ls cat verify du cut merge recover export convert attachment metadata --help" ;;
      "bag info" | "bag verify" | "bag du") words="--json --help" ;;
      "bag ls") words="--topic --exclude --start --end --count --json --help" ;;
      "bag cat") words="--topic --exclude --start --end --fields --count --list --json --help" ;;
      "bag cut") words="--topic --exclude --start --end --output --force --compression --json --help" ;;
      "bag merge" | "bag recover") words="--output --force --compression --json --help" ;;
      bench) words="transport runtime record --help" ;;
      "bench record") words="--only --peers --folder --seconds --runs --cameras --schedule --producer-cpu --task-cpu --json --keep --quick --full --help" ;;
      "bag export") words="--to --topic --exclude --start --end --images --quality --list --force --json --help" ;;
      "bag attachment") words="list extract add --help" ;;
      "bag metadata") words="list get add --help" ;;
      "bag attachment list" | "bag metadata list" | "bag metadata get") words="--json --help" ;;
      "bag attachment extract") words="--to --offset --force --json --help" ;;
      "bag attachment add") words="--name --media-type --replace --output --force --json --help" ;;
      "bag metadata add") words="--replace --output --force --json --help" ;;
      "bag convert") words="--topic --exclude --force --compression --json --help" ;;
      play) words="--rate --loop --start --until --duration --topic --exclude --remap --clock --as-fast-as-readers --reliable --wait-for-readers --depth --pause --step --tell --domain --json --help" ;;
      "bench runtime") words="--sizes --runs --frames --publisher-cpu --reader-cpu --json --quick --help" ;;
      "bench transport") words="--peers --scenarios --sizes --waits --rate --runs --frames --minutes --publisher-cpu --reader-cpus --json --full --quick --micro --help" ;;
      demo) words="--record --one-process --crash --reports --camera --lidar --detector --own-vehicle --seconds --json --picture --no-view --help" ;;
      completion) words="bash zsh fish --help" ;;
    esac
    case $path in
      "topic info" | "topic echo" | "topic stats" | record)
        [[ $current == -* ]] || words+=" $("${COMP_WORDS[0]}" topic list --names "${domain[@]}" 2>/dev/null)" ;;
      "bag attachment" | "bag metadata") ;;
      run | check | graph | play | bag\ *)
        [[ $current == -* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current"); [[ $current == -* ]] || return ;;
      "component stats" | "component restart" | "component log" | "param list")
        [[ $current == -* ]] || words+=" $("${COMP_WORDS[0]}" component list --names "${domain[@]}" 2>/dev/null)" ;;
      "param get" | "param set")
        [[ $current == -* ]] || words+=" $("${COMP_WORDS[0]}" param list --names "${domain[@]}" 2>/dev/null)" ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _cardan cardan
