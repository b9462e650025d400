import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rules } from '../rules.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folders = [
  'conformance/test',
  'packages/core/test',
  'packages/query-dsl/test',
  'packages/service/test',
];

/**
 * Which test files name a rule in a title, by rule id: `test('[R43] …')` or `test('[R51][R52] …')`.
 */
function citations(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true }) as string[]) {
      if (!name.endsWith('.test.ts')) continue;
      const text = readFileSync(join(root, folder, name), 'utf8');
      for (const [, ids] of text.matchAll(/['"`]((?:\[R\d+\]\s*)+)/g)) {
        for (const [, id] of (ids as string).matchAll(/\[(R\d+)\]/g)) {
          found.set(id as string, [
            ...(found.get(id as string) ?? []),
            `${folder}/${name.replaceAll('\\', '/')}`,
          ]);
        }
      }
    }
  }

  return found;
}

const cited = citations();
const assumptions = readFileSync(join(root, 'docs/assumptions.md'), 'utf8');
const lines = [...assumptions.matchAll(/^\| (A\d+) \|/gm)].map(([, id]) => id as string);

test('each rule has an id of its own', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
});

const without = (wanted: typeof rules, folder: RegExp) =>
  wanted
    .filter(({ id }) => !cited.get(id)?.some((file) => folder.test(file)))
    .map(({ id, text }) => `${id} ${text}`);

test('each rule is named by a test of the service over a raw socket', () => {
  const wanted = rules.filter(({ clientOnly }) => clientOnly !== true);
  expect(without(wanted, /^conformance\/test\/service-/)).toEqual([]);
});

test('each rule that concerns a client is named by a test of the client', () => {
  const wanted = rules.filter(({ serverOnly }) => serverOnly !== true);
  expect(
    without(
      wanted,
      /^(?:conformance\/test\/client|packages\/core\/test|packages\/query-dsl\/test)/,
    ),
  ).toEqual([]);
});

test('no test names a rule that does not exist', () => {
  const known = new Set(rules.map(({ id }) => id));
  expect([...cited.keys()].filter((id) => !known.has(id))).toEqual([]);
});

test('each open point of the text has a line in docs/assumptions.md', () => {
  const open = rules.filter(({ assumption }) => assumption !== undefined);
  expect(open.filter(({ assumption }) => !lines.includes(assumption as string))).toEqual([]);
  const unmarked = rules.filter(
    (rule) => /: not shown/.test(rule.text) && rule.assumption === undefined,
  );
  expect(unmarked).toEqual([]);
});
