import type { Command, Lines } from './command.ts';
import { headings } from './commands/index.ts';
import { exitCodeTexts } from './errors.ts';
import { sharedOptions } from './options.ts';
import { type Calls, choicesOf, everyCommand, headingOf, valueIn } from './program.ts';
import { wrap } from './terminal/width.ts';
import { version } from './version.ts';

/** What `calls help` knows besides commands. */
export const topics: Readonly<Record<string, (columns: number | null) => string[]>> = {
  options(columns) {
    const { rows } = pageOf(columns);
    return sections([
      ['Options that mean the same in every command that has them.'],
      ...Object.entries(sharedOptions).map(([heading, lines]) =>
        rows(heading, Object.entries(lines)),
      ),
    ]);
  },
  environment(columns) {
    const { text, rows } = pageOf(columns);
    const statuses = exitCodeTexts.map(([code, text]): Row => [String(code).padStart(3), text]);
    return sections([
      text(
        'Options win over the environment, and the environment over the configuration file that calls init writes, which can also hold several accounts.',
      ),
      rows('Variables', Object.entries(variables)),
      rows('Exit status', statuses),
    ]);
  },
};

const variables: Lines = {
  CALLS_BASE_URL:
    'URL of the API, up to /v2 and /v3; CALLS_LEGACY_BASE_URL is that of the SMS listing',
  CALLS_API_VERSION: 'v2 or v3',
  CALLS_TIME_ZONE: 'time zone that the API writes its times in',
  CALLS_ACCESS_KEY:
    'with CALLS_SECRET_KEY, or CALLS_BEARER_TOKEN: the keys, which are never options. CALLS_SECRET_KEY_FILE and the like name a file that holds one',
  CALLS_STORE:
    'a copy that calls sync fills, from which questions are answered: sqlite:calls.db or postgres://user@host/name; --store none asks the API',
  CALLS_TIMEOUT: 'how long a request may take, such as 3m',
  CALLS_CONFIG: 'the configuration file',
  CALLS_PAGE_PASSWORD: 'the password of the web page of calls serve, for people without keys',
  CALLS_FLEET: 'the engine of calls fleet; CALLS_FLEET_KEYS is the folder of its keys',
  CALLS_LOG:
    "debug, info, warn or error logs the requests on stderr, without keys and callers' data; CALLS_LOG_FORMAT=json makes the lines JSON",
};

/** Help of the program, of a group, or of one command. */
export function helpOf(command: Calls, columns: number | null): string[] {
  if (command.spec !== null) return sections(commandHelp(command, command.spec, pageOf(columns)));
  return sections((command.parent === null ? programHelp : groupHelp)(command, pageOf(columns)));
}

const programHelp = (program: Calls, { text, rows }: Page): string[][] => [
  text(`calls ${version}: call records of the call-attribution API at the command line`),
  ['Usage: calls <command> [options]'],
  rows('Start here', [
    ['calls demo', 'see everything work on generated calls, without an account'],
    ['calls init', 'ask for the URL and the keys of your account, and keep them'],
    ['calls list', 'the latest calls'],
    ['calls <command> --help', 'what one command does, with examples'],
    [
      'calls help options',
      'options that many commands have; calls help environment: variables, exit status',
    ],
  ]),
  ...Object.entries(headings).map(([heading, commands]) => {
    const words = commands.map(({ name }) => name.split(' ')[0]);
    const found = program.commands.filter((each) => words.includes(each.name()));
    return rows(
      heading,
      found.map((each) => [each.name(), each.description()]),
      10,
    );
  }),
];

const groupHelp = (command: Calls, { text, rows, examples }: Page): string[][] => [
  text(`${command.path}: ${command.description()}`),
  [`Usage: ${command.path} <command> [options]`],
  text(command.group?.about ?? ''),
  examples(command.group?.examples ?? {}),
  rows(
    'Commands',
    everyCommand(command).map((each) => [each.name(), each.description()]),
  ),
  text(`${command.path} <command> --help shows the options of one command.`),
];

/** What it does, examples, its own options; those that many commands have by name only. */
function commandHelp(
  command: Calls,
  spec: Command,
  { text, rows, names, examples }: Page,
): string[][] {
  const { path, registeredArguments: words } = command;
  const options = command.options.filter(({ flags }) => flags in spec.options);
  const under = (heading: string) => options.filter((option) => headingOf(option) === heading);
  const shared = Object.keys(sharedOptions).map((heading) =>
    names(
      heading,
      under(heading).map((option) => `--${option.name()}`),
    ),
  );
  const isNamed = shared.some((lines) => lines.length > 0);
  const usage = [
    path,
    ...words.map((word) => (word.required ? `<${word.name()}>` : `[${word.name()}]`)),
  ];
  const withChoices = (text: string, choices: readonly string[] | undefined) =>
    choices === undefined ? text : `${text}: ${choices.join(', ')}`;
  return [
    text(`${path}: ${command.description()}`),
    [`Usage: ${usage.join(' ')}${options.length > 0 ? ' [options]' : ''}`],
    text(spec.about ?? ''),
    examples(spec.examples),
    rows(
      '',
      words.map((word) => [word.name(), withChoices(word.description, word.argChoices)]),
    ),
    rows(
      'Options',
      under('Options').map((option) => {
        const isInLine = valueIn(option.flags)?.includes('|');
        const choices = isInLine ? undefined : choicesOf(option.flags, spec, option.name());
        const text = withChoices(option.description, choices);
        return [option.flags, option.mandatory ? `${text} (required)` : text];
      }),
    ),
    ...shared,
    isNamed ? ['calls help options explains the options that are only named.'] : [],
  ];
}

/** Sections with an empty line between them; those without lines are left out. */
const sections = (all: readonly (readonly string[])[]): string[] =>
  all
    .filter((lines) => lines.length > 0)
    .flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));

type Page = ReturnType<typeof pageOf>;
type Row = readonly [left: string, text: string];

/**
 * What sections are made of, within the width of a terminal, or of 100 characters where that is
 * more or not known.
 */
function pageOf(columns: number | null) {
  const width = Math.min(100, columns ?? 100);
  const text = (words: string): string[] => (words === '' ? [] : wrap(words, width));
  const indented = (words: string, by: number): string[] =>
    wrap(words, width - by).map((line) => ' '.repeat(by) + line);
  return {
    text,
    names: (heading: string, list: readonly string[]): string[] =>
      list.length === 0 ? [] : [`${heading}:`, ...indented(list.join(', '), 2)],
    examples: (examples: Lines): string[] => [
      'Examples:',
      ...Object.entries(examples).flatMap(([line, text]) => [
        ...exampleLines(line, width - 2).map((line) => `  ${line}`),
        ...indented(text, 6),
      ]),
    ],
    /** Terms with their explanations next to them, under a heading. */
    rows(heading: string, entries: readonly Row[], least = 0): string[] {
      const column = Math.min(
        30,
        Math.floor(width / 3),
        Math.max(least, ...entries.map(([left]) => left.length)),
      );
      const lines = entries.flatMap(([left, text]) => {
        const [first = '', ...more] = indented(text, column + 4);
        if (left.length > column) return [`  ${left}`, first, ...more];
        return [`  ${left}`.padEnd(column + 4) + first.trimStart(), ...more];
      });
      return heading === '' || lines.length === 0 ? lines : [`${heading}:`, ...lines];
    },
  };
}

/**
 * A command to copy, continued with a backslash where it is too long: options stay with their
 * values.
 */
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
