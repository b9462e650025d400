import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { nobody, openStage } from './stage.ts';

const stage = openStage();
afterAll(() => stage.close());

describe('keys', () => {
  test('without keys a command ends with status 2 and says how to set them', async () => {
    const { code, stderr } = await stage.quick(['count'], {
      env: { CALLS_ACCESS_KEY: '', CALLS_SECRET_KEY: '' },
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/CALLS_ACCESS_KEY and CALLS_SECRET_KEY/);
  });

  test('keys can be in files that the environment or the configuration file names', async () => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'access'), `${stage.env.CALLS_ACCESS_KEY}\n`);
    writeFileSync(join(cwd, 'secret'), `${stage.env.CALLS_SECRET_KEY}\n`);
    const byName = {
      ...nobody,
      CALLS_BASE_URL: stage.url,
      CALLS_ACCESS_KEY_FILE: 'access',
      CALLS_SECRET_KEY_FILE: 'secret',
    };
    expect((await stage.quick(['count'], { cwd, env: byName })).code).toBe(0);
    const config = { baseUrl: stage.url, accessKeyFile: 'access', secretKeyFile: 'secret' };
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify(config));
    expect((await stage.quick(['count'], { cwd, env: nobody })).code).toBe(0);
    const missing = await stage.quick(['count'], {
      cwd,
      env: { ...byName, CALLS_SECRET_KEY_FILE: 'nowhere' },
    });
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toMatch(/CALLS_SECRET_KEY_FILE: .*nowhere cannot be read/);
  });
});

describe('configuration', () => {
  test('options win over the environment, and the environment over the file', async () => {
    const cwd = stage.folder();
    const wrong = 'http://127.0.0.1:1';
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify({ baseUrl: wrong, timeZone: 'UTC' }));
    const env = { CALLS_BASE_URL: '', CALLS_TIME_ZONE: '' };
    expect((await stage.quick(['count'], { cwd, env })).code).toBe(5);
    expect((await stage.quick(['count'], { cwd, env: { ...env, CALLS_BASE_URL: stage.url } })).code).toBe(0);
    const byOption = await stage.quick(['count', '--base-url', stage.url, '--from', '99999d', '--verbose'], {
      cwd,
      env: { CALLS_BASE_URL: wrong, CALLS_TIME_ZONE: '' },
    });
    expect(byOption.code).toBe(0);
    expect(byOption.stderr).toMatch(/\(--base-url\)/);
    expect(byOption.stderr).toMatch(/UTC \(.*calls\.config\.json\)/);
    expect(byOption.stderr).not.toContain(stage.env.CALLS_SECRET_KEY);
  });

  test('a file in the current folder that sends keys from elsewhere to its own server is named in a warning', async () => {
    const cwd = stage.folder();
    const file = join(cwd, 'calls.config.json');
    const keys = { CALLS_BASE_URL: '', CALLS_LEGACY_BASE_URL: '' };
    const stderr = async (args: string[], env: Record<string, string>) =>
      (await stage.quick(['count', ...args], { cwd, env })).stderr;
    const warning = `warning: calls.config.json in this folder sends the credentials of CALLS_ACCESS_KEY to ${stage.url}; use --base-url or --config to say that this is right\n`;
    writeFileSync(file, JSON.stringify({ baseUrl: stage.url }));
    expect(await stderr([], keys)).toContain(warning);
    // Chosen by the user, or the keys are of the same file.
    expect(await stderr(['--config', 'calls.config.json'], keys)).not.toContain('warning');
    expect(await stderr(['--base-url', stage.url], keys)).not.toContain('warning');
    expect(await stderr([], { ...keys, CALLS_CONFIG: file })).not.toContain('warning');
    const { CALLS_ACCESS_KEY: accessKey, CALLS_SECRET_KEY: secretKey } = stage.env;
    writeFileSync(file, JSON.stringify({ baseUrl: stage.url, accessKey, secretKey }), { mode: 0o600 });
    expect(await stderr([], nobody)).not.toContain('warning');
    // The file names keys that are somewhere else.
    const home = stage.folder();
    writeFileSync(join(home, 'access'), accessKey ?? '');
    writeFileSync(join(home, 'secret'), secretKey ?? '');
    const borrowed = { accessKeyFile: join(home, 'access'), secretKeyFile: join(home, 'secret') };
    writeFileSync(file, JSON.stringify({ baseUrl: stage.url, ...borrowed }));
    expect(await stderr([], nobody)).toContain(`sends the credentials of ${join(home, 'access')} to`);
  });

  test('--config is read first, and the configuration folder of the user last', async () => {
    const cwd = stage.folder();
    const home = join(cwd, 'home');
    mkdirSync(join(home, 'call-attribution'), { recursive: true });
    writeFileSync(
      join(home, 'call-attribution', 'calls.config.json'),
      JSON.stringify({ baseUrl: stage.url }),
    );
    const env = { CALLS_BASE_URL: '', XDG_CONFIG_HOME: home };
    expect((await stage.quick(['count'], { cwd, env })).code).toBe(0);
    writeFileSync(join(cwd, 'other.json'), JSON.stringify({ baseUrl: 'http://127.0.0.1:1' }));
    expect((await stage.quick(['count', '--config', 'other.json'], { cwd, env })).code).toBe(5);
    expect((await stage.quick(['count', '--config', 'nowhere.json'], { cwd, env })).stderr).toMatch(
      /no configuration file/,
    );
  });

  test.each([
    ['{ "baseUrl": "x", ', /is not JSON/],
    ['[]', /must hold one JSON object/],
    ['{ "baseURL": "https://example.com" }', /unknown name "baseURL"[\s\S]*did you mean "baseUrl"/],
    ['{ "baseUrl": 5 }', /"baseUrl" must be a string/],
    ['{ "apiVersion": "v4", "baseUrl": "https://example.com" }', /v2 or v3, not "v4"/],
    ['{ "secretKey": "hunter2", "oops', /is not JSON/],
  ])('it refuses a configuration file with %s', async (text, said) => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'calls.config.json'), text);
    const { code, stderr } = await stage.quick(['count'], { cwd, env: nobody });
    expect(code).toBe(2);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain('hunter2');
  });
});

describe('calls check', () => {
  test('it tries every item and ends with status 0', async () => {
    const { code, stdout } = await stage.quick(['check']);
    expect(code).toBe(0);
    for (const item of ['URL', 'version', 'access key', 'time zone', 'list', 'count', 'sms']) {
      expect(stdout).toMatch(new RegExp(`ok +${item}`));
    }
    expect(stdout).not.toContain(stage.env.CALLS_SECRET_KEY);
  });

  test('it says what to change for a missing URL, a wrong key, a server that is down and a file that others can read', async () => {
    const none = await stage.quick(['check'], { env: nobody });
    expect(none.code).toBe(2);
    expect(none.stdout).toMatch(/wrong +URL +not set\n +→ set CALLS_BASE_URL/);
    const key = await stage.quick(['check', '--json'], { env: { CALLS_SECRET_KEY: 'wrong' } });
    expect(key.code).toBe(4);
    expect(JSON.parse(key.stdout)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([expect.objectContaining({ item: 'list', state: 'wrong' })]),
    });
    expect((await stage.quick(['check'], { env: { CALLS_BASE_URL: 'http://127.0.0.1:1' } })).code).toBe(5);
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify({ secretKey: stage.env.CALLS_SECRET_KEY }));
    chmodSync(join(cwd, 'calls.config.json'), 0o644);
    const open = await stage.quick(['check'], { cwd, env: { CALLS_SECRET_KEY: '' } });
    expect(open.stdout).toMatch(/other users can read it\n +→ chmod 600/);
  });
});
