import { nearest } from '@call-attribution/query-dsl/nearest';
import { parseCondition } from '@call-attribution/questions';
import { expect, test } from 'vitest';
import type { CommandSpec } from '../src/args/command.ts';
import { commandHelp, groupHelp, programHelp } from '../src/args/help.ts';
import { sharedOptions } from '../src/args/options.ts';
import { parseArgs } from '../src/args/parse.ts';
import { named, routeOf } from '../src/args/route.ts';
import { UsageError } from '../src/errors.ts';
import { table } from '../src/table/all.ts';

const { commands, groups } = table;

const command: CommandSpec = {
  name: 'try',
  summary: 'a command for these tests',
  positionals: [{ name: 'sid', text: 'an id', required: true }],
  options: [
    { name: 'limit', short: 'n', value: 'N', text: 'a number' },
    { name: 'columns', value: 'FIELDS', text: 'names', repeat: true },
    { name: 'format', value: 'FORMAT', text: 'a choice', choices: ['csv', 'json'] },
    { name: 'all', text: 'a switch' },
    { name: 'version', value: 'VERSION', text: 'short choices', choices: ['v2', 'v3'] },
    { name: 'tool', value: 'TOOL', text: 'similar choices', choices: ['ads-calls', 'ads-clicks'] },
    { name: 'from', value: 'TIME', text: 'a time' },
  ],
  examples: [],
  load: () => Promise.reject(new Error('not loaded here')),
};
const parse = (...argv: string[]) => parseArgs(argv, command, sharedOptions);

test('values are read in each form, and arguments in order', () => {
  const args = parse('s1', '-n', '5', '--columns=sid, ani', '--columns', 'state', '--all');
  expect(args.words).toEqual(['s1']);
  expect(args.integer('limit')).toBe(5);
  expect(args.list('columns')).toEqual(['sid', 'ani', 'state']);
  expect(args.flag('all')).toBe(true);
  expect(args.flag('debug')).toBe(false);
  expect(args.text('format')).toBeNull();
});

test('a value may be attached to the letter of its option', () => {
  expect(parse('s1', '-n5').integer('limit')).toBe(5);
  expect(parse('s1', '-n=5').integer('limit')).toBe(5);
  expect(parse('s1', '-n', '5').integer('limit')).toBe(5);
});

test('an option has the same letter and kind of value in every command', () => {
  const shapes = new Map<string, string>();
  for (const { name: command, options } of commands) {
    for (const { name, short, completes, value } of options) {
      const shape = JSON.stringify([short, completes, value !== undefined]);
      expect(shape, `${command} --${name}`).toBe(shapes.get(name) ?? shape);
      shapes.set(name, shape);
    }
  }
  const letters = commands.flatMap(({ options }) =>
    options.filter(({ short }) => short).map(({ short, name }) => `${short} ${name}`),
  );
  expect(new Set(letters)).toEqual(new Set(['n limit', 'o output']));
  // No command gives another meaning to the words of the grammar.
  const grammar = ['from', 'to', 'period', 'q', 'where', 'fields', 'by', 'output', 'format', 'limit'];
  for (const { name: command, options } of commands)
    for (const { otherNames = [], name } of options)
      for (const other of otherNames)
        if (grammar.includes(other)) expect(`${command} --${name} for ${other}`).toMatch(/--q for where/);
});

test('a command says which option it cannot do without', () => {
  const strict = { ...command, options: [{ name: 'from', value: 'TIME', text: 'a time', required: true }] };
  const error = failure(() => parseArgs(['s1'], strict, sharedOptions));
  expect([error.message, error.hints]).toEqual(['calls try needs --from TIME', ['see calls try --help']]);
  expect(parseArgs(['s1', '--from', '2026-11-20'], strict, sharedOptions).need('from')).toBe('2026-11-20');
});

test('after -- everything is an argument, and - is a value', () => {
  expect(parse('--', '--all').words).toEqual(['--all']);
  expect(parse('s1', '--limit', '-').text('limit')).toBe('-');
});

const mistakes: [string, string[], RegExp, RegExp?][] = [
  ['an unknown option', ['s1', '--colums', 'x'], /no option --colums/, /did you mean --columns/],
  ['an option given twice', ['s1', '--limit', '1', '--limit', '2'], /was given twice/],
  ['a missing value', ['s1', '--limit'], /needs a value: --limit N/],
  ['an option where a value belongs', ['s1', '--limit', '--all'], /needs a value/],
  ['a value for an on/off option', ['s1', '--all=yes'], /takes no value/],
  ['a value outside the choices', ['s1', '--format', 'jsn'], /cannot be "jsn"/, /did you mean json/],
  ['a choice that is a switch', ['s1', '--format', 'all'], /cannot be "all"/, /use --all: a switch/],
  ['a choice of two letters', ['s1', '--version', 'v4'], /cannot be "v4"/, /^use one of: v2, v3$/],
  [
    'the beginning of two choices',
    ['s1', '--tool', 'ads'],
    /cannot be "ads"/,
    /mean ads-calls or ads-clicks\?/,
  ],
  ['letters in another order', ['s1', '--form', '7d'], /no option --form/, /did you mean --from\?/],
  ['a missing argument', [], /needs sid/],
  ['one argument too many', ['s1', 's2'], /one argument too many: "s2"/],
  [
    'a key as an option',
    ['s1', '--secret-key', 'hunter2-very-secret'],
    /keys are never options/,
    /CALLS_SECRET_KEY/,
  ],
  ['a key as an option with =', ['s1', '--token=hunter2-very-secret'], /keys are never options/],
];
test.each(mistakes)('it refuses %s and says what to type', (_, argv, message, hint) => {
  const error = failure(() => parse(...argv));
  expect(error.message).toMatch(message);
  if (hint) expect(error.hints.join('\n')).toMatch(hint);
  expect(`${error.message} ${error.hints.join(' ')}`).not.toContain('hunter2');
});

test.each([['abc'], ['-1'], ['1.5'], ['99999999999999999999'], ['']])(
  'it refuses --limit %j, which is not a whole number',
  (text) => {
    expect(failure(() => parse('s1', `--limit=${text}`).integer('limit')).message).toMatch(
      /must be a whole number/,
    );
  },
);

test('numbers must be within their bounds', () => {
  expect(failure(() => parse('s1', '--limit', '0').integer('limit', { min: 1, max: 9 })).message).toMatch(
    /from 1 to 9/,
  );
  expect(parse('s1', '--limit', '2.5').number('limit')).toBe(2.5);
});

test('a name is suggested only when it is similar', () => {
  expect(nearest('exprot', ['export', 'list'])).toBe('export');
  expect(nearest('rep', ['export', 'report'])).toBe('report');
  expect(nearest('zzzz', ['export', 'list'])).toBeUndefined();
});

test('the condition that help shows can be copied into a shell, line break and all', () => {
  const shown = commands.flatMap((spec) =>
    [
      ...commandHelp(spec, sharedOptions)
        .join('\n')
        .matchAll(/a condition on any field: "([^"$`\\!]+)"/g),
    ].flatMap(([, text]) => text ?? []),
  );
  expect(shown.length).toBeGreaterThan(3);
  for (const text of shown) expect(parseCondition(text), text).toMatchObject({ ok: true });
});

test('every command has help with each of its options, and examples that parse', () => {
  for (const spec of commands) {
    const help = commandHelp(spec, sharedOptions).join('\n');
    for (const option of [...spec.options, ...sharedOptions]) expect(help).toContain(`--${option.name}`);
    const names = [...spec.options, ...sharedOptions].map((option) => option.name);
    expect(new Set(names).size, spec.name).toBe(names.length);
    expect(spec.examples.length, spec.name).toBeGreaterThan(0);
    for (const { line } of spec.examples) {
      const words = line.match(/calls (.*?)(?: [<>|] .*|\)?$)/)?.[1] ?? '';
      const argv = [...words.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
        (match) => match[1] ?? match[2] ?? match[3] ?? '',
      );
      const { command, rest } = routeOf(argv, table, sharedOptions);
      expect(command, line).toBe(spec);
      expect(() => parseArgs(rest, spec, sharedOptions), line).not.toThrow();
    }
    for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(160);
  }
  const whole = programHelp(table, '1.2.3').join('\n');
  for (const { name } of commands) expect(whole).toContain(`  ${name.split(' ')[0]} `);
});

test('a group lists its commands, and each command of several words is in one', () => {
  for (const { name } of commands.filter(({ name }) => name.includes(' ')))
    expect(
      groups.some((group) => name.startsWith(`${group.name} `)),
      name,
    ).toBe(true);
  for (const group of groups) {
    const help = groupHelp(group, table).join('\n');
    const own = commands.filter(({ name }) => name.startsWith(`${group.name} `));
    expect(own.length, group.name).toBeGreaterThan(1);
    for (const { name } of own) expect(help).toContain(`  ${name.slice(group.name.length + 1)} `);
    for (const { line } of group.examples) {
      const argv = [...line.matchAll(/'([^']*)'|(\S+)/g)]
        .map(([, quoted, word]) => quoted ?? word ?? '')
        .slice(1);
      const { command, rest } = routeOf(argv, table, sharedOptions);
      expect(() => command && parseArgs(rest, command, sharedOptions), line).not.toThrow();
      expect(command?.name, line).toMatch(new RegExp(`^${group.name} `));
    }
  }
});

const route = (...argv: string[]) => {
  const { command, group, rest } = routeOf(argv, table, sharedOptions);
  return [command?.name ?? group?.name ?? null, rest];
};
test.each<[string[], string | null, string[]]>([
  [['list', '-n', '5'], 'list', ['-n', '5']],
  [['--debug', 'count', '--json'], 'count', ['--debug', '--json']],
  [['-v', 'store', '--help', 'accounts', 'list'], 'store accounts list', ['-v', '--help']],
  [['fleet'], 'fleet', []],
  [['fleet', '--help'], 'fleet', ['--help']],
  [['store', 'accounts'], 'store accounts', []],
  [['fleet', 'work', 'job.json'], 'fleet work', ['job.json']],
  [[], null, []],
])('%j is the command %s', (argv, name, rest) => {
  expect(route(...argv)).toEqual([name, rest]);
});

test.each<[string[], RegExp, RegExp]>([
  [['lst'], /calls has no command "lst"/, /did you mean calls list\?/],
  [['missed'], /calls has no command "missed"/, /did you mean calls report --measures missed\?/],
  [['delete'], /calls has no command "delete"/, /did you mean calls store purge\?/],
  [['fleet', 'wrok'], /calls fleet has no command "wrok"/, /did you mean calls fleet work\?/],
  [
    ['store', 'accounts', 'lits'],
    /calls store accounts has no command "lits"/,
    /calls store accounts list\?/,
  ],
  [['--json', 'list'], /calls needs a command before --json/, /come after it: calls list --json/],
  [
    ['store', '--store', 'x', 'sizes'],
    /calls store needs a command before --store/,
    /calls store sizes --store/,
  ],
  [['--zzz'], /needs a command before --zzz/, /calls --help lists the commands/],
])('%j is refused with the nearest command', (argv, message, hint) => {
  const error = failure(() => route(...argv));
  expect(error.message).toMatch(message);
  expect(error.hints.join('\n')).toMatch(hint);
});

test('help of a name that there is not names the nearest', () => {
  expect(named('fleet retry', table).command?.name).toBe('fleet retry');
  expect(failure(() => named('nosuch', table)).message).toMatch(/no command "nosuch"/);
  expect(failure(() => named('exprot', table)).hints[0]).toBe('did you mean calls export?');
});

function failure(act: () => unknown): UsageError {
  try {
    act();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
