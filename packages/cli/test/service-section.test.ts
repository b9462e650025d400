import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { serviceSettings } from '../src/config/service-section.ts';
import { runQuick } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'calls-service-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function storeWith(service: unknown) {
  writeFileSync(join(folder, 'calls.config.json'), JSON.stringify({ service }));
  return runQuick(['store', 'check', '--store', 'sqlite::memory:'], { cwd: folder });
}

describe('the section "service" of calls.config.json', () => {
  test.each<[unknown, RegExp]>([
    [[], /"service" must be an object\n.*"maxRows": 500/],
    [null, /"service" must be an object/],
    [{ maxRow: 5 }, /"service" has an unknown name "maxRow"\n.*did you mean "maxRows"\?/],
    [{ zzzzzz: 5 }, /"service" has an unknown name "zzzzzz"\n.*known names: log, proxies/],
    [{ maxRows: '5' }, /"maxRows" in "service" must be a whole number from 1 to 1000000000, not "5"/],
    [{ maxRows: 0 }, /"maxRows" in "service" must be a whole number from 1/],
    [{ pipelined: 1.5 }, /"pipelined" in "service" must be a whole number from 0/],
    [
      { countAs: 'nr' },
      /"countAs" in "service" must be one of "object", "number", "text", "array", "header"/,
    ],
    [{ log: true }, /"log" in "service" must be one of "json", "off", not true/],
    [{ proxies: '127.0.0.1' }, /"proxies" in "service" must be a list of strings, such as \["127.0.0.1"/],
    [{ proxies: [1] }, /"proxies" in "service" must be a list of strings/],
  ])('%j is refused with its place and what was expected', async (service, said) => {
    const { code, stdout, stderr } = await storeWith(service);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(join(folder, 'calls.config.json'));
    expect(stderr).toMatch(said);
  });

  test.each<[object]>([[{}], [{ synchronous: 'full', poolSize: 1, statementTimeoutMs: 0 }]])(
    '%j is accepted',
    async (service) => {
      expect(await storeWith(service)).toMatchObject({ code: 0, stderr: '' });
    },
  );

  test('the manual has a line for each setting, with its default, unit and text', () => {
    const manual = readFileSync(new URL('../../../docs/manual/cli.md', import.meta.url), 'utf8');
    for (const [name, { default: standard, unit, text }] of Object.entries(serviceSettings)) {
      const shown = standard === null || Array.isArray(standard) ? '' : JSON.stringify(standard);
      expect(manual).toContain(`| \`${name}\` | ${shown === '' ? '' : `\`${shown}\``} | ${unit} | ${text} |`);
    }
  });
});
