import { expect, inject, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();

test('calls count prints one number, and its source with --json', async () => {
  const plain = await stage.quick(['count']);
  const note = 'Calls through call extensions are left out. --include-extensions adds them.\n';
  expect(plain).toMatchObject({ code: 0, stderr: note });
  const { total, source } = JSON.parse((await stage.quick(['count', '--json'])).stdout);
  expect(plain.stdout).toBe(`${total}\n`);
  expect(source).toEqual(expect.any(String));
});

test('the calls that a negation leaves out are said, of the API and of a copy', async () => {
  const cwd = stage.folder();
  await stage.quick(['sync', '--store', 'sqlite:calls.db'], { cwd });
  const places = [['--include-extensions'], ['--store', 'sqlite:calls.db', '--include-extensions']];
  const said = /^(\d+) calls without ppc_campaign are left out/m;
  for (const place of places) {
    const where = ['--where', "NOT campaign LIKE '%Brand%'"];
    const { stdout, stderr } = await stage.quick(['count', ...where, ...place], { cwd });
    const [, left] = said.exec(stderr) ?? [];
    const added = await stage.quick(
      ['count', '--where', "NOT campaign LIKE '%Brand%' OR campaign IS NULL", ...place],
      { cwd },
    );
    expect(Number(added.stdout) - Number(stdout)).toBe(Number(left));
    expect(added.stderr).not.toContain('left out,');
  }
});

test('a time that begins before the calls do is said, of the API and of a copy', async () => {
  const cwd = stage.folder();
  await stage.quick(['sync', '--store', 'sqlite:calls.db'], { cwd });
  const first = /^The first call is from (\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d: nothing is known/m;
  for (const place of [[], ['--store', 'sqlite:calls.db']]) {
    const count = async (...typed: string[]) =>
      (await stage.quick(['count', ...typed, ...place], { cwd })).stderr;
    const [, date = ''] = first.exec(await count('--from', '2020-01-01')) ?? [];
    expect(date).toMatch(/^2026-/);
    expect(await count('--period', '2020')).toMatch(first);
    expect(await count('--from', date)).not.toMatch(first);
    expect(await count()).not.toMatch(first);
  }
});

test('a copy that was filled from a day on has nothing before it, and all of that day', async () => {
  const cwd = stage.folder();
  await stage.quick(['sync', '--store', 'sqlite:calls.db', '--from', '2026-10-07'], { cwd });
  const report = async (...typed: string[]) =>
    (await stage.quick(['report', '--store', 'sqlite:calls.db', ...typed], { cwd })).stderr;
  const begins =
    'The copy has calls from 2026-10-07 00:00:00 on: nothing is known of the period before it.\n';
  expect(await report('--from', '2026-10-06', '--to', '2026-10-20')).toContain(begins);
  expect(await report('--from', '2026-10-07', '--to', '2026-10-20')).not.toContain(begins);
});

test('a field that only v3 has is refused over v2, with the one that works', async () => {
  const env = { CALLS_API_VERSION: 'v2', CALLS_BEARER_TOKEN: inject('callsToken') };
  const where = ['--where', "campaign LIKE '%Brand%'"];
  for (const asked of [
    ['count', ...where],
    ['report', '--by', 'campaign'],
    ['report', ...where],
  ]) {
    const { code, stderr } = await stage.quick(asked, { env });
    expect(code).toBe(2);
    expect(stderr).toContain('Only v3 of the API has ppc_campaign');
    expect(stderr).toContain('Use ppc_campaign_id.');
  }

  const works = await stage.quick(['report', '--by', 'ppc_campaign_id', '--json'], { env });
  expect(works.code).toBe(0);
});
