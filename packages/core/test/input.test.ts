import { ConfigurationError } from '@call-attribution/core';
import { findProblem, isLoopback, readInput, readJsonInput } from '@call-attribution/core/settings';
import { expect, test } from 'vitest';
import * as z from 'zod';

const secret = 'sK9zR4tYw7QpL2mN8vXc3bHj6fDg1aSe';
const feed = z.strictObject({
  path: z
    .string('must be a path such as /a.csv')
    .regex(/^\/\w+\.csv$/, 'must be a path such as /a.csv'),
  for: z.enum(['google-ads-clicks', 'google-ads-calls']),
  days: z.int().min(1).max(90).optional(),
  share: z.number().positive().optional(),
  names: z.array(z.string().min(1).max(5)).min(1).max(2).optional(),
  hours: z.tuple([z.int(), z.int()]).optional(),
  only: z.union([z.strictObject({ campaign: z.string() }), z.null()]).optional(),
  note: z.string().optional(),
  isOpen: z.boolean().optional(),
  kind: z.literal('csv').optional(),
  limit: z.union([z.number(), z.boolean()]).optional(),
  password: z
    .custom(() => false, { error: 'must not be in the file', params: { hint: 'use passwordEnv' } })
    .optional(),
});
const schema = z.strictObject({
  feeds: z.array(feed).min(1, 'must be a list of at least one feed'),
});
const good = { path: '/a.csv', for: 'google-ads-clicks' };

test.each<[unknown, string]>([
  [
    { for: 'google-ads-click' },
    'for must be google-ads-clicks or google-ads-calls, not "google-ads-click"; did you mean google-ads-clicks?',
  ],
  [{ for: 'bing' }, 'for must be google-ads-clicks or google-ads-calls'],
  [{ for: 5 }, 'for must be google-ads-clicks or google-ads-calls, not a number'],
  [{ for: undefined }, 'for is missing; it must be google-ads-clicks or google-ads-calls'],
  [{ path: undefined }, 'path is missing; it must be a path such as /a.csv'],
  [{ path: 'a' }, 'path must be a path such as /a.csv'],
  [{ path: ['/a.csv'] }, 'path must be a path such as /a.csv, not a list'],
  [{ days: '7' }, 'days must be a number, not a string'],
  [{ days: 2.5 }, 'days must be a whole number, not 2.5'],
  [{ days: 0 }, 'days must be at least 1, not 0'],
  [{ days: 91 }, 'days must be at most 90, not 91'],
  [{ days: null }, 'days must be a number, not null'],
  [{ share: 0 }, 'share must be greater than 0, not 0'],
  [{ names: [] }, 'names must not be empty'],
  [{ names: ['a', 'b', 'c'] }, 'names must have at most 2 items'],
  [{ names: ['a', ''] }, 'names[1] must not be empty'],
  [{ names: ['abcdef'] }, 'names[0] must have at most 5 characters'],
  [{ names: 'a' }, 'names must be a list, not a string'],
  [{ only: { campain: 'x' } }, 'only has an unknown name "campain"; did you mean campaign?'],
  [{ only: { campaign: 1 } }, 'only.campaign must be a string, not a number'],
  [{ only: 7 }, 'only must be an object, or null, not a number'],
  [{ note: true }, 'note must be a string, not true'],
  [{ note: {} }, 'note must be a string, not an object'],
  [{ isOpen: 1 }, 'isOpen must be true or false, not a number'],
  [{ kind: 'tsv' }, 'kind must be csv, not "tsv"; did you mean csv?'],
  [{ password: secret }, 'password must not be in the file; use passwordEnv'],
  [{ limit: 'x' }, 'limit must be a number, or true or false, not a string'],
  [{ pth: '/a.csv', path: undefined }, 'has an unknown name "pth"; did you mean path?'],
  [
    { colour: 'x' },
    'has an unknown name "colour"; known names: path, for, days, share, names, hours, only, note, isOpen, kind, limit, password',
  ],
])('%j is refused: %s', (change, words) => {
  const value = { feeds: [good, { ...good, ...(change as object) }] };
  const place = words.startsWith('has ') ? 'feeds[1]' : 'feeds[1].';
  const read = () => readInput(schema, value, 'feeds.json');
  expect(read).toThrow(ConfigurationError);
  const separator = words.startsWith('has ') ? ' ' : '';
  expect(read).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: `feeds.json: ${place}${separator}${words}`,
    }),
  );
});

test.each<[unknown, string]>([
  [[], 'feeds.json must be an object, not a list'],
  [null, 'feeds.json must be an object, not null'],
  [{ feeds: [] }, 'feeds.json: feeds must be a list of at least one feed'],
  [{}, 'feeds.json: feeds is missing'],
  [{ feeds: [7] }, 'feeds.json: feeds[0] must be an object, not a number'],
])('%j is refused: %s', (value, message) => {
  expect(() => readInput(schema, value, 'feeds.json')).toThrow(
    expect.objectContaining({ message }),
  );
});

const key = z.discriminatedUnion('type', [
  z.object({ type: z.literal('user'), token: z.string() }),
  z.object({ type: z.literal('service'), key: z.string() }),
]);
test.each<[unknown, string]>([
  [{ type: 'usr' }, 'it: type must be user or service, not "usr"; did you mean user?'],
  [{ type: secret }, 'it: type must be user or service'],
  [{}, 'it: type is missing; it must be user or service'],
  [{ type: 1 }, 'it: type must be user or service, not a number'],
  [{ type: 'user' }, 'it: token is missing'],
  ['user', 'it must be an object, not a string'],
])('of alternatives that a name chooses, %j is refused: %s', (value, message) => {
  expect(() => readInput(key, value, 'it')).toThrow(expect.objectContaining({ message }));
});

test.each([
  { path: secret },
  { for: secret },
  { note: [secret] },
  { days: secret },
  { [secret]: 1 },
  { only: { [secret]: 1 } },
  { only: secret },
])('%j: what may be a secret is in no message', (change) => {
  const result = findProblem(feed, { ...good, ...change });
  expect(result).toHaveProperty('problem');
  expect(JSON.stringify(result)).not.toContain(secret.slice(4, 12));
});

test('JSON is read with and without a byte order mark; what is not JSON is refused by its place', () => {
  const read = (text: string) => readJsonInput(schema, text, 'feeds.json');
  const text = JSON.stringify({ feeds: [good] });
  expect(read(text)).toEqual({ feeds: [good] });
  expect(read(`\uFEFF${text}`)).toEqual({ feeds: [good] });
  expect(() => read(`{\n  "feeds": ${secret}\n}`)).toThrow(
    expect.objectContaining({
      message:
        'feeds.json is not JSON: line 2, column 12 should have a value, such as a string in double quotes',
    }),
  );
});

test('another error may be thrown, with what to do apart', () => {
  const words = (value: unknown) => {
    try {
      readInput(feed, value, 'it', ({ message, hint }) => new RangeError(`${message} | ${hint}`));
    } catch (error) {
      return error;
    }
    return expect.unreachable('it was taken');
  };
  expect(words({ ...good, dais: 7 })).toEqual(
    new RangeError('it has an unknown name "dais" | did you mean days?'),
  );
});

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['[::1]', true],
  ['::1', true],
  ['LOCALHOST', true],
  ['[0:0:0:0:0:0:0:1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['::ffff:7f00:1', true],
  ['127.evil.example', false],
  ['localhost.', false],
  ['127.0.0.1.', false],
  ['127.1', false],
  ['0x7f.1', false],
  ['2130706433', false],
  ['127.0.0.999', false],
  ['[::1%lo]', false],
  ['[::ffff:10.0.0.1]', false],
  ['0.0.0.0', false],
  ['', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example', false],
  ['10.0.0.1', false],
])('whether %s is this machine: %s', (host, answer) => expect(isLoopback(host)).toBe(answer));
