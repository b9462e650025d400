import type { Call } from '@call-attribution/core';

const deep = (levels: number) =>
  JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;

/**
 * What a server should not send, and what ends statements and processes of databases that take it
 * as it comes.
 */
const changes: readonly Readonly<Record<string, unknown>>[] = [
  { sid: 'nul', ppc_campaign: 'a\u0000b', city: 'x\u0000y', new_field: { 'k\u0000': '\u0000' } },
  { sid: 'half', ppc_campaign: '\ud800', city: 'a\udc00b', landing_page: '\ud83d\ude00' },
  {
    sid: 'types',
    talk_minutes: 'n/a',
    date_added: '2026-02-30 00:00:00',
    rank: 'x',
    pool_id: 1.5,
    city: 7,
  },
  {
    sid: 'more',
    talk_minutes: true,
    date_added: null,
    rank: null,
    pool_id: '12',
    city: ['a', { b: 1 }],
  },
  {
    sid: 'year',
    date_added: '0000-01-01 00:00:00',
    talk_minutes: '-0.5',
    rank: '99999999999999999999',
  },
  {
    sid: 'long',
    ppc_campaign: 'c'.repeat(100_000),
    landing_page: '/'.repeat(100_000),
    ani: '5'.repeat(9_000),
  },
  { sid: 'empty', ppc_campaign: '', city: '', ani: '' },
  {
    sid: 'quotes',
    ppc_campaign: '"\\\t\n\r\u2028\u001f',
    city: "'; DROP TABLE records; --",
    __proto__x: 1,
  },
  { sid: 'deep', city: deep(1_000) },
];

/** One call for each, otherwise as the given ones. */
export const hostileCalls = (calls: readonly Call[]): Call[] =>
  changes.map((change, i): Call => Object.assign({}, calls[i % calls.length], change));
