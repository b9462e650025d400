// The metrics with the program of Prometheus that checks them.
import { spawnSync } from 'node:child_process';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { describe, expect, test } from 'vitest';
import { createService } from '../../src/index.ts';
import { hasProgram, programs } from '../attack/proxies.ts';
import { accountOf, feedsOf, openFeed } from '../stage.ts';

openDrill({
  name: 'metrics',
  kind: 'whole programs',
  what: 'The metrics of a service with feeds, after requests of each kind, are without a finding of promtool',
  countTests: true,
});

const check = (metrics: string) => {
  const { status, stdout, stderr } = spawnSync(programs.promtool, ['check', 'metrics'], {
    input: metrics,
    encoding: 'utf8',
  });
  return { status, words: stdout + stderr };
};

describe.runIf(hasProgram('promtool', 'prometheus'))('promtool', () => {
  test('it finds what is wrong with metrics', () => {
    expect(check('# TYPE tries counter\ntries 1\n').words).toMatch(/no help text|_total/);
    expect(check('tries{ 1\n').status).not.toBe(0);
  });

  test('it accepts those of the service', async () => {
    const store = await openStore('sqlite::memory:');
    const feeds = await feedsOf([openFeed]);
    const service = createService({ store, accounts: [accountOf('101')], feeds });
    const { url } = await service.listen();
    await store.upsert('101', fixtureCalls(50));
    const headers = { authorization: 'Bearer bearer_101_key' };
    const list = '/v2/user/bid-management';
    const paths = [openFeed.path, list, `${list}/"none\\"`, '/none', '/readyz'];
    for (const path of paths) await (await fetch(url + path, { headers })).arrayBuffer();
    await (await fetch(`${url}/feeds`, { method: 'PUT' })).arrayBuffer();
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    await expect.poll(metrics).toContain('method="PUT"');
    expect(await metrics()).toContain('calls_feed_rows{feed="/feeds/clicks.csv"}');
    expect(check(await metrics())).toEqual({ status: 0, words: '' });
    await service.close();
    await store.close();
  });
});
