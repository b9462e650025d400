import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDuration } from '@call-attribution/core/time';
import { afterAll, describe, expect, test } from 'vitest';
import { serviceSettings } from '../src/config/service-section.ts';
import { runQuick } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'calls-service-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function storeWith(service: unknown) {
  writeFileSync(join(folder, 'calls.config.json'), JSON.stringify({ service }));
  return runQuick('store accounts --store sqlite::memory: --config calls.config.json', {
    cwd: folder,
  });
}

describe('the section "service" of calls.config.json', () => {
  test.each<[unknown, RegExp]>([
    [[], /service must be an object with log, proxies, .*maxRows/],
    [null, /service must be an object with/],
    [{ maxRow: 5 }, /There is no option service\.maxRow\. Did you mean service\.maxRows\?/],
    [
      { zzzzzz: 5 },
      /There is no option service\.zzzzzz\. Known options: service\.log, service\.proxies/,
    ],
    [{ maxRows: '5' }, /service.maxRows must be a whole number of at least 1/],
    [
      { idleTimeout: '5 minutes' },
      /service.idleTimeout must be milliseconds or a string such as '30s'/,
    ],
    [{ maxRows: 0 }, /service.maxRows must be a whole number of at least 1/],
    [{ atOnce: 1.5 }, /service.atOnce must be a whole number of at least 1/],
    [
      { countAs: 'nr' },
      /service.countAs must be 'object' or 'number' or 'text' or 'array' or 'header'/,
    ],
    [{ log: true }, /service.log must be 'json' or 'off' or null/],
    [{ proxies: '127.0.0.1' }, /service.proxies must be a list of strings, such as \["127.0.0.1"/],
    [{ proxies: [1] }, /service.proxies must be a list of strings/],
  ])('%j is refused with its place and what was expected', async (service, said) => {
    const { code, stdout, stderr } = await storeWith(service);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(join(folder, 'calls.config.json'));
    expect(stderr).toMatch(said);
  });

  test.each<[object]>([
    [{}],
    [{ synchronous: 'full', poolSize: 1, statementTimeout: 0 }],
    [{ ratePer: '30s', drainTimeout: '1m' }],
  ])('%j is accepted', async (service) => {
    expect(await storeWith(service)).toMatchObject({ code: 0, stderr: '' });
  });

  test('the README has a line for each setting, with its default', () => {
    const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    for (const [name, standard] of Object.entries(serviceSettings)) {
      const [, shown = ''] =
        new RegExp(`\\| \`${name}\` \\| \`?([^|\`]*?)\`? \\|`).exec(page) ?? [];
      const value: unknown = shown === '' ? null : JSON.parse(shown);
      const isTime = typeof value === 'string' && typeof standard === 'number';
      expect([name, isTime ? parseDuration(value) : value]).toEqual([
        name,
        Array.isArray(standard) ? null : standard,
      ]);
    }
  });
});
