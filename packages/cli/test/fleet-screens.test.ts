import type { FleetStatus } from '@call-attribution/fleet';
import { expect, test } from 'vitest';
import { toAscii } from '../src/ascii.ts';
import { statusLine, statusScreen } from '../src/fleet/status-screen.ts';
import { verdictScreen } from '../src/fleet/verdict-screen.ts';
import { span } from '../src/term/numbers.ts';
import { styleFor } from '../src/term/style.ts';
import { textWidth } from '../src/term/width.ts';

const style = styleFor(process.stdout, { NO_COLOR: '1' });

type Worker = FleetStatus['workers'][number];
type Account = FleetStatus['accounts'][number];

const worker = (name: string, more: Partial<Worker> = {}): Worker => ({
  name,
  host: name.slice(2, 6),
  version: '0.4.0',
  state: 'working',
  why: null,
  slots: 8,
  busy: 8,
  load: 0.81,
  rss: 412e6,
  silentFor: 2000,
  recordsPerSecond: 3120,
  requestsPerSecond: 3,
  ...more,
});

const account = (id: string, more: Partial<Account> = {}): Account => ({
  id,
  name: null,
  phase: 'reading',
  parcels: { done: 12, total: 40, aside: 0 },
  records: { done: 590_112, total: 2_000_000 },
  workers: [],
  trouble: null,
  verdict: null,
  sync: null,
  ...more,
});

const minute = 60_000;
const trouble = {
  keys: { kind: 'aside', code: 'unauthorized', message: 'the server refused the keys', forMs: minute },
  parcels: { kind: 'parcels', code: 'incomplete', message: null, forMs: minute },
  failing: { kind: 'failing', code: 'server_error', message: null, forMs: 14 * minute },
} as const;

const status = (more: Partial<FleetStatus> = {}): FleetStatus => ({
  job: { name: 'history', into: 'postgres://db/calls' } as FleetStatus['job'],
  state: 'running',
  forMs: 822 * minute,
  phases: { reading: 311, closing: 2, syncing: 180, final: 0, aside: 7 },
  parcels: { done: 12_480, total: 20_412, aside: 2 },
  records: { done: 612_004_118, total: 1_000_301_772 },
  recordsPerSecond: 12_410,
  requestsPerSecond: 14.1,
  leftMs: 521 * minute,
  workers: [
    worker('w-app1-3f2a'),
    worker('w-app2-77aa', {
      ...{ state: 'resting', busy: 0, load: 0.02, rss: 120e6, recordsPerSecond: 0 },
      why: 'no space left on the disk, next try in 22 s',
    }),
  ],
  rates: { used: 14, held: 0 },
  syncLagMs: 12 * minute,
  accounts: [
    account('103', { phase: 'aside', trouble: trouble.keys }),
    account('118', { parcels: { done: 39, total: 41, aside: 2 }, trouble: trouble.parcels }),
    account('122', { trouble: trouble.failing }),
    account('125'),
  ],
  ...more,
});

test('a status says what runs, what is stuck, why, and which command helps', () => {
  expect(statusScreen(status(), { width: 120, style }).join('\n')).toMatchInlineSnapshot(`
    "history   running for 13 h 42 min   into postgres://db/calls
    ██████████████████▍░░░░░░░░░░░  61.1 %   612,004,118 of 1,000,301,772 records   12,480 of 20,412 parcels
    12,410 records/s   14.1 requests/s   about 8 h 41 min left   14 credentials at the limit

    WORKER       HOST  VERSION  SLOTS  BUSY     RSS  RECORDS/S  STATE    WHY
    w-app1-3f2a  app1  0.4.0      8/8  0.81  412 MB      3,120  working
    w-app2-77aa  app2  0.4.0      0/8  0.02  120 MB          0  resting  no space left on the disk, next try in 22 s

    reading 311   closing 2   syncing 180 (last sync at most 12 min ago)   set aside 7   (--all lists all accounts)
    ACCOUNT  STATE       PARCELS  RECORDS  WHY
    103      set aside  12 of 40  590,112  unauthorized: the server refused the keys
      → calls fleet retry history --account 103
    118      reading    39 of 41  590,112  2 parcels set aside: incomplete
      → calls fleet retry history --account 118
    122      failing    12 of 40  590,112  server_error for 14 min; tried again"
  `);
});

test('on a narrow terminal no reason and no command is cut', () => {
  for (const width of [80, 60, 45]) {
    const lines = statusScreen(status(), { width, style });
    expect(lines.filter((line) => textWidth(line) > width)).toEqual([]);
    const text = lines.join('\n');
    for (const whole of [
      'no space left on the disk, next try in 22 s',
      'unauthorized: the server refused the keys',
      '→ calls fleet retry history --account 103',
      '2 parcels set aside: incomplete',
      'server_error for 14 min; tried again',
    ])
      expect(text).toContain(whole);
  }
});

test('without colors and without UTF-8 it is the same in ASCII', () => {
  const text = statusScreen(status(), { width: 80, style }).join('\n');
  expect(toAscii(text)).toMatch(/^[\n\x20-\x7e]*$/);
  expect(toAscii(text)).toContain('##################:...........  61.1 %');
  const painted = statusScreen(status(), {
    width: 80,
    style: styleFor(process.stdout, { FORCE_COLOR: '1' }),
  });
  expect(painted.join('\n')).toContain('\u001b[32mrunning for 13 h 42 min\u001b[39m');
});

test('a job without workers, a paused job and a job whose workers all rest say what to do first', () => {
  const lines = (more: Partial<FleetStatus>) => statusScreen(status(more), { width: 80, style });
  expect(lines({ workers: [] })).toContain('no worker is at work → calls fleet work history');
  expect(lines({ workers: [worker('w-1', { state: 'silent', silentFor: 90_000 })] }).join('\n')).toMatch(
    /no worker is at work .*\n[\s\S]*no sign of life for 1 min 30 s; others have its work/,
  );
  expect(lines({ state: 'paused', forMs: 3 * minute })).toContain(
    'nothing new is read → calls fleet resume history',
  );
  expect(lines({ state: 'paused' })[0]).toContain('paused for 13 h 42 min');
  const resting = worker('w-1', { state: 'resting', why: 'the database is away' });
  expect(lines({ workers: [resting] })).toContain('all workers rest: the database is away');
});

test('ten accounts with trouble are shown, all of them with --all', () => {
  const accounts = Array.from({ length: 14 }, (_, i) =>
    account(String(100 + i), { trouble: trouble.failing }),
  );
  const short = statusScreen(status({ accounts }), { width: 100, style });
  expect(short.at(-1)).toBe('and 4 more');
  const all = statusScreen(status({ accounts: [...accounts, account('200')] }), {
    width: 100,
    style,
    all: true,
  });
  expect(all.join('\n')).toMatch(/\n113 [\s\S]*\n200 /);
});

test('a log gets one line', () => {
  expect(statusLine(status())).toBe(
    'history running for 13 h 42 min  61.1 %  612,004,118 of 1,000,301,772 records  12,480 of 20,412 parcels  12,410 records/s  14.1 requests/s  about 8 h 41 min left  14 credentials at the limit  2 workers  reading 311  closing 2  syncing 180 (last sync at most 12 min ago)  set aside 7  3 accounts with trouble',
  );
});

test('verdicts name what is not whole, and the figures of the store where there is one', () => {
  const verdict = (id: string, more: object = {}) => ({
    ...{ account: id, name: null, records: 2_000_113, total: 2_000_113, stored: 2_000_113 },
    ...{
      parcels: { committed: 40, of: 40 },
      verdict: 'proved' as const,
      why: null,
      code: null,
      differing: [],
    },
    ...more,
  });
  const missing = {
    ...{ parcels: { committed: 39, of: 41 }, records: 1_950_230, total: 2_049_007, stored: 1_950_230 },
    ...{ verdict: 'not whole' as const, why: '2 of 41 parcels are not committed (7, 9).', differing: [7, 9] },
  };
  const lines = verdictScreen([verdict('101'), verdict('118', missing)], { width: 100, style });
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "ACCOUNT   PARCELS    RECORDS     SERVER      STORE  VERDICT
    101            40  2,000,113  2,000,113  2,000,113  proved
    118      39 of 41  1,950,230  2,049,007  1,950,230  not whole: 2 of 41 parcels are not committed (7…
    2 accounts: 1 proved, 1 not   3,950,343 records"
  `);
  const files = verdictScreen([verdict('101', { stored: null, total: null })], { width: 100, style });
  expect(files[0]).not.toContain('STORE');
  expect(files[1]).toContain(' ? ');
});

test('long times are in their two largest units', () => {
  expect([400, 61_000, 90_000, 660_000, 49_320_000, 3_600_000, 200_000_000].map(span)).toEqual([
    '0 s',
    '1 min 1 s',
    '1 min 30 s',
    '11 min',
    '13 h 42 min',
    '1 h',
    '2 d 8 h',
  ]);
});
