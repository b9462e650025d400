import { readFileSync } from 'node:fs';
import { parseCondition } from '@call-attribution/questions';
import { expect, test } from 'vitest';
import { commands, groups } from '../src/commands/index.ts';
import { sharedOptions } from '../src/options.ts';
import { type ChosenCommand, programOf } from '../src/program.ts';
import { runQuick, wordsOf } from './in-process.ts';

const helpOf = async (...words: string[]): Promise<string> => {
  const { code, stdout } = await runQuick([...words, '--help']);
  expect(code, words.join(' ')).toBe(0);
  return stdout;
};

/** The command that a line runs, and its options, without running it. */
function parsed(argv: readonly string[]): ChosenCommand | undefined {
  const asked: ChosenCommand[] = [];
  programOf(commands, groups, (found) => asked.push(found)).parse(argv, { from: 'user' });
  return asked[0];
}

const wordsIn = (line: string) => wordsOf(line.match(/calls (.*?)(?: [<>|] .*|\)?$)/)?.[1] ?? '');

test.each(commands.map((spec) => [spec.name, spec] as const))(
  'calls %s has help with each of its options, and examples that parse',
  async (name, spec) => {
    const help = await helpOf(...name.split(' '));
    expect(help).toContain(spec.summary.slice(0, 40));
    for (const flags of Object.keys(spec.options))
      expect(help).toContain(/--[\w-]+/.exec(flags)?.[0]);
    expect(spec.examples).not.toEqual({});
    for (const line of Object.keys(spec.examples))
      expect(parsed(wordsIn(line))?.command, line).toBe(spec);
    for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100);
    expect((await runQuick(['help', ...name.split(' ')])).stdout).toBe(help);
  },
);

test('a group lists its commands, and its examples parse', async () => {
  for (const { name, examples } of groups) {
    const help = await helpOf(name);
    const own = commands.filter((each) => each.name.startsWith(`${name} `));
    for (const each of own) expect(help).toContain(`  ${each.name.slice(name.length + 1)} `);
    for (const line of Object.keys(examples))
      expect(own, line).toContain(parsed(wordsIn(line))?.command);
  }
});

test('the help of the program lists every command under a heading, in at most 45 lines', async () => {
  const help = await helpOf();
  for (const { name } of commands)
    expect(help).toMatch(new RegExp(`^  ${name.split(' ')[0]} `, 'm'));
  expect(help.trimEnd().split('\n').length).toBeLessThanOrEqual(45);
  expect(await runQuick([])).toMatchObject({ code: 2, stdout: help });
});

test('calls help options explains what help of a command only names', async () => {
  const { stdout } = await runQuick(['help', 'options']);
  for (const lines of Object.values(sharedOptions))
    for (const flags of Object.keys(lines)) expect(stdout).toContain(flags);
  const condition =
    /a condition on any field: "([^"]+)"/.exec(stdout.replace(/\n +/g, ' '))?.[1] ?? '';
  expect(parseCondition(condition)).toMatchObject({ ok: true });
  expect((await runQuick(['help', 'environment'])).stdout).toMatch(
    /CALLS_BASE_URL[\s\S]*Exit status/,
  );
});

test('options are typed in each form', () => {
  const argsOf = (...argv: string[]) => parsed(['list', ...argv])?.args;
  expect(argsOf('-n5')?.integer('limit')).toBe(5);
  expect(argsOf('--limit=5')?.integer('limit')).toBe(5);
  expect(argsOf('--fields=sid, ani', '--fields', 'state')?.list('fields')).toEqual([
    'sid',
    'ani',
    'state',
  ]);
  expect(argsOf('-o', '-', '--all')?.text('output')).toBe('-');
  expect(argsOf('-o', '-', '--all')?.flag('all')).toBe(true);
  expect(parsed(['--debug', 'count', '--json'])?.args.flag('debug')).toBe(true);
  expect(parsed(['sql', '--', '--all'])?.args.words).toEqual(['--all']);
});

test('calls --version prints the version of its manifest', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(await runQuick(['--version'])).toMatchObject({
    code: 0,
    stdout: `${version}\n`,
    stderr: '',
  });
});
