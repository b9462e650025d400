import { isCallExtension } from '@call-attribution/core/fields';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { type CallsMcpOptions, callTool, createServer } from '../../src/index.ts';
import { failed, fakeClient } from '../support/fake-client.ts';
import { request } from '../support/handlers.ts';
import { initialize } from '../support/rpc.ts';

const main = fixtureCalls(60, 1);
const berlin = fixtureCalls(40, 2).map((call) => ({ ...call, acct_id: '777' }));
const website = (calls: typeof main) => calls.filter((call) => !isCallExtension(call)).length;

function serverOver(options: CallsMcpOptions = {}, fails = false) {
  const asked: string[] = [];

  const clientOf = (name: string, calls: typeof main) =>
    fakeClient(calls, {
      before: () => {
        asked.push(name);
        if (fails && name === 'berlin') return failed(403);
      },
    });

  const server = createServer(
    [
      {
        name: 'main',
        client: clientOf('main', main),
        pseudonymKey: 'a',
        timeZone: 'America/New_York',
      },
      { name: 'berlin', id: '102', client: clientOf('berlin', berlin), pseudonymKey: 'b' },
    ],
    options,
  );

  const ask = async (name: string, args: Record<string, unknown>) => {
    asked.length = 0;
    const { structuredContent, content } = await callTool(server, name, args);
    return {
      data: structuredContent as Record<string, unknown> | undefined,
      text: content[0]?.text ?? '',
      asked: [...new Set(asked)],
    };
  };

  return { server, ask };
}

describe('a server for two accounts', () => {
  it('answers for all accounts, and each row says whose it is', async () => {
    const { ask, server } = serverOver();
    const { data, asked } = await ask('analyze_calls', {
      group_by: ['account', 'channel'],
      measures: 'calls',
    });
    expect(data).toMatchObject({
      columns: ['account', 'channel', 'calls'],
      rows: [
        ['main', 'Tracker', website(main)],
        ['berlin', 'Tracker', website(berlin)],
      ],
      calls: website(main) + website(berlin),
      totals: { calls: website(main) + website(berlin) },
      complete: true,
    });
    expect(asked).toEqual(['main', 'berlin']);
    expect(data?.summary).toMatch(/^89 website calls of all time/);
    const top = await ask('analyze_calls', {
      group_by: 'city',
      measures: 'calls',
      calls: 'all',
      limit: 3,
    });
    const counts = new Map<unknown, number>();
    for (const { city } of [...main, ...berlin]) counts.set(city, (counts.get(city) ?? 0) + 1);
    const largest = [...counts.values()].sort((a, b) => b - a).slice(0, 3);
    const { rows } = top.data as { rows: [string, number][] };
    expect(
      rows.map(([, n]) => n),
      'order and limit hold for all accounts',
    ).toEqual(largest);
    const only = await ask('count_calls', { calls: 'all', where: "account = 'berlin'" });
    expect(only.data).toMatchObject({ total: 40 });
    const berlinOnly = await ask('count_calls', { calls: 'all', account: 'berlin' });
    expect(berlinOnly.data?.summary).toMatch(/^berlin: 40 calls of all time/);
    expect((await ask('count_calls', { calls: 'all' })).data).toMatchObject({ total: 100 });

    // Some hosts send an empty list for what was left out.
    expect((await ask('count_calls', { calls: 'all', account: [] })).data).toMatchObject({
      total: 100,
    });
    const call = (args: unknown) =>
      callTool(server, 'count_calls', args as Record<string, unknown>);
    expect((await call('{"calls":"all"}')).structuredContent).toMatchObject({ total: 100 });
    expect((await call(null)).isError).toBeUndefined();
    expect((await call([1])).content[0]?.text).toContain('The arguments must be one JSON object.');
  });

  it('says where callers of two accounts add up, and only there', async () => {
    const { ask } = serverOver();
    const notes = async (args: object): Promise<string> =>
      String((await ask('analyze_calls', { calls: 'all', ...args })).data?.notes);
    const said = 'Callers cannot be matched between accounts';
    expect(await notes({ measures: 'callers' })).toContain(said);
    expect(await notes({ measures: 'first_time_callers', group_by: 'state' })).toContain(said);
    expect(await notes({ measures: 'calls' })).not.toContain(said);
    expect(await notes({ measures: 'callers', group_by: 'account' })).not.toContain(said);
    expect(await notes({ measures: 'callers', account: 'berlin' })).not.toContain(said);
  });

  it('knows an account by its name, by its ID, and by the ID in its calls', async () => {
    const { ask } = serverOver();
    for (const called of ['berlin', '102', '777']) {
      const where = `account = '${called}'`;
      const all = { calls: 'all', where };
      expect((await ask('count_calls', all)).data).toMatchObject({ total: 40 });
      const listed = await ask('list_calls', { ...all, rows: 50 });
      expect(listed.data?.rows).toHaveLength(40);
      const grouped = await ask('analyze_calls', {
        ...all,
        group_by: 'account',
        measures: `calls, count(${where}) as there`,
      });
      expect(grouped.data?.rows).toEqual([['berlin', 40, 40]]);
      const not = { calls: 'all', where: `account <> '${called}'` };
      expect((await ask('count_calls', not)).data).toMatchObject({ total: 60 });
    }
    const { asked } = await serverOver().ask('count_calls', { account: '102' });
    expect(asked).toEqual(['berlin']);
  });

  it('uses the client of the accounts that are named, and no other', async () => {
    const { ask } = serverOver();
    for (const [account, names] of [
      ['berlin', ['berlin']],
      [['Main'], ['main']],
      ['["main"]', ['main']],
      ['main,berlin', ['main', 'berlin']],
    ] as const)
      expect((await ask('count_calls', { account })).asked).toEqual(names);

    const { text, asked } = await ask('count_calls', { account: 'berln' });
    expect(text).toBe(
      'There is no account "berln". Did you mean "berlin"? Use one of main, berlin.',
    );
    expect(asked).toEqual([]);
  });

  it('finds a call in whichever account has it', async () => {
    const { ask } = serverOver();
    const sid = berlin[3]?.sid;
    expect((await ask('get_call', { sid })).data).toMatchObject({ call: { sid } });
    expect((await ask('get_call', { sid, account: 'main' })).text).toContain('Look the sid up');
  });

  it('lists the calls of all accounts in one order, page by page', async () => {
    const { ask } = serverOver();
    const { data } = await ask('list_calls', { rows: 30, fields: 'date_added', calls: 'all' });
    const { rows, columns } = data as { rows: string[][]; columns: string[] };
    expect(columns).toEqual(['account', 'sid', 'date_added']);
    const expected = [...main, ...berlin]
      .map((call) => call.date_added)
      .sort()
      .reverse();
    expect(rows.map(([, , time]) => time)).toEqual(expected.slice(0, 30));
    const next = await ask('list_calls', {
      fields: 'date_added',
      calls: 'all',
      rows: 30,
      cursor: data?.next_cursor,
    });
    expect(
      (next.data as typeof data & { rows: string[][] }).rows.map(([, , time]) => time),
    ).toEqual(expected.slice(30, 60));
    const first = await ask('list_calls', { rows: 5, account: 'berlin' });
    const again = { cursor: first.data?.next_cursor, account: 'berlin', rows: 5 };
    expect((await ask('list_calls', again)).data).toMatchObject({ first: 6, last: 10 });
  });

  it('says which account failed, and answers for the others', async () => {
    const { ask } = serverOver({}, true);
    const { data } = await ask('analyze_calls', { measures: 'calls' });
    expect(data).toMatchObject({
      rows: [[website(main)]],
      complete: false,
      notes: [expect.stringMatching(/^berlin failed \(HTTP 403\)/)],
    });
    expect(data?.summary).toMatch(
      /^INCOMPLETE: berlin could not be read; the numbers are of the others\./,
    );
    expect((await ask('list_calls', { account: 'berlin' })).text).toContain('HTTP 403');
    expect((await ask('analyze_calls', { from: '2026-09-31' })).text).toContain(
      'Did you mean 2026-09-30?',
    );
  });

  it.each([
    [
      'count_calls',
      {},
      `the numbers are of the others. ${website(main)} website calls of all time`,
    ],
    ['count_calls', { where: 'missed' }, 'the numbers are of the others.'],
    ['count_calls', { period: '2019' }, 'the numbers are of the others. 0 website calls'],
    [
      'analyze_calls',
      { where: "city = 'Atlantis'" },
      'the numbers are of the others. 0 website calls match',
    ],
    [
      'analyze_calls',
      { period: '2019', compare: 'previous' },
      'the numbers are of the others. 0 website',
    ],
    ['list_calls', { period: '2019' }, 'the numbers are of the others. 0 website calls'],
    ['describe_data', {}, 'the numbers are of the others. 60 calls, the last '],
    ['list_sms_numbers', {}, 'the numbers are of the others. berlin failed (HTTP 403)'],
  ])('has the others in %s %j, and names the one that failed', async (tool, args, said) => {
    const { ask } = serverOver({}, true);
    const { data, text } = await ask(tool, args);
    expect(data?.summary, text).toContain(`INCOMPLETE: berlin could not be read; ${said}`);
    expect(text).toMatch(/berlin failed \(HTTP 403\)/);
    expect(data?.complete ?? false).toBe(false);
    expect(text).not.toContain('no calls at all');
  });

  it('finds a call although another account fails, and does not deny one that may be there', async () => {
    const { ask } = serverOver({}, true);
    expect((await ask('get_call', { sid: main[3]?.sid })).data?.summary).toContain(
      'One call of main',
    );
    const { text } = await ask('get_call', { sid: 'CA0' });
    expect(text).toMatch(
      /^It is not known whether there is a call "CA0"\.\nWhy: berlin failed \(HTTP 403\): .* main does not have it\.\nNext: /,
    );
    expect((await ask('get_call', { sid: 'CA0', account: 'main' })).text).toContain(
      'Look the sid up',
    );
  });

  it('names an account that is not set up, and has the others', async () => {
    const server = createServer([
      { name: 'main', client: fakeClient(main) },
      {
        name: 'berlin',
        client: () => {
          throw new Error('CALLS_ACCESS_KEY is missing.');
        },
      },
    ]);
    for (const tool of ['count_calls', 'analyze_calls', 'describe_data']) {
      const { content } = await callTool(server, tool, {});
      expect(content[0]?.text).toContain('INCOMPLETE: berlin could not be read');
      expect(content[0]?.text).toContain('The account berlin is not set up yet');
    }
  });

  it('masks each account with its own key, and keeps the budget for all of them together', async () => {
    const { ask } = serverOver({ budget: 1200 });
    const { data, text } = await ask('list_calls', { rows: 100, fields: 'ani,date_added' });
    const { rows } = data as { rows: string[][] };
    const masksOf = (name: string) =>
      new Set(rows.flatMap((row) => (row[0] === name ? [row[2]] : [])));
    const both = [...masksOf('main')].filter((mask) => masksOf('berlin').has(mask));
    expect(both).toEqual([]);
    expect(text.length).toBeLessThan(6000);
  });

  it('lists the accounts where agents look for them', async () => {
    const { server } = serverOver();
    const { instructions } = await request(server, 'initialize', { ...initialize().params });
    expect(instructions).toContain('The accounts are main, berlin.');
    const { tools } = (await request(server, 'tools/list')) as {
      tools: { inputSchema: { properties: object } }[];
    };
    for (const { inputSchema } of tools) expect(inputSchema.properties).toHaveProperty('account');
  });

  it('refuses two accounts of one name', () => {
    const client = fakeClient([]);
    const twice = [
      { name: 'a', client },
      { name: 'a', client },
    ];
    expect(() => createServer(twice)).toThrow('cannot use the account name "a"');
    expect(() => createServer([])).toThrow('at least one account');
  });
});
