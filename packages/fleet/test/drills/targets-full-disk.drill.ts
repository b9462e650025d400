import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';

const worker = await builtFile(new URL('../fixtures/full-disk.ts', import.meta.url).href);
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status === 0;
const tally = openDrill({
  name: 'fleet-full-disk',
  kind: 'full disk',
  what: 'Workers fill a folder on a disk that is too small until it is enlarged; what was committed stays whole, no part is left over, and every record is there in the end',
});

test.each([
  ['ndjson', '600k'],
  ['parquet', '100k'],
])('workers whose disk is full go on by themselves once there is space, with %s', async (format, size) => {
  if (!canMount)
    return void process.stdout.write('A full disk was left out: mounting is not allowed here.\n');
  await tally.run(() => {
    const disk = mkdtempSync(join(tmpdir(), 'fleet-disk-'));
    try {
      const said = execFileSync('unshare', ['-rm', process.execPath, worker, disk, format, size], {
        encoding: 'utf8',
      });
      const seen = JSON.parse(said);
      expect(seen).toMatchObject({
        codes: ['ENOSPC'],
        records: 1_600,
        files: 20,
        wrong: [],
        left: [],
        readOnly: ['target_unavailable', true, 'target_unavailable', true],
      });
      expect(seen.refusals).toBeGreaterThanOrEqual(40);
      tally.happened('refused writes', seen.refusals);
    } finally {
      rmdirSync(disk);
    }
  });
});
