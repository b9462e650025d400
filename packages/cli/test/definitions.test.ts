import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from './stage.ts';

let stage: OwnStage;
let folder = '';
let store = '';

const config = (content: object, name = 'calls.config.json') =>
  writeFileSync(join(folder, name), JSON.stringify(content));
const calls = (args: readonly string[], name = 'calls.config.json') =>
  stage.quick(args, { cwd: folder, env: { CALLS_CONFIG: join(folder, name) } });
const counted = async (args: readonly string[], name?: string) => {
  const { stdout, stderr } = await calls(['count', '--include-extensions', ...args], name);
  return { total: Number(stdout.replaceAll(',', '')), stderr };
};

beforeAll(async () => {
  stage = await openOwnStage({ records: 300, days: 20, to: '2026-11-21 07:00:00' });
  folder = stage.folder();
  store = `sqlite:${join(folder, 'calls.db')}`;
  config({ definitions: { lead: 'talk_minutes >= 2', texan: "state = 'TX'", office: 'missed' } });
  config({ definitions: { office: 'missed' }, exclude: 'office' }, 'excluding.json');
  expect((await calls(['sync', '--store', store])).code).toBe(0);
});
afterAll(() => stage.close());

describe.each([
  ['the API', () => [] as string[]],
  ['a copy', () => ['--store', store]],
])('definitions of the configuration file, over %s', (_, where) => {
  test('a name stands for its condition in --where', async () => {
    const named = await counted(['--where', 'lead AND NOT texan', ...where()]);
    const spelled = await counted([
      '--where',
      "talk_minutes >= 2 AND NOT state = 'TX'",
      ...where(),
    ]);
    expect(named.total).toBe(spelled.total);
    expect(named.total).toBeGreaterThan(0);
  });

  test('a report measures it', async () => {
    const measures = 'calls,count(lead) as leads,share(lead)';
    const args = [
      'report',
      '--by',
      'channel',
      '--measures',
      measures,
      '--include-extensions',
      '--json',
      ...where(),
    ];
    const rows = JSON.parse((await calls(args)).stdout) as { leads: number }[];
    const leads = rows.reduce((sum, row) => sum + row.leads, 0);
    expect(leads).toBe((await counted(['--where', 'lead', ...where()])).total);
  });

  test('"exclude" leaves calls out of counts, lists and reports, which say how many, until --no-exclude', async () => {
    const all = (await counted(where())).total;
    const missed = (await counted(['--where', 'missed', ...where()])).total;
    const without = await counted(where(), 'excluding.json');
    expect(without.total).toBe(all - missed);
    expect(without.stderr).toContain(`Without office: ${missed} calls are left out.`);
    expect((await counted(['--no-exclude', ...where()], 'excluding.json')).total).toBe(all);

    const list = ['list', '--all', '--include-extensions', '--format', 'csv', '--fields', 'sid'];
    const listed = await calls([...list, ...where()], 'excluding.json');
    expect(listed.stdout.trimEnd().split('\r\n')).toHaveLength(all - missed + 1);
    expect(listed.stderr).toContain(`Without office: ${missed} calls are left out.`);

    const report = ['report', '--by', 'channel', '--include-extensions', ...where()];
    const shown = await calls(report, 'excluding.json');
    expect(shown.stdout + shown.stderr).toContain(`Without office: ${missed} calls are left out.`);
  });

  test('an export has all calls whatever is excluded, and its receipt says what a definition meant', async () => {
    const all = (await counted(where())).total;
    const file = ['export', '--include-extensions', '-o', '-', '--format', 'ndjson', ...where()];
    const exported = await calls(file, 'excluding.json');
    expect(exported.stdout.trimEnd().split('\n')).toHaveLength(all);

    const name = `${where().length}.ndjson`;
    const leads = ['export', '--where', 'lead', '-o', name, '--receipt', ...where()];
    expect((await calls(leads)).code).toBe(0);
    const receipt = JSON.parse(readFileSync(join(folder, `${name}.receipt.json`), 'utf8'));
    expect(receipt.where).toBe('(talk_minutes >= 2)');
  });
});

test('a mistake in a definition is refused with its file and its place', async () => {
  for (const [content, reason] of [
    [{ definitions: { lead: 'talk_minutes >> 2' } }, /wrong\.json: .*definitions\.lead/],
    [
      { definitions: { state: 'missed' } },
      /wrong\.json: .*cannot be called state: that is a field/,
    ],
    [{ definitions: { a: 'a' } }, /wrong\.json: The definition a, which names a/],
    [{ definitions: { a: 2 } }, /wrong\.json: definitions\.a must be a condition in quotes/],
    [{ definitions: [] }, /wrong\.json: "definitions" must be an object/],
    [{ exclude: 'office' }, /wrong\.json: .*exclude.*There is no field office/],
  ] as const) {
    config(content, 'wrong.json');
    const { code, stderr } = await calls(['count'], 'wrong.json');
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  }
});

describe('a report with a name', () => {
  const reports = {
    weekly: {
      title: 'Leads by channel',
      by: 'channel',
      measures: 'calls,count(lead) as leads',
      period: '2026-11-09 to 2026-11-15',
      'include-extensions': true,
    },
    daily: { by: 'day', period: 'last 7 days' },
  };
  const definitions = { lead: 'talk_minutes >= 2' };
  const report = (...args: string[]) =>
    calls(['report', ...args, '--store', store], 'reports.json');
  const typed = [
    ...['--by', 'channel', '--measures', 'calls,count(lead) as leads', '--include-extensions'],
    ...['--period', '2026-11-09 to 2026-11-15'],
  ];
  beforeAll(() => config({ definitions, reports }, 'reports.json'));

  test('is what would be typed for it, and what is typed beside it replaces its own', async () => {
    const named = await report('weekly', '--json');
    expect(named.stdout).toBe((await report(...typed, '--json')).stdout);
    expect(JSON.parse(named.stdout)[0]).toHaveProperty('leads');
    const other = await report('weekly', '--from', '2026-11-16', '--by', 'day', '--json');
    expect(JSON.parse(other.stdout)[0]).toMatchObject({ day: '2026-11-16' });
  });

  test('is listed with its title, and made of what was typed', async () => {
    expect((await report('--list')).stdout).toBe(
      'weekly  Leads by channel\ndaily   by day, last 7 days\n',
    );
    const listed = JSON.parse((await report('--list', '--json')).stdout);
    expect(listed[1]).toEqual({ name: 'daily', by: 'day', period: 'last 7 days' });
    const pasted = JSON.parse((await report(...typed, '--json-definition')).stdout);
    const { title: _, ...untitled } = reports.weekly;
    expect(pasted).toEqual({ reports: { weekly: untitled } });
    const named = await report('leads', ...typed, '--json-definition');
    expect(JSON.parse(named.stdout)).toEqual({ reports: { leads: untitled } });
    expect((await report('weakly', '--json-definition')).stderr).toContain('did you mean weekly?');
  });

  test('that is not there, or has a mistake, is refused with its place', async () => {
    const cwd = stage.folder();
    const list = (...more: string[]) =>
      stage.quick(['report', '--list', ...more], { cwd, env: { HOME: cwd } });
    expect((await list()).stdout).toBe('there is no configuration file, which names reports\n');
    writeFileSync(join(cwd, 'empty.json'), '{}');
    expect((await list('--config', 'empty.json')).stdout).toMatch(/empty\.json has no reports\n$/);
    expect((await report('weakly')).stderr).toMatch(
      /no report "weakly" in .*\n.*did you mean weekly\?/,
    );
    for (const [wrong, reason] of [
      [{ a: { bye: 'day' } }, /wrong\.json: reports\.a has no option "bye"\n.*did you mean by\?/],
      [{ a: { limit: '3' } }, /reports\.a\.limit must be a whole number/],
      [{ a: { by: ['day'] } }, /reports\.a\.by must be text/],
      [{ a: 'day' }, /reports\.a must be an object/],
      [[], /"reports" must be an object/],
    ] as const) {
      config({ reports: wrong }, 'wrong.json');
      const { code, stderr } = await calls(['report', 'a'], 'wrong.json');
      expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
    }
  });
});

describe('--fail-if', () => {
  const report = (...args: string[]) =>
    calls([
      'report',
      '--by',
      'campaign',
      '--include-extensions',
      '--json',
      '--store',
      store,
      ...args,
    ]);
  const week = ['--period', '2026-11-09 to 2026-11-15'];

  test('shows the groups that meet the condition, and ends with status 9', async () => {
    const failed = await report(...week, '--fail-if', 'missed_rate > 0.1 OR calls < 3');
    expect(failed.code).toBe(9);
    const rows = JSON.parse(failed.stdout) as { calls: number; ppc_campaign: string }[];
    expect(rows.length).toBeGreaterThan(0);
    const all = JSON.parse((await report(...week)).stdout) as unknown[];
    expect(rows.length).toBeLessThan(all.length + 1);
  });

  test('ends with status 0 where no group does', async () => {
    const misspelled = await report(...week, '--fail-if', 'missed_rat > 0.1');
    expect(misspelled.stderr).toContain('--fail-if: There is no field missed_rat.');
    const passed = await report(...week, '--fail-if', 'calls > 100000');
    expect([passed.code, passed.stdout.trim()]).toEqual([0, '[]']);
    expect(passed.stderr).toMatch(/no group meets --fail-if/);
  });

  test('has a group with 0 calls that had some in the period before', async () => {
    const quiet = ['--period', '2026-11-22 to 2026-12-03', '--where', "state = 'TX'"];
    const failed = await report(...quiet, '--fail-if', 'calls = 0');
    expect(JSON.parse(failed.stdout)).toContainEqual(expect.objectContaining({ calls: 0 }));
  });

  test('has a row for each group that is expected, with 0 calls, from the report or as typed', async () => {
    const expect0 = ['--expect', "Brand new,'Houston, TX',No 'such' one", '--fail-if', 'calls = 0'];
    const typed = await report(...week, ...expect0);
    expect(typed.code).toBe(9);
    const named = (JSON.parse(typed.stdout) as { ppc_campaign: string; calls: number }[]).filter(
      ({ calls }) => calls === 0,
    );
    expect(named.map(({ ppc_campaign }) => ppc_campaign)).toEqual(
      expect.arrayContaining(['Brand new', 'Houston, TX', "No 'such' one"]),
    );

    const pasted = JSON.parse((await report(...week, ...expect0, '--json-definition')).stdout);
    expect(pasted.reports.weekly.expect).toEqual(['Brand new', 'Houston, TX', "No 'such' one"]);
    config(pasted, 'expecting.json');
    const own = await calls(['report', 'weekly', '--json', '--store', store], 'expecting.json');
    expect([own.code, own.stdout]).toEqual([9, typed.stdout]);

    const known = await report(...week, '--measures', 'calls', '--expect', 'NONE');
    const campaigns = JSON.parse(known.stdout) as { ppc_campaign: string }[];
    const [first = { ppc_campaign: '' }] = campaigns.filter((row) => row.ppc_campaign !== null);
    const again = await report(
      ...week,
      ...['--measures', 'calls', '--expect', `${first.ppc_campaign.toUpperCase()},NONE`],
    );
    expect(again.stdout).toBe(known.stdout);
  });

  test('refuses groups that are expected of a time, of two groups, and what is no list', async () => {
    for (const by of ['day', 'campaign,state', 'weekday', 'rank']) {
      const refused = await calls(['report', '--by', by, '--expect', 'x', '--store', store]);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringMatching(/expect goes with one group of text/),
      ]);
    }

    config({ reports: { weekly: { by: 'campaign', expect: 'Brand' } } }, 'wrong.json');
    const { stderr } = await calls(['report', 'weekly'], 'wrong.json');
    expect(stderr).toMatch(/reports\.weekly\.expect must be a list of texts/);
  });

  test('says that a period is not over, and ends with status 3 where the copy is more than a day old', async () => {
    const synced = Date.now();
    const at = (hours: number, ...period: string[]) =>
      stage.quick(
        ['report', '--by', 'campaign', '--store', store, '--fail-if', 'calls < 100000', ...period],
        { cwd: folder, now: new Date(synced + hours * 3_600_000) },
      );
    const running = await at(20, '--period', 'this year');
    expect([running.code, running.stderr]).toEqual([9, expect.stringContaining('not over yet')]);
    const open = await at(20, '--from', '2026-11-01');
    expect([open.code, open.stderr]).toEqual([9, expect.stringContaining('not over yet')]);
    for (const period of [['--period', 'this year'], ['--from', '2026-11-01'], []]) {
      const late = await at(25, ...period);
      expect([late.code, late.stderr]).toEqual([
        3,
        expect.stringContaining('the copy is more than a day old, so nobody knows which groups'),
      ]);
    }
  });

  test('a second that goes by while a report is made does not end its period', async () => {
    let time = Date.now();
    const later = (): number => {
      time += 700;
      return time;
    };
    const period = ['--period', 'this year', '--compare', 'previous', '--time-zone', 'UTC'];
    const { code, stderr } = await stage.quick(
      ['report', '--by', 'campaign', '--store', store, '--fail-if', 'calls < 100000', ...period],
      { cwd: folder, now: Object.assign(new Date(), { getTime: later }) },
    );
    expect([code, stderr]).toEqual([9, expect.stringContaining('not over yet')]);
  });

  test('ends with status 3 where no sync of the copy was asked for all of the period', async () => {
    const part = `sqlite:${join(folder, 'part.db')}`;
    expect((await calls(['sync', '--store', part, '--to', '2026-11-12'])).code).toBe(0);
    const report = (...period: string[]) =>
      calls(['report', '--by', 'campaign', '--store', part, '--fail-if', 'calls < 1', ...period]);
    const beyond = await report('--period', '2026-11-10 to 2026-11-13');
    expect([beyond.code, beyond.stderr]).toEqual([
      3,
      expect.stringContaining('the copy is of other times than this period'),
    ]);
    expect((await report('--period', '2026-11-10 to 2026-11-12')).code).not.toBe(3);
  });

  test('ends with status 3 where the copy is older than the end of the period', async () => {
    const future = ['--period', '2026-11-20 to 2026-11-30', '--time-zone', 'UTC'];
    const args = [...future, '--fail-if', 'calls < 3'];
    const late = await stage.quick(['report', '--by', 'campaign', '--store', store, ...args], {
      cwd: folder,
      now: new Date('2027-01-01T00:00:00Z'),
    });
    expect(late.code).toBe(3);
    expect(late.stderr).toMatch(/the copy is older than the end of the period/);
  });
});

test('annotations of the period stand below a report and in the chart of its page, and not in its data', async () => {
  const annotations = [
    { date: '2026-11-10', text: 'new landing page' },
    { date: '2026-11-12', text: 'strike', account: 'elsewhere' },
    { date: '2026-11-16', text: 'later' },
  ];
  config({ annotations }, 'annotated.json');
  const report = async (by: string, ...args: string[]) => {
    const week = ['--period', '2026-11-09 to 2026-11-15', '--store', store];
    return (await calls(['report', '--by', by, ...week, ...args], 'annotated.json')).stdout;
  };
  const line = '10 Nov 2026: new landing page';
  expect(await report('campaign')).toMatch(new RegExp(`\\n${line}\\n$`));
  expect(await report('campaign', '--format', 'csv')).not.toContain('landing page');

  const page = async (by: string) => {
    await report(by, '-o', 'annotated.html');
    return readFileSync(join(folder, 'annotated.html'), 'utf8');
  };
  expect(await page('day')).toMatch(new RegExp(`class="mark".*<li><b>1</b> ${line}</li>`, 's'));
  expect(await page('campaign')).toContain(`<p>${line}</p>`);
  expect(await page('day')).not.toMatch(/strike|later|<p>10 Nov/);
});

test('calls fields says what a definition stands for, and how many calls of the copy it has', async () => {
  expect((await calls(['fields', 'lead'])).stdout).toBe(
    'lead  a definition\n  talk_minutes >= 2\n',
  );
  const env = { CALLS_CONFIG: join(folder, 'calls.config.json'), CALLS_STORE: store };
  const { stdout } = await stage.quick(['fields', 'lead'], { cwd: folder, env });
  const leads = (await counted(['--where', 'lead', '--store', store])).total;
  expect(stdout).toMatch(new RegExp(`\\n  ${leads} of 300 calls in sqlite:`));
});
