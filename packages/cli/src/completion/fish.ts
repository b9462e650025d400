import type { OptionSpec, PositionalSpec } from '../args/command.ts';
import { type CompletionWriter, formsOf, lists, optionsOf, wordsOf } from './lists.ts';

/** The script for fish. */
export const fish: CompletionWriter = (commands, shared) => {
  const lines = commands.flatMap((command) => {
    const when = `-n '__fish_seen_subcommand_from ${command.name}'`;
    return [
      `complete -c calls -n __fish_use_subcommand -a ${command.name} -d ${quote(command.summary)}`,
      `complete -c calls -n '__fish_seen_subcommand_from help' -a ${command.name}`,
      ...(command.positionals ?? []).flatMap((positional, at) => wordLines(command.name, positional, at)),
      ...optionsOf(command, shared).map((option) => {
        const short = option.short ? ` -s ${option.short}` : '';
        return `complete -c calls ${when} -l ${option.name}${short}${completionOf(option)} -d ${quote(option.text)}`;
      }),
    ];
  });
  const valued = commands
    .flatMap((command) => optionsOf(command, shared))
    .flatMap((option) => (option.value === undefined ? [] : formsOf(option)));
  return `${[
    '# fish completion for calls; load it with: calls completion fish | source',
    `function __calls_fields; printf '%s\\n' ${lists.fields.join(' ')}; end`,
    `function __calls_groups; printf '%s\\n' ${lists.groups.join(' ')}; end`,
    '# How many arguments that are not options come before the word, the command not counted.',
    'function __calls_place',
    '  set -l place 0',
    '  set -l is_value 0',
    '  for word in (commandline -opc)[3..-1]',
    '    if test $is_value -eq 1',
    '      set is_value 0',
    "    else if string match -q -- '-*' $word",
    '      contains -- $word $__calls_valued; and set is_value 1',
    '    else',
    '      set place (math $place + 1)',
    '    end',
    '  end',
    '  test $place -eq $argv[1]',
    'end',
    `set -g __calls_valued ${[...new Set(valued)].join(' ')}`,
    'complete -c calls -f',
    ...lines,
  ].join('\n')}\n`;
};

const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;

function wordLines(command: string, positional: PositionalSpec, at: number): string[] {
  const when = `-n '__fish_seen_subcommand_from ${command}; and __calls_place ${at}'`;
  const words = positional.completes === 'fields' ? lists.fields : wordsOf(positional);
  return [
    ...(words.length > 0 ? [`complete -c calls ${when} -a '${words.join(' ')}'`] : []),
    ...(positional.completes === 'file' ? [`complete -c calls ${when} -F`] : []),
  ];
}

function completionOf({ choices, completes, value }: OptionSpec): string {
  if (choices) return ` -x -a '${choices.join(' ')}'`;
  if (completes === 'file') return ' -r -F';
  if (completes === 'folder') return " -x -a '(__fish_complete_directories)'";
  if (completes !== undefined) return ` -x -a '(__fish_complete_list , __calls_${completes})'`;
  return value === undefined ? '' : ' -x';
}
