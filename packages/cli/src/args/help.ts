import { exitCodeTexts } from '../exit-codes.ts';
import { wrap } from '../term/width.ts';
import type { CommandGroup, CommandSpec, CommandTable, Example, OptionSpec } from './command.ts';
import { afterName, nextWords } from './route.ts';

/** The width of help that goes to a pipe or a file, and at most elsewhere. */
const usualWidth = 100;

const widthFor = (width: number | null): number => Math.min(usualWidth, width ?? usualWidth);

/** Help of the whole program: commands, configuration, exit statuses. */
export function programHelp(table: CommandTable, version: string, columns: number | null = null): string[] {
  const width = widthFor(columns);
  return [
    ...wrap(`calls ${version}: call records of the call-attribution API at the command line`, width),
    '',
    'Usage: calls <command> [options]',
    '',
    'Commands:',
    ...rows(nextWords('', table), width),
    '',
    'Start here:',
    ...rows(
      [
        ['calls demo', 'see everything work on generated calls, without an account'],
        ['calls doctor', 'check configuration, network, stores and disk, item by item'],
        ['calls <command> --help', 'options and examples of one command'],
      ],
      width,
    ),
    '',
    'Configuration:',
    ...configuration.flatMap((text) => wrap(text, width - 2).map((line) => `  ${line}`)),
    '',
    'Exit status:',
    ...rows(
      exitCodeTexts.map(([code, text]) => [String(code).padStart(3), text]),
      width,
    ),
  ];
}

const configuration = [
  'Options win over the environment, and the environment over the configuration file, which can also hold several accounts.',
  'CALLS_BASE_URL, CALLS_LEGACY_BASE_URL, CALLS_API_VERSION (v2 or v3), CALLS_TIME_ZONE, CALLS_TIMEOUT (how long a request may take, such as 3m), CALLS_ACCESS_KEY and CALLS_SECRET_KEY, or CALLS_BEARER_TOKEN. Add _FILE to the name of a key, such as CALLS_SECRET_KEY_FILE, to name a file that holds it. Keys are never options. At a terminal calls asks for keys that are not set.',
  'CALLS_STORE names a copy that calls sync fills: duckdb:calls.duckdb, sqlite:calls.db or postgres://user@host/name. Questions are answered from there; --store none asks the API.',
  "CALLS_LOG=debug, info, warn or error logs the requests to the API on stderr, without keys and callers' data; CALLS_LOG_FORMAT=json makes the lines JSON.",
];

/** Help of a group of commands: all of them, however many words they have. */
export function groupHelp(
  group: CommandGroup,
  { commands }: CommandTable,
  columns: number | null = null,
): string[] {
  const width = widthFor(columns);
  const entries = commands.flatMap(({ name, summary }): [string, string][] => {
    const rest = afterName(name, group.name);
    return rest === null ? [] : [[rest, summary]];
  });
  return [
    ...wrap(`calls ${group.name}: ${group.summary}`, width),
    '',
    `Usage: calls ${group.name} <command> [options]`,
    ...paragraph(group.about, width),
    '',
    'Commands:',
    ...rows(entries, width),
    '',
    ...exampleRows(group.examples, width),
    '',
    ...wrap(`calls ${group.name} <command> --help shows the options of one command.`, width),
  ];
}

/** Help of one command: usage, options by group, examples. */
export function commandHelp(
  command: CommandSpec,
  shared: readonly OptionSpec[],
  columns: number | null = null,
): string[] {
  const width = widthFor(columns);
  const words = (command.positionals ?? []).map(({ name, required }) =>
    required ? ` <${name}>` : ` [${name}]`,
  );
  const options = [...command.options, ...shared];
  const groups = [...new Set(options.map(groupOf))];
  const left = leftWidth(options.map(leftColumn));
  return [
    ...wrap(`calls ${command.name}: ${command.summary}`, width),
    '',
    `Usage: calls ${command.name}${words.join('')}${command.options.length > 0 ? ' [options]' : ''}`,
    ...paragraph(command.about, width),
    ...(command.positionals
      ? [
          '',
          ...rows(
            command.positionals.map(({ name, text }) => [name, text]),
            width,
          ),
        ]
      : []),
    ...groups.flatMap((group) => [
      '',
      `${group}:`,
      ...rows(
        options
          .filter((option) => groupOf(option) === group)
          .map((option) => [leftColumn(option), describe(option)]),
        width,
        left,
      ),
    ]),
    '',
    ...exampleRows(command.examples, width),
  ];
}

const paragraph = (text: string | undefined, width: number): string[] =>
  text === undefined ? [] : ['', ...wrap(text, width)];

const exampleRows = (examples: readonly Example[], width: number): string[] => [
  'Examples:',
  ...examples.flatMap(({ line, text }) => [
    ...exampleLines(line, width - 2).map((line) => `  ${line}`),
    ...wrap(text, width - 6).map((line) => `      ${line}`),
  ]),
];

const groupOf = (option: OptionSpec): string => option.group ?? 'Options';

function leftColumn(option: OptionSpec): string {
  return `${option.short ? `-${option.short}, ` : ''}--${option.name}${option.value ? ` ${option.value}` : ''}`;
}

function describe(option: OptionSpec): string {
  const notes = [
    ...(option.choices ? [option.choices.join(', ')] : []),
    ...(option.default === undefined ? [] : [`default: ${option.default}`]),
    ...(option.required ? ['required'] : []),
  ];
  return notes.length > 0 ? `${option.text} (${notes.join('; ')})` : option.text;
}

const leftWidth = (left: readonly string[]): number =>
  Math.min(30, Math.max(...left.map((text) => text.length)));

/** Terms with their explanations next to them, or below them where there is little width. */
function rows(
  entries: readonly (readonly [left: string, text: string])[],
  width: number,
  column = leftWidth(entries.map(([left]) => left)),
): string[] {
  const isNarrow = width - column < 34;
  const indent = ' '.repeat(isNarrow ? 6 : column + 4);
  return entries.flatMap(([left, text]) => {
    const lines = wrap(text, width - indent.length);
    if (isNarrow || left.length > column) return [`  ${left}`, ...lines.map((line) => indent + line)];
    return lines.map((line, at) => (at === 0 ? `  ${left.padEnd(column)}  ${line}` : indent + line));
  });
}

/** A command to copy, continued with a backslash where it is too long. */
function exampleLines(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  // Options stay with their values, and quotes with what is in them.
  const parts = line.match(/--?[\w-]+(?: (?:'[^']*'|"[^"]*"|(?!-)\S+))?|'[^']*'|"[^"]*"|\S+/g) ?? [line];
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + part.length <= width - 2)
      lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(last === undefined ? part : `  ${part}`);
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line} \\` : line));
}
