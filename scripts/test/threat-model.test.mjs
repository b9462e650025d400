// The threat model names the tests that show what it says. A promise without a test, or with one that is gone, fails here.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { links } from '../markdown.mjs';
import { root } from '../workspace.mjs';

const text = readFileSync(join(root, 'docs/threat-model.md'), 'utf8');
const rows = text.split('\n').filter((line) => /^\| (?!attack )/.test(line));

test('each attack names what holds it and a test or a file that shows it', () => {
  expect(rows.length).toBeGreaterThan(25);
  for (const row of rows) {
    const [, attack, holds, shown = '', ...rest] = row
      .split(' | ')
      .flatMap((cell, i) => (i === 0 ? ['', cell] : [cell]));
    expect([attack, holds?.length, rest]).toEqual([attack, expect.any(Number), []]);
    const files = links(shown);
    expect(files.length, attack).toBeGreaterThan(0);
    for (const file of files) expect(existsSync(join(root, 'docs', file)), `${attack}: ${file}`).toBe(true);
  }
});

test('what tests show is shown by tests', () => {
  const [product = ''] = text.split('## The supply chain');
  const files = product
    .split('\n')
    .filter((line) => /^\| (?!attack )/.test(line))
    .flatMap((row) => links(row.split(' | ').at(-1) ?? ''));
  expect(files.filter((file) => !/\.(?:test|drill)\.ts$/.test(file))).toEqual([]);
  expect(new Set(files).size).toBeGreaterThan(20);
});
