#compdef sonde

autoload -U is-at-least

_sonde() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_sonde_commands" \
"*::: :->sonde" \
&& ret=0
    case $state in
    (sonde)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:sonde-command-$line[1]:"
        case $line[1] in
            (record)
_arguments "${_arguments_options[@]}" : \
'-o+[Directory to record into; it must not exist \[default\: named for the command and the time\]]:RUN:_files -/' \
'--output=[Directory to record into; it must not exist \[default\: named for the command and the time\]]:RUN:_files -/' \
'--every=[Interval of the samples, 10ms to 1h]:TIME:_default' \
'--for=[Stop recording after this time; a command goes on]:TIME:_default' \
'--warmup=[Name this much of the beginning the phase warm-up, and what follows steady]:TIME:_default' \
'--name=[Title of the run]:NAME:_default' \
'*--note=[Keep a note with the run; may be given again]:KEY=VALUE:_default' \
'--sources=[Only these sources, separated by commas (see \`sonde doctor\`)]:LIST:_default' \
'--top=[How many processes to name, by each of CPU, disk bytes and memory; of connections and of files 10 times as many]:N:_default' \
'--detail=[How deep to look\: samples, distributions (histograms from the kernel), events (each one too)]:LEVEL:(samples distributions events)' \
'--events=[Whose events to keep, separated by commas\: disk, net, tcp, file, nfs, nfsd, or all]:LIST:_default' \
'--with=[Observe this too, which costs every system call\: file]:LIST:_default' \
'--event-budget=[What events may cost, of one processor; over it they are sampled, within about a second]:SHARE:_default' \
'--event-rate=[Events a second to keep; over it they are sampled, within about a second]:N:_default' \
'--with-arguments[Keep the arguments of running processes in the inventory; they may hold secrets]' \
'-q[No progress line and no closing words on stderr]' \
'--quiet[No progress line and no closing words on stderr]' \
'--trial[End when the program ends that started this one]' \
'-h[Print help]' \
'--help[Print help]' \
'*::command -- Command to observe, with its arguments, after --:_default' \
&& ret=0
;;
(mark)
_arguments "${_arguments_options[@]}" : \
'-h[Print help]' \
'--help[Print help]' \
':name -- Name of the phase\: warm-up, steady:_default' \
&& ret=0
;;
(import)
_arguments "${_arguments_options[@]}" : \
'-o+[Directory to make; it must not exist \[default\: named for the first path and the time\]]:RUN:_files -/' \
'--output=[Directory to make; it must not exist \[default\: named for the first path and the time\]]:RUN:_files -/' \
'--as=[The format or the tool, instead of recognising it (see \`sonde formats\`); or a description of your own, NAME.toml]:FORMAT:_default' \
'--every=[Interval of the samples, where the text does not tell it]:TIME:_default' \
'--start=[When the first interval started, where the text does not tell it\: 2012-03-04 10\:00, or now]:TIME:_default' \
'--tz=[Zone of times without one\: Europe/Berlin, +02\:00, UTC \[default\: this machine'\''s\]]:ZONE:_default' \
'--date-order=[Order of dates like 04/08/17]:ORDER:(dmy mdy ymd)' \
'--host=[Name of the machine it is of]:NAME:_default' \
'--processors=[How many processors it had, where the text does not tell]:N:_default' \
'--fio-version=[Version of fio that wrote logs of latencies, where nothing beside them tells it\: 2.21]:VERSION:_default' \
'--name=[Title of the run]:NAME:_default' \
'--strict[Any line or file that is not understood, or is cut off, is an error, and nothing is made]' \
'--json[What was imported as JSON on stdout]' \
'-h[Print help]' \
'--help[Print help]' \
'*::paths -- Files, directories, archives; `-` reads stdin while it grows:_files' \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
'-o+[Of an experiment\: write its picture as FILE.png or FILE.svg]:FILE:_files' \
'--output=[Of an experiment\: write its picture as FILE.png or FILE.svg]:FILE:_files' \
'--size=[Pixels of the picture \[default\: 1200x600\]]:WIDTHxHEIGHT:_default' \
'--json[As JSON]' \
'--all[All findings, not only those that matter most]' \
'-h[Print help]' \
'--help[Print help]' \
':run -- Directory of the run, or of an experiment (`sonde try`):_files -/' \
&& ret=0
;;
(get)
_arguments "${_arguments_options[@]}" : \
'--series[Also each interval'\''s value]' \
'--buckets[Of a number dimension the buckets, not the quantiles]' \
'(--csv)--json[One JSON object an expression, each on a line]' \
'--csv[Comma-separated values, in base units]' \
'-h[Print help]' \
'--help[Print help]' \
':run -- Directory of the run:_files -/' \
'*::expressions -- subject.measure \[by dim, ...\] \[where dim op value and ...\]; see `sonde catalog`:_default' \
&& ret=0
;;
(plot)
_arguments "${_arguments_options[@]}" : \
'--right=[A second expression, on the right axis]:EXPR:_default' \
'-o+[Write FILE.png or FILE.svg instead of drawing in the terminal]:FILE:_files' \
'--output=[Write FILE.png or FILE.svg instead of drawing in the terminal]:FILE:_files' \
'--outliers=[Share of a heat map that may lie above its axis, 0 to 5%]:SHARE:_default' \
'--smooth=[Average over TIME around each interval \[default\: 1/40 of the time shown\]]::TIME:_default' \
'--from=[Start there, since the run'\''s start]:TIME:_default' \
'--to=[End there]:TIME:_default' \
'--size=[Pixels of the picture \[default\: 1200x600\]]:WIDTHxHEIGHT:_default' \
'--title=[Title instead of the expression]:TEXT:_default' \
'--colour=[Colours in the terminal\: auto, true, 256, none]:WHEN:(auto true 256 none)' \
'(--linear)--log[Logarithmic left axis]' \
'--linear[Linear left axis, also of latencies and sizes]' \
'(--stack --right --smooth)--fold[Of a number dimension one distribution, with its quantiles]' \
'(--log)--stack[Areas on top of each other]' \
'-h[Print help]' \
'--help[Print help]' \
':run -- Directory of the run:_files -/' \
':expression -- What to draw; by a number dimension it is a heat map:_default' \
&& ret=0
;;
(view)
_arguments "${_arguments_options[@]}" : \
'--listen=[Address and port; port 0 takes a free one]:ADDRESS:_default' \
'--cert=[Certificate for TLS; beyond this machine one is made if none is given]:FILE:_files' \
'--key=[Its key]:FILE:_files' \
'--every=[Live\: interval of the samples, 10ms to 1h]:TIME:_default' \
'--detail=[Live\: how deep to look, as of \`sonde record\`]:LEVEL:(samples distributions events)' \
'--sources=[Live\: only these sources, separated by commas]:LIST:_default' \
'--no-open[Do not open a browser]' \
'-h[Print help]' \
'--help[Print help]' \
'::runs -- Directories of runs; none\: this host, live:_files -/' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'-o+[File to write; its ending tells the form]:FILE:_files' \
'--output=[File to write; its ending tells the form]:FILE:_files' \
'--worksheet=[The statistics of a worksheet, saved in the run or as a file]:NAME|FILE:_default' \
'*--expr=[This statistic; may be given several times]:EXPR:_default' \
'-h[Print help]' \
'--help[Print help]' \
':run -- Directory of the run, or of an experiment (`sonde try`):_files -/' \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
'--vs=[Runs after it]:B:_files -/' \
'*-m+[What to compare, and which way is better; may be given again \[default\: the workload'\''s own throughput and latency, else disks, networks and processors\]]:[pN ]EXPR[:higher|:lower]:_default' \
'*--metric=[What to compare, and which way is better; may be given again \[default\: the workload'\''s own throughput and latency, else disks, networks and processors\]]:[pN ]EXPR[:higher|:lower]:_default' \
'-o+[Also draw all ratios with their intervals, as FILE.png or FILE.svg]:FILE:_files' \
'--output=[Also draw all ratios with their intervals, as FILE.png or FILE.svg]:FILE:_files' \
'--size=[Pixels of the picture \[default\: 1200 wide, as high as needed\]]:WIDTHxHEIGHT:_default' \
'--with-failed[Count runs whose command failed, too]' \
'--json[As JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'*::a -- Runs before the change; of an experiment its baseline, or DIR\:ARM:_files -/' \
&& ret=0
;;
(try)
_arguments "${_arguments_options[@]}" : \
'*--set=[Values of a setting of this machine (\`sonde knobs\`); what it is now is the baseline]:KNOB=V1,V2:_default' \
'*--param=[Values of {NAME} in the command; the first is the baseline]:NAME=V1,V2:_default' \
'(--set --param)--search=[Find a good value in few trials, or of KNOB=V1,V2,... the best; then confirm it in blocks]:KNOB=LOW..HIGH:_default' \
'(--set --param --search)--scale=[How work grows with {NAME} things done at once]:NAME=1,2,4:_default' \
'--design=[How several factors make arms\: combinations, one-at-a-time]:DESIGN:(combinations one-at-a-time)' \
'--blocks=[How often every arm runs; auto\: until it is decided, at most 24 \[default\: auto; with --scale 3\]]:N|auto:_default' \
'*-m+[What to compare, and which way is better; may be given again]:[pN ]EXPR[:higher|:lower]:_default' \
'*--measure=[What to compare, and which way is better; may be given again]:[pN ]EXPR[:higher|:lower]:_default' \
'--warmup=[Leave out so much of the beginning of each trial]:TIME:_default' \
'--settle=[Wait so long after the settings were changed]:TIME:_default' \
'--prepare=[Line of shell to run before each trial; it has the values as \$SONDE_NAME]:CMD:_default' \
'--every=[Interval of the samples of a trial \[default\: 1s\]]:TIME:_default' \
'*--record=[Option for the recorder, as --record=--with=file]:OPTION:_default' \
'--seed=[Where the random order comes from]:N:_default' \
'-o+[Directory of the experiment; it must not exist \[default\: named for the command and the time\]]:DIR:_files -/' \
'--output=[Directory of the experiment; it must not exist \[default\: named for the command and the time\]]:DIR:_files -/' \
'(--set --param --search --scale --blocks -m --measure --warmup --settle --prepare --every --record --no-aa --seed --allow-file -o --output --dry-run)--resume=[Go on with an experiment that was interrupted, as it was asked for]:DIR:_files -/' \
'--no-aa[Without the second baseline arm, which shows whether the baseline differs from itself]' \
'--keep-going[Go on after a trial that failed; it does not count]' \
'--allow-file[Let file\:PATH be a knob]' \
'--dry-run[Tell the plan and stop]' \
'--recover[Only put back what a killed experiment left changed]' \
'--json[The result as JSON]' \
'-q[No plan and no progress on stderr]' \
'--quiet[No plan and no progress on stderr]' \
'-h[Print help]' \
'--help[Print help]' \
'*::command -- Command to run in each trial, with its arguments, after --:_default' \
&& ret=0
;;
(list)
_arguments "${_arguments_options[@]}" : \
'--json[As JSON]' \
'-h[Print help]' \
'--help[Print help]' \
'::dir -- Directory to look in, or an experiment\: its trials are listed:_files -/' \
&& ret=0
;;
(catalog)
_arguments "${_arguments_options[@]}" : \
'--markdown[The reference page]' \
'-h[Print help]' \
'--help[Print help]' \
'::subject -- Only this subject, with its tables:_default' \
&& ret=0
;;
(formats)
_arguments "${_arguments_options[@]}" : \
'--markdown[The reference page]' \
'-h[Print help]' \
'--help[Print help]' \
'::format -- Only this format or tool, with an example:_default' \
&& ret=0
;;
(knobs)
_arguments "${_arguments_options[@]}" : \
'--json[As JSON]' \
'--allow-file[Let file\:PATH be a knob]' \
'--markdown[The reference page of all families]' \
'-h[Print help]' \
'--help[Print help]' \
'*::name -- A knob, or the front of its name\: disk\:vda.scheduler, net\:eth0, sysctl\:vm:_default' \
&& ret=0
;;
(doctor)
_arguments "${_arguments_options[@]}" : \
'--json[As JSON]' \
'--markdown[The reference page of all sources]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(man)
_arguments "${_arguments_options[@]}" : \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(completion)
_arguments "${_arguments_options[@]}" : \
'-h[Print help]' \
'--help[Print help]' \
':shell -- For bash\: sonde completion bash > /etc/bash_completion.d/sonde:(bash elvish fish powershell zsh)' \
&& ret=0
;;
        esac
    ;;
esac
}

(( $+functions[_sonde_commands] )) ||
_sonde_commands() {
    local commands; commands=(
'record:Observe this host while a command runs, for a time, or until interrupted' \
'mark:Name the phase that starts now, from inside the recorded command' \
'import:Make a run of what other tools printed\: files, directories, archives or a pipe' \
'show:One screen\: what happened, what stands out' \
'get:The numbers of an expression\: table, JSON, CSV' \
'plot:An expression as a picture\: terminal, PNG, SVG' \
'view:The web page\: worksheets, heat maps, drill-down; of runs, or live' \
'report:A run or an experiment to hand on\: page, mail, spreadsheet, Markdown, CSV, JSON' \
'compare:Compare runs with runs\: what changed, by how much, and how sure that is' \
'try:A controlled experiment over settings or parameters; settings are put back' \
'list:Runs and experiments of a directory, with their headline numbers' \
'catalog:List subjects, measures and dimensions' \
'formats:List what can be imported, and how it is recognised' \
'knobs:Settings that an experiment may change, with their present values' \
'doctor:What this host lets Sonde see, and how to see more' \
'man:Print the manual page (pipe it to \`man -l -\`)' \
'completion:Print completion for a shell' \
    )
    _describe -t commands 'sonde commands' commands "$@"
}
(( $+functions[_sonde__subcmd__catalog_commands] )) ||
_sonde__subcmd__catalog_commands() {
    local commands; commands=()
    _describe -t commands 'sonde catalog commands' commands "$@"
}
(( $+functions[_sonde__subcmd__compare_commands] )) ||
_sonde__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'sonde compare commands' commands "$@"
}
(( $+functions[_sonde__subcmd__completion_commands] )) ||
_sonde__subcmd__completion_commands() {
    local commands; commands=()
    _describe -t commands 'sonde completion commands' commands "$@"
}
(( $+functions[_sonde__subcmd__doctor_commands] )) ||
_sonde__subcmd__doctor_commands() {
    local commands; commands=()
    _describe -t commands 'sonde doctor commands' commands "$@"
}
(( $+functions[_sonde__subcmd__formats_commands] )) ||
_sonde__subcmd__formats_commands() {
    local commands; commands=()
    _describe -t commands 'sonde formats commands' commands "$@"
}
(( $+functions[_sonde__subcmd__get_commands] )) ||
_sonde__subcmd__get_commands() {
    local commands; commands=()
    _describe -t commands 'sonde get commands' commands "$@"
}
(( $+functions[_sonde__subcmd__import_commands] )) ||
_sonde__subcmd__import_commands() {
    local commands; commands=()
    _describe -t commands 'sonde import commands' commands "$@"
}
(( $+functions[_sonde__subcmd__knobs_commands] )) ||
_sonde__subcmd__knobs_commands() {
    local commands; commands=()
    _describe -t commands 'sonde knobs commands' commands "$@"
}
(( $+functions[_sonde__subcmd__list_commands] )) ||
_sonde__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'sonde list commands' commands "$@"
}
(( $+functions[_sonde__subcmd__man_commands] )) ||
_sonde__subcmd__man_commands() {
    local commands; commands=()
    _describe -t commands 'sonde man commands' commands "$@"
}
(( $+functions[_sonde__subcmd__mark_commands] )) ||
_sonde__subcmd__mark_commands() {
    local commands; commands=()
    _describe -t commands 'sonde mark commands' commands "$@"
}
(( $+functions[_sonde__subcmd__plot_commands] )) ||
_sonde__subcmd__plot_commands() {
    local commands; commands=()
    _describe -t commands 'sonde plot commands' commands "$@"
}
(( $+functions[_sonde__subcmd__record_commands] )) ||
_sonde__subcmd__record_commands() {
    local commands; commands=()
    _describe -t commands 'sonde record commands' commands "$@"
}
(( $+functions[_sonde__subcmd__report_commands] )) ||
_sonde__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'sonde report commands' commands "$@"
}
(( $+functions[_sonde__subcmd__show_commands] )) ||
_sonde__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'sonde show commands' commands "$@"
}
(( $+functions[_sonde__subcmd__try_commands] )) ||
_sonde__subcmd__try_commands() {
    local commands; commands=()
    _describe -t commands 'sonde try commands' commands "$@"
}
(( $+functions[_sonde__subcmd__view_commands] )) ||
_sonde__subcmd__view_commands() {
    local commands; commands=()
    _describe -t commands 'sonde view commands' commands "$@"
}

if [ "$funcstack[1]" = "_sonde" ]; then
    _sonde "$@"
else
    compdef _sonde sonde
fi
