import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { annotationsOf, type NamedReport } from '@call-attribution/settings';
import { afterAll, describe, expect, it } from 'vitest';
import { type CallsMcpOptions, type Configured, callTool, createServer } from '../src/index.ts';
import { ask } from './support/ask.ts';
import { fakeClient } from './support/fake-client.ts';
import { request } from './support/handlers.ts';

const office = '13035550100';
const calls: readonly Call[] = fixtureCalls(400).map((call, i) => ({
  ...call,
  channel: 'Tracker',
  ani: i % 10 === 0 ? '+1 (303) 555-0100' : `1212555${String(i % 90).padStart(4, '0')}`,
  talk_minutes: i % 4 === 0 ? '0.0' : '2.5',
  state: ['TX', 'CA', null][i % 3] ?? null,
  search_term: i % 7 === 0 ? 'dental implant price' : null,
  custom_value: i % 5 === 0 ? 'ads=1' : null,
  ppc_campaign: i % 6 === 0 ? 'Line 212-555-0199' : 'Brand',
}));
const definitions = {
  lead: 'talk_minutes >= 2',
  office: `ani IN ('${office}')`,
  implant: "search_term LIKE '%implant%'",
  agreed: "custom_value = 'ads=1'",
  line: "campaign = 'Line 212-555-0199'",
  new_caller: "caller_type = 'first'",
  texan_lead: "lead AND state = 'TX' AND NOT office",
};
const isTrue: Readonly<Record<string, (call: Call) => boolean>> = {
  lead: ({ talk_minutes: talk }) => Number(talk) >= 2,
  office: ({ ani }) => String(ani).replace(/\D/g, '') === office,
  implant: ({ search_term: term }) => String(term).includes('implant'),
  agreed: ({ custom_value: value }) => value === 'ads=1',
  line: ({ ppc_campaign: campaign }) => campaign === 'Line 212-555-0199',
};
const howMany = (...all: ((call: Call) => boolean | undefined)[]): number =>
  calls.filter((call) => all.every((each) => each(call))).length;

const folders: string[] = [];
afterAll(() => folders.map((folder) => rmSync(folder, { recursive: true })));
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-words-'));
  folders.push(folder);
  return folder;
};

const serverWith = (configured: Partial<Configured>, options: CallsMcpOptions = {}) =>
  createServer(fakeClient(calls), {
    configured,
    pseudonymKey: 'key',
    ...options,
  });
const server = serverWith({ definitions, exclude: null });
const all = { calls: 'all' };

describe('definitions of the configuration', () => {
  it.each(Object.entries(isTrue))('are judged before masking: %s', async (name, truth) => {
    const { total } = await ask(server, 'count_calls', { ...all, where: name });
    expect(total).toBe(howMany(truth));
    expect(total).toBeGreaterThan(20);
    const others = await ask(server, 'count_calls', { ...all, where: `NOT ${name}` });
    const unknown = { implant: 'search_term', agreed: 'custom_value' }[name];
    const isKnown = (call: Call) =>
      unknown === undefined || (call as unknown as Record<string, unknown>)[unknown] !== null;
    expect(others.total).toBe(howMany((call) => !truth(call), isKnown));
  });

  it('are judged also where everything is in memory, in a file, and read by another server', async () => {
    const copyFolder = newFolder();
    for (const options of [{}, { copyFolder }, { copyFolder }]) {
      const own = serverWith({ definitions, exclude: null }, options);
      const { total } = await ask(own, 'count_calls', { ...all, where: 'office AND lead' });
      expect(total).toBe(howMany(isTrue.office as never, isTrue.lead as never));
      await own.close();
    }
  });

  it('hold what they say now when they change, over the same folder', async () => {
    const copyFolder = newFolder();
    const count = async (own: Record<string, string>, where: string) => {
      const changed = serverWith({ definitions: own, exclude: null }, { copyFolder });
      const { total } = await ask(changed, 'count_calls', { ...all, where });
      await changed.close();
      return total;
    };

    expect(await count({ office: "ani = '12125550001'" }, 'office')).toBe(
      howMany(({ ani }) => ani === '12125550001'),
    );
    expect(await count(definitions, 'office')).toBe(40);
    expect(await count({ ...definitions, implant: "search_term LIKE 'x%'" }, 'implant')).toBe(0);
    expect(await count(definitions, 'implant')).toBe(howMany(isTrue.implant as never));

    // What the masked calls say needs no other copy.
    const files = () => readdirSync(copyFolder).filter((name) => name.endsWith('.db')).length;
    const before = files();
    expect(await count({ ...definitions, lead: 'talk_minutes >= 9' }, 'lead')).toBe(0);
    expect(files()).toBe(before);
  });

  it('stand in where, measures, having and order of all tools', async () => {
    const { rows } = await ask(server, 'analyze_calls', {
      ...all,
      where: 'NOT office',
      group_by: ['state'],
      measures: ['count(lead) as leads', 'share(implant)'],
      having: 'count(texan_lead) >= 1',
      order: 'count(lead) desc',
    });
    const texans = ({ state }: Call) => state === 'TX';
    const isOther = (call: Call) => !isTrue.office?.(call);
    const leads = howMany(texans, isOther, isTrue.lead as never);
    const share = howMany(texans, isOther, isTrue.implant as never) / howMany(texans, isOther);
    expect(rows).toEqual([['«TX»', leads, Number(share.toFixed(4))]]);
    const listed = await ask(server, 'list_calls', {
      ...all,
      where: 'implant AND office',
      rows: 3,
    });
    expect(listed.total).toBe(howMany(isTrue.implant as never, isTrue.office as never));
    const first = await ask(server, 'count_calls', { ...all, where: 'new_caller' });
    expect(first.total).toBe(new Set(calls.map(({ ani }) => ani)).size);
  });

  it.each([
    [{ where: 'leed' }, 'Did you mean lead?'],
    [{ where: 'lead = 1' }, 'lead is a definition: it stands by itself'],
    [{ where: `lead AND ani = '${office}'` }, 'ani cannot be compared with that'],
  ])('leave errors as they are: %j', async (args, text) => {
    const { isError, content } = await callTool(server, 'count_calls', args);
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain(text);
  });

  it('are explained by describe_data, with what they count and without personal values', async () => {
    const { rows } = await ask(server, 'describe_data', { fields: ['definitions'] });
    expect(Object.fromEntries(rows.map(([name, ...rest]) => [name, rest]))).toEqual({
      lead: ['Definition of the operator: talk_minutes >= 2', null, 'true 300'],
      office: ['Definition of the operator: ani IN (…)', null, 'true 40'],
      implant: ['Definition of the operator: search_term LIKE …', null, 'true 58'],
      agreed: ['Definition of the operator: custom_value = …', null, 'true 80'],
      line: ["Definition of the operator: campaign = 'Line [number]'", null, 'true 67'],
      new_caller: ["Definition of the operator: caller_type = 'first'", null, ''],
      texan_lead: [
        "Definition of the operator: lead AND state = 'TX' AND NOT office",
        null,
        expect.stringMatching(/^true \d+$/),
      ],
    });
    const usual = await ask(server, 'describe_data');
    expect(usual.rows.map(([name]) => name)).toContain('office');
    const { instructions } = await request(server, 'initialize', initialize);
    expect(instructions).toContain('lead, office, implant, agreed, line, new_caller, texan_lead');
    const plain = await request(createServer(fakeClient([])), 'initialize', initialize);
    expect(plain.instructions).not.toContain('names of their own');
  });

  it('are shown with their values where --reveal shows the field, without numbers', async () => {
    const open = serverWith({ definitions, exclude: null }, { reveal: ['caller'] });
    const { rows } = await ask(open, 'describe_data', { fields: ['office', 'agreed'] });
    expect(rows.map(([, meaning]) => meaning)).toEqual([
      "Definition of the operator: ani IN ('[number]')",
      'Definition of the operator: custom_value = …',
    ]);
    const { total } = await ask(open, 'count_calls', { ...all, where: 'office' });
    expect(total).toBe(40);
  });

  it.each([
    [{ lead: 'talk_minuts >= 2' }, null, /definitions\.lead: There is no field talk_minuts/],
    [{ lead: 'talk_minutes >= 2' }, 'offise', /exclude: There is no field offise/],
    [{ state: 'missed' }, null, /A definition cannot be called state/],
  ])('with a mistake make no server: %j %s', (wrong, exclude, message) => {
    expect(() => serverWith({ definitions: wrong as Record<string, string>, exclude })).toThrow(
      message,
    );
  });
});

const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

describe('an exclusion of the configuration', () => {
  const without = serverWith({ definitions, exclude: 'office' }, { exportFolder: newFolder() });
  const said = 'Without office: 40 calls are left out.';

  it.each([
    ['count_calls', {}, ({ total }: Record<string, unknown>) => total],
    ['list_calls', { rows: 1 }, ({ total }: Record<string, unknown>) => total],
    ['analyze_calls', {}, (answer: Record<string, unknown>) => answer.calls],
  ] as const)(
    'holds in %s, which says so; no_exclude leaves it out',
    async (tool, args, number) => {
      const answer = await ask(without, tool, { ...all, ...args });
      expect([number(answer), answer.notes]).toEqual([360, expect.arrayContaining([said])]);
      const whole = await ask(without, tool, { ...all, ...args, no_exclude: true });
      expect(number(whole)).toBe(400);
      expect(whole.notes).not.toContain(said);
    },
  );

  it('holds in files, and is said there too', async () => {
    const saved = { tool: 'list_calls', arguments: { ...all, fields: ['sid'] } };
    const { summary, notes } = await ask(without, 'save_csv', saved);
    expect(summary).toContain('Wrote 360 rows');
    expect(notes).toContain(said);
  });

  it('explains an answer of nothing', async () => {
    const { total, notes } = await ask(without, 'count_calls', { ...all, where: 'office' });
    expect(total).toBe(0);
    expect(notes).toContain(said);
    expect(notes.join(' ')).not.toMatch(/no calls|last call before/);
  });

  it('keeps its cursors apart from those of all calls', async () => {
    const { next_cursor: cursor } = await ask(without, 'list_calls', { ...all, rows: 5 });
    const again = { ...all, rows: 5, cursor, no_exclude: true };
    expect((await callTool(without, 'list_calls', again)).content[0]?.text).toContain('cursor');
  });

  it('is an argument only where there is one', async () => {
    const { content } = await callTool(server, 'count_calls', { no_exclude: true });
    expect(content[0]?.text).toContain('There is no argument "no_exclude"');
  });
});

describe('a number that a definition names', () => {
  const secret = '3035550100';
  const looksLikeIt = /303.{0,3}555.{0,3}0100/;
  const copyFolder = newFolder();
  const guessed = serverWith({ definitions, exclude: 'office' }, { copyFolder });

  it('is in no answer, error, list of tools, instruction or file', async () => {
    const asked: readonly (readonly [string, Record<string, unknown>])[] = [
      ['describe_data', {}],
      ['describe_data', { fields: 'all' }],
      ['describe_data', { fields: 'definitions' }],
      ...['count_calls', 'list_calls', 'analyze_calls'].flatMap((tool) =>
        [
          'office',
          'NOT office',
          'office AND NOT office',
          'office = 1',
          'office office',
          'ofice',
          'office AND implant AND agreed',
          "office AND state = 'ZZ'",
          'office IS NULL',
          '(office',
        ].map((where) => [tool, { ...all, where, no_exclude: true }] as const),
      ),
      ['analyze_calls', { group_by: ['office'] }],
      ['analyze_calls', { group_by: ['ani'], where: 'office', no_exclude: true }],
      ['analyze_calls', { measures: ['count(office)'], having: 'office > 1' }],
      ['analyze_calls', { measures: ['distinct(office)', 'min(office)'] }],
      ['analyze_calls', { order: 'office' }],
      ['list_calls', { order: 'office', fields: ['office'] }],
      ['get_call', { sid: String(calls[0]?.sid), fields: ['all'] }],
      ['get_call', { sid: String(calls[0]?.sid), fields: ['judged_before_masking'] }],
      ['analyze_calls', { group_by: ['judged_before_masking'] }],
      ['count_calls', { where: "judged_before_masking = '1'" }],
    ];
    for (const [tool, args] of asked) {
      const said = JSON.stringify(await callTool(guessed, tool, args));
      expect(said, `${tool} ${JSON.stringify(args)}`).not.toMatch(looksLikeIt);
      expect(said).not.toMatch(/ads=1|%implant%/);
    }

    for (const method of ['tools/list', 'resources/list'])
      expect(JSON.stringify(await request(guessed, method))).not.toMatch(looksLikeIt);
    expect(JSON.stringify(await request(guessed, 'initialize', initialize))).not.toMatch(
      looksLikeIt,
    );
    await guessed.close();
    for (const file of readdirSync(copyFolder))
      expect(readFileSync(join(copyFolder, file)).toString('latin1')).not.toMatch(looksLikeIt);
  });

  it('is not found by comparing it, alone, beside the definition or by differences of counts', async () => {
    const own = serverWith({ definitions, exclude: null });
    const guesses = [
      `ani = '${secret}'`,
      `ani <> '${secret}'`,
      `ani IN ('${secret}', 'phone-000000000000')`,
      "ani LIKE '%555%'",
      "ani >= '13' AND ani < '14'",
      "ani BETWEEN '1303' AND '1304'",
    ];
    for (const guess of guesses)
      for (const where of [guess, `office AND ${guess}`, `office OR NOT (${guess})`]) {
        for (const args of [{ where }, { measures: [`count(${where})`] }]) {
          const tool = 'where' in args ? 'count_calls' : 'analyze_calls';
          const { isError, content } = await callTool(own, tool, { ...all, ...args });
          expect([where, isError]).toEqual([where, true]);
          expect(content[0]?.text).toContain('personal data is hidden');
        }
      }

    // What can be asked is who it holds of, and those have pseudonyms.
    const { rows } = await ask(own, 'analyze_calls', {
      ...all,
      where: 'office',
      group_by: ['ani'],
      measures: ['calls'],
    });
    expect(rows).toEqual([[expect.stringMatching(/^phone-\d{12}$/), 40]]);
    const [[caller]] = rows as [[string]];
    const rest = `office AND ani <> '${caller}'`;
    expect((await ask(own, 'count_calls', { ...all, where: rest })).total).toBe(0);
  });
});

describe('a report with a name', () => {
  const reports = new Map<string, NamedReport>([
    [
      'weekly',
      {
        title: 'Leads by state',
        by: 'state',
        measures: 'calls,count(lead) as leads',
        where: 'NOT office',
        'min-talk': '1m',
        order: 'leads desc',
        'include-extensions': 'true',
        period: 'last year',
        'fail-if': 'calls < 10',
      },
    ],
    ['all_calls', { by: 'state', q: 'talk_minutes:[2 TO *],inc_gce:1', 'no-exclude': 'true' }],
    ['of_berlin', { by: 'state', account: 'berlin', 'include-extensions': 'true' }],
  ]);
  const reporting = serverWith({ definitions, exclude: 'agreed', reports });
  const when = { from: '2000-01-01', to: '2030-01-01' };

  it('is asked by its name, and what stands beside it replaces its own', async () => {
    const asked = { report: 'weekly', ...when };
    const { columns, rows, notes } = await ask(reporting, 'analyze_calls', asked);
    const chosen = (call: Call) =>
      !isTrue.office?.(call) && Number(call.talk_minutes) >= 1 && !isTrue.agreed?.(call);
    expect(columns).toEqual(['state', 'calls', 'leads']);
    const texans = howMany(chosen, ({ state }) => state === 'TX');
    expect(rows).toContainEqual(['«TX»', texans, texans]);
    expect(notes).toContainEqual(expect.stringMatching(/^Without agreed: \d+ calls/));
    const other = await ask(reporting, 'analyze_calls', {
      ...asked,
      group_by: ['ani'],
      measures: ['calls'],
      order: 'calls desc',
      limit: 1,
    });
    expect(other.columns).toEqual(['ani', 'calls']);
    expect(other.rows).toHaveLength(1);
  });

  it('may have a filter of the API, and leave the exclusion out', async () => {
    const answer = await ask(reporting, 'analyze_calls', { report: 'all_calls' });
    expect(answer.calls).toBe(howMany(({ talk_minutes: talk }) => Number(talk) >= 2));
    expect(answer.notes.join()).not.toContain('Without agreed');
  });

  it('is of the accounts that it names', async () => {
    const two = createServer(
      [
        { name: 'main', client: fakeClient(calls) },
        { name: 'berlin', client: fakeClient(calls.slice(0, 7)) },
      ],
      { configured: { reports } },
    );
    expect((await ask(two, 'analyze_calls', { report: 'of_berlin' })).calls).toBe(7);
    const asked = { report: 'of_berlin', account: ['main'] };
    expect((await ask(two, 'analyze_calls', asked)).calls).toBe(400);
  });

  it('can be saved as a file', async () => {
    const own = serverWith({ definitions, reports }, { exportFolder: newFolder() });
    const saved = { tool: 'analyze_calls', arguments: { report: 'all_calls' } };
    expect((await ask(own, 'save_csv', saved)).summary).toContain('Wrote 3 rows');
  });

  it('is an argument only where there are some, with their names and titles', async () => {
    const { tools } = await request(reporting, 'tools/list');
    expect(JSON.stringify(tools)).toContain('weekly (Leads by state); all_calls; of_berlin');
    const named = await callTool(reporting, 'analyze_calls', { report: 'weakly' });
    expect(named.content[0]?.text).toContain('There is no report "weakly". Did you mean "weekly"?');
    const none = await callTool(server, 'analyze_calls', { report: 'weekly' });
    expect(none.content[0]?.text).toContain('There is no argument "report"');
  });
});

describe('annotations of the operator', () => {
  const annotations = [
    { date: '2026-01-02', text: 'prices changed', account: null },
    { date: '2026-01-03', text: 'call 303-555-0100 moved', account: null },
    { date: '2026-01-04', text: 'new landing page', account: '202' },
    { date: '2026-01-05', text: 'ads paused', account: null },
    { date: '2026-01-06', text: 'ads back', account: null },
    { date: '2026-02-01', text: 'a new office', account: null },
  ];
  const accounts = ['main 101', 'berlin 202'].map((each) => {
    const [name = '', id = ''] = each.split(' ');
    return { name, id };
  });
  const settings = { file: { annotations }, accounts } as unknown as Parameters<
    typeof annotationsOf
  >[0];
  const noted = createServer(
    accounts.map((account) => ({ ...account, client: fakeClient(calls) })),
    { configured: { annotations: (numbers) => annotationsOf(settings, numbers) } },
  );
  const said = async (tool: string, args: Record<string, unknown>): Promise<string[]> =>
    (await ask(noted, tool, args)).notes.filter((note: string) =>
      / Jan 2026: | Feb 2026: /.test(note),
    );

  it.each(['count_calls', 'list_calls', 'analyze_calls'])(
    'are said by %s, the latest three of the period',
    async (tool) => {
      const january = { period: '2026-01' };
      const latest = ['6 Jan 2026: ads back', '5 Jan 2026: ads paused'];
      expect(await said(tool, january)).toEqual([...latest, '4 Jan 2026: new landing page (202)']);
      const main = await said(tool, { ...january, account: ['main'] });
      expect(main.slice(0, 2)).toEqual(latest);
      expect(main[2]).toMatch(/^3 Jan 2026: call .* moved$/);
      expect(main.join()).not.toContain('555-0100');
      expect(
        await said(tool, { from: '2026-01-04', to: '2026-01-04', account: ['berlin'] }),
      ).toEqual(['4 Jan 2026: new landing page']);
      expect(await said(tool, { from: '2026-01-04', to: '2026-01-04', account: ['101'] })).toEqual(
        [],
      );
      expect(await said(tool, {})).toEqual([]);
    },
  );

  it('are said of all time where it is drawn by days, weeks or months', async () => {
    const months = await said('analyze_calls', { group_by: ['month'] });
    expect(months).toEqual([
      '1 Feb 2026: a new office',
      '6 Jan 2026: ads back',
      '5 Jan 2026: ads paused',
    ]);
    expect(await said('analyze_calls', { group_by: ['state'] })).toEqual([]);
  });
});
