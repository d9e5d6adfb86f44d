# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_sonde_global_optspecs
    string join \n h/help V/version
end

function __fish_sonde_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_sonde_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_sonde_using_subcommand
    set -l cmd (__fish_sonde_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c sonde -n "__fish_sonde_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sonde -n "__fish_sonde_needs_command" -s V -l version -d 'Print version'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "record" -d 'Observe this host while a command runs, for a time, or until interrupted'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "mark" -d 'Name the phase that starts now, from inside the recorded command'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "import" -d 'Make a run of what other tools printed: files, directories, archives or a pipe'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "show" -d 'One screen: what happened, what stands out'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "get" -d 'The numbers of an expression: table, JSON, CSV'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "plot" -d 'An expression as a picture: terminal, PNG, SVG'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "view" -d 'The web page: worksheets, heat maps, drill-down; of runs, or live'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "report" -d 'A run or an experiment to hand on: page, mail, spreadsheet, Markdown, CSV, JSON'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "compare" -d 'Compare runs with runs: what changed, by how much, and how sure that is'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "try" -d 'A controlled experiment over settings or parameters; settings are put back'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "list" -d 'Runs and experiments of a directory, with their headline numbers'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "catalog" -d 'List subjects, measures and dimensions'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "formats" -d 'List what can be imported, and how it is recognised'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "knobs" -d 'Settings that an experiment may change, with their present values'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "doctor" -d 'What this host lets Sonde see, and how to see more'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "man" -d 'Print the manual page (pipe it to `man -l -`)'
complete -c sonde -n "__fish_sonde_needs_command" -f -a "completion" -d 'Print completion for a shell'
complete -c sonde -n "__fish_sonde_using_subcommand record" -s o -l output -d 'Directory to record into; it must not exist [default: named for the command and the time]' -r -f -a "(__fish_complete_directories)"
complete -c sonde -n "__fish_sonde_using_subcommand record" -l every -d 'Interval of the samples, 10ms to 1h' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l for -d 'Stop recording after this time; a command goes on' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l warmup -d 'Name this much of the beginning the phase warm-up, and what follows steady' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l name -d 'Title of the run' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l note -d 'Keep a note with the run; may be given again' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l sources -d 'Only these sources, separated by commas (see `sonde doctor`)' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l top -d 'How many processes to name, by each of CPU, disk bytes and memory; of connections and of files 10 times as many' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l detail -d 'How deep to look: samples, distributions (histograms from the kernel), events (each one too)' -r -f -a "samples\t''
distributions\t''
events\t''"
complete -c sonde -n "__fish_sonde_using_subcommand record" -l events -d 'Whose events to keep, separated by commas: disk, net, tcp, file, nfs, nfsd, or all' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l with -d 'Observe this too, which costs every system call: file' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l event-budget -d 'What events may cost, of one processor; over it they are sampled, within about a second' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l event-rate -d 'Events a second to keep; over it they are sampled, within about a second' -r
complete -c sonde -n "__fish_sonde_using_subcommand record" -l with-arguments -d 'Keep the arguments of running processes in the inventory; they may hold secrets'
complete -c sonde -n "__fish_sonde_using_subcommand record" -s q -l quiet -d 'No progress line and no closing words on stderr'
complete -c sonde -n "__fish_sonde_using_subcommand record" -l trial -d 'End when the program ends that started this one'
complete -c sonde -n "__fish_sonde_using_subcommand record" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand mark" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand import" -s o -l output -d 'Directory to make; it must not exist [default: named for the first path and the time]' -r -f -a "(__fish_complete_directories)"
complete -c sonde -n "__fish_sonde_using_subcommand import" -l as -d 'The format or the tool, instead of recognising it (see `sonde formats`); or a description of your own, NAME.toml' -r
complete -c sonde -n "__fish_sonde_using_subcommand import" -l every -d 'Interval of the samples, where the text does not tell it' -r
complete -c sonde -n "__fish_sonde_using_subcommand import" -l start -d 'When the first interval started, where the text does not tell it: 2012-03-04 10:00, or now' -r
complete -c sonde -n "__fish_sonde_using_subcommand import" -l tz -d 'Zone of times without one: Europe/Berlin, +02:00, UTC [default: this machine\'s]' -r
complete -c sonde -n "__fish_sonde_using_subcommand import" -l date-order -d 'Order of dates like 04/08/17' -r -f -a "dmy\t''
mdy\t''
ymd\t''"
complete -c sonde -n "__fish_sonde_using_subcommand import" -l host -d 'Name of the machine it is of' -r
complete -c sonde -n "__fish_sonde_using_subcommand import" -l processors -d 'How many processors it had, where the text does not tell' -r
complete -c sonde -n "__fish_sonde_using_subcommand import" -l fio-version -d 'Version of fio that wrote logs of latencies, where nothing beside them tells it: 2.21' -r
complete -c sonde -n "__fish_sonde_using_subcommand import" -l name -d 'Title of the run' -r
complete -c sonde -n "__fish_sonde_using_subcommand import" -l strict -d 'Any line or file that is not understood, or is cut off, is an error, and nothing is made'
complete -c sonde -n "__fish_sonde_using_subcommand import" -l json -d 'What was imported as JSON on stdout'
complete -c sonde -n "__fish_sonde_using_subcommand import" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand show" -s o -l output -d 'Of an experiment: write its picture as FILE.png or FILE.svg' -r -F
complete -c sonde -n "__fish_sonde_using_subcommand show" -l size -d 'Pixels of the picture [default: 1200x600]' -r
complete -c sonde -n "__fish_sonde_using_subcommand show" -l json -d 'As JSON'
complete -c sonde -n "__fish_sonde_using_subcommand show" -l all -d 'All findings, not only those that matter most'
complete -c sonde -n "__fish_sonde_using_subcommand show" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand get" -l series -d 'Also each interval\'s value'
complete -c sonde -n "__fish_sonde_using_subcommand get" -l buckets -d 'Of a number dimension the buckets, not the quantiles'
complete -c sonde -n "__fish_sonde_using_subcommand get" -l json -d 'One JSON object an expression, each on a line'
complete -c sonde -n "__fish_sonde_using_subcommand get" -l csv -d 'Comma-separated values, in base units'
complete -c sonde -n "__fish_sonde_using_subcommand get" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l right -d 'A second expression, on the right axis' -r
complete -c sonde -n "__fish_sonde_using_subcommand plot" -s o -l output -d 'Write FILE.png or FILE.svg instead of drawing in the terminal' -r -F
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l outliers -d 'Share of a heat map that may lie above its axis, 0 to 5%' -r
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l smooth -d 'Average over TIME around each interval [default: 1/40 of the time shown]' -r
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l from -d 'Start there, since the run\'s start' -r
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l to -d 'End there' -r
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l size -d 'Pixels of the picture [default: 1200x600]' -r
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l title -d 'Title instead of the expression' -r
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l colour -d 'Colours in the terminal: auto, true, 256, none' -r -f -a "auto\t''
true\t''
256\t''
none\t''"
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l log -d 'Logarithmic left axis'
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l linear -d 'Linear left axis, also of latencies and sizes'
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l fold -d 'Of a number dimension one distribution, with its quantiles'
complete -c sonde -n "__fish_sonde_using_subcommand plot" -l stack -d 'Areas on top of each other'
complete -c sonde -n "__fish_sonde_using_subcommand plot" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand view" -l listen -d 'Address and port; port 0 takes a free one' -r
complete -c sonde -n "__fish_sonde_using_subcommand view" -l cert -d 'Certificate for TLS; beyond this machine one is made if none is given' -r -F
complete -c sonde -n "__fish_sonde_using_subcommand view" -l key -d 'Its key' -r -F
complete -c sonde -n "__fish_sonde_using_subcommand view" -l every -d 'Live: interval of the samples, 10ms to 1h' -r
complete -c sonde -n "__fish_sonde_using_subcommand view" -l detail -d 'Live: how deep to look, as of `sonde record`' -r -f -a "samples\t''
distributions\t''
events\t''"
complete -c sonde -n "__fish_sonde_using_subcommand view" -l sources -d 'Live: only these sources, separated by commas' -r
complete -c sonde -n "__fish_sonde_using_subcommand view" -l no-open -d 'Do not open a browser'
complete -c sonde -n "__fish_sonde_using_subcommand view" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand report" -s o -l output -d 'File to write; its ending tells the form' -r -F
complete -c sonde -n "__fish_sonde_using_subcommand report" -l worksheet -d 'The statistics of a worksheet, saved in the run or as a file' -r
complete -c sonde -n "__fish_sonde_using_subcommand report" -l expr -d 'This statistic; may be given several times' -r
complete -c sonde -n "__fish_sonde_using_subcommand report" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand compare" -l vs -d 'Runs after it' -r -f -a "(__fish_complete_directories)"
complete -c sonde -n "__fish_sonde_using_subcommand compare" -s m -l metric -d 'What to compare, and which way is better; may be given again [default: the workload\'s own throughput and latency, else disks, networks and processors]' -r
complete -c sonde -n "__fish_sonde_using_subcommand compare" -s o -l output -d 'Also draw all ratios with their intervals, as FILE.png or FILE.svg' -r -F
complete -c sonde -n "__fish_sonde_using_subcommand compare" -l size -d 'Pixels of the picture [default: 1200 wide, as high as needed]' -r
complete -c sonde -n "__fish_sonde_using_subcommand compare" -l with-failed -d 'Count runs whose command failed, too'
complete -c sonde -n "__fish_sonde_using_subcommand compare" -l json -d 'As JSON'
complete -c sonde -n "__fish_sonde_using_subcommand compare" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand try" -l set -d 'Values of a setting of this machine (`sonde knobs`); what it is now is the baseline' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l param -d 'Values of {NAME} in the command; the first is the baseline' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l search -d 'Find a good value in few trials, or of KNOB=V1,V2,... the best; then confirm it in blocks' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l scale -d 'How work grows with {NAME} things done at once' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l design -d 'How several factors make arms: combinations, one-at-a-time' -r -f -a "combinations\t''
one-at-a-time\t''"
complete -c sonde -n "__fish_sonde_using_subcommand try" -l blocks -d 'How often every arm runs; auto: until it is decided, at most 24 [default: auto; with --scale 3]' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -s m -l measure -d 'What to compare, and which way is better; may be given again' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l warmup -d 'Leave out so much of the beginning of each trial' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l settle -d 'Wait so long after the settings were changed' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l prepare -d 'Line of shell to run before each trial; it has the values as $SONDE_NAME' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l every -d 'Interval of the samples of a trial [default: 1s]' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l record -d 'Option for the recorder, as --record=--with=file' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -l seed -d 'Where the random order comes from' -r
complete -c sonde -n "__fish_sonde_using_subcommand try" -s o -l output -d 'Directory of the experiment; it must not exist [default: named for the command and the time]' -r -f -a "(__fish_complete_directories)"
complete -c sonde -n "__fish_sonde_using_subcommand try" -l resume -d 'Go on with an experiment that was interrupted, as it was asked for' -r -f -a "(__fish_complete_directories)"
complete -c sonde -n "__fish_sonde_using_subcommand try" -l no-aa -d 'Without the second baseline arm, which shows whether the baseline differs from itself'
complete -c sonde -n "__fish_sonde_using_subcommand try" -l keep-going -d 'Go on after a trial that failed; it does not count'
complete -c sonde -n "__fish_sonde_using_subcommand try" -l allow-file -d 'Let file:PATH be a knob'
complete -c sonde -n "__fish_sonde_using_subcommand try" -l dry-run -d 'Tell the plan and stop'
complete -c sonde -n "__fish_sonde_using_subcommand try" -l recover -d 'Only put back what a killed experiment left changed'
complete -c sonde -n "__fish_sonde_using_subcommand try" -l json -d 'The result as JSON'
complete -c sonde -n "__fish_sonde_using_subcommand try" -s q -l quiet -d 'No plan and no progress on stderr'
complete -c sonde -n "__fish_sonde_using_subcommand try" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand list" -l json -d 'As JSON'
complete -c sonde -n "__fish_sonde_using_subcommand list" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand catalog" -l markdown -d 'The reference page'
complete -c sonde -n "__fish_sonde_using_subcommand catalog" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand formats" -l markdown -d 'The reference page'
complete -c sonde -n "__fish_sonde_using_subcommand formats" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand knobs" -l json -d 'As JSON'
complete -c sonde -n "__fish_sonde_using_subcommand knobs" -l allow-file -d 'Let file:PATH be a knob'
complete -c sonde -n "__fish_sonde_using_subcommand knobs" -l markdown -d 'The reference page of all families'
complete -c sonde -n "__fish_sonde_using_subcommand knobs" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand doctor" -l json -d 'As JSON'
complete -c sonde -n "__fish_sonde_using_subcommand doctor" -l markdown -d 'The reference page of all sources'
complete -c sonde -n "__fish_sonde_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand man" -s h -l help -d 'Print help'
complete -c sonde -n "__fish_sonde_using_subcommand completion" -s h -l help -d 'Print help'
