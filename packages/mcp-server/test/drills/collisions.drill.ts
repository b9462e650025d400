import { type Call, fields } from '@call-attribution/core';
import { generate } from '@call-attribution/sandbox';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, expect, it } from 'vitest';
import { type CallsMcpServer, createServer } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { fakeClient } from '../support/fake-client.ts';

// Callers are named Price, Brand and Houston, and live in towns and zip codes that campaigns are
// named by. To hide the account's own words for them would change counts and tell whom they are
// hidden for.

const drill = openDrill({
  name: 'collisions',
  kind: 'odd records',
  what: 'An assistant counts calls by each field of the account’s own words; every count over the masked copy is that of the records, also where callers are named like campaigns',
});

/** What the account has written or chosen, and where callers live: no visitor can write it. */
const own = fields.filter(
  ({ agents, visitorText, isId, type }) =>
    agents === 'shown' &&
    !visitorText &&
    !isId &&
    /^(?:string\??|(?:integer|integer-string)\??)$/.test(type),
);

const servers: CallsMcpServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

/** How many calls have each value. */
function countsOf(values: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) {
    const key = value === null || value === '' ? 'null' : String(value);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** The same as an assistant is told; texts of records stand between marks. */
async function told(server: CallsMcpServer, field: string): Promise<Record<string, number>> {
  const args = { calls: 'all', group_by: [field], measures: ['calls'], limit: 5000 };
  const { rows } = await ask(server, 'analyze_calls', args);
  return Object.fromEntries(
    rows.map(([value, count]) => [String(value).replace(/^«|»$/g, ''), Number(count)]),
  );
}

const calls = [...generate({ records: rounds(12_000, 60_000), seed: 13, accounts: 4 })];
const accounts = [...new Set(calls.map(({ acct_id: id }) => id))];

it('the generated calls have such callers', () => {
  const has = (test: (call: Call) => boolean) => calls.some(test);
  const { Brand, Price, Houston } = countsOf(calls.map((call) => call.last_name));
  expect([Brand, Price, Houston].every((count) => (count ?? 0) > 5)).toBe(true);
  expect(has((call) => call.last_name === 'Brand' && /Brand$/.test(call.ppc_campaign ?? ''))).toBe(
    true,
  );
  expect(has((call) => call.last_name === 'Price' && /price/.test(call.ppc_keywords ?? ''))).toBe(
    true,
  );
  expect(has((call) => call.last_name === 'Houston' && call.city === 'Houston')).toBe(true);
  const isOfTown = ({ zipcode, ppc_campaign: name }: Call) =>
    zipcode !== null && name?.includes(zipcode) === true;
  expect(has(isOfTown)).toBe(true);
});

it.each(accounts)(
  'account %s: every value of every such field has as many calls as it has',
  async (account) => {
    const list = calls.filter(({ acct_id: id }) => id === account);
    const server = createServer(fakeClient(list, { maxRows: 1000 }), { pseudonymKey: 'key' });
    servers.push(server);
    for (const { name } of own)
      await drill.run(async () => {
        const truth = countsOf(
          list.map((call) => (call as unknown as Record<string, unknown>)[name]),
        );
        expect(await told(server, name), name).toEqual(truth);
      });
  },
);
