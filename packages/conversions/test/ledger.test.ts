import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LedgerEntry, openLedger, openToForget } from '@call-attribution/conversions';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  path = join(folder, 'uploads.ledger');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entry = (sid: string, changes: Partial<LedgerEntry> = {}): LedgerEntry => ({
  action: 'add',
  key: sid,
  sid,
  account: '101',
  click: { kind: 'gclid', id: `click-${sid}` },
  at: 0,
  name: 'Phone lead',
  value: 25,
  currency: 'USD',
  ...changes,
});

test.skipIf(process.platform === 'win32')(
  'a new ledger can be read by its user only, also after calls were taken out of it',
  async () => {
    const mode = () => (statSync(path).mode & 0o777).toString(8);
    const ledger = await openLedger(path);
    await ledger.commit(await ledger.prepare('a', [entry('1'), entry('2')]));
    await ledger.close();
    expect(mode()).toBe('600');

    const open = await openToForget(path);
    expect(await open.forget(new Set(['1']))).toBe(true);
    await open.close();
    expect(mode()).toBe('600');
  },
);

test('of rows that are read and not sent the newest counts, and one that says nothing new is not written', async () => {
  const ledger = await openLedger(path);
  const row = (soldAt: number) => [{ key: 'outcome-1', sid: null, account: null, soldAt }];
  await ledger.note('a', row(5));
  const { size } = statSync(path);
  await ledger.note('a', row(5));
  await ledger.note('a', row(3));
  expect([...ledger.seen('a')]).toEqual([['outcome-1', 5]]);
  expect(statSync(path).size).toBe(size);
  await ledger.note('b', row(3));
  expect([...ledger.seen('b')]).toEqual([['outcome-1', 3]]);
  await ledger.close();
});

test('it remembers what was delivered or is under way, apart from what was refused or abandoned', async () => {
  const ledger = await openLedger(path);
  const first = await ledger.prepare('a', [entry('1'), entry('2')]);
  expect(ledger.pending('a')).toEqual(first);
  expect([...ledger.delivered('a').keys()]).toEqual(['1', '2']);
  await expect(ledger.prepare('a', [])).rejects.toThrow('A delivery to a is not finished.');
  await ledger.commit(first, { except: ['2'] });
  await ledger.abandon(await ledger.prepare('b', [entry('3')]));
  expect(ledger.delivered('b').size).toBe(0);
  await ledger.prepare('b', [entry('4'), entry('5', { click: null })]);
  await ledger.close();

  const again = await openLedger(path);
  expect([...again.delivered('a').keys()]).toEqual(['1']);
  expect(again.pending('a')).toBeNull();
  expect([...again.delivered('b').keys()]).toEqual(['4', '5']);
  expect(again.pending('b')?.entries).toEqual([entry('4'), entry('5', { click: null })]);
  expect(again.destinations()).toEqual(['a', 'b']);
  await again.close();
});

test('only one process at a time may use a ledger in a file', async () => {
  const ledger = await openLedger(path);
  await expect(openLedger(path)).rejects.toMatchObject({
    code: 'ledger_in_use',
    message: `Process ${process.pid} on ${hostname()} is writing to the ledger ${path}. Run it again when that process has ended.`,
  });
  await ledger.close();
  await (await openLedger(path)).close();
});

test('it ignores a last line that a crash has cut off, and goes over it with the next one', async () => {
  const ledger = await openLedger(path);
  await ledger.commit(await ledger.prepare('a', [entry('1')]));
  await ledger.close();
  const whole = readFileSync(path, 'utf8');
  for (const rest of ['0123', `0123456789abcdef {"type":"prepared"`]) {
    writeFileSync(path, whole);
    appendFileSync(path, rest);
    const again = await openLedger(path);
    expect([...again.delivered('a').keys()]).toEqual(['1']);
    await again.prepare('b', []);
    await again.close();
    expect(readFileSync(path, 'utf8').startsWith(whole)).toBe(true);
    const last = await openLedger(path);
    expect(last.pending('b')).not.toBeNull();
    await last.close();
  }
});

test('what is neither a path nor a journal is refused', async () => {
  for (const store of [undefined, { name: 'sqlite:calls.db', journal: () => undefined }])
    await expect(openLedger(store as unknown as string)).rejects.toThrow(
      'A ledger is opened by the path of its file, or with a journal such as store.journal(',
    );
});

test('it refuses a file that was changed in the middle', async () => {
  const ledger = await openLedger(path);
  await ledger.commit(await ledger.prepare('a', [entry('1')]));
  await ledger.close();
  writeFileSync(path, readFileSync(path, 'utf8').replace('"value":25', '"value":26'));
  await expect(openLedger(path)).rejects.toThrow(
    /^The ledger is damaged at line 1 of .*Restore it/,
  );
  const [, last = ''] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, `${last}\n`);
  await expect(openLedger(path)).rejects.toThrow('The ledger is damaged at line 1');
});

describe.runIf(process.platform !== 'win32')('a ledger that somebody else has put there', () => {
  test.each([
    ['is a link to another place', 'ln -s victim "$1"'],
    ['is a link to another place', 'ln -s nowhere "$1"'],
    ['is not a regular file', 'mkfifo "$1"'],
    ['is also a file in another place', 'ln victim "$1"'],
    ...(process.geteuid?.() === 0
      ? [['belongs to another user', 'touch "$1"; chown 65534 "$1"']]
      : []),
  ])('%s: %s', async (said, plant) => {
    const planted = join(folder, 'planted.ledger');
    writeFileSync(join(folder, 'victim'), 'precious');
    execFileSync('sh', ['-c', plant, 'sh', planted], { cwd: folder });
    await expect(openLedger(planted)).rejects.toMatchObject({
      code: 'ledger_damaged',
      message: expect.stringContaining(`${planted} ${said}`),
    });
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('precious');
    expect(readdirSync(folder)).not.toContain('nowhere');
    expect(readdirSync(folder)).not.toContain('planted.ledger.lock');
  });
});

test('it forgets calls, in a file that is whole afterwards and that nobody else uses meanwhile', async () => {
  const ledger = await openLedger(path);
  await ledger.commit(await ledger.prepare('google', [entry('a'), entry('b'), entry('c')]));
  await ledger.prepare('bing', [entry('b')]);
  await ledger.close();
  const open = await openToForget(path);
  await expect(openLedger(path)).rejects.toThrow();
  expect(await open.forget(new Set(['z']))).toBe(false);
  expect(await open.forget(new Set(['b']))).toBe(true);
  await open.close();
  expect(readFileSync(path, 'utf8')).not.toMatch(/"b"|click-b/);
  const again = await openLedger(path);
  expect([...again.delivered('google').keys()]).toEqual(['a', 'c']);
  expect(again.pending('bing')?.entries).toEqual([]);
  await again.close();
  const damaged = readFileSync(path, 'utf8').replace('click-c', 'click-d');
  writeFileSync(path, damaged);
  await expect(openToForget(path)).rejects.toThrow(/damaged|changed/);
  expect(readFileSync(path, 'utf8')).toBe(damaged);
});
