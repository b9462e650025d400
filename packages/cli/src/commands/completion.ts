import type { CommandSpec, Handler, OptionSpec } from '../args/command.ts';
import { sharedOptions } from '../args/options.ts';
import { exitCodes } from '../exit-codes.ts';
import { write } from '../io.ts';

type Writer = (commands: readonly CommandSpec[], shared: readonly OptionSpec[]) => string;

/** `calls completion`: a script made from the command table, so that it offers exactly what the parser accepts. */
export const completion: Handler = async (args, io, commands) => {
  const writers: Readonly<Record<string, Writer>> = { bash, zsh, fish };
  const writer = writers[args.words[0] ?? ''] ?? bash;
  await write(io.stdout, writer(commands, sharedOptions));
  return exitCodes.ok;
};

const optionsOf = (command: CommandSpec, shared: readonly OptionSpec[]): readonly OptionSpec[] => [
  ...command.options,
  ...shared,
];

const wordsOf = (command: CommandSpec): readonly string[] =>
  (command.positionals ?? []).flatMap((positional) => positional.choices ?? []);

function bash(commands: readonly CommandSpec[], shared: readonly OptionSpec[]): string {
  const cases = commands.map((command) => {
    const options = optionsOf(command, shared);
    const offered = [...wordsOf(command), ...options.map((option) => `--${option.name}`)].join(' ');
    const values = options.flatMap((option) => {
      if (option.choices) return [`      --${option.name}) words="${option.choices.join(' ')}" ;;`];
      if (option.completes === 'file')
        return [`      --${option.name}) COMPREPLY=($(compgen -f -- "$word")); return ;;`];
      if (option.completes === 'folder')
        return [`      --${option.name}) COMPREPLY=($(compgen -d -- "$word")); return ;;`];
      return option.value ? [`      --${option.name}) return ;;`] : [];
    });
    return [
      `    ${command.name})`,
      '      case "$before" in',
      ...values,
      `      *) words="${offered}" ;;`,
      '      esac ;;',
    ];
  });
  return [
    '# bash completion for calls; load it with: source <(calls completion bash)',
    '_calls() {',
    '  local at=$COMP_CWORD words=""',
    '  local word="$2" before="$3"',
    '  COMPREPLY=()',
    `  if [ "$at" -eq 1 ]; then words="${commands.map(({ name }) => name).join(' ')} --help --version"`,
    '  else',
    `    case "\${COMP_WORDS[1]}" in`,
    ...cases.flat(),
    '    esac',
    '  fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    'complete -F _calls calls',
    '',
  ].join('\n');
}

function zsh(commands: readonly CommandSpec[], shared: readonly OptionSpec[]): string {
  const quote = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, '\\$&');
  const cases = commands.map((command) => {
    const specs = optionsOf(command, shared).map((option) => {
      const star = option.repeat ? '*' : '';
      const value = option.value ? `:${option.value}:${zshValue(option)}` : '';
      return `'${star}--${option.name}[${quote(option.text)}]${value}'`;
    });
    const words = wordsOf(command);
    return `    ${command.name}) _arguments ${[...specs, ...(words.length ? [`'1:word:(${words.join(' ')})'`] : [])].join(' ')} ;;`;
  });
  return [
    '#compdef calls',
    '# zsh completion for calls; load it with: source <(calls completion zsh)',
    '_calls() {',
    '  if (( CURRENT == 2 )); then',
    '    local -a commands=(',
    ...commands.map(({ name, summary }) => `      '${name}:${quote(summary)}'`),
    '    )',
    "    _describe 'command' commands",
    '    return',
    '  fi',
    '  local name=$words[2]',
    '  shift words; (( CURRENT-- ))',
    '  case "$name" in',
    ...cases,
    '  esac',
    '}',
    'compdef _calls calls',
    '',
  ].join('\n');
}

function zshValue(option: OptionSpec): string {
  if (option.choices) return `(${option.choices.join(' ')})`;
  if (option.completes === 'folder') return '_files -/';
  return option.completes === 'file' ? '_files' : ' ';
}

function fish(commands: readonly CommandSpec[], shared: readonly OptionSpec[]): string {
  const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const lines = commands.flatMap((command) => {
    const when = `-n '__fish_seen_subcommand_from ${command.name}'`;
    return [
      `complete -c calls -n __fish_use_subcommand -f -a ${command.name} -d ${quote(command.summary)}`,
      ...wordsOf(command).map((word) => `complete -c calls ${when} -f -a ${word}`),
      ...optionsOf(command, shared).map((option) => {
        const short = option.short ? ` -s ${option.short}` : '';
        const choices = option.choices ? ` -x -a '${option.choices.join(' ')}'` : '';
        const value = option.completes ? ' -r -F' : option.value ? ' -x' : ' -f';
        return `complete -c calls ${when} -l ${option.name}${short}${choices || value} -d ${quote(option.text)}`;
      }),
    ];
  });
  return ['# fish completion for calls; load it with: calls completion fish | source', ...lines, ''].join(
    '\n',
  );
}
