import type { OptionSpec, PositionalSpec } from '../args/command.ts';
import { type CompletionWriter, lists, optionsOf, wordsOf } from './lists.ts';

/** The script for zsh, to be sourced or to be put into a folder of `fpath` as `_calls`. */
export const zsh: CompletionWriter = (commands, shared) => {
  const cases = commands.flatMap((command) => [
    `    ${command.name})`,
    '      _arguments -s : \\',
    ...optionsOf(command, shared).map((option) => `        ${specOf(option)} \\`),
    ...(command.positionals ?? []).map(
      (positional, at) => `        '${at + 1}:${quote(positional.name)}:${actionOf(positional)}' \\`,
    ),
    '        && return 0 ;;',
  ]);
  return `${[
    '#compdef calls',
    '# zsh completion for calls; load it with: source <(calls completion zsh)',
    `_calls_fields() { _sequence compadd - ${lists.fields.join(' ')} }`,
    `_calls_groups() { _sequence compadd - ${lists.groups.join(' ')} }`,
    '_calls_commands() {',
    '  local -a commands=(',
    ...commands.map(({ name, summary }) => `    '${name}:${quote(summary)}'`),
    '  )',
    "  _describe 'command' commands",
    '}',
    '_calls() {',
    '  if (( CURRENT == 2 )); then _calls_commands; return; fi',
    '  local name=$words[2]',
    '  shift words; (( CURRENT-- ))',
    '  case "$name" in',
    '    help) _calls_commands ;;',
    ...cases,
    '  esac',
    '}',
    '# In a folder of fpath this file is the function itself.',
    'if [ "$funcstack[1]" = _calls ]; then _calls "$@"',
    'else',
    '  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }',
    '  compdef _calls calls',
    'fi',
  ].join('\n')}\n`;
};

const quote = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, '\\$&');

function specOf(option: OptionSpec): string {
  const { name, short, value, text, repeat } = option;
  const long = `--${name}${value ? '=' : ''}`;
  const does = `[${quote(text)}]${value ? `:${quote(value)}:${completionOf(option)}` : ''}`;
  if (repeat) return `'*${long}${does}'`;
  if (!short) return `'${long}${does}'`;
  return `'(-${short} --${name})'{-${short}${value ? '+' : ''},${long}}'${does}'`;
}

function completionOf({ choices, completes }: OptionSpec): string {
  if (choices) return `(${choices.join(' ')})`;
  if (completes === 'folder') return '_files -/';
  if (completes === 'file') return '_files';
  return completes === undefined ? ' ' : `_calls_${completes}`;
}

function actionOf(positional: PositionalSpec): string {
  const words = wordsOf(positional);
  if (positional.completes === 'fields') return '_calls_fields';
  if (positional.completes === 'file')
    return words.length > 0 ? `{ compadd - ${words.join(' ')}; _files }` : '_files';
  return words.length > 0 ? `(${words.join(' ')})` : ' ';
}
