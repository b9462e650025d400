import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from './stage.ts';

let stage: OwnStage;
beforeAll(async () => {
  stage = await openOwnStage({ records: 400, days: 30 });
});
afterEach(() => stage.sandbox.faults.clear());
afterAll(() => stage.close());

const receiptOf = (path: string) => JSON.parse(readFileSync(`${path}.receipt.json`, 'utf8'));
const slowly = ['--include-extensions', '--rows', '20'];

describe('calls export --receipt', () => {
  test.each(['a.ndjson', 'a.ndjson.gz', 'a.json', 'a.csv', 'a.csv.gz', 'a.parquet'])(
    'it writes the receipt of %s: the source, both counts, the rows and the bytes',
    async (name) => {
      const cwd = stage.folder();
      const period = ['--from', '2026-10-25', '--to', '2026-11-10'];
      const args = ['export', '-o', name, '--receipt', '--include-extensions', ...period];
      const { code, stderr } = await stage.quick(args, { cwd });
      expect(code, stderr).toBe(0);
      const bytes = readFileSync(join(cwd, name));
      const receipt = receiptOf(join(cwd, name));
      const calls = Number(/complete: (\d+) calls/.exec(stderr)?.[1]);
      expect(calls).toBeGreaterThan(50);
      expect(receipt).toMatchObject({
        receipt: 1,
        file: name,
        source: stage.url,
        accounts: ['101'],
        version: 'v3',
        filter: expect.stringMatching(/inc_gce:1,date_added:/),
        from: '2026-10-25 00:00:00',
        to: '2026-11-11 00:00:00',
        verdict: { proof: 'whole', proved: calls, gaps: [] },
        rows: { count: calls, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
        bytes: { length: bytes.length, sha256: hash('sha256', bytes, 'hex') },
      });
      expect(JSON.stringify(receipt)).not.toMatch(new RegExp(Object.values(stage.env).slice(2, 4).join('|')));
      expect(readdirSync(cwd).sort()).toEqual([name, `${name}.receipt.json`]);
    },
  );

  test('the fields that were chosen are in it, and a file without it has none', async () => {
    const cwd = stage.folder();
    const fields = ['--fields', 'sid,talk_minutes'];
    for (const name of ['a.ndjson', 'a.csv', 'a.parquet']) {
      await stage.quick(['export', '-o', name, '--receipt', ...fields], { cwd });
      expect(receiptOf(join(cwd, name)).rows.fields, name).toEqual(['sid', 'talk_minutes']);
    }
    await stage.quick(['export', '-o', 'a.ndjson'], { cwd });
    expect(readdirSync(cwd)).not.toContain('a.ndjson.receipt.json');
  });

  test.each(['a.ndjson', 'a.csv.gz'])(
    'the receipt of %s, which was stopped and resumed, is that of one run',
    async (name) => {
      const cwd = stage.folder();
      const whole = ['export', '-o', `whole-${name}`, '--receipt', ...slowly];
      expect((await stage.quick(whole, { cwd })).code).toBe(0);
      stage.sandbox.faults.set('*', 'status=400, after=9');
      const args = ['export', '-o', name, '--receipt', ...slowly];
      expect((await stage.quick(args, { cwd })).code).toBe(1);
      stage.sandbox.faults.clear();
      expect(readdirSync(cwd)).not.toContain(`${name}.receipt.json`);
      expect(
        (await stage.quick([...args.filter((each) => each !== '--receipt'), '--resume'], { cwd })).code,
      ).toBe(2);
      expect((await stage.quick([...args, '--resume'], { cwd })).code).toBe(0);
      const [one, two] = [receiptOf(join(cwd, `whole-${name}`)), receiptOf(join(cwd, name))];
      expect(two.rows).toEqual(one.rows);
      expect(two.verdict).toMatchObject({ proof: 'whole', proved: 400 });
      expect(two.bytes.sha256).toBe(hash('sha256', readFileSync(join(cwd, name)), 'hex'));
    },
  );

  test('it says that a read was not whole', async () => {
    const cwd = stage.folder();
    stage.sandbox.faults.set('*', 'range=none');
    const { code } = await stage.quick(['export', '-o', 'a.csv', '--receipt'], { cwd });
    expect(code).toBe(3);
    expect(receiptOf(join(cwd, 'a.csv')).verdict).toMatchObject({
      proof: 'unproven',
      proved: 0,
      gaps: [{ why: 'no_total' }],
    });
  });

  test('it is for files', async () => {
    const stdout = await stage.quick(['export', '-o', '-', '--receipt']);
    expect(stdout).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--receipt: stdout is not a file/),
    });
  });
});
