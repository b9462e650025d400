import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';

const drill = openDrill({
  name: 'stolen-copy',
  kind: 'hostile clients',
  what: 'Somebody has the copy and not the key, and tries all numbers of an area code; none is in it, and no hash of one',
});

const folder = mkdtempSync(join(tmpdir(), 'stolen-copy-'));
afterAll(() => rmSync(folder, { recursive: true }));
const callers = Array.from(
  { length: 200 },
  (_, i) => `612${String(5_550_000 + i * 997).padStart(7, '0')}`,
);
const calls = callers.map((ani, i) => ({
  ...Object(fixtureCalls(1)[0]),
  ani,
  sid: `S${i}`,
  search_term: `call ${ani}`,
}));

/** All strings of a length in the bytes of the copy. */
function windows(text: string, length: number, of: RegExp): Set<string> {
  const found = new Set<string>();
  for (const [run] of text.matchAll(of))
    for (let at = 0; at + length <= run.length; at += 1) found.add(run.slice(at, at + length));
  return found;
}

it(
  'has none of ten million numbers, nor their hashes',
  () =>
    drill.run(async () => {
      const server = createServer(fakeClient(calls), {
        copyFolder: folder,
        pseudonymKey: 'the secret of the account',
      });
      expect(
        (await callTool(server, 'analyze_calls', { calls: 'all' })).structuredContent,
      ).toMatchObject({
        calls: 200,
      });
      await server.close();
      // In an index the year of a change follows the digits of a pseudonym: together they are none.
      const text = readdirSync(folder)
        .map((name) => readFileSync(join(folder, name)).toString('latin1'))
        .join('\n')
        .replace(/\d{4}-\d\d-\d\d/g, ' ');
      const digits = windows(text, 10, /\d{10,}/g);
      const hex = windows(text, 12, /[0-9a-f]{12,}/gi);
      const base64 = windows(text, 12, /[\w+/-]{12,}/g);
      const found: string[] = [];
      for (let number = 6_120_000_000; number < 6_130_000_000; number += 1) {
        const own = String(number);
        const sha = hash('sha256', own, 'hex');
        const isThere =
          digits.has(own) ||
          hex.has(sha.slice(0, 12)) ||
          base64.has(Buffer.from(sha, 'hex').toString('base64url').slice(0, 12));
        if (isThere) found.push(own);
      }

      expect(found).toEqual([]);
    }),
  600_000,
);
