import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { databaseThatRefuses, type RefusingDatabase } from './refusing-database.ts';
import { openStage } from './stage.ts';

const stage = openStage();
let database: RefusingDatabase;
beforeAll(async () => {
  database = await databaseThatRefuses();
});
afterEach(() => {
  database.passwords.length = 0;
});
afterAll(async () => {
  database.close();
});

/** A folder with the database in files of these places. */
function folderWith(...places: readonly string[]): string {
  const cwd = stage.folder();
  for (const place of places) {
    mkdirSync(join(cwd, place, '..'), { recursive: true });
    writeFileSync(join(cwd, place), JSON.stringify({ store: database.url }));
  }
  return cwd;
}

const found = 'calls.config.json';
const users = 'home/call-attribution/calls.config.json';

describe('the password of PGPASSWORD goes to the database that was named by', () => {
  test.each<[string, string[], (cwd: string) => { args?: string[]; env?: Record<string, string> }]>(
    [
      ['--store', [found], () => ({ args: ['--store', database.url] })],
      ['CALLS_STORE', [found], () => ({ env: { CALLS_STORE: database.url } })],
      ['the file of --config', ['named.json'], () => ({ args: ['--config', 'named.json'] })],
      ['the file of CALLS_CONFIG', ['named.json'], () => ({ env: { CALLS_CONFIG: 'named.json' } })],
      [
        "the file in the user's folder",
        [users],
        (cwd) => ({ env: { XDG_CONFIG_HOME: join(cwd, 'home') } }),
      ],
    ],
  )('%s', async (_, places, named) => {
    const cwd = folderWith(...places);
    const { args = [], env = {} } = named(cwd);
    const { code, stderr } = await stage.quick(['sync', '--account', 'main', ...args], {
      cwd,
      env: { PGPASSWORD: 'canary', CALLS_STORE: '', ...env },
    });
    expect(code).not.toBe(0);
    expect(new Set(database.passwords)).toEqual(new Set(['canary']));
    expect(stderr).not.toContain('canary');
  });
});

describe('the password of PGPASSWORD goes nowhere when a database is only', () => {
  test.each<[string, string, Record<string, string>]>([
    ['in a file of the current folder', found, {}],
    [
      'in a folder that looks like that of the user',
      '.config/call-attribution/calls.config.json',
      {},
    ],
    [
      'in one that a relative HOME names',
      '.config/call-attribution/calls.config.json',
      { HOME: '.' },
    ],
    ['in one that a relative XDG_CONFIG_HOME names', users, { XDG_CONFIG_HOME: 'home' }],
  ])('%s', async (_, place, env) => {
    const cwd = folderWith(place);
    for (const command of [
      ['sync', '--account', 'main'],
      ['store', 'accounts'],
      ['verify'],
      ['doctor'],
    ]) {
      const { code } = await stage.quick(command, {
        cwd,
        env: { PGPASSWORD: 'canary', CALLS_STORE: '', ...env },
      });
      if (command[0] !== 'doctor') expect(code).not.toBe(0);
    }

    expect(database.passwords).toEqual([]);
  });
});
