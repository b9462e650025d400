import type { FleetStatus } from '@call-attribution/fleet';
import { expect, test } from 'vitest';
import { statusScreen } from '../src/fleet/status.ts';
import { styleFor } from '../src/terminal/style.ts';
import { textWidth } from '../src/terminal/width.ts';

const style = styleFor(process.stdout, { NO_COLOR: '1' });

type Worker = FleetStatus['workers'][number];
type Account = FleetStatus['accounts'][number];

const worker = (name: string, more: Partial<Worker> = {}): Worker => ({
  ...{ name, version: '0.4.0', state: 'working', why: null, slots: 8, busy: 8 },
  ...{
    callsPerSecond: 3120,
    requestsPerSecond: 3,
    silentForMs: 2000,
    forMs: 1,
  },
  ...more,
});

const account = (id: string, more: Partial<Account> = {}): Account => ({
  ...{ id, state: 'waiting', calls: 590_112, total: 2_000_000, newest: '2026-10-03 12:00:00', whole: null },
  ...{ lacks: null, trouble: null, troubleForMs: 0, dueInMs: 0, readAgoMs: null, worker: null },
  ...more,
});

const minute = 60_000;
const troubleOf = (code: string, message: string) => ({
  kind: 'server' as const,
  code,
  message,
  since: 0,
  tries: 1,
  by: 'w-app1-3f2a',
});
const failing = {
  state: 'later',
  trouble: troubleOf('server_error', ''),
  troubleForMs: 14 * minute,
} as const;

const status = (more: Partial<FleetStatus> = {}): FleetStatus => ({
  ...{ job: 'history', into: 'postgres://db/calls', state: 'running', forMs: 822 * minute },
  states: { working: 8, waiting: 303, later: 3, read: 180, done: 0, aside: 7 },
  ...{ calls: 612_004_118, total: 1_000_301_772, callsPerSecond: 12_410, requestsPerSecond: 14.1 },
  ...{ leftMs: 521 * minute, lagMs: 12 * minute },
  workers: [
    worker('w-app1-3f2a'),
    worker('w-app2-77aa', {
      ...{ state: 'resting', busy: 0, callsPerSecond: 0, requestsPerSecond: 0 },
      why: 'no space left on the disk, next try in 22 s',
    }),
  ],
  accounts: [
    account('103', { state: 'aside', trouble: troubleOf('unauthorized', 'the server refused the keys') }),
    account('118', { state: 'read', whole: false, lacks: 'short: 2 calls of 590,114 are missing' }),
    account('122', failing),
    account('125', { state: 'working', worker: 'w-app1-3f2a' }),
  ],
  ...more,
});

test('a status says what runs, what is stuck, why, and which command helps', () => {
  expect(statusScreen(status(), { width: 120, style, all: false }).join('\n')).toMatchInlineSnapshot(`
    "history running for 13 h 42 min, into postgres://db/calls
    61.1 %, 612,004,118 of 1,000,301,772 calls, 12,410 calls/s, 14.1 requests/s, about 8 h 41 min left

    WORKER       VERSION  SLOTS  CALLS/S  REQUESTS/S  STATE
    w-app1-3f2a  0.4.0      8/8    3,120         3.0  working
    w-app2-77aa  0.4.0      0/8        0         0.0  resting
      no space left on the disk, next try in 22 s

    working 8, waiting 303, later 3, read 180, set aside 7, each read in the last 12 min, --all lists all accounts
    ACCOUNT  STATE                     CALLS  NEWEST               WORKER
    103      set aside  590,112 of 2,000,000  2026-10-03 12:00:00
      unauthorized: the server refused the keys
      → calls fleet retry history --account 103
    118      read                    590,112  2026-10-03 12:00:00
      short: 2 calls of 590,114 are missing
    122      later      590,112 of 2,000,000  2026-10-03 12:00:00
      server_error; for 14 min, tried again"
  `);
});

test('on a narrow terminal no reason and no command is cut', () => {
  const lines = statusScreen(status(), { width: 45, style, all: false });
  expect(lines.filter((line) => textWidth(line) > 45)).toEqual([]);
  for (const whole of [
    'no space left on the disk, next try in 22 s',
    'unauthorized: the server refused the keys',
    '→ calls fleet retry history --account 103',
    'short: 2 calls of 590,114 are missing',
    'server_error; for 14 min, tried again',
  ])
    expect(lines.join('\n')).toContain(whole);
});

test('a job without workers says what to do first', () => {
  const lines = (more: Partial<FleetStatus>) =>
    statusScreen(status(more), { width: 80, style, all: false }).join('\n');
  expect(lines({ workers: [] })).toContain('no worker is at work → calls fleet work JOB.json');
  expect(lines({ workers: [worker('w-1', { state: 'silent', silentForMs: 90_000 })] })).toMatch(
    /no worker is at work .*\n[\s\S]*no sign of life for 1 min 30 s; others have its work/,
  );
});

test('ten accounts with trouble are shown, all of them with --all', () => {
  const accounts = Array.from({ length: 14 }, (_, i) => account(String(100 + i), failing));
  const screen = (more: Account[], all: boolean) =>
    statusScreen(status({ accounts: [...accounts, ...more] }), { width: 100, style, all });
  expect(screen([], false).at(-1)).toBe('and 4 more');
  expect(screen([account('200')], true).join('\n')).toMatch(/\n113 [\s\S]*\n200 /);
});
