import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Call, fields } from '@call-attribution/core';
import { scrub } from '@call-attribution/core/record';
import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../src/index.ts';
import { agentsSee, createMask, hiddenMark, type Reveal } from '../src/privacy/mask.ts';
import { pageAddress } from '../src/privacy/text.ts';
import { fakeClient } from './support/fake-client.ts';
import { craftedCalls, leaksInText, leaksOf } from './support/red-team.ts';

const base = Object.fromEntries(fields.map((spec) => [spec.name, null])) as unknown as Call;
const person: Partial<Call> = {
  ani: '5552013456',
  first_name: 'Wilhelmina',
  last_name: 'Quesadilla',
  street_address: '742 Evergreen Terrace',
  zipcode: '90210',
  ip_address: '203.0.113.77',
  recording: 'https://recordings.example.com/r/8842',
  phone_number: '5552013456',
};
const maskOf = (reveal: readonly Reveal[] = [], key = 'a key') =>
  createMask(fields, new Set(reveal), key);
const shown = (call: Partial<Call>, name: keyof Call, reveal: readonly Reveal[] = []): unknown =>
  maskOf(reveal)({ ...base, ...call })[name];

describe('what assistants see', () => {
  it('is listed: the others are present or absent, and unknown fields are dropped', () => {
    const call = Object.fromEntries(fields.map(({ name }, i) => [name, `q${i}q`]));
    const masked = maskOf()({ ...call, unknown_field: 'Wilhelmina' } as unknown as Call);
    expect(Object.keys(masked)).not.toContain('unknown_field');
    const hidden = fields
      .filter(({ name }) => Reflect.get(masked, name) === hiddenMark)
      .map(({ name }) => name);
    expect(hidden).toEqual(
      expect.arrayContaining([
        'first_name',
        'zipcode',
        'ip_address',
        'search_term',
        'url_tag',
        'custom_id',
        'vt_param1',
      ]),
    );
    expect(hidden).toEqual(
      fields.filter((spec) => agentsSee(spec, new Set()) === 'hidden').map(({ name }) => name),
    );
    expect(maskOf()({ ...base, search_term: '' } as Call).search_term).toBeNull();
  });

  it.each<[Reveal, readonly (keyof Call)[]]>([
    ['caller', ['ani', 'phone_number']],
    ['name', ['first_name', 'last_name']],
    ['address', ['street_address', 'zipcode']],
    ['ip', ['ip_address']],
    ['recording', ['recording']],
    ['text', ['search_term']],
  ])('--reveal %s shows %j and nothing else', (reveal, names) => {
    const call: Partial<Call> = { ...person, search_term: 'dentist' };
    for (const name of Object.keys(call) as (keyof Call)[]) {
      const value = shown(call, name, [reveal]);
      if (names.includes(name)) expect(value).toBe(call[name]);
      else expect(String(value)).toMatch(/^(?:\(hidden\)|phone-\d{12})$/);
      expect(shown(call, name, ['all'])).toBe(call[name]);
    }
  });

  it('of a number or a time is nothing else', () => {
    expect(shown({ talk_minutes: 'call 5552013456' }, 'talk_minutes')).toBeNull();
    expect(shown({ ...person, pool_id: 5552013456 }, 'pool_id')).toBeNull();
    expect(shown({ date_added: 'Wilhelmina' }, 'date_added')).toBeNull();
    expect(shown({ talk_minutes: '12.5' }, 'talk_minutes')).toBe('12.5');
  });

  it.each([
    ['https://max:secret@www.example.com/thanks', 'https://www.example.com/thanks'],
    [
      'https://www.example.com/top-rated/2024/10/Roof%20Repair?x=1#me',
      'https://www.example.com/top-rated/2024/10/…',
    ],
    ['/303/555/0120', '/…/…/…'],
    ['/thanks/6125550147/maria_l', '/thanks/…/…'],
    ['?utm_source=news&gclid=EAIaIQ_x&name=Maria', '?utm_source=news&gclid=EAIaIQ_x'],
    ['https://x.example/?utm_term=call%20me%3F', 'https://x.example/?utm_term=…'],
    ['www.google.com', 'www.google.com'],
    ['6125550147.example.com', '…'],
    ['', ''],
  ])('of the page %j is %j', (address, text) => {
    expect(pageAddress(address)).toBe(text);
  });

  it.each([
    ['mail w.quesadilla@mail.example.com now', 'mail [email] now'],
    ['ring (617) 555-0123 or +44 20 7946 0958', 'ring [number] or [number]'],
    ['at 203.0.113.77 or 2001:db8::8a2e:370:7334', 'at [ip] or [ip]'],
    [
      'Roof repair 2024-10-15, 24/7, 30 years, 2025-2026',
      'Roof repair 2024-10-15, 24/7, 30 years, 2025-2026',
    ],
    ['sale 20261015 v1.2.3 at 10:00:00', 'sale 20261015 v1.2.3 at 10:00:00'],
  ])('of the text %j is %j', (text, safe) => {
    expect(scrub(text)).toBe(safe);
  });

  it('of a value with one of the hidden ones of its record is a mark', () => {
    for (const text of [
      'Wilhelmina',
      'quesadilla roofs',
      '555/201/3456',
      '742 evergreen',
      'zip 90210',
    ])
      expect(shown({ ...person, vt_keyword: text }, 'vt_keyword')).toBe(hiddenMark);

    expect(shown({ ...person, vt_keyword: 'Brand' }, 'vt_keyword')).toBe('Brand');
    expect(shown({ ...person, ppc_campaign: 'list 555/201/3456' }, 'ppc_campaign')).toBe(
      hiddenMark,
    );
    expect(shown({ ...person, vt_random: '198.51.100.201' }, 'vt_random')).toBe('[ip]');
    expect(shown({ ...person, browser_version: '17.0.1.5' }, 'browser_version')).toBe('17.0.1.5');
    expect(shown({ ...person, dnis: '5552013456' }, 'dnis')).toBe('5552013456');
  });
});

describe("the account's own words", () => {
  it('are counted as they are, also where a caller has such a name, street or zip code', async () => {
    const words: Partial<Call> = {
      ppc_campaign: 'Harbor Dental | Brand',
      ppc_adgroup: 'Houston – brand',
      ppc_keywords: 'veneers price',
      phone_label: 'Main Street office',
      city: 'Houston',
      state: 'Texas',
      channel: 'Tracker',
      ppc_status: 'Processed',
    };
    const callers: readonly Partial<Call>[] = [
      { first_name: 'Ann', last_name: 'Brand' },
      { first_name: 'Bob', last_name: 'Price' },
      { first_name: 'Tex', last_name: 'Houston', zipcode: '80202' },
      { first_name: 'Dallas', last_name: 'Texas', street_address: '5 Main Street Office' },
      { last_name: 'Tracker', zipcode: '80202' },
      { last_name: 'Processed' },
      {},
    ];
    const calls = [words, { ...words, ppc_campaign: 'Denver 80202' }].flatMap((own, i) =>
      callers.map((caller, n) => ({
        ...base,
        ...own,
        ...caller,
        sid: `S${i}-${n}`,
        ani: `555201000${n}`,
        date_added: '2026-11-01 10:00:00',
        talk_minutes: '1.0',
      })),
    ) as Call[];
    const server = createServer(fakeClient(calls));
    for (const field of Object.keys(words) as (keyof Call)[]) {
      const values = new Set(calls.map((call) => call[field]));
      for (const value of values) {
        const where = `${field} = '${value}'`;
        const { structuredContent } = await callTool(server, 'count_calls', { where });
        const truth = calls.filter((call) => call[field] === value).length;
        expect(structuredContent, where).toMatchObject({ total: truth });
      }

      // Nobody can ask for whom it was hidden.
      const hidden = await callTool(server, 'count_calls', { where: `${field} = '(hidden)'` });
      expect(hidden.structuredContent ?? { total: 0 }, field).toMatchObject({ total: 0 });
    }
  });
});

describe('crafted records', () => {
  it('show nobody in any field, however it was written', () => {
    expect(craftedCalls.length).toBeGreaterThan(300);
    const mask = maskOf();
    const leaks = craftedCalls.flatMap((call) => {
      const row = Object.entries(mask(call)).filter(([name]) => !/^(?:sid|dnis)$/.test(name));
      return row.flatMap(([name, cell]) => {
        const found = cell === null ? [] : leaksOf(String(cell), call.who);
        return found.length === 0
          ? []
          : [`${call.spelling} in ${name}: ${cell} shows ${found.join(', ')}`];
      });
    });
    expect(leaks).toEqual([]);
  });

  it('show nobody in answers, the copy, files, errors and the log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-privacy-'));
    const lines: string[] = [];
    const server = createServer(fakeClient(craftedCalls), {
      copyFolder: folder,
      exportFolder: folder,
      pseudonymKey: 'key',
      budget: 200_000,
      log: (line) => void lines.push(line),
    });
    const asked: [string, Record<string, unknown>][] = [
      ['list_calls', { fields: 'all', rows: 500 }],
      ['save_csv', { tool: 'list_calls', arguments: '{"fields":"all"}' }],
      ['get_call', { sid: 'S0-0' }],
      ['describe_data', { fields: 'all' }],
      ['count_calls', { where: "ppc_campaign = 'nothing like it'" }],
      ['count_calls', { where: "ani = '3035550120'" }],
      ...fields.flatMap(({ name, v3 }): [string, Record<string, unknown>][] =>
        v3 === null ? [] : [['analyze_calls', { group_by: [name], limit: 500 }]],
      ),
    ];
    for (const [name, args] of asked) {
      const text = JSON.stringify(await callTool(server, name, args));
      // What the agent itself has written comes back to it.
      if (!text.includes('isError'))
        expect(leaksInText(text), `${name} ${JSON.stringify(args)}`).toEqual([]);
    }

    await server.close();
    for (const file of readdirSync(folder))
      expect(leaksInText(readFileSync(join(folder, file)).toString('latin1')), file).toEqual([]);
    expect(lines).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});

describe('values that are hidden', () => {
  const calls = ['first', 'second'].map((search_term, i) => ({
    ...base,
    sid: String(i),
    date_added: '2026-10-05 10:00:00',
    channel: 'Tracker',
    ani: `303555010${i}`,
    search_term,
    first_touch: `https://www.example.com/?loc=${i}`,
  }));
  const server = (reveal: readonly Reveal[] = []) =>
    createServer(fakeClient(calls as unknown as Call[]), { reveal });
  const asked = async (name: string, args: Record<string, unknown>, reveal?: readonly Reveal[]) =>
    JSON.stringify(await callTool(server(reveal), name, args));

  it('are not counted: all of them would count as one', async () => {
    for (const args of [
      { measures: ['distinct(search_term)'] },
      { measures: ['distinct( Search Term ) as terms'] },
      { group_by: ['day'], having: 'distinct(search_term) > 1' },
      { group_by: ['day'], order: 'distinct(search_term) desc' },
    ])
      expect(await asked('analyze_calls', args)).toContain(
        'search_term is hidden, so nobody can say how many different values there are.',
      );
    const measures = ['distinct(search_term)'];
    expect(await asked('analyze_calls', { measures }, ['text'])).toContain('[[2]]');
    expect(await asked('analyze_calls', { measures: ['distinct(ani)'] })).toContain('[[2]]');
  });

  it('of addresses of pages are said to be missing where a condition compares them', async () => {
    const where = "first_touch LIKE '%loc=%'";
    const note = 'addresses of pages are here without parts that may be personal';
    for (const tool of ['count_calls', 'list_calls', 'analyze_calls'])
      expect(await asked(tool, { where })).toContain(note);
    expect(await asked('analyze_calls', { measures: ['distinct(first_touch)'] })).toContain(note);
    expect(await asked('analyze_calls', { measures: [`count(${where})`] })).toContain(note);
    expect(await asked('count_calls', { where }, ['text'])).not.toContain(note);
    expect(await asked('count_calls', { where: "landing_page = '/'" })).not.toContain(note);
  });
});

describe('a pseudonym', () => {
  it('is the same for the same caller however the number is written, but only with the same key', () => {
    const of = (ani: string, key = 'a key') => maskOf([], key)({ ...base, ani } as Call).ani;
    expect(of('5552013456')).toBe(of('+1 (555) 201-3456'));
    expect(of('5552013456')).not.toBe(of('5552013457'));
    expect(of('5552013456')).not.toBe(of('5552013456', 'another key'));
    expect(of('Anonymous')).toMatch(/^phone-[a-j]{12}$/);
  });

  it('lets an agent count repeat callers', async () => {
    const calls = ['5552010001', '5552010002', '5552010001'].map(
      (ani, i) =>
        ({
          ...base,
          ani,
          sid: `S${i}`,
          date_added: '2026-11-01 10:00:00',
          talk_minutes: '1.0',
        }) as Call,
    );
    const result = await callTool(createServer(fakeClient(calls)), 'analyze_calls', {
      group_by: ['ani'],
    });
    const { rows } = result.structuredContent as { rows: [string, number][] };
    expect(rows.map(([, count]) => count)).toEqual([2, 1]);
  });
});
