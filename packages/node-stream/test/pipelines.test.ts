import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { apiKeys, type Client, createClient } from '@call-attribution/core';
import { fakeApi, faults } from '@call-attribution/core/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as encoders from '../src/encoders/index.ts';
import { writeWholeFile } from '../src/files/index.ts';
import * as operators from '../src/operators/index.ts';
import { createCallStream } from '../src/read.ts';
import * as sinks from '../src/sinks/index.ts';
import { callOf } from './calls-of.ts';
import { fakeRecords } from './fake-server.ts';

// The five pipelines of docs/operators.md, as they are there.
const page = readFileSync(new URL('../../../docs/operators.md', import.meta.url), 'utf8');
const snippets = [...page.matchAll(/```javascript\n([\s\S]*?)```/g)].map(([, code = '']) => code);

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(joinPath(tmpdir(), 'pipelines-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const records = fakeRecords(600).map((record, i) => ({
  ...record,
  talk_minutes: '1.5',
  ani: `caller ${i % 70}`,
  dnis: i % 3 === 0 ? '100' : '300',
  ppc_campaign: `campaign ${i % 17}`,
}));

/** A client of an API that fails from a request on, as after a crash; null: it never does. */
function clientOf(failsFrom: number | null): Client {
  const api = fakeApi({
    calls: records.map(callOf),
    faults: (_, index) =>
      failsFrom !== null && index >= failsFrom ? faults.replace(500) : undefined,
  });
  return createClient({
    baseUrl: 'http://localhost',
    auth: apiKeys('key', 'secret'),
    fetch: api.fetch,
    retry: { attempts: 1 },
  });
}

/** Runs a snippet with what its text names. */
async function run(code: string, client: Client, posted: string[], shown: number[]): Promise<void> {
  const names = {
    ...operators,
    ...encoders,
    ...sinks,
    createCallStream: (api: Client, options: object) =>
      createCallStream(api, { ...options, rows: 50, prefetch: 1 }),
    existsSync,
    readFileSync,
    writeWholeFile,
    client,
    folder,
    filter: 'inc_gce:1',
    post: async (rows: readonly object[]) => posted.push(...rows.map((row) => JSON.stringify(row))),
    show: (count: number) => shown.push(count),
  };
  const work = new Function(...Object.keys(names), `return (async () => {${code}})();`);
  await work(...Object.values(names));
}

const files = ['calls.ndjson', 'first-calls.csv', 'strongest.csv', 'calls.parquet'];
const written = () =>
  files
    .filter((name) => existsSync(joinPath(folder, name)))
    .map((name) => readFileSync(joinPath(folder, name), 'latin1'));

test('there are five, of at most twelve lines each', () => {
  expect(snippets).toHaveLength(5);
  for (const code of snippets) expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
});

test.each(snippets.map((code, i) => [i + 1, code] as const))(
  'pipeline %i gives the same when it is killed in the middle',
  async (_, code) => {
    const posted: string[] = [];
    const shown: number[] = [];
    await run(code, clientOf(null), posted, shown);
    const whole = written();
    expect(whole.length + posted.length).toBeGreaterThan(0);
    for (const name of [...files, 'position.json']) rmSync(joinPath(folder, name), { force: true });
    const again: string[] = [];
    await expect(run(code, clientOf(9), again, [])).rejects.toThrow('status 500');
    await run(code, clientOf(null), again, []);
    expect(written()).toEqual(whole);

    // A loop gets each row at least once.
    expect([...new Set(again)].sort()).toEqual([...posted].sort());
    if (shown.length > 0) expect(shown.at(-1)).toBe(600);
  },
);
