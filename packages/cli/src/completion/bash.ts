import type { OptionSpec, PositionalSpec } from '../args/command.ts';
import { type CompletionWriter, formsOf, lists, optionsOf, wordsOf } from './lists.ts';

/** The script for bash. It also runs in bash 3.2, which has no `compopt`. */
export const bash: CompletionWriter = (commands, shared) => {
  const cases = commands.map((command) => {
    const options = optionsOf(command, shared);
    const valued = options.filter(({ value }) => value !== undefined);
    const words = (command.positionals ?? []).map(
      (positional, at) => `          ${at}) ${offerOf(positional)} ;;`,
    );
    return [
      `    ${command.name})`,
      `      valued="${valued.flatMap(formsOf).join(' ')}"`,
      '      _calls_place',
      '      case "$before" in',
      ...valued.map((option) => `        ${formsOf(option).join('|')}) ${completionOf(option)}; return ;;`),
      '      esac',
      `      if [[ $word == -* ]]; then words="${options.flatMap(formsOf).join(' ')}"`,
      ...(words.length > 0 ? ['      else', '        case $place in', ...words, '        esac'] : []),
      '      fi ;;',
    ];
  });
  return `${[
    '# bash completion for calls; load it with: source <(calls completion bash)',
    `_calls_fields="${lists.fields.join(' ')}"`,
    `_calls_groups="${lists.groups.join(' ')}"`,
    '_calls_list() {',
    '  local head=""',
    `  [[ $word == *,* ]] && head="\${word%,*},"`,
    `  COMPREPLY=($(compgen -P "$head" -W "$1" -- "\${word##*,}"))`,
    '  compopt -o nospace 2>/dev/null',
    '}',
    '_calls_files() {',
    "  local IFS=$'\\n'",
    '  COMPREPLY=($(compgen "$1" -- "$word"))',
    '  compopt -o filenames 2>/dev/null',
    '}',
    '# How many arguments that are not options come before the word.',
    '_calls_place() {',
    '  local at',
    '  place=0',
    '  for ((at = 2; at < COMP_CWORD; at++)); do',
    `    case "\${COMP_WORDS[at]}" in`,
    `      -*) if [[ " $valued " == *" \${COMP_WORDS[at]} "* ]]; then ((at++)); [[ \${COMP_WORDS[at]} == = ]] && ((at++)); fi ;;`,
    '      *) ((place++)) ;;',
    '    esac',
    '  done',
    '}',
    '_calls() {',
    `  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words="" valued="" place=0`,
    '  # bash splits --option=value at the equals sign.',
    `  if [[ $word == = ]]; then word=""; elif [[ $before == = ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi`,
    '  COMPREPLY=()',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${commands.map(({ name }) => name).join(' ')} help --help --version"`,
    '  else',
    `    case "\${COMP_WORDS[1]}" in`,
    `    help) words="${commands.map(({ name }) => name).join(' ')}" ;;`,
    ...cases.flat(),
    '    esac',
    '  fi',
    '  [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    'complete -F _calls calls',
  ].join('\n')}\n`;
};

function completionOf({ choices, completes }: OptionSpec): string {
  if (choices) return `COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$word"))`;
  if (completes === 'fields' || completes === 'groups') return `_calls_list "$_calls_${completes}"`;
  if (completes === 'file') return '_calls_files -f';
  return completes === 'folder' ? '_calls_files -d' : ':';
}

function offerOf(positional: PositionalSpec): string {
  const words = positional.completes === 'fields' ? lists.fields : wordsOf(positional);
  const set = words.length > 0 ? `words="${words.join(' ')}"` : '';
  if (positional.completes !== 'file') return set || ':';
  if (set === '') return '_calls_files -f; return';
  // Words first; a file where none of them fits.
  return `COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$word")); [ \${#COMPREPLY[@]} -gt 0 ] || _calls_files -f; return`;
}
