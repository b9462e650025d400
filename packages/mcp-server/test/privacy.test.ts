import { type Call, fields } from '@call-attribution/core';
import { describe, expect, it } from 'vitest';
import { showRecord } from '../src/fields/view.ts';
import { callTool, createServer } from '../src/index.ts';
import { createRecordMask, type MaskSettings } from '../src/privacy/mask-record.ts';
import type { Reveal } from '../src/privacy/masking.ts';
import { createMasks } from '../src/privacy/masking.ts';
import { replacePersonal } from '../src/privacy/patterns.ts';
import { fakeClient } from './support/fake-client.ts';
import { craftedCalls, leaksOf } from './support/red-team.ts';

// An invented person, and every way in which their data may be written into other fields.
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
const email = 'w.quesadilla@mail.example.com';
const spellings = [
  'call 5552013456 now',
  'call (555) 201-3456 now',
  'tel=+1 555 201 3456',
  'tel:+15552013456',
  '1-555-201-3456',
  '555.201.3456',
  'session 995552013456001',
  'by Wilhelmina',
  'WILHELMINA QUESADILLA',
  'wilhelmina-quesadilla',
  'WilhelminaQuesadilla',
  'from 742 Evergreen Terrace',
  '742+evergreen+terrace',
  'zip 90210',
  'at 203.0.113.77',
  `mail ${email}`,
  'https://x.example/?tel=%2B1%20555%20201%203456&n=Wilhelmina',
  `https://x.example/?e=${encodeURIComponent(email)}`,
  `https://x.example/?e=${encodeURIComponent(encodeURIComponent(email))}`,
  'https://x.example/?a=742%20Evergreen%20Terrace&z=90210',
  'https://x.example/?u=Wilh%65lmina',
];
const secrets =
  /5552013456|555\D{0,3}201\D{0,3}3456|wilhelmina|quesadilla|evergreen|90210|203\.0\.113\.77|mail\.example|recordings\.example/i;

const base = Object.fromEntries(fields.map((spec) => [spec.name, null])) as unknown as Call;
const options = { reveal: new Set<Reveal>(), masks: createMasks('a key') };
const createView = (settings: MaskSettings) => {
  const mask = createRecordMask(fields, settings);
  return (call: Call, specs: typeof fields, limit: number) => showRecord(mask.whole(call), specs, limit);
};
const view = createView(options);

/** True for a field with free text. Others hold ids, times and numbers, and text only when a server is broken. */
const isText = (type: string): boolean => type === 'string' || type === 'url';

describe('personal data', () => {
  it.each(fields.filter((spec) => spec.personal).map((spec) => spec.name))('is masked in %s', (name) => {
    const call = { ...base, ...person } as Call;
    const spec = fields.filter((each) => each.name === name);
    const [shown] = view(call, spec, 1000);
    expect(String(shown)).toMatch(/^(?:phone|name|street|zip|ip|recording)-\d{12}$/);
  });

  it.each(fields.filter((spec) => !spec.personal && spec.type !== 'null').map((spec) => spec.name))(
    'is masked when it was written into %s',
    (name) => {
      const spec = fields.filter((each) => each.name === name);
      for (const text of spellings) {
        const call = { ...base, ...person, [name]: text } as Call;
        const shown = String(view(call, spec, 1000)[0]);
        // What looks like an id is only searched for the caller's number, and a sid or a dialed number not even for that.
        const isId = /(?:^|_)(?:id|sid|pid|gclid)$|^dnis$/.test(name) && /^[A-Za-z0-9_.:-]+$/.test(text);
        if (isId && (/^(?:sid|dnis)$/.test(name) || !/\d{4}/.test(text))) continue;
        expect(shown, `${name}: ${text}`).not.toMatch(secrets);
      }
    },
  );

  it.each(fields.filter((spec) => spec.type === 'string' || spec.type === 'url').map((spec) => spec.name))(
    'is masked in %s when it is sent as a number, unless the field is an id',
    (name) => {
      const spec = fields.filter((each) => each.name === name);
      const call = { ...base, ...person, ani: 5552013456, [name]: 5552013456 } as unknown as Call;
      const shown = String(view(call, spec, 1000)[0]);
      if (!/^(?:sid|dnis)$/.test(name)) expect(shown).not.toMatch(secrets);
    },
  );

  it('appears nowhere in the results of any tool', async () => {
    const text = spellings.join(' | ');
    const filled = Object.fromEntries(
      fields.filter((spec) => isText(spec.type) && spec.name !== 'sid').map((spec) => [spec.name, text]),
    );
    const call = { ...base, ...filled, ...person, sid: 'S1', date_added: '2026-11-01 10:00:00' } as Call;
    const server = createServer(fakeClient([call]), { budget: 100_000 });
    const names = fields.filter((spec) => spec.v3 !== null).map((spec) => spec.name);
    const results = [
      await callTool(server, 'list_calls', { fields: 'all' }),
      await callTool(server, 'get_call', { sid: 'S1' }),
      ...(await Promise.all(names.map((group_by) => callTool(server, 'analyze_calls', { group_by })))),
    ];
    for (const result of results) {
      expect(result.isError).toBeUndefined();
      expect(JSON.stringify(result)).not.toMatch(secrets);
    }
  });

  it('of crafted records is not seen in any field, however it was written', () => {
    expect(craftedCalls.length).toBeGreaterThan(300);
    const leaks = craftedCalls.flatMap((call) => {
      const row = view(call, fields, 1000);
      return row.flatMap((cell, i) => {
        const name = fields[i]?.name ?? '';
        const found = cell === null || /^(?:sid|dnis)$/.test(name) ? [] : leaksOf(String(cell), call.who);
        return found.length === 0 ? [] : [`${call.spelling} in ${name}: ${cell} shows ${found.join(', ')}`];
      });
    });
    expect(leaks).toEqual([]);
  });

  it('is shown for a class that is revealed, and for that class only', () => {
    const call = { ...base, ...person } as Call;
    const shown = (reveal: Reveal, name: string): unknown =>
      createView({ ...options, reveal: new Set([reveal]) })(
        call,
        fields.filter((spec) => spec.name === name),
        1000,
      )[0];
    const table: [Reveal, string[]][] = [
      ['caller', ['ani', 'phone_number']],
      ['name', ['first_name', 'last_name']],
      ['address', ['street_address', 'zipcode']],
      ['ip', ['ip_address']],
      ['recording', ['recording']],
      ['text', []],
    ];
    for (const [reveal, names] of table) {
      for (const name of Object.keys(person)) {
        const expected = names.includes(name)
          ? person[name as keyof Call]
          : expect.stringMatching(/^\w+-\d{12}$/);
        expect(shown(reveal, name), `${reveal} ${name}`).toEqual(expected);
        expect(shown('all', name)).toBe(person[name as keyof Call]);
      }
    }
  });
});

describe('a pseudonym', () => {
  it('is the same for the same caller however the number is written, but only with the same key', () => {
    const ani = fields.filter((spec) => spec.name === 'ani');
    const of = (number: string, key = 'a key') =>
      createView({ ...options, masks: createMasks(key) })({ ...base, ani: number } as Call, ani, 99)[0];
    expect(of('5552013456')).toBe(of('+1 (555) 201-3456'));
    expect(of('5552013456')).not.toBe(of('5552013457'));
    expect(of('5552013456')).not.toBe(of('5552013456', 'another key'));
  });

  it('of a number in text says nothing about the callers', () => {
    const specs = fields.filter(({ name }) => name === 'ani' || name === 'search_term');
    const [ani, term] = view({ ...base, ani: '5552013456', search_term: '5552013456' } as Call, specs, 99);
    expect(ani).toMatch(/^phone-\d{12}$/);
    expect(term).toMatch(/^«phone-in-text-\d{12}»$/);
    expect(String(term).slice(-13, -1)).not.toBe(String(ani).slice(-12));
  });

  it('lets an agent count repeat callers', async () => {
    const calls = ['5552010001', '5552010002', '5552010001'].map(
      (ani, i) =>
        ({ ...base, ani, sid: `S${i}`, date_added: '2026-11-01 10:00:00', talk_minutes: '1.0' }) as Call,
    );
    const result = await callTool(createServer(fakeClient(calls)), 'analyze_calls', { group_by: ['ani'] });
    const { rows } = result.structuredContent as { rows: [string, number][] };
    expect(rows.map(([, count]) => count)).toEqual([2, 1]);
  });
});

describe('a name with accents', () => {
  const known = [
    { kind: 'name', value: 'Łukasz' },
    { kind: 'name', value: 'García-Núñez' },
  ];
  it.each([
    'https://x.example/thanks/lukasz-garcia-nunez',
    'https://x.example/?u=Garcia%20Nunez',
    'Lukasz García Núñez',
  ])('is also masked where it is written without them: %s', (text) => {
    expect(replacePersonal(text, known, () => 'MASKED')).not.toMatch(/lukasz|garc|n[uú][nñ]ez/i);
  });
});

describe('text without personal data', () => {
  const keep = (text: string) =>
    replacePersonal(text, [{ kind: 'phone', value: '5552013456' }], () => 'MASKED');
  it.each([
    '2026-11-01 10:00:00',
    'https://www.example.com/landing?utm_campaign=spring&utm_term=roof%20repair',
    'https://www.example.com/?gclid=EAIaIQ&campaignid=9876543210&adgroupid=8765432109',
    'version 1.2.3, 24/7, 100 %',
    'roof repair 30 years',
    '/services/plumbing-2024-10',
    'Chrome 120.0.6099.109 on Windows',
    'utm_campaign=*',
  ])('is not changed: %s', (text) => {
    expect(keep(text)).toBe(text);
  });
});
