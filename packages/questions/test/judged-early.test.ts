import { type Call, fields } from '@call-attribution/core';
import { describe, expect, test } from 'vitest';
import {
  answerQuestion,
  judgedEarly,
  judgedField,
  maskedTruths,
  type Question,
} from '../src/index.ts';

const callWith = (changes: Partial<Call>): Call => ({
  ...(Object.fromEntries(fields.map(({ name }) => [name, null])) as unknown as Call),
  acct_id: '101',
  channel: 'Tracker',
  date_added: '2026-11-18 14:03:00',
  talk_minutes: '2.0',
  ...changes,
});

const calls = [
  callWith({ sid: '1', ani: '13035550100', search_term: 'dental implant near me', state: 'TX' }),
  callWith({ sid: '2', ani: '+1 303-555-0100', search_term: 'dentist' }),
  callWith({ sid: '3', ani: '2125550123', custom_value: 'ads=1', talk_minutes: '0.0' }),
  callWith({ sid: '4', ani: '', first_touch: 'https://x.test/?gclid=abc', state: 'CA' }),
  callWith({ sid: '5', ani: '2125550123', search_term: '', state: 'TX' }),
];

const maskedFields = ['ani', 'search_term', 'custom_value', 'first_touch'];

/** A call as it is kept: nothing personal is left of it. */
const masked = calls.map((call): Call => {
  const shown: Record<string, unknown> = { ...call };
  for (const name of maskedFields) {
    const value = shown[name];
    if (value === '') shown[name] = null;
    else if (value !== null) shown[name] = name === 'ani' ? `phone-${String(value).length}` : 'x';
  }
  return shown as unknown as Call;
});

/** The same with the truths on the calls as they were sent. */
function kept(definitions: Record<string, string>) {
  const judged = judgedEarly(definitions, (field) => maskedFields.includes(field));
  const truths = maskedTruths(judged.tests, calls, masked);
  return {
    definitions: judged.definitions,
    calls: masked.map((call, at) => ({ ...call, [judgedField]: truths[at] ?? undefined })),
  };
}

const definitions = {
  office: "ani IN ('(303) 555-0100')",
  implant: "search_term LIKE '%implant%'",
  agreed: "custom_value = 'ads=1'",
  clicked: 'click_id IS NOT NULL',
  texan: "state = 'TX'",
  long: 'talk_minutes >= 2',
  searched: 'search_term IS NOT NULL',
  ours: 'office OR NOT (agreed AND NOT texan)',
};

describe('definitions that are judged before calls are masked', () => {
  const wheres = [...Object.keys(definitions), ...Object.keys(definitions).map((n) => `NOT ${n}`)];

  test.each([...wheres, 'implant OR agreed AND long', 'NOT (office OR texan)'])(
    'say the same of masked calls: %s',
    async (where) => {
      const asked: Question = { where, groupBy: ['sid'], personal: 'show' };
      const truth = await answerQuestion({ ...asked, definitions }, calls);
      const own = kept(definitions);
      const found = await answerQuestion({ ...asked, definitions: own.definitions }, own.calls);
      expect(found.rows).toEqual(truth.rows);
      expect(found.calls).toBe(truth.calls);
    },
  );

  test('hold in measures, having and exclude too', async () => {
    const asked: Question = {
      groupBy: ['state'],
      measures: ['calls', 'count(implant) as implants', 'share(office)'],
      having: 'count(office OR implant OR texan) >= 1',
      exclude: 'agreed',
    };
    const truth = await answerQuestion({ ...asked, definitions }, calls);
    const own = kept(definitions);
    const found = await answerQuestion({ ...asked, definitions: own.definitions }, own.calls);
    expect(found.rows).toEqual(truth.rows);
    expect(found.leftOut).toEqual(truth.leftOut);
  });

  test('say nothing of what they compare with', async () => {
    const own = kept({ office: "ani = '3035550199'", agreed: "custom_value = 'nobody has it'" });
    for (const where of ['office', 'agreed', 'NOT agreed', 'office AND agreed']) {
      const asked = { where, definitions: own.definitions, personal: 'show' as const };
      const answer = await answerQuestion(asked, own.calls);
      expect(JSON.stringify(answer)).not.toMatch(/3035550199|nobody has it/);
    }
  });

  test('are only of tests of masked fields, each once, whichever definitions share them', () => {
    const { tests } = judgedEarly(
      {
        ...definitions,
        both: "ani IN ('(303) 555-0100') AND texan",
        by_first: "caller_type = 'first'",
      },
      (field) => maskedFields.includes(field),
    );
    const fieldsTested = tests.map(({ field }) => field);
    expect(fieldsTested).toEqual(['ani', 'search_term', 'custom_value', 'click_id', 'search_term']);
  });

  test('cost nothing where the masked call says the same', () => {
    const { tests } = judgedEarly({ searched: 'custom_value IS NULL' }, () => true);
    expect(maskedTruths(tests, calls, masked)).toEqual([null, null, null, null, null]);
    expect(maskedTruths([], calls, masked)).toEqual([null, null, null, null, null]);
  });

  test('are refused where a definition has a mistake', () => {
    expect(() => judgedEarly({ office: 'anni = 1' }, () => true)).toThrow(/There is no field anni/);
  });
});
