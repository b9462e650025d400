import { exitCodeTexts } from '../exit-codes.ts';
import type { CommandSpec, OptionSpec } from './command.ts';

/** Help of the whole program: commands, configuration, exit statuses. */
export function programHelp(commands: readonly CommandSpec[], version: string): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    `calls ${version}: call records of the call-attribution API at the command line`,
    '',
    'Usage: calls <command> [options]',
    '',
    'Commands:',
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    'Start here:',
    '  calls demo                  see everything work on made-up calls, without an account',
    '  calls check                 try your configuration, item by item',
    '  calls <command> --help      options and examples of one command',
    '',
    'Configuration: options win over the environment, and the environment over calls.config.json.',
    '  CALLS_BASE_URL, CALLS_LEGACY_BASE_URL, CALLS_API_VERSION (v2 or v3), CALLS_TIME_ZONE,',
    '  CALLS_ACCESS_KEY and CALLS_SECRET_KEY, or CALLS_BEARER_TOKEN. Add _FILE to the name of a key, such',
    '  as CALLS_SECRET_KEY_FILE, to name a file that holds it. Keys are never options. At a terminal calls',
    '  asks for keys that are not set. CALLS_STORE names a store: with duckdb:calls.duckdb, a warehouse that calls sync',
    '  fills, questions are answered from there; --store none asks the API.',
    '',
    'Exit status:',
    ...exitCodeTexts.map(([code, text]) => `  ${String(code).padStart(3)}  ${text}`),
    '',
  ].join('\n');
}

/** Help of one command: usage, options by group, examples. */
export function commandHelp(command: CommandSpec, shared: readonly OptionSpec[]): string {
  const words = (command.positionals ?? []).map(({ name, required }) =>
    required ? ` <${name}>` : ` [${name}]`,
  );
  const options = [...command.options, ...shared];
  const left = new Map(options.map((option) => [option, leftColumn(option)]));
  const width = Math.min(30, Math.max(...[...left.values()].map((text) => text.length)));
  const groups = [...new Set(options.map(groupOf))];
  return [
    `calls ${command.name}: ${command.summary}`,
    '',
    `Usage: calls ${command.name}${words.join('')}${command.options.length > 0 ? ' [options]' : ''}`,
    ...(command.about ? ['', command.about] : []),
    ...(command.positionals ?? []).flatMap(({ name, text }, at) => [
      ...(at === 0 ? [''] : []),
      `  ${name}  ${text}`,
    ]),
    ...groups.flatMap((group) => [
      '',
      `${group}:`,
      ...options
        .filter((option) => groupOf(option) === group)
        .flatMap((option) => row(left.get(option) ?? '', describe(option), width)),
    ]),
    '',
    'Examples:',
    ...command.examples.flatMap(({ line, text }) => [`  ${line}`, `      ${text}`]),
    '',
  ].join('\n');
}

const groupOf = (option: OptionSpec): string => option.group ?? 'Options';

function leftColumn(option: OptionSpec): string {
  return `${option.short ? `-${option.short}, ` : ''}--${option.name}${option.value ? ` ${option.value}` : ''}`;
}

function describe(option: OptionSpec): string {
  const notes = [
    ...(option.choices ? [option.choices.join(', ')] : []),
    ...(option.default === undefined ? [] : [`default: ${option.default}`]),
  ];
  return notes.length > 0 ? `${option.text} (${notes.join('; ')})` : option.text;
}

function row(left: string, text: string, width: number): string[] {
  const lines = wrap(text, 100 - width - 4);
  const indent = ' '.repeat(width + 4);
  if (left.length > width) return [`  ${left}`, ...lines.map((line) => indent + line)];
  return lines.map((line, at) => (at === 0 ? `  ${left.padEnd(width)}  ${line}` : indent + line));
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return [...lines, line];
}
