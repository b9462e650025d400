import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openTarget } from '../src/target/open-target.ts';
import { targetLaws } from './target-laws.ts';

const base = mkdtempSync(join(tmpdir(), 'fleet-folder-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let folders = 0;
const newFolder = () => {
  folders += 1;
  return join(base, String(folders));
};

/** The records that a reader of an account finds in the files of a folder. */
async function recordsIn(folder: string, account: string) {
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => name.startsWith(`account=${account}/`) && name.endsWith('.ndjson'))
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    )
    .map((line) => JSON.parse(line));
}

targetLaws('a folder', async () => {
  const folder = newFolder();
  const into = `folder:${folder}`;
  return { into, open: (job) => openTarget(into, job), records: (account) => recordsIn(folder, account) };
});
