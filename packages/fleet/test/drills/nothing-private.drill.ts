import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, type Call } from '@call-attribution/core';
import { fields } from '@call-attribution/core/fields';
import { formatNaive } from '@call-attribution/core/time';
import { startSandbox } from '@call-attribution/sandbox';
import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, it, onTestFinished } from 'vitest';
import {
  createWorker,
  createWorkerMetrics,
  memoryBoard,
  openTarget,
  pinJob,
  planJob,
  readStatus,
  verifyJob,
} from '../../src/index.ts';

openDrill({
  name: 'fleet-nothing-private',
  kind: 'odd records',
  what: 'A job with a revoked key and records that cannot be read; no key and no data of a caller is on the board, in events, verdicts, plans, the status or metrics',
  countTests: true,
});

it('no key and no data of a caller is on the board, in events, verdicts, plans, the status or metrics', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'private-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const to = formatNaive(Date.now() - 86_400_000);
  await using sandbox = await startSandbox({ records: 90, accounts: 3, days: 60, to });
  const [refused, broken] = sandbox.accounts;
  const secrets = [
    'a-key-that-was-revoked',
    ...sandbox.accounts.flatMap((account) => [account.accessKey, account.secretKey]),
  ];
  const credentials = async (_: string, account: string) => {
    const { accessKey = '', secretKey = '' } = sandbox.accounts.find(({ id }) => id === account) ?? {};
    return account === refused?.id
      ? apiKeys('a-key-that-was-revoked', secretKey)
      : apiKeys(accessKey, secretKey);
  };
  const job = {
    name: 'history',
    baseUrl: sandbox.url,
    accounts: sandbox.accounts.map(({ id }) => ({ id })),
    filter: 'inc_gce:1',
    into: `folder:${folder}`,
    format: 'ndjson' as const,
    parcel: 10,
    tries: 1,
  };
  const board = memoryBoard();
  await using target = await openTarget(job.into, pinJob(job));
  await planJob(job, { board, target, credentials });
  // Records of the second account cannot be read: their bytes are near at hand where the error is made.
  sandbox.faults.set(broken?.accessKey ?? '', [{ on: 'list', brokenUtf8: true }]);
  const metrics = createWorkerMetrics(board, 'w-1');
  const events: unknown[] = [];
  const worker = createWorker({
    ...{ board, target, credentials, name: 'w-1', slots: 2, ttl: '2s' },
    onEvent(event) {
      events.push(event);
      metrics.observe(event);
    },
  });
  await worker.run();
  const verdicts: unknown[] = [];
  for await (const verdict of verifyJob({ job, target, credentials })) verdicts.push(verdict);

  const calls: Call[] = [];
  const notes: string[] = [];
  for (const path of await readdir(folder, { recursive: true })) {
    const text = await readFile(join(folder, path), 'utf8').catch(() => '');
    if (!path.endsWith('.ndjson')) notes.push(text);
    else
      calls.push(
        ...text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      );
  }
  expect(calls.length).toBeGreaterThan(5);
  const personal = fields
    .filter((field) => field.personal)
    .flatMap(({ name }) =>
      calls.map((call) => String((call as unknown as Record<string, unknown>)[name] ?? '')),
    )
    .filter((value) => value.length > 3);
  expect(personal.length).toBeGreaterThan(5);

  const status = readStatus(board);
  expect(status.phases.aside).toBe(2);
  const said = JSON.stringify([[...board.entries('')], events, verdicts, status, metrics.metrics()]);
  const all = said + notes.join('\n');
  for (const text of new Set([...secrets, ...personal])) expect(all.includes(text), text).toBe(false);
});
