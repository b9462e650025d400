import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, createClient, HttpError } from '@call-attribution/core';
import { scrub } from '@call-attribution/core/record';
import { fakeApi } from '@call-attribution/core/testing';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, describe, expect, it } from 'vitest';
import { type CallsMcpServer, callTool, createServer } from '../../src/index.ts';
import { brokenClient, fakeClient } from '../support/fake-client.ts';
import { request } from '../support/handlers.ts';
import { craftedCalls, leaksInText, leaksOf, people, spellings } from '../support/red-team.ts';

const results = openDrill({
  name: 'crafted-records',
  kind: 'odd records',
  what: 'Records hold personal data in every spelling; no tool, resource or error shows any of it',
});
const longStrings = openDrill({
  name: 'long-strings',
  kind: 'odd records',
  what: 'A megabyte made to slow down searches is masked in time proportional to its length',
});

const bySid = new Map(craftedCalls.map((call) => [call.sid, call]));
const exportFolder = mkdtempSync(join(tmpdir(), 'red-team-files-'));
afterAll(() => rmSync(exportFolder, { recursive: true }));
const server = createServer(fakeClient(craftedCalls), { budget: 50_000, exportFolder });

/** Asks every tool that groups, describes or counts, and reads the files that it writes. */
async function readAll(of: CallsMcpServer): Promise<void> {
  const see = async (name: string, args: Record<string, unknown>): Promise<void> => {
    const result = await callTool(of, name, args);
    const what = `${name} ${JSON.stringify(args)}`;
    expect(result.isError, `${what}: ${result.content[0]?.text}`).toBeUndefined();
    expect(leaksInText(JSON.stringify(result)), what).toEqual([]);
    if (name !== 'list_calls' && name !== 'analyze_calls') return;
    const { structuredContent } = await callTool(of, 'save_csv', { tool: name, arguments: args });
    const file = /CSV to (.+)\.$/.exec(String(structuredContent?.summary))?.[1] ?? '';
    expect(leaksInText(readFileSync(file, 'utf8')), `${what} in a file`).toEqual([]);
  };

  for (const field of [
    'search_term',
    'first_touch',
    'ani',
    'last_name',
    'zipcode',
    'ppc_gclid',
    'browser',
    'custom_value',
    'landing_page',
    'phone_label',
  ])
    for (const limit of [3, 500]) await see('analyze_calls', { group_by: [field], limit });

  await see('list_calls', { rows: 20, fields: 'all' });
  await see('describe_data', { fields: 'all' });
  await see('count_calls', {});
}

describe('crafted records', () => {
  it('are listed and read one by one without personal data', () =>
    results.run(async () => {
      const leaks: string[] = [];
      let cursor: string | undefined;
      let seen = 0;
      do {
        const page = await callTool(server, 'list_calls', {
          fields: 'all',
          rows: 100,
          ...(cursor ? { cursor } : {}),
        });
        const { rows, next_cursor } = page.structuredContent as {
          rows: unknown[][];
          next_cursor?: string;
        };
        for (const row of rows) {
          seen += 1;
          const call = bySid.get(String(row[0]));
          if (!call) throw new Error('a row without a record');
          for (const cell of row.slice(1))
            leaks.push(...leaksOf(String(cell).replace('8005550100', ''), call.who));
        }
        cursor = next_cursor;
      } while (cursor);

      for (const call of craftedCalls.filter((_, i) => i % 5 === 0)) {
        const result = await callTool(server, 'get_call', { sid: call.sid });
        leaks.push(...leaksInText(JSON.stringify(result)));
      }

      expect(seen).toBe(craftedCalls.length);
      expect(leaks).toEqual([]);
    }));

  it('are analyzed, described, counted and exported without personal data', () =>
    results.run(() => readAll(server)));

  it('show nobody through a local copy either, which refuses guesses of personal values', () =>
    results.run(async () => {
      const hostile = await fakeApi({ calls: [...craftedCalls] }).listen();
      const client = createClient({ baseUrl: hostile.url, auth: apiKeys('a', 'b') });
      const folder = mkdtempSync(join(tmpdir(), 'red-team-'));
      const copied = createServer(client, {
        budget: 50_000,
        exportFolder,
        copyFolder: folder,
        pseudonymKey: 'key',
      });
      const text = async (name: string, args: object) =>
        JSON.stringify(await callTool(copied, name, { ...args }));
      await readAll(copied);
      for (const where of [
        "ani = '3035550120'",
        "ani LIKE '303%'",
        "ani > '3'",
        "last_name = 'Quesadilla'",
        "search_term LIKE '%3035550120%'",
        "search_term = '٣٠٣٥٥٥٠١٢٠'",
      ])
        expect(await text('count_calls', { where }), where).toContain('hidden');

      for (const group_by of ['ani', 'caller'])
        expect(
          await text('analyze_calls', { group_by, spend: ['3035550120=1'] }),
          group_by,
        ).not.toContain('"cost_per_call":1');

      const { rows } = (await callTool(copied, 'analyze_calls', { group_by: 'ani', limit: 1 }))
        .structuredContent as { rows: string[][] };
      expect(await text('count_calls', { where: `ani = '${rows[0]?.[0]}'` })).toContain(
        `"total":${Object.keys(spellings).length}`,
      );
      await copied.close();
      await client.close();
      await hostile.close();
      rmSync(folder, { recursive: true });
    }));

  it('do not show through errors of the API, and lists', () =>
    results.run(async () => {
      // A name or a street in a sentence has no form of its own; the server cannot know whose it
      // may be.
      const formless = /^the (?:name|street|zip)/;
      const written = Object.entries(spellings).filter(([title]) => !formless.test(title));
      for (const text of written.map(([, write]) => write(people[0] as (typeof people)[number]))) {
        const words = `The server refused the request: ${text}`;
        const failing = createServer(
          brokenClient(new HttpError('bad_request', words, { status: 400 })),
        );
        const result = await callTool(failing, 'list_calls', {});
        expect(result.isError).toBe(true);
        expect(leaksInText(result.content[0]?.text ?? ''), text).toEqual([]);
      }

      for (const method of ['tools/list', 'resources/list', 'resources/templates/list'])
        expect(leaksInText(JSON.stringify(await request(server, method)))).toEqual([]);
    }));
});

describe('a long hostile string', () => {
  const cpuOf = (text: string): number => {
    const before = process.cpuUsage();
    scrub(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };

  it.each([
    '1',
    '1 ',
    '1.',
    '1-',
    '0',
    '07 ',
    '-',
    '(',
    '+1',
    '303555012',
    '1 ------------',
    '2026-11-',
    '10:',
    '%',
    '%25',
    '%2',
    '&amp;',
    '&#',
    '&#48',
    '\\u',
    '\\u0031',
    '٣',
    '\uFDFA',
    '\u200B',
    'é',
    'a',
    'a@',
    '@',
    'a@a.',
    '=',
    'name=',
    'a=',
    'name[',
    '"',
    ' ',
    ':',
    'a:',
    '1:',
    '::',
    'de89',
    'de89 ',
    'tel ',
    'o-b-r-i-e-n',
  ])('of %j is masked in time in proportion to its length', (piece) =>
    longStrings.run(() => {
      const long = piece.repeat(Math.ceil(1_000_000 / piece.length));
      cpuOf(long.slice(0, 100_000));
      const quarter = cpuOf(long.slice(0, 250_000));
      const whole = cpuOf(long);

      // Four times as long; the rest is for the collector. A search that is quadratic takes sixteen
      // times as long.
      expect(whole).toBeLessThan(quarter * 9 + 400);
      expect(whole).toBeLessThan(8000);
    }),
  );
});
