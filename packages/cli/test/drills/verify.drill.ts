import { spawn } from 'node:child_process';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { expect, inject, test } from 'vitest';

const tally = openDrill({
  name: 'injuries',
  kind: 'odd records',
  what: 'A row of a file, a folder of files or a store is dropped, doubled, changed or taken from another one, a byte is flipped, a file is cut, a receipt belongs to another file, a month is removed, renamed, copied or exchanged, a store loses rows after an erasure: calls verify finds each, and nothing in what is whole',
});

test('calls verify finds every injury, and invents none', async () => {
  const injuries = rounds(120, 10_000);
  const script = await builtFile(new URL('./injuries.mjs', import.meta.url).href);
  const child = spawn(process.execPath, [script, inject('callsBin'), String(injuries), '4711'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(code, stderr).toBe(0);
  const { runs, whole, missed, invented, kinds } = JSON.parse(stdout);
  tally.add({ runs: runs + whole, lied: missed.length + invented.length });
  for (const [kind, times] of Object.entries<number>(kinds))
    tally.happened(kind.replace(/ in .*/, ''), times);
  expect({ missed, invented }).toEqual({ missed: [], invented: [] });
  expect(runs).toBeGreaterThanOrEqual(injuries);
  expect(whole).toBeGreaterThan(0);
}, 3_600_000);
