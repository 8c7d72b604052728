# bash completion for forebay(1)

# The names of the sets in the store of the command line, or in $FOREBAY_STORE, or in the first operand.
_forebay_sets() {
  local store=$FOREBAY_STORE word previous='' i
  for ((i = 2; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $previous == --store || $previous == -s || ($previous == = && ${COMP_WORDS[i - 2]} == --store) ]]; then
      store=$word
      break
    fi
    if [[ $i == 2 && $word != -* && -d $word/sets ]]; then store=$word; fi
    previous=$word
  done
  store=${store/#\~\//$HOME/}
  [[ -n $store ]] || return
  command forebay ls "$store" 2>/dev/null | awk 'NR > 1 && NF > 1 { print $1 }'
}

_forebay() {
  local cur prev words cword
  if declare -F _init_completion >/dev/null; then
    _init_completion || return
  else
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  local verbs='pack restore ls info verify extract read query convert report mount advise repair reject prune remove diff lockd locks plan run watch status settle stop agent aggregator fetch gather doctor recipes config scr help'
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$cur")
    return
  fi

  local verb=${COMP_WORDS[1]}
  case $prev in
    -s | --store | -o | --output)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      return
      ;;
    -t | --to | --json-file | --describe | --secret | --address-file | --log | --measure)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    --parent)
      local parent_sets
      parent_sets=$(_forebay_sets)
      mapfile -t COMPREPLY < <(compgen -W "${parent_sets:+$parent_sets latest}" -- "$cur")
      return
      ;;
    --scheme)
      mapfile -t COMPREPLY < <(compgen -W 'auto agnostic agnostic-block aware aware-block' -- "$cur")
      return
      ;;
    --complete)
      mapfile -t COMPREPLY < <(compgen -W 'api marker: rename settled:' -- "$cur")
      return
      ;;
    --backlog)
      mapfile -t COMPREPLY < <(compgen -W 'newest skip block' -- "$cur")
      return
      ;;
    --fabric)
      mapfile -t COMPREPLY < <(compgen -W 'auto node stream ucx' -- "$cur")
      return
      ;;
    --priority)
      mapfile -t COMPREPLY < <(compgen -W 'normal nice idle' -- "$cur")
      return
      ;;
    --profile)
      mapfile -t COMPREPLY < <(compgen -W 'none gzip paper fast balanced max' -- "$cur")
      return
      ;;
    --name | --series | --command | --step | --group-size | --block-size | --lossy | --match | --memory | --threads | --only | -r | --rank | --sample | \
      --min-speed | --as | --keep-last | --keep-every | --full-every | \
      --aggregators | --aggregator-nodes | --launcher | --relaunch | --relaunch-pause | --code | --sets | --let | --order | --put-back | --restart-command | --stored-as | --reason | --restart-args | --grace | --restart-timeout | \
      --drain-timeout | --keep | --pfs-limit | --streams | --backlog-sets | --set-timeout | --stall-timeout | --peer-timeout | \
      --agents | --job | --timeout | --ranks | --of | --spares | --hang-timeout | --set-interval | --node-timeout | --node | --linger | --redundancy | --flush-every | --failure-group | \
      -l | --listen | --ports | --lease | --grace | --max-terms | --client-memory | \
      --nodes | --bytes | --interval | --network | --node-network | --pfs | --pfs-stream | --codec | --ratio | \
      --groups | --buffer | --margin)
      return
      ;;
  esac

  local options='--json --help'
  local both=' --fabric --priority --munge --match --exact --describe --opaque'
  local agent=' --complete --keep --stage-capacity --level --sync-caches'
  local aggregator=' --memory --threads --pfs-limit --streams --keep-last --keep-every --group-size --scheme --block-size --profile --lossy --backlog'
  aggregator+=' --redundancy --flush-every --failure-group --backlog-sets --set-timeout --stall-timeout --peer-timeout'
  local daemon=' --log --background --pid-file --until-eof'
  case $verb in
    pack)
      options+=' --store --series --output --name --step --each --group-size --scheme --block-size --profile --match --exact --describe'
      options+=' --lossy --opaque --parent --full-every --exclude --include --strict --memory --threads'
      ;;
    restore) options+=' --store --series --to --only --overwrite --special-modes --memory --threads' ;;
    ls) options+=' --store --series --variables --memory' ;;
    info) options+=' --store --series --groups --relations --memory' ;;
    verify) options+=' --store --series --consistency --values --optional --memory --threads' ;;
    extract) options+=' --store --series --rank --box --to --overwrite --memory' ;;
    read) options+=' --store --series --set --step --box --stride --block --points --blocks --to --overwrite --raw --skip-damaged --layout --memory --threads' ;;
    query) options+=' --store --series --steps --values --first --limit --csv --raw --skip-damaged --layout --memory --threads' ;;
    convert)
      options+=' --store --series --set --to --format --steps --step-groups --box --stride --chunk --fill --except --overwrite --raw --skip-damaged --layout'
      options+=' --statistics --to-series --profile --memory --threads'
      ;;
    report) options+=' --store --series --to --layout --memory' ;;
    mount) options+=' --store --series --latest --allow-other --memory --threads --log --background' ;;
    advise) options+=' --sample --min-speed --match --exact --describe --opaque --memory --threads' ;;
    repair) options+=' --store --as --memory --threads' ;;
    reject) options+=' --store --rendezvous --munge --stored-as --reason' ;;
    prune) options+=' --store --series --keep-last --keep-every --dry-run --memory --threads' ;;
    remove) options+=' --store --rebase --dry-run --memory' ;;
    diff) options+=' --store --series --memory' ;;
    lockd)
      options+=' --listen --ports --secret --new-secret --munge --lease --grace --restarted --max-terms --client-memory'
      options+=' --address-file --log --background'
      ;;
    locks) options+=' --secret --munge --watch' ;;
    plan)
      options+=' --nodes --bytes --interval --network --node-network --pfs --pfs-stream --codec --ratio --measure'
      options+=' --profile --groups --buffer --margin --memory --threads'
      options+=' --node-mtbf --severe --stage --peers --recovery --slowdown'
      ;;
    doctor) options+=' --store --stage --rendezvous --code --sets --let --directory' ;;
    recipes) options+=' --match --sets --let' ;;
    config) options+=' --output --old-reads' ;;
    scr)
      options+=' --prefix --nodes-file --launcher --deadline --drain-before --grace --peer-timeout --node-timeout --stage --timeout --checkpoints --before --after'
      options+=' --seconds --immediate --unset --remove --list --current --drop --add --build'
      ;;
    run)
      options+=" --listen --ports --encrypt --store --series --stage --nodes-file --failure-groups --aggregators --aggregator-nodes --launcher --deadline --drain-before --rendezvous --relaunch --relaunch-pause"
      options+=" --json-file --spares --ranks --hang-timeout --set-interval --node-timeout"
      options+=" --code --sets --let --directory --restore-to --restart-command --restart-args --grace --restart-timeout --drain-timeout$agent$aggregator$both"
      ;;
    watch) options+=" --store --series --once --rendezvous$agent$aggregator$both$daemon" ;;
    status) options+=' --rendezvous --store --job --munge --watch --metrics --history' ;;
    settle) options+=' --rendezvous --store --job --munge --timeout' ;;
    stop) options+=' --rendezvous --store --job --munge --drain --settle --node --timeout' ;;
    agent) options+=" --series --stage --rendezvous --listen --ports --encrypt --linger --failure-groups --node --watch-ranks$agent$both$daemon" ;;
    aggregator) options+=" --store --series --rendezvous --agents --command --listen --ports --encrypt --linger$aggregator$both$daemon" ;;
    gather)
      options+=' --stage --directory --code --sets --let --leave-out --order --put-back --restore-to --restart-args --restart-command'
      options+="$daemon"
      ;;
    fetch) options+=' --stage --ranks --of --any-ranks --timeout' ;;
    help)
      mapfile -t COMPREPLY < <(compgen -W "$verbs --json" -- "$cur")
      return
      ;;
  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    return
  fi

  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  case $verb in
    restore | ls | info | verify | extract | repair | reject | diff)
      local sets
      sets=$(_forebay_sets)
      [[ $verb == repair || -z $sets ]] || sets+=' latest'
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$sets" -- "$cur")
      ;;
    recipes)
      local recipes
      recipes=$(command forebay recipes 2>/dev/null | awk 'NR > 1 { print $1 }')
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$recipes" -- "$cur")
      ;;
  esac
}

complete -F _forebay forebay
