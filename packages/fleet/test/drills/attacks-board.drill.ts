import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fetch } from '@call-attribution/core';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, expect, test } from 'vitest';
import { BoardMemory, createWorker, credentialsFrom, memoryBoard } from '../../src/index.ts';
import { accountKey } from '../../src/lanes/keys.ts';
import {
  accountOn,
  callsOf,
  fakeApi,
  newShelf,
  planOf,
  plantJob,
  shelfTarget,
  sidsOn,
  testJob,
} from '../worker-scene.ts';

openDrill({
  name: 'attacks-board',
  kind: 'hostile clients',
  what: 'Somebody who may write to the board of a fleet names files, links, pipes and variables of the worker as the keys of an account; nothing of them is sent or shown, and the other accounts are read',
  countTests: true,
});

const top = mkdtempSync(join(tmpdir(), 'attacks-board-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const keys = join(top, 'keys');
mkdirSync(keys);
const canary = JSON.stringify({ accessKey: 'canary-one', secretKey: 'canary-two' });
writeFileSync(join(top, 'outside.json'), canary, { mode: 0o600 });
writeFileSync(join(keys, 'text.json'), 'canary in clear', { mode: 0o600 });
writeFileSync(join(keys, 'large.json'), 'canary'.repeat(100_000), { mode: 0o600 });
for (const id of ['101', '102'])
  writeFileSync(join(keys, `${id}.json`), JSON.stringify({ accessKey: id, secretKey: 'own' }), {
    mode: 0o600,
  });
if (process.platform !== 'win32') {
  symlinkSync('../outside.json', join(keys, 'link.json'));
  symlinkSync('..', join(keys, 'up'));
  execFileSync('mkfifo', [join(keys, 'pipe.json')]);
}
const env = { PGPASSWORD: 'canary-password', AWS_SECRET_ACCESS_KEY: 'canary-aws', HOME: '/canary/home' };

test.each([
  'file:../outside.json',
  `file:${join(top, 'outside.json')}`,
  'file:101.json/../../outside.json',
  'file:link.json',
  'file:up/outside.json',
  'file:pipe.json',
  'file:text.json',
  'file:large.json',
  'file:/dev/zero',
  'file:.',
  'file:nothing\u001b[2J.json',
  'env:PGPASSWORD',
  'env:AWS_SECRET_ACCESS_KEY',
  'env:HOME',
  'env:__proto__',
  'canary-in-clear',
  'https://evil.example/keys',
  '',
])('the reference %j', async (credential) => {
  const began = Date.now();
  const board = memoryBoard(new BoardMemory({ now: () => began + (Date.now() - began) * 100 }));
  const calls = new Map(['101', '102'].map((id) => [id, callsOf(id, 8)]));
  const plans = new Map([...calls].map(([id, list]) => [id, planOf(list, 5)]));
  const job = testJob();
  await plantJob(board, job, plans);
  const row = board.get(accountKey('101'));
  await board.write(accountKey('101'), { ...Object(row?.value), credential }, row?.revision ?? 0);
  const shelf = newShelf(plans);
  const api = fakeApi(calls);
  const sent: string[] = [];
  const fetch: Fetch = (url, init) => {
    sent.push(url, JSON.stringify(init.headers));
    return api.fetch(url, init);
  };
  const worker = createWorker({
    board,
    target: shelfTarget(shelf, job),
    credentials: credentialsFrom({ folder: keys, env, onWarning: () => {} }),
    name: 'w-one',
    slots: 2,
    ttl: 120,
    random: () => 0,
    fetch,
  });
  await worker.run();
  const seen = JSON.stringify([...board.entries('')].filter(({ key }) => key !== accountKey('101')));
  const { aside } = accountOn(board, '101') ?? {};
  expect(aside).toMatchObject({ code: 'credential_missing' });
  expect(sent.join('\n')).not.toContain('canary');
  expect(seen).not.toContain('canary');
  if (!credential.includes('canary')) expect(aside?.message).not.toContain('canary-');
  expect(sidsOn(shelf)).toEqual((calls.get('102') ?? []).map(({ sid }) => sid).sort());
  await board.close();
});
