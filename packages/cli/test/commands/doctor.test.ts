import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nobody, openStage } from '../stage.ts';

const stage = openStage();

describe('the connection', () => {
  test('it tries every item and ends with status 0', async () => {
    const { code, stdout } = await stage.quick(['doctor']);
    expect(code).toBe(0);
    for (const item of ['URL', 'version', 'access key', 'time zone', 'list', 'count', 'sms']) {
      expect(stdout).toMatch(new RegExp(`ok +${item}`));
    }
    expect(stdout).not.toContain(stage.env.CALLS_SECRET_KEY);
  });

  test('it says what to change for a missing URL, a wrong key, a server that is down and a file that others can read', async () => {
    const none = await stage.quick(['doctor'], { env: nobody });
    expect(none.code).toBe(2);
    expect(none.stdout).toMatch(/wrong +URL +not set\n +→ calls init asks for it/);
    const key = await stage.quick(['doctor', '--json'], { env: { CALLS_SECRET_KEY: 'wrong' } });
    expect(key.code).toBe(4);
    expect(JSON.parse(key.stdout)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([expect.objectContaining({ item: 'list', state: 'wrong' })]),
    });
    expect(
      (await stage.quick(['doctor'], { env: { CALLS_BASE_URL: 'http://127.0.0.1:1' } })).code,
    ).toBe(5);
    const file = join(stage.folder(), 'calls.config.json');
    writeFileSync(file, JSON.stringify({ secretKey: stage.env.CALLS_SECRET_KEY }));
    chmodSync(file, 0o644);
    const env = { ...nobody, CALLS_CONFIG: file, CALLS_ACCESS_KEY_FILE: file };
    const open = await stage.quick(['doctor'], { env });
    expect(open.stdout).toMatch(
      /other users can read it\n +→ chmod 600[\s\S]*others can read .*\n +→ chmod/,
    );
  });
});

describe('calls doctor', () => {
  test('it looks at versions, proxy, stores and the connection, and says what to do', async () => {
    const cwd = stage.folder();
    const env = {
      CALLS_STORE: 'sqlite:calls.db',
      CALLS_BASEURL: 'x',
      CALLS_M_ACCESS_KEY: 'x',
      HTTP_PROXY: 'http://me:hunter2@proxy.example:3128',
      NO_PROXY: '127.0.0.1',
    };

    const doctor = async (more: object = {}) => {
      const { code, stdout } = await stage.quick('doctor --json', {
        cwd,
        env,
        ...more,
      });
      const { findings } = JSON.parse(stdout) as {
        findings: { item: string; state: string; text: string; fix?: string }[];
      };
      const of = (item: string) => findings.find((finding) => finding.item === item);
      return { code, stdout, of };
    };

    const first = await doctor();
    expect(first.code).toBe(0);
    expect(first.of('versions')?.text).toMatch(/^calls \d.*Node\.js \d/);
    expect(first.of('sqlite')).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(
        /^SQLite 3\.\d+\.\d+, (?:built in|of @call-attribution\/sqlite)$/,
      ),
    });
    expect(first.of('variables')).toMatchObject({
      state: 'note',
      fix: 'did you mean CALLS_BASE_URL?',
    });
    expect(first.stdout).not.toContain('CALLS_M_ACCESS_KEY');
    expect(first.of('proxy')?.text).toBe(
      'http://proxy.example:3128 (HTTP_PROXY), except for 127.0.0.1',
    );
    expect(first.of('store')).toMatchObject({
      state: 'note',
      fix: 'calls sync --store sqlite:calls.db creates it',
    });
    expect(first.of('list')?.state).toBe('ok');
    expect(first.stdout).not.toMatch(/hunter2/);
    expect(first.stdout).not.toContain(stage.env.CALLS_SECRET_KEY);
    await stage.quick(['sync'], { cwd, env });
    const later = await doctor();
    expect(later.of('store')?.text).toMatch(/^sqlite:calls\.db: 600 calls of 1 account, .* [kM]B$/);
    writeFileSync(join(cwd, 'text.db'), 'not a database, but long enough to be read as one');
    const broken = await doctor({ env: { CALLS_STORE: 'sqlite:text.db' } });
    expect(broken.code).toBe(1);
    expect(broken.of('store')?.state).toBe('wrong');
    const shown = await stage.quick('doctor', {
      cwd,
      env: { ...env, COLUMNS: '70', CALLS_SECRET_KEY: 'wrong' },
    });
    expect(shown.code).toBe(4);
    for (const line of shown.stdout.split('\n'))
      if (!line.includes(dirname(cwd))) expect(line.length).toBeLessThanOrEqual(70);
  });
});

test('calls doctor --offline says what is configured and which copies there are, and asks no server', async () => {
  const cwd = stage.folder();
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    stage.quick(args, { cwd, env: { ...nobody, HOME: cwd, ...env } });

  const flat = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { code, stdout } = await run(args, env);
    return { code, text: stdout.replace(/\s+/g, ' ') };
  };

  const nothing = await flat(['doctor', '--offline']);
  expect(nothing.code).toBe(0);
  expect(nothing.text).toMatch(
    /wrong URL not set → calls init asks for it.*note store none: CALLS_STORE is not set/,
  );
  await run(['init'], stage.env);
  const keys = { ...nobody, CALLS_BASE_URL: 'http://127.0.0.1:1' };
  const configured = await flat(['doctor', '--offline'], keys);
  expect(configured.text).toMatch(
    /ok URL http:\/\/127\.0\.0\.1:1.*ok access key set .*ok time zone America\/New_York/,
  );
  expect((await run(['sync', '--store', 'sqlite:calls.db'])).code).toBe(0);
  const synced = await flat(['doctor', '--offline', '--store', 'sqlite:calls.db']);
  expect(synced.code).toBe(0);
  expect(synced.text).toMatch(
    /ok store sqlite:calls\.db: 600 calls of 1 account, .*ok 101 600 calls up to .*, whole/,
  );
  expect(await flat(['doctor', '--offline', '--store', 'sqlite:typo.db'])).toMatchObject({
    text: expect.stringMatching(/note store sqlite:typo\.db does not exist yet/),
  });
  expect(await run(['doctor', '--offline'], { CALLS_TIME_ZONE: 'Nowhere' })).toMatchObject({
    code: 2,
  });
});

describe('definitions', () => {
  test('those that met no call of the copy in 90 days are named, and a file with numbers that others can read', async () => {
    const cwd = stage.folder();
    await stage.quick(['sync', '--store', 'sqlite:calls.db'], { cwd });
    const doctor = async (definitions: object, now: string) => {
      const file = join(cwd, 'calls.config.json');
      writeFileSync(file, JSON.stringify({ definitions }), { mode: 0o644 });
      chmodSync(file, 0o644);
      const args = ['doctor', '--offline', '--store', 'sqlite:calls.db', '--config', file];
      return (await stage.quick(args, { cwd, now: new Date(now) })).stdout;
    };

    const lead = { lead: 'talk_minutes >= 2' };
    const wrong = { moon: "state = 'Moon'", mars: "state = 'Mars' AND lead" };
    const soon = '2026-11-01T12:00:00Z';
    expect(await doctor({ ...lead, ...wrong }, soon)).toMatch(
      /note +definitions +none of the [\d,]+ calls of the last 90 days is moon or mars\n/,
    );
    const met = await doctor(lead, soon);
    expect(met).toMatch(/ok +definitions +each is met by some of /);
    expect(met).not.toMatch(/numbers of callers/);
    expect(await doctor(lead, '2027-11-01T12:00:00Z')).not.toMatch(/definitions/);
    expect(await doctor({ lead: 'talk_minutes >> 2' }, soon)).toMatch(/wrong +definitions +.*lead/);

    // A release with a field of this name refuses it, and that is said without a copy, too.
    writeFileSync(join(cwd, 'taken.json'), JSON.stringify({ definitions: { state: 'missed' } }));
    for (const place of [[], ['--store', 'sqlite:calls.db'], ['--store', 'sqlite:none.db']]) {
      const args = ['doctor', '--offline', ...place, '--config', 'taken.json'];
      const { code, stdout } = await stage.quick(args, { cwd });
      expect({ code, place }).toEqual({ code: 2, place });
      expect(stdout.match(/A definition cannot be called/g)).toHaveLength(1);
      expect(stdout).toMatch(
        /wrong +definitions +.*taken\.json: A definition cannot be called state: that is a field\. Choose another name, such as our_state\.\n/,
      );
    }
    expect(await doctor({ office: "ani = '3035550100'" }, soon)).toMatch(
      /note +file .* has numbers of callers, and other users can read it\n.*chmod 600/,
    );
  });
});
