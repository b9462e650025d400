import {
  type ConversionRules,
  conversions,
  createTally,
  type Delivered,
  type LedgerEntry,
  readValueRules,
  sheetFormats,
  summaryLines,
  type ValueRules,
} from '@call-attribution/conversions';
import { type Call, ConfigurationError } from '@call-attribution/core';
import { callWith } from '@call-attribution/test-tools/call-with';
import { expect, test } from 'vitest';

const clicks = sheetFormats['google-ads-clicks'];
const base: ConversionRules = {
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  now: Date.parse('2026-11-21T12:00:00Z'),
  minTalk: 0,
  unanswered: true,
};

/** What each call is worth, or why it is left out. */
async function worth(
  calls: readonly Call[],
  value: ConversionRules['value'],
  more: Partial<ConversionRules> = {},
): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { conversion, why } of conversions(calls, { ...base, ...more, value }, clicks))
    found.push(conversion?.value ?? why);
  return found;
}

const table = (rules: readonly object[], more: object = {}): Promise<ValueRules> =>
  readValueRules(JSON.stringify({ rules, ...more }), 'rules.json');

const rules = await table(
  [
    { where: "talk_minutes >= 10 AND campaign LIKE 'brand%'", value: 120 },
    { name: 'long', where: 'talk_minutes >= 10', value: 80 },
    { where: "phone_label LIKE '%sales%line' AND talk_minutes < 1", value: 5 },
  ],
  { otherwise: 20 },
);

test.each([
  [{ talk_minutes: '12.0', ppc_campaign: 'Brand – East' }, 120],
  [{ talk_minutes: '10.0', ppc_campaign: 'Generic' }, 80],
  [{ talk_minutes: '0.9', phone_label: 'Main sales hot line' }, 5],
  [{ talk_minutes: '0.9', phone_label: 'Service' }, 20],
  [{ talk_minutes: null, ppc_campaign: null, phone_label: null }, 20],
])('the first rule that applies to %j gives %i', async (changes, value) => {
  expect(await worth([callWith(changes)], rules)).toEqual([value]);
});

test('a table may be written in a program, and a mistake in it is refused at once', async () => {
  const written = { rules: [{ where: "state = 'TX'", value: 30 }], otherwise: 10 };
  const calls = [
    callWith({ state: 'TX' }),
    callWith({ sid: '2', state: 'CA', ppc_gclid: 'abc_2' }),
  ];
  expect(await worth(calls, written)).toEqual([30, 10]);
  for (const [rule, message] of [
    [{ where: 'stat = 1', value: 1 }, /value\.rules\[0\]\.where has a mistake: .*state/],
    [{ value: -1 }, /value\.rules\[0\]\.value must be a number of 0 or more/],
  ] as const)
    expect(() => conversions([], { ...base, value: { rules: [rule] } }, clicks)).toThrow(message);
});

test('a definition stands wherever a condition may', async () => {
  const definitions = {
    lead: 'talk_minutes >= 2',
    emergency: "keyword LIKE 'emergency%' AND lead",
  };
  const text =
    '{ "rules": [{ "where": "emergency", "value": 120 }, { "where": "lead", "value": 40 }] }';
  const value = await readValueRules(text, 'rules.json', definitions);
  const calls = [
    callWith({ sid: '1', ppc_keywords: 'emergency plumber', talk_minutes: '3.0' }),
    callWith({ sid: '2', ppc_gclid: 'abc_2', ppc_keywords: 'plumber', talk_minutes: '3.0' }),
    callWith({ sid: '3', ppc_gclid: 'abc_3', ppc_keywords: 'emergency', talk_minutes: '1.0' }),
  ];
  expect(await worth(calls, value, { definitions })).toEqual([120, 40, 'no_value']);
  expect(() => conversions(calls, { ...base, value }, clicks)).toThrow(/emergency/);
  await expect(readValueRules(text, 'rules.json')).rejects.toThrow(
    /^rules\.json: rules\[0\]\.where has a mistake: .*emergency/,
  );
});

test('"where" says which calls count, and one that does not any more is taken back', async () => {
  const calls = [callWith({ talk_minutes: '1.0' })];
  const definitions = { lead: 'talk_minutes >= 2' };
  const kindOf = async (rules: Partial<ConversionRules>, delivered?: Delivered) => {
    const changes = conversions(calls, { ...base, definitions, ...rules }, clicks, delivered);
    for await (const change of changes) return change;
    return null;
  };

  const added = await kindOf({});
  expect(added).toMatchObject({ kind: 'add' });
  const delivered = new Map([[String(added?.entry?.key), added?.entry as LedgerEntry]]);
  expect(await kindOf({ where: 'lead' })).toMatchObject({ kind: 'left-out', why: 'not_chosen' });
  expect(await kindOf({ where: 'lead' }, delivered)).toMatchObject({
    kind: 'retract',
    why: 'not_chosen',
  });
  expect(() => conversions([], { ...base, where: 'leed', definitions }, clicks)).toThrow(
    /where has a mistake: .*lead/,
  );
});

test('what is excluded is left out and says nothing of its caller, and what was sent of it stays and is listed', async () => {
  const ani = '2025550147';
  const calls = [
    callWith({ sid: '1', ani, talk_minutes: '0.5' }),
    callWith({ sid: '2', ani, date_added: '2026-11-19 10:00:00', ppc_gclid: 'abc_2' }),
  ];
  const definitions = { office: 'talk_minutes < 1' };
  const rules = { ...base, firstCallOnly: true, definitions };
  const changesOf = async (more: Partial<ConversionRules>, delivered?: Delivered) => {
    const tally = createTally();
    const kinds: unknown[] = [];
    for await (const change of conversions(calls, { ...rules, ...more }, clicks, delivered)) {
      tally.add(change);
      kinds.push([change.call?.sid, change.kind, change.why, change.entry]);
    }
    return { kinds, summary: tally.summary() };
  };

  const before = await changesOf({});
  expect(before.kinds).toEqual([
    ['1', 'add', null, expect.anything()],
    ['2', 'left-out', 'repeat_caller', null],
  ]);
  const [[, , , entry]] = before.kinds as [[string, string, null, LedgerEntry]];
  const now = await changesOf({ exclude: 'office' }, new Map([[entry.key, entry]]));
  expect(now.kinds).toEqual([
    ['1', 'left-out', 'excluded', entry],
    ['2', 'add', null, expect.anything()],
  ]);
  expect(now.summary).toMatchObject({
    changes: { add: 1, retract: 0 },
    uncorrected: [{ sid: '1', what: 'now_excluded' }],
  });
});

test('a rule on the sequence of a caller compares all calls that are read', async () => {
  const value = await table([
    { name: 'new', where: "caller_type = 'first'", value: 30 },
    { name: 'known', where: "caller_type = 'returning'", value: 20 },
  ]);
  const at = (sid: string, date_added: string, ani: string | null): Call =>
    callWith({ sid, date_added, ani, ppc_gclid: `click_${sid}`, displayed_timestamp: null });
  const calls = [
    at('1', '2026-11-10 10:00:00', '2025550123'),
    at('2', '2026-11-11 10:00:00', '+1 (202) 555-0123'),
    at('3', '2026-11-12 10:00:00', '2025550199'),
    at('4', '2026-11-13 10:00:00', null),
  ];
  expect(await worth(calls, value)).toEqual([30, 20, 30, 'no_value']);
});

test('a call without a rule that applies and without otherwise is left out', async () => {
  const strict = await table([{ where: 'talk_minutes >= 100', value: 1 }]);
  const tagged =
    'https://shop.example/?gclid=Cj0KCQ_1&msclkid=f894f652ea334e739002f7167ab8f8e3&mkwid=s8Hx2k';
  const call = callWith({ channel: 'Call Extension', first_touch: tagged });
  for (const format of Object.values(sheetFormats).filter(({ accepts }) => accepts.takesValue))
    for await (const change of conversions([call], { ...base, value: strict }, format))
      expect(change, format.name).toMatchObject({ kind: 'left-out', why: 'no_value' });
});

test('a rule that never applies is named, once there are enough calls to notice', async () => {
  const lines = async (calls: readonly Call[]) => {
    const tally = createTally();
    const set = { ...base, value: rules };
    for await (const change of conversions(calls, set, clicks)) tally.add(change);
    return summaryLines(tally.summary(), clicks, set).filter((line) => line.startsWith('the rule'));
  };
  const unused = (count: string) => [
    `the rule "talk_minutes >= 10 AND campaign LIKE 'brand%'" applied to none of ${count}`,
    `the rule "phone_label LIKE '%sales%line' AND talk_minutes < 1" applied to none of ${count}`,
  ];
  const many = Array.from({ length: 200 }, (_, i) =>
    callWith({
      sid: String(i),
      ppc_gclid: `many_${i}`,
      ppc_campaign: 'Generic',
      talk_minutes: i === 7 ? '11.0' : '2.0',
    }),
  );
  expect(await lines(many)).toEqual(unused('200 calls'));
  expect(await lines(many.slice(1))).toEqual([]);
  const far = callWith({ sid: 'far', date_added: '2026-10-18 10:00:00' });
  expect(await lines([far, ...many.slice(0, 20)])).toEqual(unused('21 calls'));
});

test.each([
  ['{', 'rules.json is not JSON: line 1, column 2 should have a name in double quotes, or }'],
  ['[]', 'rules.json must be an object, not a list'],
  ['{}', 'rules.json: rules is missing'],
  ['{ "rules": {} }', 'rules.json: rules must be a list, not an object'],
  ['{ "rules": [{}] }', 'rules.json: rules[0].value is missing; it must be a number, 0 or greater'],
  ['{ "rules": [7] }', 'rules.json: rules[0] must be an object, not a number'],
  ['{ "rules": [{ "value": -1 }] }', 'rules[0].value must be a number, 0 or greater, not -1'],
  [
    '{ "rules": [{ "value": 1, "wher": "x" }] }',
    'rules.json: rules[0] has an unknown name "wher"; did you mean where?',
  ],
  ['{ "rule": [] }', 'rules.json has an unknown name "rule"; did you mean rules?'],
  ['{ "rules": [{ "value": 1, "where": 5 }] }', 'rules[0].where must be a string, not a number'],
  [
    '{ "rules": [{ "value": 1, "where": "stat = 5" }] }',
    'rules.json: rules[0].where has a mistake: ',
  ],
  ['{ "rules": [], "otherwise": "x" }', 'otherwise must be a number, 0 or greater, not a string'],
])('the rule table %s is refused: %s', async (text, message) => {
  const error = await readValueRules(text, 'rules.json').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(String(error)).toContain(message);
});

test.each([
  [{ minTalk: '10m' }, 'talk_minutes >= 10'],
  [{ maxTalk: '90s', name: 'short' }, 'talk_minutes < 1.5'],
  [{ campaign: 'Brand*' }, "campaign LIKE 'Brand%'"],
  [{ campaign: "Bob's 100%*" }, String.raw`campaign LIKE 'Bob''s 100\%%'`],
  [{ label: 'Sales' }, "phone_label = 'Sales'"],
  [{ fromHour: 8, toHour: 18 }, 'hour >= 8 AND hour < 18'],
  [{ fromHour: 22, toHour: 6 }, '(hour >= 22 OR hour < 6)'],
  [{ caller: 'first' }, "caller_type = 'first'"],
  [{ caller: 'repeat', minTalk: '2m' }, "talk_minutes >= 2 AND caller_type = 'returning'"],
])(
  'a rule of an earlier release, %j, is refused with the condition to write',
  async (old, where) => {
    const error = await table([{ ...old, value: 1 }]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String((error as ConfigurationError).hint)).toBe(
      `write "where": ${JSON.stringify(where)}`,
    );
    expect(await table([{ where, value: 1 }])).toEqual({ rules: [{ where, value: 1 }] });
  },
);
