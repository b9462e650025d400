import { nearest } from '@call-attribution/query-dsl/nearest';
import { UsageError } from '../errors.ts';
import type { CommandGroup, CommandSpec, CommandTable, OptionSpec } from './command.ts';

/** What the first words name: a command, a group of commands, or nothing where only common options were typed. */
export type Named =
  | { readonly command: CommandSpec; readonly group: null }
  | { readonly command: null; readonly group: CommandGroup | null };

/** What was typed: what it names, and the words for it. */
export type Route = Named & { readonly rest: readonly string[] };

/** Finds the command. Common options may come before it; the words after it are left to the parser. */
export function routeOf(argv: readonly string[], table: CommandTable, common: readonly OptionSpec[]): Route {
  const before: string[] = [];
  let name = '';
  for (const [at, word] of argv.entries()) {
    if (word.startsWith('-')) {
      if (!isCommon(word, common)) throw optionFirst(word, name, argv.slice(at + 1), table);
      before.push(word);
      continue;
    }
    name = joined(name, word);
    const found = named(name, table);
    if (found.command !== null) return { ...found, rest: [...before, ...argv.slice(at + 1)] };
  }
  return { ...named(name, table), rest: before };
}

/** What this name is of; an error with the nearest one when there is none. */
export function named(name: string, table: CommandTable): Named {
  if (name === '') return { command: null, group: null };
  const command = table.commands.find((command) => command.name === name);
  if (command !== undefined) return { command, group: null };
  const group = table.groups.find((group) => group.name === name);
  if (group !== undefined) return { command: null, group };
  throw noSuchCommand(name, table);
}

/** The next words after a name, each once, with what help says of them. */
export function nextWords(
  name: string,
  { commands, groups }: CommandTable,
): [word: string, summary: string][] {
  const found = new Map<string, string>();
  for (const command of commands) {
    const rest = afterName(command.name, name);
    if (rest === null) continue;
    const [word = ''] = rest.split(' ');
    const next = joined(name, word);
    const { summary } = groups.find((group) => group.name === next) ?? command;
    if (!found.has(word)) found.set(word, summary);
  }
  return [...found];
}

/** What comes after the name of a group in the name of a command; null when it is not in that group. */
export function afterName(command: string, group: string): string | null {
  if (group === '') return command;
  return command.startsWith(`${group} `) ? command.slice(group.length + 1) : null;
}

const joined = (...words: readonly string[]): string => words.filter(Boolean).join(' ');

const isCommon = (word: string, common: readonly OptionSpec[]): boolean =>
  common.some(({ name, short }) => word === `--${name}` || word === `-${short}`);

function optionFirst(option: string, name: string, rest: readonly string[], table: CommandTable): UsageError {
  const words = nextWords(name, table).map(([word]) => word);
  const next = rest.find((word) => words.includes(word));
  const calls = joined('calls', name);
  return new UsageError(`${calls} needs a command before ${option}`, {
    hints: [
      next === undefined
        ? `${calls} --help lists the commands`
        : `options of a command come after it: ${calls} ${next} ${option}`,
    ],
  });
}

/** What other programs call a command. */
const otherNames: Readonly<Record<string, string>> = {
  check: 'doctor',
  config: 'init',
  configure: 'init',
  delete: 'store purge',
  download: 'export',
  login: 'init',
  missed: 'report --measures missed',
  remove: 'store purge',
  setup: 'init',
  show: 'get',
};

/** How to do what is no command. */
const otherWays: Readonly<Record<string, string>> = {
  'fleet cancel': 'stop its workers (Ctrl-C, SIGTERM); what was read stays',
  'fleet pause': 'stop its workers (Ctrl-C, SIGTERM); calls fleet work JOB.json goes on where they were',
  'fleet resume': 'calls fleet work JOB.json goes on where its workers were stopped',
  'store export':
    'calls export --store URL -o calls.ndjson writes its calls; to move a store, copy the SQLite file, or use pg_dump',
  'store import':
    'calls sync --store URL fills a store; to move one, copy the SQLite file, or use pg_dump and pg_restore',
  'store rebuild': 'calls sync --store URL --restart reads and counts all calls again',
};

function noSuchCommand(name: string, table: CommandTable): UsageError {
  const at = name.lastIndexOf(' ');
  const [parent, word] = at < 0 ? ['', name] : [name.slice(0, at), name.slice(at + 1)];
  const other = parent === '' && Object.hasOwn(otherNames, word) ? otherNames[word] : undefined;
  const inGroup = table.commands
    .map((command) => afterName(command.name, parent))
    .find((rest) => rest?.endsWith(` ${word}`));
  const near =
    other ??
    inGroup ??
    nearest(
      word,
      nextWords(parent, table).map(([word]) => word),
    );
  const calls = joined('calls', parent);
  const way = Object.hasOwn(otherWays, name) ? otherWays[name] : near && `did you mean ${calls} ${near}?`;
  return new UsageError(`${calls} has no command ${JSON.stringify(word)}`, {
    hints: [...(way ? [way] : []), `${calls} --help lists the commands`],
  });
}
