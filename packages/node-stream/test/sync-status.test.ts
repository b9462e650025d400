import {
  createSyncStatus,
  type SyncStatusOptions,
  statusReply,
} from '@call-attribution/node-stream/status';
import { describe, expect, test } from 'vitest';

describe('the status of syncs that are repeated', () => {
  const rows = { new: 2, changed: 1, same: 7, skipped: 0, pending: 3 };
  const always = { from: null, to: null };
  const whole = { proof: 'whole', asked: always, proved: 10, gaps: [], notes: [] } as const;
  const counts = { ...rows, ...whole, missing: 0, only: [], unasked: [] };

  const watched = (options: Partial<SyncStatusOptions> = {}) => {
    let at = 1_000_000;
    const status = createSyncStatus({
      every: 60_000,
      accounts: ['main'],
      clock: { now: () => at },
      ...options,
    });
    return { status, wait: (ms: number) => (at += ms) };
  };

  test('it is ready from the first success until three intervals after the last one', async () => {
    const { status, wait } = watched();
    expect(status.ready()).toBe('no sync has finished yet');
    status.succeeded('main', counts);
    expect(await statusReply('/readyz', status)).toMatchObject({ status: 200, body: 'ready\n' });
    status.failed('main', 'server_error');
    expect(status.ready()).toBeNull();
    wait(180_001);
    expect(await statusReply('/readyz', status)).toMatchObject({
      status: 503,
      body: 'the last sync succeeded 3 minutes ago\n',
    });
  });

  test('a failure means "not ready" at once where that is wanted, until the next success', () => {
    const { status } = watched({ accounts: ['a', 'b'], failsAtOnce: true });
    status.succeeded('a', counts);
    expect(status.ready()).toBe('no sync of account b has finished yet');
    status.failed('b', 'unauthorized');
    expect(status.ready()).toBe('the last sync of account b failed: unauthorized');
    status.succeeded('b', counts);
    expect(status.ready()).toBeNull();
  });

  test('it is not ready while the copy is not whole, and a metric counts what is missing', () => {
    const { status } = watched();
    const gap = {
      from: '2026-01-03 00:00:00',
      to: '2026-01-04 00:00:00',
      ...({ is: 'short', why: 'rose' } as const),
      missing: 100,
      calls: 4890,
      sids: [],
    } as const;
    status.succeeded('main', { ...counts, proof: 'short', missing: 100, gaps: [gap] });
    expect(status.ready()).toBe(
      'the copy is not whole: at the end the server counts more calls between 2026-01-03 00:00:00 and 2026-01-04 00:00:00 than it gave before: 100 calls are missing',
    );
    expect(status.metrics()).toContain('\ncalls_sync_missing 100\n');
    expect(status.metrics()).toContain('\ncalls_sync_gaps 1\n');
    status.succeeded('main', counts);
    expect(status.ready()).toBeNull();
    expect(status.metrics()).toContain('\ncalls_sync_missing 0\n');
  });

  test('metrics have the account as a label when there are several', async () => {
    const { status, wait } = watched();
    expect(status.metrics()).not.toMatch(/^calls_sync_l/m);
    status.succeeded('main', counts);
    status.failed('main', 'server_error');
    wait(5000);
    const reply = await statusReply('/metrics', status);
    expect(reply?.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    for (const line of [
      'calls_sync_runs_total{result="ok"} 1',
      'calls_sync_rows_total{kind="same"} 7',
      'calls_sync_errors_total{code="server_error"} 1',
      'calls_sync_last_success_timestamp_seconds 1000',
      'calls_sync_lag_seconds 5',
    ])
      expect(reply?.body).toContain(`\n${line}\n`);

    const { status: two } = watched({ accounts: ['a', 'b'] });
    two.succeeded('b', counts);
    expect(two.metrics()).toContain('\ncalls_sync_rows_total{kind="new",account="b"} 2\n');
  });
});
