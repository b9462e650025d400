import { describe, expect, it } from 'vitest';
import { nearest } from '../src/index.ts';

const fields = [
  'date_added',
  'talk_minutes',
  'inc_gce',
  'ppc_status',
  'ppc_campaign',
  'ppc_campaign_id',
];
const commands = ['list', 'export', 'report', 'count', 'to'];

describe('nearest', () => {
  it.each([
    ['talk_minuts', fields, 'talk_minutes'],
    ['tlk_minutes', fields, 'talk_minutes'],
    ['talk_mintues', fields, 'talk_minutes'],
    ['Talk-Minutes', fields, 'talk_minutes'],
    ['talkMinutes', fields, 'talk_minutes'],
    ['t\u0430lk_minutes', fields, 'talk_minutes'],
    ['Date', fields, 'date_added'],
    ['minutes', fields, 'talk_minutes'],
    ['ppc_campain', fields, 'ppc_campaign'],
    ['ppc_campaign_ids', fields, 'ppc_campaign_id'],
    ['exprot', commands, 'export'],
    ['rep', commands, 'report'],
    ['lst', commands, 'list'],
    ['--colums', ['columns', 'color'], 'columns'],
    ['CALLS_PROT', ['CALLS_PORT', 'CALLS_HOST'], 'CALLS_PORT'],
  ])('finds what %j means', (typed, candidates, expected) => {
    expect(nearest(typed, candidates)).toBe(expected);
  });

  it.each([
    ['zzzz', commands],
    ['', commands],
    ['--', commands],
    ['x', ['y', 'xy']],
    ['ppc_zebra', fields],
    ['ppc_', fields],
    ['ppc', fields],
    ['CALLS_FOO', ['CALLS_PORT', 'CALLS_HOST']],
    ['constructor', fields],
    ['talk_minutes'.repeat(10_000), fields],
    ['talk_minutes', []],
  ])('suggests nothing for %j', (typed, candidates) => {
    expect(nearest(typed, candidates)).toBeUndefined();
  });
});
