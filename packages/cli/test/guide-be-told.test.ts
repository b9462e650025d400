import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { formatNaive } from '@call-attribution/core/time';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runNode } from './program.ts';
import { nobody, type OwnStage, openOwnStage } from './stage.ts';

// The guide is followed with a mail server and a web server of this file. Its program is started as
// cron does it: with little more than a home and a path.
const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/be-told.md'), 'utf8');
const blockOf = (name: string): string =>
  new RegExp(`^\`\`\`\\w+ ${name}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)?.[1] ?? '';

const mails: string[] = [];
const posts: string[] = [];

/** A mail server of the few commands that sending a mail takes. */
const mailServer = createSocketServer((socket) => {
  let waiting = '';
  let mail: string | null = null;
  socket.write('220 mail.test ready\r\n');
  socket.on('data', (bytes) => {
    waiting += bytes.toString();
    for (let end = waiting.indexOf('\r\n'); end >= 0; end = waiting.indexOf('\r\n')) {
      const line = waiting.slice(0, end);
      waiting = waiting.slice(end + 2);
      if (mail !== null && line !== '.') mail += `${line}\n`;
      else if (mail !== null) {
        mails.push(mail);
        mail = null;
        socket.write('250 taken\r\n');
      } else if (line === 'DATA') {
        mail = '';
        socket.write('354 go on\r\n');
      } else socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
    }
  });
});
let slackStatus = 200;
const slack = createServer((request, response) => {
  let body = '';
  request.on('data', (bytes) => {
    body += String(bytes);
  });
  request.on('end', () => {
    posts.push(JSON.parse(body).text);
    response.writeHead(slackStatus).end('ok');
  });
});
const portOf = async (server: typeof slack | typeof mailServer): Promise<number> => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
};

let stage: OwnStage;
let folder = '';
const { reports } = JSON.parse(/```json\n([\s\S]*?)```/.exec(guide)?.[1] ?? '{}');

beforeAll(async () => {
  stage = await openOwnStage({ records: 300, days: 20, to: formatNaive(Date.now()) });
  folder = stage.folder();
  const config = join(folder, '.config/call-attribution');
  mkdirSync(config, { recursive: true });
  const quiet = { ...reports.daily, expect: [], 'fail-if': 'calls > 100000' };
  const broken = { ...reports.daily, by: 'nothing' };
  writeFileSync(
    join(config, 'calls.config.json'),
    JSON.stringify({ timeZone: 'UTC', reports: { ...reports, quiet, broken } }),
  );
  const run = `#!/bin/sh\nexec "${process.execPath}" "${stage.bin}" "$@"\n`;
  writeFileSync(join(folder, 'calls'), run, { mode: 0o700 });
  const mail = blockOf('mail\\.curl')
    .replace(/^url = .*/m, `url = "smtp://127.0.0.1:${await portOf(mailServer)}"`)
    .replace(/^user = .*\n/m, '');
  writeFileSync(join(folder, 'mail.curl'), mail, { mode: 0o600 });
  const address = `url = "http://127.0.0.1:${await portOf(slack)}/services/T0"\n`;
  writeFileSync(join(folder, 'slack.curl'), address, { mode: 0o600 });
  writeFileSync(join(folder, 'tell'), blockOf('tell'), { mode: 0o700 });
  const sync = await stage.quick('sync --store sqlite:calls.db', { cwd: folder, now: new Date() });
  expect(sync.code).toBe(0);
});
afterAll(async () => {
  mailServer.close();
  slack.close();
  await stage.close();
});
beforeEach(() => {
  mails.length = 0;
  posts.length = 0;
});

const tell = (report: string, more: Record<string, string> = {}) =>
  runNode([], {
    shell: ['/bin/sh', '-c', `${join(folder, 'tell')} ${report}`],
    cwd: '/',
    env: {
      ...nobody,
      HOME: folder,
      PATH: `${folder}:${join(process.execPath, '..')}:/usr/bin:/bin`,
      CALLS_STORE: `sqlite:${join(folder, 'calls.db')}`,
      ...more,
    },
  });

test('groups that need a look are mailed and posted, those that are expected and never rang too', async () => {
  const { code, stdout, stderr } = await tell('daily');
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(mails).toEqual([
    expect.stringMatching(
      /^From: calls\nTo: team\nSubject: daily: these groups need a look\n.*\n\n[\s\S]*Houston, TX +0\b/,
    ),
  ]);
  expect(posts).toEqual([
    expect.stringMatching(
      /^\*daily: these groups need a look\*\n```\n[\s\S]*Houston, TX +0\b[\s\S]*```$/,
    ),
  ]);
});

test('nothing is sent where no group needs a look', async () => {
  expect((await tell('quiet')).code).toBe(0);
  expect([...mails, ...posts]).toEqual([]);
});

test('a copy that is too old, and a report with a mistake, are told as such', async () => {
  const past = formatNaive(Date.now() - 3 * 86_400_000).slice(0, 10);
  const sync = ['sync', '--store', 'sqlite:old.db', '--to', past];
  expect((await stage.quick(sync, { cwd: folder })).code).toBe(0);
  expect((await tell('daily', { CALLS_STORE: `sqlite:${join(folder, 'old.db')}` })).code).toBe(0);
  expect((await tell('broken')).code).toBe(0);
  expect(mails.map((mail) => /Subject: (.*)/.exec(mail)?.[1])).toEqual([
    'daily: the calls are not complete, so the report cannot tell',
    'broken: the report failed with status 2',
  ]);
  expect(posts.join('')).toMatch(/nobody knows which groups meet --fail-if/);
  expect(posts.join('')).toMatch(/nothing/);
});

test('a message that cannot be sent is an error, and the other one is sent', async () => {
  slackStatus = 403;
  const failed = await tell('daily');
  slackStatus = 200;
  expect(failed.code).toBe(1);
  expect(failed.stderr).toMatch(/curl: \(22\)/);
  expect(mails).toHaveLength(1);
});
