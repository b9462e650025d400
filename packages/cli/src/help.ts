import type { Option } from 'commander';
import type { Example } from './command.ts';
import { exitCodeTexts } from './exit-codes.ts';
import { sharedOptions } from './options.ts';
import { type Calls, choicesOf, everyCommand, headingOf, valueIn } from './program.ts';
import { wrap } from './terminal/width.ts';
import { version } from './version.ts';

/** The headings of the list of commands, and what is under them. */
const headings: Readonly<Record<string, readonly string[]>> = {
  Ask: ['list', 'get', 'count', 'report', 'sql', 'fields', 'sms'],
  Copy: ['export', 'sync', 'verify', 'store'],
  Feed: ['sheet', 'push'],
  Serve: ['serve', 'mcp', 'fleet'],
  Operate: ['init', 'doctor', 'demo', 'completion'],
};

/** What `calls help` knows besides commands. */
export const topics: Readonly<Record<string, (columns: number | null) => string[]>> = {
  options: (columns) => [
    'Options that mean the same in every command that has them.',
    ...Object.entries(sharedOptions).flatMap(([heading, lines]) => [
      '',
      `${heading}:`,
      ...rows(Object.entries(lines), widthFor(columns)),
    ]),
  ],
  environment: (columns) => [
    ...wrap(
      'Options win over the environment, and the environment over the configuration file that calls init writes, which can also hold several accounts.',
      widthFor(columns),
    ),
    '',
    'Variables:',
    ...rows(variables, widthFor(columns)),
    '',
    'Exit status:',
    ...rows(
      exitCodeTexts.map(([code, text]) => [String(code).padStart(3), text]),
      widthFor(columns),
    ),
  ],
};

const variables: readonly Example[] = [
  ['CALLS_BASE_URL', 'URL of the API, up to /v2 and /v3; CALLS_LEGACY_BASE_URL is that of the SMS listing'],
  ['CALLS_API_VERSION', 'v2 or v3'],
  ['CALLS_TIME_ZONE', 'time zone that the API writes its times in'],
  [
    'CALLS_ACCESS_KEY',
    'with CALLS_SECRET_KEY, or CALLS_BEARER_TOKEN: the keys, which are never options. CALLS_SECRET_KEY_FILE and the like name a file that holds one',
  ],
  [
    'CALLS_STORE',
    'a copy that calls sync fills, from which questions are answered: sqlite:calls.db or postgres://user@host/name; --store none asks the API',
  ],
  ['CALLS_TIMEOUT', 'how long a request may take, such as 3m'],
  ['CALLS_CONFIG', 'the configuration file'],
  ['CALLS_PAGE_PASSWORD', 'the password of the web page of calls serve, for people without keys'],
  ['CALLS_FLEET', 'the engine of calls fleet; CALLS_FLEET_KEYS is the folder of its keys'],
  [
    'CALLS_LOG',
    "debug, info, warn or error logs the requests on stderr, without keys and callers' data; CALLS_LOG_FORMAT=json makes the lines JSON",
  ],
];

/** The width of help that goes to a pipe or a file, and at most elsewhere. */
const usualWidth = 100;

const widthFor = (columns: number | null): number => Math.min(usualWidth, columns ?? usualWidth);

/** Help of the program, of a group, or of one command. */
export function helpOf(command: Calls, columns: number | null): string[] {
  const width = widthFor(columns);
  if (command.spec !== null) return commandHelp(command, width);
  return command.parent === null ? programHelp(command, width) : groupHelp(command, width);
}

function programHelp(program: Calls, width: number): string[] {
  return [
    ...wrap(`calls ${version}: call records of the call-attribution API at the command line`, width),
    '',
    'Usage: calls <command> [options]',
    '',
    'Start here:',
    ...rows(
      [
        ['calls demo', 'see everything work on generated calls, without an account'],
        ['calls init', 'ask for the URL and the keys of your account, and keep them'],
        ['calls list', 'the latest calls'],
        ['calls <command> --help', 'what one command does, with examples'],
        [
          'calls help options',
          'options that many commands have; calls help environment: variables, exit status',
        ],
      ],
      width,
    ),
    ...Object.entries(headings).flatMap(([heading, names]) => [
      '',
      `${heading}:`,
      ...rows(
        names.flatMap((name) =>
          program.commands
            .filter((each) => each.name() === name)
            .map((each): Example => [name, each.description()]),
        ),
        width,
        10,
      ),
    ]),
  ];
}

function groupHelp(command: Calls, width: number): string[] {
  const { path, group } = command;
  return [
    ...wrap(`${path}: ${command.description()}`, width),
    '',
    `Usage: ${path} <command> [options]`,
    ...paragraph(group?.about, width),
    '',
    ...exampleRows(group?.examples ?? [], width),
    '',
    'Commands:',
    ...rows(
      everyCommand(command).map((each) => [each.name(), each.description()]),
      width,
    ),
    '',
    ...wrap(`${path} <command> --help shows the options of one command.`, width),
  ];
}

/** What it does, examples, its own options; those that many commands have by name only. */
function commandHelp(command: Calls, width: number): string[] {
  const { path, spec } = command;
  const words = command.registeredArguments;
  const options = command.options.filter((option) => spec !== null && option.flags in spec.options);
  const own = options.filter((option) => headingOf(option) === 'Options');
  const named = Object.keys(sharedOptions).flatMap((heading) => {
    const names = options
      .filter((option) => headingOf(option) === heading)
      .map((option) => `--${option.name()}`);
    return names.length === 0
      ? []
      : ['', `${heading}:`, ...wrap(names.join(', '), width - 2).map((line) => `  ${line}`)];
  });
  const usage = [path, ...words.map((word) => (word.required ? `<${word.name()}>` : `[${word.name()}]`))];
  return [
    ...wrap(`${path}: ${command.description()}`, width),
    '',
    `Usage: ${usage.join(' ')}${options.length > 0 ? ' [options]' : ''}`,
    ...paragraph(spec?.about, width),
    '',
    ...exampleRows(spec?.examples ?? [], width),
    ...(words.length === 0
      ? []
      : [
          '',
          ...rows(
            words.map((word) => [word.name(), withChoices(word.description, word.argChoices)]),
            width,
          ),
        ]),
    ...(own.length === 0
      ? []
      : [
          '',
          'Options:',
          ...rows(
            own.map((option) => [option.flags, textOf(option, command)]),
            width,
          ),
        ]),
    ...named,
    ...(named.length === 0 ? [] : ['', 'calls help options explains the options that are only named.']),
  ];
}

const withChoices = (text: string, choices: readonly string[] | undefined): string =>
  choices === undefined ? text : `${text}: ${choices.join(', ')}`;

function textOf(option: Option, { spec }: Calls): string {
  const isInLine = valueIn(option.flags)?.includes('|');
  const choices = isInLine || spec === null ? undefined : choicesOf(option.flags, spec, option.name());
  const text = withChoices(option.description, choices);
  return option.mandatory ? `${text} (required)` : text;
}

const paragraph = (text: string | undefined, width: number): string[] =>
  text === undefined ? [] : ['', ...wrap(text, width)];

const exampleRows = (examples: readonly Example[], width: number): string[] => [
  'Examples:',
  ...examples.flatMap(([line, text]) => [
    ...exampleLines(line, width - 2).map((line) => `  ${line}`),
    ...wrap(text, width - 6).map((line) => `      ${line}`),
  ]),
];

/** Terms with their explanations next to them, or below them where there is little width. */
function rows(
  entries: readonly (readonly [left: string, text: string])[],
  width: number,
  column = Math.min(30, Math.max(...entries.map(([left]) => left.length))),
): string[] {
  const isNarrow = width - column < 34;
  const indent = ' '.repeat(isNarrow ? 6 : column + 4);
  return entries.flatMap(([left, text]) => {
    const lines = wrap(text, width - indent.length);
    if (isNarrow || left.length > column) return [`  ${left}`, ...lines.map((line) => indent + line)];
    return lines.map((line, at) => (at === 0 ? `  ${left.padEnd(column)}  ${line}` : indent + line));
  });
}

/** A command to copy, continued with a backslash where it is too long: options stay with their values. */
function exampleLines(line: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of line.split(/ (?=--?[a-z])/)) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(part);
    else if (last.length + part.length + 3 <= width) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(`  ${part}`);
  }
  return lines.map((each, at) => (at < lines.length - 1 ? `${each} \\` : each));
}
