# SPDX-License-Identifier: Apache-2.0
# fish completion of `cardan`; names of topics are those that are published now.
function __cardan_at --description 'the subcommands given so far are exactly these'
    set -l given
    for word in (commandline -opc)[2..-1]
        if contains -- $word topic component param run check graph record bag play doctor bench demo completion list info echo stats restart log get set save ls cat verify cut merge recover export convert du attachment metadata extract add transport runtime
            set -a given $word
        end
    end
    test "$given" = "$argv"
end

complete -c cardan -f
complete -c cardan -l help -d 'Explain'
complete -c cardan -n '__cardan_at' -l version -d 'Print the version'
complete -c cardan -n '__cardan_at' -a topic -d 'Look at topics'
complete -c cardan -n '__cardan_at' -a component -d 'Components that run'
complete -c cardan -n '__cardan_at' -a param -d 'Parameters of components'
complete -c cardan -n '__cardan_at' -a run -d 'Start a configuration, keep it running'
complete -c cardan -n '__cardan_at' -a check -d 'Find what is wrong with a configuration'
complete -c cardan -n '__cardan_at' -a graph -d 'Draw a configuration'
complete -c cardan -n '__cardan_at' -a record -d 'Record topics'
complete -c cardan -n '__cardan_at' -a bag -d 'Recorded files'
complete -c cardan -n '__cardan_at' -a play -d 'Publish what files hold'
complete -c cardan -n '__cardan_at' -a doctor -d 'What this computer allows and lacks'
complete -c cardan -n '__cardan_at' -a bench -d 'Measure'
complete -c cardan -n '__cardan_at' -a demo -d 'A street video to brake or go'
complete -c cardan -n '__cardan_at' -a completion -d 'Print a completion script'
complete -c cardan -n '__cardan_at topic' -a list -d 'What is published'
complete -c cardan -n '__cardan_at topic' -a info -d 'Publishers and subscribers'
complete -c cardan -n '__cardan_at topic' -a echo -d 'Print messages'
complete -c cardan -n '__cardan_at topic' -a stats -d 'Rate, jitter, latency, loss'
for what in list info echo stats
    complete -c cardan -n "__cardan_at topic $what" -l json -d JSON
    complete -c cardan -n "__cardan_at topic $what" -l domain -x -d 'Domain to look at'
end
for what in info echo stats
    complete -c cardan -n "__cardan_at topic $what" -a '(cardan topic list --names 2>/dev/null)'
end
complete -c cardan -n '__cardan_at topic list' -l verbose -s v -d 'A line for each publisher'
complete -c cardan -n '__cardan_at topic list' -l names -d 'Only the names'
complete -c cardan -n '__cardan_at topic info' -l schema -d 'Also the fields'
complete -c cardan -n '__cardan_at topic echo' -l once -d 'Only the newest'
complete -c cardan -n '__cardan_at topic echo' -l count -x -d 'End after this many'
complete -c cardan -n '__cardan_at topic echo' -l fields -x -d 'Only these'
complete -c cardan -n '__cardan_at topic echo' -l list -x -d 'Longest list shown whole'
complete -c cardan -n '__cardan_at topic echo' -l wait -d 'Wait for a publisher'
complete -c cardan -n '__cardan_at topic stats' -l all -d 'All topics'
complete -c cardan -n '__cardan_at topic stats' -l once -d 'Measure once'
complete -c cardan -n '__cardan_at topic stats' -l seconds -x -d 'Length of a measurement'
complete -c cardan -n '__cardan_at component' -a list -d 'What runs'
complete -c cardan -n '__cardan_at component' -a stats -d 'Latencies, rates, queues, drops'
complete -c cardan -n '__cardan_at component' -a restart -d 'Make one anew'
complete -c cardan -n '__cardan_at component' -a log -d 'What one says'
complete -c cardan -n '__cardan_at param' -a save -d 'Write the values to a file'
complete -c cardan -n '__cardan_at param' -a list -d 'Values, types, ranges'
complete -c cardan -n '__cardan_at param' -a get -d 'Print a value'
complete -c cardan -n '__cardan_at param' -a set -d 'Change a value'
for what in 'component list' 'component stats' 'component restart' 'component log' 'param list' 'param get' 'param set' 'param save'
    complete -c cardan -n "__cardan_at $what" -l json -d JSON
    complete -c cardan -n "__cardan_at $what" -l domain -x -d 'Domain to look at'
end
for what in 'component stats' 'component restart' 'component log' 'param list'
    complete -c cardan -n "__cardan_at $what" -a '(cardan component list --names 2>/dev/null)'
end
for what in 'param get' 'param set'
    complete -c cardan -n "__cardan_at $what" -a '(cardan param list --names 2>/dev/null)'
end
for what in 'component list' 'param list'
    complete -c cardan -n "__cardan_at $what" -l names -d 'Only the names'
end
complete -c cardan -n '__cardan_at component log' -a 'info warning error'
complete -c cardan -n '__cardan_at param save' -F
complete -c cardan -n '__cardan_at param save' -l force -d 'Replace the file'
complete -c cardan -n '__cardan_at component stats' -l once -d 'Measure once'
complete -c cardan -n '__cardan_at component stats' -l seconds -x -d 'Length of a measurement'
for what in run check graph
    complete -c cardan -n "__cardan_at $what" -F
    complete -c cardan -n "__cardan_at $what" -l var -x -d 'name=value: a variable of the file'
end
complete -c cardan -n '__cardan_at run' -l one-process -d 'All components in one process'
complete -c cardan -n '__cardan_at run' -l no-view -d 'Plain lines'
complete -c cardan -n '__cardan_at run' -l json -r -F -d 'Write a summary'
complete -c cardan -n '__cardan_at run' -l reports -r -F -d 'Folder of the crash reports'
complete -c cardan -n '__cardan_at run' -l seconds -x -d 'End after so long'
complete -c cardan -n '__cardan_at run' -l grace -x -d 'Seconds to end, before a process is killed'
complete -c cardan -n '__cardan_at run' -l crash -x -d 'NAME[@SECONDS] that crashes on purpose'
complete -c cardan -n '__cardan_at run' -l parameters -r -F -d 'Values that param save wrote'
complete -c cardan -n '__cardan_at run' -l domain -x -d 'Domain of the topics'
complete -c cardan -n '__cardan_at run' -l no-check -d 'Do not ask the components first'
complete -c cardan -n '__cardan_at run' -l log -r -F -d 'Also write the log to this file'
complete -c cardan -n '__cardan_at run' -l log-size -x -d 'Bytes of a log file'
complete -c cardan -n '__cardan_at run' -l log-files -x -d 'Older log files that are kept'
complete -c cardan -n '__cardan_at run' -l log-level -x -a 'info warning error' -d '[COMPONENT=]LEVEL'
complete -c cardan -n '__cardan_at run' -l stop -x -d 'End this process of what runs'
complete -c cardan -n '__cardan_at run' -l restart -x -d 'Start this process of what runs again'
complete -c cardan -n '__cardan_at run' -l set -x -d 'component/parameter=value'
complete -c cardan -n '__cardan_at run' -l from -r -F -d 'Run on this recording'
complete -c cardan -n '__cardan_at run' -l without -x -d 'Leave this component or process out'
complete -c cardan -n '__cardan_at run' -l output -r -F -d 'Write what is published'
complete -c cardan -n '__cardan_at run' -l force -d 'Replace the output'
complete -c cardan -n '__cardan_at run' -l start -x -d 'Seconds after the first message'
complete -c cardan -n '__cardan_at check' -l json -d JSON
complete -c cardan -n '__cardan_at check' -l no-components -d 'Do not ask the components'
complete -c cardan -n '__cardan_at graph' -l svg -r -F -d 'Write a picture'
complete -c cardan -n '__cardan_at graph' -l mermaid -d 'Print a Mermaid flowchart'
complete -c cardan -n '__cardan_at bag' -a info -d 'What a file holds'
complete -c cardan -n '__cardan_at bag' -a ls -d 'Its messages'
complete -c cardan -n '__cardan_at bag' -a cat -d 'Its messages with their fields'
complete -c cardan -n '__cardan_at bag' -a verify -d 'Whether it is whole'
complete -c cardan -n '__cardan_at bag' -a cut -d 'Some of its messages'
complete -c cardan -n '__cardan_at bag' -a merge -d 'One file of several'
complete -c cardan -n '__cardan_at bag' -a recover -d 'After a crash'
complete -c cardan -n '__cardan_at bag' -a export -d 'Images, clouds, tables'
complete -c cardan -n '__cardan_at bag' -a convert -d 'MCAP of a .bag or .db3'
complete -c cardan -n '__cardan_at bag' -a du -d 'Where its bytes are'
for what in info ls cat verify du cut merge recover export convert
    complete -c cardan -n "__cardan_at bag $what" -F
    complete -c cardan -n "__cardan_at bag $what" -l json -d JSON
end
for what in ls cat cut export
    complete -c cardan -n "__cardan_at bag $what" -l topic -x -d 'Only these'
    complete -c cardan -n "__cardan_at bag $what" -l exclude -x -d 'Not these'
    complete -c cardan -n "__cardan_at bag $what" -l start -x -d 'Seconds after the first message'
    complete -c cardan -n "__cardan_at bag $what" -l end -x -d 'Seconds after the first message'
end
complete -c cardan -n '__cardan_at bag' -a attachment -d 'What was attached'
complete -c cardan -n '__cardan_at bag' -a metadata -d 'What was noted'
complete -c cardan -n '__cardan_at bag attachment' -a 'list extract add'
complete -c cardan -n '__cardan_at bag metadata' -a 'list get add'
for what in 'attachment list' 'attachment extract' 'attachment add' 'metadata list' 'metadata get' 'metadata add'
    complete -c cardan -n "__cardan_at bag $what" -F
    complete -c cardan -n "__cardan_at bag $what" -l json -d JSON
end
for what in 'attachment add' 'metadata add'
    complete -c cardan -n "__cardan_at bag $what" -l output -s o -r -F -d 'File to write'
    complete -c cardan -n "__cardan_at bag $what" -l force -d 'Replace the file'
    complete -c cardan -n "__cardan_at bag $what" -l replace -d 'Those of the same name'
end
complete -c cardan -n '__cardan_at bag attachment add' -l name -x -d 'Of the attachment'
complete -c cardan -n '__cardan_at bag attachment add' -l media-type -x -d 'As application/json'
complete -c cardan -n '__cardan_at bag attachment extract' -l to -r -F -d 'Folder to write to'
complete -c cardan -n '__cardan_at bag attachment extract' -l offset -x -d 'The one at this byte'
complete -c cardan -n '__cardan_at bag attachment extract' -l force -d 'Replace files'
complete -c cardan -n '__cardan_at bag convert' -l topic -x -d 'Only these'
complete -c cardan -n '__cardan_at bag convert' -l exclude -x -d 'Not these'
complete -c cardan -n '__cardan_at bag convert' -l force -d 'Replace the file'
complete -c cardan -n '__cardan_at bag convert' -l compression -x -a 'same none lz4 zstd'
complete -c cardan -n '__cardan_at bag ls' -l count -x -d 'The first so many'
complete -c cardan -n '__cardan_at bag cat' -l count -x -d 'The first so many'
complete -c cardan -n '__cardan_at bag cat' -l list -x -d 'Longest list shown whole'
complete -c cardan -n '__cardan_at bag export' -l to -r -F -d 'Folder to write to'
complete -c cardan -n '__cardan_at bag export' -l images -x -a 'png jpeg video' -d 'What images become'
complete -c cardan -n '__cardan_at bag export' -l quality -x -d 'Of JPEGs, 1 to 100'
complete -c cardan -n '__cardan_at bag export' -l list -x -d 'Longest list that a table has whole'
complete -c cardan -n '__cardan_at bag export' -l force -d 'Replace files'
complete -c cardan -n '__cardan_at bag cat' -l fields -x -d 'Only these'
for what in cut merge recover
    complete -c cardan -n "__cardan_at bag $what" -l output -s o -r -F -d 'File to write'
    complete -c cardan -n "__cardan_at bag $what" -l force -d 'Replace the file'
    complete -c cardan -n "__cardan_at bag $what" -l compression -x -a 'same none lz4 zstd'
end
complete -c cardan -n '__cardan_at record' -a '(cardan topic list --names 2>/dev/null)'
complete -c cardan -n '__cardan_at record' -l output -s o -r -F -d 'File to write'
complete -c cardan -n '__cardan_at record' -l type -x -d 'Topics of this type'
complete -c cardan -n '__cardan_at record' -l exclude -x -d 'Not these'
complete -c cardan -n '__cardan_at record' -l regex -x -d 'Topics that a regular expression finds'
complete -c cardan -n '__cardan_at record' -l exclude-regex -x -d 'Not those that it finds'
complete -c cardan -n '__cardan_at record' -l access -x -a 'owner group everyone policy' -d 'Whose publications are recorded'
complete -c cardan -n '__cardan_at record' -l rule -x -d 'PATTERN:every=N,rate=HZ,compression=NAME'
complete -c cardan -n '__cardan_at record' -l compression -x -a 'none lz4 zstd'
complete -c cardan -n '__cardan_at record' -l compression-level -x -d 'zstd 1 to 22, lz4 up to 12'
complete -c cardan -n '__cardan_at record' -l reliable -d 'Publishers of reliable topics wait'
complete -c cardan -n '__cardan_at record' -l start-paused -d 'Record nothing until resume'
complete -c cardan -n '__cardan_at record' -l split-size -x -d 'Bytes of a file'
complete -c cardan -n '__cardan_at record' -l split-time -x -d 'Seconds of a file'
complete -c cardan -n '__cardan_at record' -l queue -x -d 'Bytes a topic may queue'
complete -c cardan -n '__cardan_at record' -l queue-time -x -d 'Seconds a sample may wait'
complete -c cardan -n '__cardan_at record' -l min-space -x -d 'Bytes that stay free'
complete -c cardan -n '__cardan_at record' -l on-full -x -a 'stop delete-oldest'
complete -c cardan -n '__cardan_at record' -l sync -x -d 'Seconds a power loss may cost'
complete -c cardan -n '__cardan_at record' -l mode -x -a 'auto direct dontcache sync-range plain'
complete -c cardan -n '__cardan_at record' -l schedule -x -a 'asap paced cycle'
complete -c cardan -n '__cardan_at record' -l explain -d 'Say what was written when, and why'
complete -c cardan -n '__cardan_at record' -l no-io-uring -d 'Write with threads'
complete -c cardan -n '__cardan_at record' -l checksums -d 'Of large samples too'
complete -c cardan -n '__cardan_at record' -l copy -d 'Copy all samples'
complete -c cardan -n '__cardan_at record' -l attach -r -F -d 'File to put in'
complete -c cardan -n '__cardan_at record' -l meta -x -d 'name=value to put in'
complete -c cardan -n '__cardan_at record' -l seconds -x -d 'End after so long'
complete -c cardan -n '__cardan_at record' -l last -x -d 'Keep only so many seconds until triggered'
complete -c cardan -n '__cardan_at record' -l after -x -d 'End so long after the trigger'
complete -c cardan -n '__cardan_at record' -l tell -x -a 'pause resume split trigger stop'
complete -c cardan -n '__cardan_at record' -l domain -x -d Domain
complete -c cardan -n '__cardan_at record' -l use-sim-time -d 'Log times of /clock'
complete -c cardan -n '__cardan_at record' -l json -d 'A report at the end'
complete -c cardan -n '__cardan_at record' -l no-view -d 'No live table'
complete -c cardan -n '__cardan_at play' -F
complete -c cardan -n '__cardan_at play' -l rate -x -d 'Recorded seconds in one second'
complete -c cardan -n '__cardan_at play' -l loop -d 'Again and again'
complete -c cardan -n '__cardan_at play' -l start -x -d 'Seconds after the first message'
complete -c cardan -n '__cardan_at play' -l until -x -d 'Seconds after the first message'
complete -c cardan -n '__cardan_at play' -l duration -x -d 'Recorded seconds'
complete -c cardan -n '__cardan_at play' -l topic -x -d 'Only these'
complete -c cardan -n '__cardan_at play' -l exclude -x -d 'Not these'
complete -c cardan -n '__cardan_at play' -l remap -x -d '/recorded:=/published'
complete -c cardan -n '__cardan_at play' -l clock -d 'Publish /clock'
complete -c cardan -n '__cardan_at play' -l as-fast-as-readers -d 'No times'
complete -c cardan -n '__cardan_at play' -l reliable -d 'No reliable reader loses anything'
complete -c cardan -n '__cardan_at play' -l wait-for-readers -d 'Begin when somebody subscribes'
complete -c cardan -n '__cardan_at play' -l depth -x -d 'Of the topics'
complete -c cardan -n '__cardan_at play' -l pause -d 'Begin with a pause'
complete -c cardan -n '__cardan_at play' -l step -x -d 'Messages of one step'
complete -c cardan -n '__cardan_at play' -l tell -x -a 'pause resume step step= rate= seek= stop'
complete -c cardan -n '__cardan_at play' -l domain -x -d 'Domain to publish in'
complete -c cardan -n '__cardan_at play' -l json -d JSON
complete -c cardan -n '__cardan_at doctor' -l json -d JSON
complete -c cardan -n '__cardan_at doctor' -l domain -x -d 'Domain to look at'
complete -c cardan -n '__cardan_at bench' -a transport -d 'Latency, loss and CPU'
complete -c cardan -n '__cardan_at bench' -a runtime -d 'Components of one process'
complete -c cardan -n '__cardan_at bench' -a record -d 'Recording'
complete -c cardan -n '__cardan_at bench record' -l only -x -a 'rate phases cameras mix task bystander pipeline'
complete -c cardan -n '__cardan_at bench record' -l peers -x -a 'fio cardan speed rosbag2 rosbag'
complete -c cardan -n '__cardan_at bench record' -l folder -x -a '(__fish_complete_directories)' -d 'On the disk to be measured'
complete -c cardan -n '__cardan_at bench record' -l seconds -x -d 'How long sensors send in a run'
complete -c cardan -n '__cardan_at bench record' -l runs -x -d 'Rounds'
complete -c cardan -n '__cardan_at bench record' -l cameras -x -d 'Where the sweep ends'
complete -c cardan -n '__cardan_at bench record' -l schedule -x -a 'absolute integer-ms both'
complete -c cardan -n '__cardan_at bench record' -l producer-cpu -x -d CPU
complete -c cardan -n '__cardan_at bench record' -l task-cpu -x -d CPU
complete -c cardan -n '__cardan_at bench record' -l json -r -F -d 'Write everything to this file'
complete -c cardan -n '__cardan_at bench record' -l keep -d 'Leave the recorded files'
complete -c cardan -n '__cardan_at bench record' -l quick -d 'Short runs'
complete -c cardan -n '__cardan_at bench record' -l full -d 'As in the paper'
complete -c cardan -n '__cardan_at bench runtime' -l sizes -x -d 'Payloads'
complete -c cardan -n '__cardan_at bench runtime' -l runs -x -d 'Rounds'
complete -c cardan -n '__cardan_at bench runtime' -l frames -x -d 'Frames per run'
complete -c cardan -n '__cardan_at bench runtime' -l publisher-cpu -x -d CPU
complete -c cardan -n '__cardan_at bench runtime' -l reader-cpu -x -d CPU
complete -c cardan -n '__cardan_at bench runtime' -l json -r -F -d 'Write everything to this file'
complete -c cardan -n '__cardan_at bench runtime' -l quick -d 'One round, one size'
complete -c cardan -n '__cardan_at bench transport' -l peers -x -a 'raw sim uds tcp cardan'
complete -c cardan -n '__cardan_at bench transport' -l scenarios -x -a '1p1s 1p5s 1p10s 5p1s'
complete -c cardan -n '__cardan_at bench transport' -l waits -x -a 'block spin prewake anticipate'
complete -c cardan -n '__cardan_at bench transport' -l sizes -x
complete -c cardan -n '__cardan_at bench transport' -l rate -x
complete -c cardan -n '__cardan_at bench transport' -l runs -x
complete -c cardan -n '__cardan_at bench transport' -l frames -x
complete -c cardan -n '__cardan_at bench transport' -l minutes -x
complete -c cardan -n '__cardan_at bench transport' -l publisher-cpu -x
complete -c cardan -n '__cardan_at bench transport' -l reader-cpus -x
complete -c cardan -n '__cardan_at bench transport' -l json -r -F
complete -c cardan -n '__cardan_at bench transport' -l full
complete -c cardan -n '__cardan_at bench transport' -l quick
complete -c cardan -n '__cardan_at bench transport' -l micro
complete -c cardan -n '__cardan_at demo' -l one-process -d 'Not as five processes'
complete -c cardan -n '__cardan_at demo' -l crash -x -a 'camera lidar detector obstacles decision'
complete -c cardan -n '__cardan_at demo' -l reports -r -F
complete -c cardan -n '__cardan_at demo' -l camera -r -F
complete -c cardan -n '__cardan_at demo' -l lidar -r -F
complete -c cardan -n '__cardan_at demo' -l detector -r -F -d 'ONNX model'
complete -c cardan -n '__cardan_at demo' -l own-vehicle -x -d 'AHEAD,BEHIND,SIDE of the LiDAR, metres'
complete -c cardan -n '__cardan_at demo' -l seconds -x
complete -c cardan -n '__cardan_at demo' -l json -r -F
complete -c cardan -n '__cardan_at demo' -l picture -r -F
complete -c cardan -n '__cardan_at demo' -l record -r -F -d 'Record into this file'
complete -c cardan -n '__cardan_at demo' -l no-view
complete -c cardan -n '__cardan_at completion' -a 'bash zsh fish'
