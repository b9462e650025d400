import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { conversions, sheetFormats, toSheet } from '@call-attribution/conversions';
import { createService, type Service } from '@call-attribution/service';
import { openStore, type Store } from '@call-attribution/store';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const tagged =
  'https://shop.example/?gclid=Cj0KCQ_click-1&msclkid=f894f652ea334e739002f7167ab8f8e3&k_clickid=kc-77_a&mkwid=s8Hx2k&pcrid=5551234';
const plain = {
  first_touch: null,
  last_touch: null,
  url_tag: '',
  ppc_gclid: null,
  landing_page: null,
  conversion_page: null,
};
const keys = {
  accessKey: 'test_access_1',
  secretKey: 'test_secret_1',
  bearerToken: 'test_bearer_1',
};

// Calls for every way into and out of a sheet.
const calls = [
  callWith({ sid: '1', first_touch: tagged, talk_minutes: '12.0', ppc_campaign: 'Brand east' }),
  callWith({
    sid: '2',
    first_touch: tagged,
    date_added: '2026-11-18 15:03:00',
    talk_minutes: '1.0',
    ppc_campaign: 'Other',
  }),
  callWith({
    sid: '3',
    first_touch: tagged,
    channel: 'Call Extension',
    date_added: '2026-11-18 16:03:00',
  }),
  callWith({ sid: '4', ...plain }),
  callWith({ sid: '5', first_touch: tagged, ppc_status: 'Not Processed' }),
  callWith({
    sid: '6',
    first_touch: tagged,
    date_added: '2026-08-01 10:00:00',
    displayed_timestamp: '2026-08-01 09:00:00',
  }),
  callWith({
    sid: '7',
    first_touch: tagged,
    date_added: '2026-11-21 06:59:00',
    displayed_timestamp: '2026-11-21 06:50:00',
  }),
  callWith({
    sid: '8',
    first_touch: tagged,
    date_added: '2026-11-01 01:30:00',
    displayed_timestamp: '2026-10-31 20:00:00',
  }),
];

const stage = openStage();
let store: Store;
let service: Service;
let env: Record<string, string>;
beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  await store.putAccount({ id: '1', name: 'Sheets' });
  await store.upsert('1', calls);
  service = createService({ store, accounts: [{ id: '1', name: 'Sheets', ...keys }] });
  const { url } = await service.listen();
  env = { CALLS_BASE_URL: url, CALLS_ACCESS_KEY: keys.accessKey, CALLS_SECRET_KEY: keys.secretKey };
});
afterAll(async () => {
  await service.close();
  await store.close();
});

const now = new Date('2026-11-21T12:00:00Z');
const sheet = (name: string, ...args: string[]): string[] => [
  'sheet',
  name,
  '--conversion-name',
  'Phone lead',
  '--output',
  `${name}.csv`,
  ...args,
];

/** A file of rules, and the option that names it; nothing without rules. */
function rulesIn(cwd: string, rules: object): string[] {
  if (Object.keys(rules).length === 0) return [];
  writeFileSync(join(cwd, 'rules.json'), JSON.stringify(rules));
  return ['--rules', 'rules.json'];
}

test.each(Object.values(sheetFormats).map((format) => [format.name, format] as const))(
  '%s: rows and left out calls add up, and the reasons are counted',
  async (name, format) => {
    const cwd = stage.folder();
    const args = sheet(
      name,
      '--value',
      '25USD',
      '--left-out',
      'left.csv',
      ...(name === 'google-ads-calls' ? [] : ['--include-extensions']),
    );
    const { code, stdout, stderr } = await stage.quick(args, { cwd, env, now });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    const text = readFileSync(join(cwd, `${name}.csv`), 'utf8');
    const rows = text.trimEnd().split('\r\n').length - (format.preamble ? 2 : 1);
    const left = readFileSync(join(cwd, 'left.csv'), 'utf8')
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(','));
    expect(rows + left.length).toBe(calls.length);
    expect(rows).toBeGreaterThan(0);
    const counts = new Map<string, number>();
    for (const [, , reason = ''] of left) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    for (const [reason, many] of counts)
      expect(stderr).toMatch(new RegExp(` ${many} {2}${reason}: `));
    expect(stderr).toContain(`${rows} conversion`);
    if (name === 'google-ads-clicks') {
      expect(Object.fromEntries(left.map(([sid = '', , reason]) => [sid, reason]))).toEqual({
        4: 'no_click_id',
        5: 'status_not_final',
        6: 'click_too_old',
        7: 'too_recent',
        8: 'time_twice_in_zone',
      });
    }
  },
);

test('a process writes the sheet, the reasons on stderr, and ends with status 0', async () => {
  const cwd = stage.folder();
  const { code, stdout, stderr } = await stage.calls(
    sheet('microsoft-bulk', ...rulesIn(cwd, { minAge: '0h' })),
    { cwd, env },
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(
    /microsoft-bulk\.csv: \d conversions for Microsoft Advertising, bulk file\nno values\nminimum talk time 30 s \(default\); .*\nleft out: \d calls\n/,
  );
  expect(readFileSync(join(cwd, 'microsoft-bulk.csv'), 'utf8')).toMatch(
    /^Type,Status,Id,.*\r\nFormat Version,,,,,6\.0/,
  );
});

test('values come from the rules, and a call without a rule that applies is left out', async () => {
  const cwd = stage.folder();
  const where = "talk_minutes >= 10 AND campaign LIKE 'brand%'";
  const valueRules = { rules: [{ where, value: 120 }] };
  const args = [
    'sheet',
    'sa360',
    '--conversion-name',
    'Phone lead',
    ...rulesIn(cwd, { valueRules }),
  ];
  const { stderr, stdout } = await stage.quick([...args, '--output', '-'], { cwd, env, now });
  expect(stdout).toMatch(
    /Conversion,Add,Active,Cj0KCQ_click-1,1,2026-11-18T19:03:00Z,120\.00,Phone lead\r\n$/,
  );
  expect(stderr).toMatch(/1 {2}no_value: no value rule applies/);
});

test('a sheet with a problem is not written', async () => {
  const cwd = stage.folder();

  // A conversion name that looks like a mail address would put personal data into a sheet that
  // forbids it.
  const args = [
    'sheet',
    'google-ads-clicks',
    '--output',
    'x.csv',
    '--conversion-name',
    'lead@example.com',
  ];
  const { code, stderr } = await stage.quick(args, { cwd, env, now });
  expect(code).toBe(2);
  expect(stderr).toMatch(/the conversion name must not be an address or a phone number/);
  expect(existsSync(join(cwd, 'x.csv'))).toBe(false);
});

const worth = ['--value', '25USD'];

test('a dry run shows what the sheet would have, and writes nothing', async () => {
  const cwd = stage.folder();
  const args = sheet('google-ads-clicks', ...worth, '--dry-run', '--ledger', 'uploads.ledger');
  const { code, stdout, stderr } = await stage.quick(args, { cwd, env, now });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(/2 conversions for Google .*\nworth 50\.00 USD\nminimum talk time 60 s /);
  expect(stderr).toMatch(
    /clicks\.csv: 2 new conversions; 0 as in earlier runs are left out\ndry run: nothing was written\n/,
  );
  expect(readdirSync(cwd)).toEqual([]);
});

test('with a ledger a second run writes only what is new or has changed', async () => {
  const cwd = stage.folder();

  const run = (...args: string[]) =>
    stage.quick(sheet('google-ads-clicks', '--ledger', 'uploads.ledger', ...args), {
      cwd,
      env,
      now,
    });

  const file = join(cwd, 'google-ads-clicks.csv');
  expect((await run('--value', '25 USD')).stderr).toMatch(
    /2 new conversions; 0 as in earlier runs/,
  );
  expect(readFileSync(file, 'utf8').trimEnd().split('\r\n')).toHaveLength(4);

  const waiting = await run('--value', '25 USD');
  expect(waiting.code).toBe(2);
  expect(waiting.stderr).toMatch(
    /google-ads-clicks\.csv exists already\. If it was uploaded, remove or rename it/,
  );

  rmSync(file);
  const again = await run('--value', '25 USD');
  expect(again.code).toBe(0);
  expect(again.stderr).toMatch(/0 new conversions; 2 as in earlier runs/);
  expect(again.stderr).toMatch(
    /there is nothing new to upload: google-ads-clicks\.csv was not written/,
  );
  expect(existsSync(file)).toBe(false);

  const changed = await run(
    '--value',
    '40USD',
    ...rulesIn(cwd, { minAge: '0h', repeatedHour: 'first' }),
  );
  expect(changed.stderr).toMatch(/2 new conversions; 0 as in earlier runs/);
  expect(changed.stderr).toMatch(
    /clicks\.adjustments\.csv: 2 adjustments \(2 restated, 0 retracted\)/,
  );
  expect(readFileSync(join(cwd, 'google-ads-clicks.adjustments.csv'), 'utf8')).toMatch(
    /,RESTATE,40\.00,USD\r\n/,
  );
});

test('with {date} in its name a sheet is another file each day, and a day without anything new has none', async () => {
  const cwd = stage.folder();
  const names = '--output clicks-{date}.csv --left-out left-{date}.csv --ledger uploads.ledger';
  const line = `sheet google-ads-clicks --conversion-name "Phone lead" ${names} --time-zone America/New_York`;
  const at = (now: Date) => stage.quick(line, { cwd, env, now });

  // At 04:00 UTC it is still the day before in New York.
  const night = new Date('2026-11-22T04:00:00Z');
  const first = await at(night);
  expect(first).toMatchObject({ code: 0 });
  expect(readdirSync(cwd).sort()).toEqual([
    'clicks-2026-11-21.csv',
    'left-2026-11-21.csv',
    'uploads.ledger',
  ]);

  const sameDay = await at(night);
  expect(sameDay.code).toBe(2);
  expect(sameDay.stderr).toMatch(
    /clicks-2026-11-21\.csv exists already\. If it was uploaded, remove or rename it.*\n.*another file with --output/,
  );

  const next = await at(new Date('2026-11-23T04:00:00Z'));
  expect(next).toMatchObject({ code: 0 });
  expect(next.stderr).toMatch(/nothing new to upload: clicks-2026-11-22\.csv was not written/);
  expect(existsSync(join(cwd, 'clicks-2026-11-22.csv'))).toBe(false);
});

test.each([
  [
    ['export', '-o', 'calls-{date}.csv'],
    /\{date\} in the name of a file needs a time zone[\s\S]*--time-zone/,
  ],
  [
    sheet('sa360', '--ledger', 'uploads-{date}.ledger'),
    /uploads-\{date\}\.ledger: the ledger is the same file every day/,
  ],
  [['export', '-o', 'calls-{account}.csv'], /no account is chosen[\s\S]*--all-accounts/],
])('%j is refused', async (args, message) => {
  const { code, stderr } = await stage.quick(args, {
    cwd: stage.folder(),
    env: { ...env, CALLS_TIME_ZONE: '' },
    now,
  });
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});

test('the ledger may be kept in a store', async () => {
  const cwd = stage.folder();
  const run = () => stage.quick(sheet('sa360', '--ledger', 'sqlite:uploads.db'), { cwd, env, now });
  expect((await run()).stderr).toMatch(/sa360\.csv: 2 new conversions; 0 as in earlier runs/);
  rmSync(join(cwd, 'sa360.csv'));
  expect((await run()).stderr).toMatch(/0 new conversions; 2 as in earlier runs/);
  expect(readdirSync(cwd)).toContain('uploads.db');
});

test('a name that ends in .gz gets a compressed sheet', async () => {
  const cwd = stage.folder();
  const args = ['sheet', 'google-ads-clicks', '--conversion-name', 'Phone lead', '-o', 'x.csv.gz'];
  expect((await stage.quick(args, { cwd, env, now })).code).toBe(0);
  expect(gunzipSync(readFileSync(join(cwd, 'x.csv.gz'))).toString()).toMatch(
    /^Parameters:TimeZone=America/,
  );
});

test('calls before the range are read to know who has called before', async () => {
  const cwd = stage.folder();
  const args = ['--include-extensions', '--from', '2026-11-18 15:00:00', '--dry-run'];
  const rules = rulesIn(cwd, { oncePerCaller: '30d' });
  const { code, stderr } = await stage.quick(sheet('sa360', ...args, ...rules), { cwd, env, now });
  expect(code).toBe(0);
  expect(stderr).toMatch(/0 conversions for Search Ads 360/);
  expect(stderr).toMatch(/ 2 {2}caller_counted: another call of this caller counts already/);
  expect(stderr).toMatch(/callers are known from calls of 30 days before 2026-11-18 15:00:00/);
});

test('--min-talk replaces the minimum talk time of the tool, and the calls below it are listed', async () => {
  const { stderr } = await stage.quick(
    sheet('google-ads-clicks', '--min-talk', '5m', '--dry-run'),
    {
      cwd: stage.folder(),
      env,
      now,
    },
  );
  expect(stderr).toMatch(/minimum talk time 300 s; /);
  expect(stderr).toMatch(/ 1 {2}too_short: /);
});

test.each<[string[], object, RegExp]>([
  [['-o', 'x.xlsx'], {}, /--output x\.xlsx: a sheet is a text file/],
  [['--value', '25XXQ'], {}, /there is no currency "XXQ"/],
  [['--value', 'much'], {}, /--value must be an amount, .* not "much"[\s\S]*25 or 25USD/],
  [['--value', '25'], { value: 30 }, /--value and rules\.json both give a value/],
  [[], { value: 30, valueRules: 'values.json' }, /rules\.json has both value and valueRules/],
  [
    [],
    { valueRules: 'values.json' },
    /rules\.json\.valueRules names values\.json, which cannot be read/,
  ],
  [[], { valueRules: { rules: [{ value: 'x' }] } }, /rules\[0\]\.value must be a number/],
  [[], { currency: 'USD' }, /rules\.json: currency needs a value/],
  [[], { clickWindow: '120d' }, /a click window of 120 days is too long: .* at most 90 days/],
  [[], { consent: { adUserData: 'granted' } }, /consent\.adPersonalization is missing/],
  [[], { oncePerCaller: '0d' }, /oncePerCaller must be a duration such as 36h, 30d or 4w/],
  [
    [],
    { firstCallsOnly: true },
    /has an unknown name "firstCallsOnly"[\s\S]*did you mean firstCallOnly\?/,
  ],
  [['-o', '-', '--ledger', 'x'], {}, /--ledger needs a file in --output/],
  [['--time-zone', 'Mars/Olympus'], {}, /Mars\/Olympus/],
])('%j with the rules %j is refused before any request', async (options, rules, message) => {
  const cwd = stage.folder();
  const args = ['sheet', 'google-ads-clicks', '--conversion-name', 'Phone lead', ...options];
  if (!options.includes('-o')) args.push('-o', 'x.csv');
  const { code, stderr } = await stage.quick([...args, ...rulesIn(cwd, rules)], {
    cwd,
    env: { ...env, CALLS_BASE_URL: 'http://127.0.0.1:9' },
    now,
  });
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});

test('the same conversions come from a store without a command line', async () => {
  const format = sheetFormats.sa360;
  const rules = { timeZone: 'America/New_York', conversionName: 'Phone lead', now: now.getTime() };
  const lines: Uint8Array[] = [];
  for await (const line of toSheet(format, rules)(conversions(store.calls('1'), rules, format)))
    lines.push(line);
  const args = sheet('sa360', '--include-extensions', '-o', '-').filter(
    (word) => word !== 'sa360.csv' && word !== '--output',
  );
  const { stdout } = await stage.quick(args, { cwd: stage.folder(), env, now });
  expect(Buffer.concat(lines).toString()).toBe(stdout);
  expect(lines).toHaveLength(4);
});

test('"where" and "exclude" of the configuration: what was sent is taken back by one, and listed by the other', async () => {
  const cwd = stage.folder();
  const configured = async (config: object, rules: object, ...args: string[]) => {
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify(config));
    rmSync(join(cwd, 'microsoft-ads.csv'), { force: true });
    rmSync(join(cwd, 'microsoft-ads-adjustments.csv'), { force: true });
    const options = ['--config', 'calls.config.json', '--ledger', 'l', ...rulesIn(cwd, rules)];
    const run = sheet('microsoft-ads', ...options, ...args);
    return stage.quick(run, { cwd, env, now });
  };
  const definitions = { lead: 'talk_minutes >= 2', office: "sid = '1'" };
  const loose = { minAge: '0h', repeatedHour: 'first' };
  expect((await configured({ definitions }, loose)).stderr).toMatch(/: [1-9] new conversions;/);

  const excluded = await configured({ definitions, exclude: 'office' }, loose);
  expect(excluded.stderr).toMatch(/1 {2}excluded: the configuration excludes it/);
  expect(excluded.stderr).toMatch(/cannot be corrected in .*: 1 call\n.*excludes the call now/);
  expect(excluded.stderr).toMatch(/0 new conversions/);
  const all = await configured({ definitions, exclude: 'office' }, loose, '--no-exclude');
  expect(all.stderr).not.toMatch(/exclude/);

  const chosen = await configured({ definitions }, { ...loose, where: 'lead' });
  expect(chosen.stderr).toMatch(/^rules\.json uses lead of .*calls\.config\.json\n/);
  expect(chosen.stderr).toMatch(/1 adjustment \(0 restated, 1 retracted\)/);
});
