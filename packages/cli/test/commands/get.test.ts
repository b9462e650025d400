import { callWith } from '@call-attribution/test-tools/call-with';
import { expect, test } from 'vitest';
import { openStage, serverThat } from '../stage.ts';

const stage = openStage();

test('calls get shows one call, by group for people and whole for programs', async () => {
  const [{ sid }] = JSON.parse((await stage.quick(['list', '--json', '-n', '1'])).stdout);
  const card = await stage.quick(['get', sid]);
  expect(card.stdout).toMatch(new RegExp(`^system\n +sid +${sid}\n`));
  expect(card.stdout).toContain('\ntiming\n');
  expect(JSON.parse((await stage.quick(['get', sid, '--json'])).stdout).sid).toBe(sid);
  expect((await stage.quick(['get', sid, '--format', 'csv', '--fields', 'sid'])).stdout).toBe(
    `sid\r\n${sid}\r\n`,
  );
  const unknown = await stage.quick(['get', 'no-such-sid']);
  expect(unknown).toMatchObject({ code: 6, stdout: '' });
  expect(unknown.stderr).toContain('there is no call with the session ID no-such-sid');
});

test('in CSV an empty string differs from a missing value', async () => {
  const call = callWith({ sid: '1', url_tag: '', landing_page: 'a "b", c', conversion_page: null });
  const server = await serverThat((response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(call)),
  );
  const env = { CALLS_BASE_URL: server.url };
  const fields = ['--fields', 'sid,url_tag,landing_page,conversion_page'];
  const { stdout } = await stage.quick(['get', '1', '--format', 'csv', ...fields], { env });
  server.close();
  expect(stdout).toBe('sid,url_tag,landing_page,conversion_page\r\n1,"","a ""b"", c",\r\n');
});

test.each([
  ['--value', '25USD'],
  ['--rules', 'rules.json'],
  ['--min-talk', '2m'],
  ['--ledger', 'uploads.ledger'],
  ['--conversion-name', 'Call'],
  ['--no-exclude'],
])('%s is refused where no tool is named', async (...typed) => {
  const { code, stdout, stderr } = await stage.quick(['get', '1000000001', ...typed]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`${typed[0]} goes with --for, which says why a call counts for a tool`);
});
