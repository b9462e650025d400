import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from './stage.ts';

// Files and receipts that commit 91200a88 wrote of a sandbox of 120 calls on port 9188: a folder of
// months of a period in August to October, a file of half a month, and one up to a time that is
// included.
const made = fileURLToPath(new URL('./fixtures/made-by-91200a88/', import.meta.url));

/** The port is in the receipts; another run of this file may have it for a moment. */
async function stageOnPort(tries = 100): Promise<OwnStage> {
  try {
    return await openOwnStage({ records: 120, days: 75, port: 9188 });
  } catch (error) {
    if (tries === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return stageOnPort(tries - 1);
  }
}

let stage: OwnStage;
let cwd = '';
beforeAll(async () => {
  stage = await stageOnPort();
});
beforeEach(() => {
  cwd = stage.folder();
  cpSync(made, cwd, { recursive: true });
});
afterAll(() => stage.close());

const run = (...args: string[]) => stage.quick(args, { cwd });

async function verified(...args: string[]) {
  const { code, stdout } = await run('verify', ...args, '--json');
  const { verdict, checks } = JSON.parse(stdout);
  return { code, verdict, checks };
}

/** What was compared with the API, and the calls that are missing here or more. */
function compared(checks: { api: object[]; findings: { difference?: { kind: string } }[] }[]) {
  const kinds = checks.flatMap(({ findings }) => findings.flatMap((each) => each.difference ?? []));
  return {
    api: checks.flatMap(({ api }) => api),
    // What else generated calls say may be another today.
    others: kinds.filter(({ kind }) => kind !== 'changed'),
  };
}

test('files of an earlier release are proved by their receipts, alone and against the API', async () => {
  expect(await verified('.')).toMatchObject({ code: 0, verdict: 'proved' });
  expect(await verified('early.csv', '--against-api')).toMatchObject({
    code: 0,
    verdict: 'proved',
    checks: [{ rows: 40, api: [{ calls: 40 }] }],
  });
  const months = await verified('calls', '--against-api');
  expect(compared(months.checks)).toMatchObject({
    api: [{ calls: 89, to: '2026-10-21 00:00:00' }],
    others: [],
  });
  const october = await verified('october.csv', '--against-api');
  expect(compared(october.checks)).toMatchObject({ api: [{ calls: 25 }], others: [] });
});

test('a part of their period is compared when one is asked for', async () => {
  const part = ['--from', '2026-09-10', '--to', '2026-09-12'];
  const { checks } = await verified('calls', '--against-api', ...part);
  expect(compared(checks)).toMatchObject({ api: [{ to: '2026-09-13 00:00:00' }], others: [] });
});

test('a month that is gone is named with its period', async () => {
  const { rmSync } = await import('node:fs');
  for (const ending of ['', '.receipt.json'])
    rmSync(join(cwd, `calls/account=101/month=2026-09.parquet${ending}`));
  const { code, checks } = await verified('calls');
  expect(code).toBe(3);
  expect(JSON.stringify(checks)).toContain('2026-09-01 00:00:00 to 2026-10-01 00:00:00');
});

test('an export into their folder writes only what has changed', async () => {
  const october = 'calls/account=101/month=2026-10.parquet.receipt.json';
  const before = readFileSync(join(cwd, october), 'utf8');
  const args = ['export', '-o', 'calls', '--partition', 'month', '--include-extensions'];
  const period = ['--from', '2026-08-25', '--to', '2026-10-20'];
  const { code, stderr } = await run(...args, ...period);
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('89 calls in 3 files'),
  });
  expect(stderr).toContain('unchanged');
  expect(JSON.parse(readFileSync(join(cwd, october), 'utf8')).asked).toEqual(
    JSON.parse(before).asked,
  );
  expect(await verified('calls')).toMatchObject({ code: 0, verdict: 'proved' });
});
