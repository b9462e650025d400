// The status of a large fleet for the documentation, as the built program draws it. The figures are made up: a real one would take
// days and three machines.
import { join } from 'node:path';
import { root } from './workspace.mjs';

const minute = 60_000;

/** @param {string} name @param {string} host @param {object} more */
const worker = (name, host, more) => ({
  ...{ name, host, version: '0.1.0', state: 'working', why: null, slots: 8, busy: 8, silentFor: 2000 },
  requestsPerSecond: 4.7,
  ...more,
});

/** @param {string} id @param {string} phase @param {readonly [number, number, number]} parcels @param {number} records @param {object} trouble */
const account = (id, phase, [done, total, aside], records, trouble) => ({
  ...{ id, name: null, phase, workers: [], verdict: null, sync: null },
  parcels: { done, total, aside },
  records: { done: records, total: 2_000_000 },
  trouble: { message: null, forMs: minute, ...trouble },
});

const status = {
  job: { name: 'history', into: 'postgres://db/calls' },
  ...{ state: 'running', forMs: 822 * minute, recordsPerSecond: 12_410, requestsPerSecond: 14.1 },
  phases: { reading: 311, closing: 2, syncing: 180, final: 0, aside: 7 },
  parcels: { done: 12_480, total: 20_412, aside: 2 },
  records: { done: 612_004_118, total: 1_000_301_772 },
  ...{ leftMs: 521 * minute, rates: { used: 14, held: 0 }, syncLagMs: 11 * minute },
  workers: [
    worker('w-app1-3f2a', 'app1', { load: 0.81, rss: 412e6, recordsPerSecond: 6210 }),
    worker('w-app2-91bc', 'app2', { load: 0.77, rss: 398e6, recordsPerSecond: 6200 }),
    worker('w-app2-77aa', 'app2', {
      ...{
        state: 'resting',
        why: 'no space left on the disk',
        busy: 0,
        load: 0.02,
        rss: 120e6,
        recordsPerSecond: 0,
      },
    }),
  ],
  accounts: [
    account('103', 'aside', [12, 40, 0], 590_112, {
      ...{ kind: 'aside', code: 'unauthorized', message: 'the server refused the keys' },
    }),
    account('118', 'reading', [39, 41, 2], 1_950_230, { kind: 'parcels', code: 'incomplete' }),
    account('122', 'reading', [3, 44, 0], 148_901, {
      kind: 'ailing',
      code: 'server_error',
      forMs: 14 * minute,
    }),
  ],
};

/** What `calls fleet status history` shows, as in `screens.mjs`. @returns {Promise<string>} */
export async function fleetStatusScreen() {
  const { statusScreen } = await import(join(root, 'packages/cli/dist/fleet/status-screen.js'));
  const { styleFor } = await import(join(root, 'packages/cli/dist/term/style.js'));
  const lines = statusScreen(status, { width: 100, style: styleFor(process.stdout, { NO_COLOR: '1' }) });
  return ['$ calls fleet status history', ...lines].join('\n');
}
