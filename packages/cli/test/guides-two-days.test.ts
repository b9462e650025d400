import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatNaive } from '@call-attribution/core/time';
import { afterAll, expect, test } from 'vitest';
import { openOwnStage } from './stage.ts';

// Each guide is followed on two days, in one folder: what a person pastes today is still there
// tomorrow.
const guides = join(import.meta.dirname, '../../../docs/guides');
const day = 86_400_000;
const start = Date.UTC(2026, 10, 20, 6);
let now = start;
const stage = await openOwnStage({
  records: 200,
  accounts: 2,
  days: 20,
  to: formatNaive(start),
  clock: { now: () => now },
  live: { callsPerMinute: 20 / (24 * 60) },
});
afterAll(() => stage.close());

/**
 * Commands that go on until they are stopped, or need a server that is not the API. Other tests run
 * them.
 */
const elsewhere = /^calls (?:serve|push|mcp|fleet|verify job\.json|init|watch|report daily)\b/;

/** The words of a line, as a shell would pass them on. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );

/**
 * What the code blocks for a shell have of `calls`, a command a line, and the store that they name
 * for all that follows.
 */
function commandsOf(
  text: string,
): { readonly store: string | null; readonly args: readonly string[] }[] {
  const lines = [...text.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```/gm)]
    .flatMap(([, code = '']) => code.replace(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/\s+# .*$/, '').replace(/^(?:\S+ ){4}\S+\s+(?=calls )/, ''));
  let store: string | null = null;
  return lines.flatMap((line) => {
    store = /^export CALLS_STORE=(\S+)/.exec(line)?.[1] ?? store;
    if (!line.startsWith('calls ') || elsewhere.test(line)) return [];

    // A sync that goes on is run once, and a demo makes up less than a year of calls.
    const shorter = line
      .replace(/ --every \S+/, '')
      .replaceAll('/var/lib/calls/', '')
      .replace(/^calls demo$/, 'calls demo --records 300');
    return [{ store, args: wordsOf(shorter).slice(1) }];
  });
}

/** What the guide to what a keyword earns has in its folder: files of spend, and the sales it shows. */
const spent = ['google', 'keywords', 'microsoft'];
const keywords = 'what-a-keyword-earns.md';
const salesOf = (text: string): string => /^```\n(Customer,[\s\S]*?)^```/m.exec(text)?.[1] ?? '';

const pages = readdirSync(guides).map(
  (name) => [name, commandsOf(readFileSync(join(guides, name), 'utf8'))] as const,
);

test('the guides have commands to follow', () => {
  expect(pages.flatMap(([, commands]) => commands).length).toBeGreaterThanOrEqual(15);
});

test.each(pages.filter(([, commands]) => commands.length > 0))(
  '%s holds on two days',
  async (_, commands) => {
    now = start;
    const cwd = stage.folder();
    const config = join(cwd, '.config/call-attribution');
    mkdirSync(config, { recursive: true });

    // The accounts of the guide on many accounts, with the keys of the sandbox.
    const accounts = Object.fromEntries(
      ['main', 'boston'].map((name, i) => {
        const { id = '', accessKey = '', secretKey = '' } = stage.sandbox.accounts[i] ?? {};
        writeFileSync(join(config, `${name}.access`), accessKey, { mode: 0o600 });
        writeFileSync(join(config, `${name}.secret`), secretKey, { mode: 0o600 });
        return [name, { id, accessKeyFile: `${name}.access`, secretKeyFile: `${name}.secret` }];
      }),
    );
    const namesAccounts = commands.some(({ args }) => args.some((word) => /account/.test(word)));
    const file = {
      baseUrl: stage.url,
      timeZone: 'America/New_York',
      definitions: { lead: 'talk_minutes >= 2' },
      spend: Object.fromEntries(spent.map((name) => [name, `${name}.csv`])),
      ...(namesAccounts ? { accounts } : {}),
    };
    writeFileSync(join(config, 'calls.config.json'), JSON.stringify(file));
    const rows = 'Campaign,Keyword,Day,Currency code,Cost\nBrand,shoes,2026-10-05,USD,12.50\n';
    for (const name of spent) writeFileSync(join(config, `${name}.csv`), rows);
    writeFileSync(join(cwd, 'sales.csv'), salesOf(readFileSync(join(guides, keywords), 'utf8')));
    writeFileSync(join(cwd, 'rules.json'), JSON.stringify({ value: 25, currency: 'USD' }));
    for (const today of [1, 2]) {
      for (const { store, args } of commands) {
        const env = {
          HOME: cwd,
          XDG_CONFIG_HOME: join(cwd, '.config'),
          ...(store === null ? {} : { CALLS_STORE: store }),
        };
        const { code, stderr } = await stage.quick(args, { cwd, env, now: new Date(now) });
        expect({
          today,
          line: `calls ${args.join(' ')}`,
          code,
          stderr: code === 0 ? '' : stderr,
        }).toMatchObject({ code: 0, stderr: '' });
      }
      await stage.sandbox.advance('1d');
      now += day;
    }
  },
);
