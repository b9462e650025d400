import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDrill } from '@call-attribution/test-tools/drill';
import { beforeAll, expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();
const canMount =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status === 0;
const tally = openDrill({
  name: 'full-disks',
  kind: 'full disk',
  what: '`calls export` and `calls sync` fill a small disk; each ends with status 7 and one sentence that names the file, nothing looks finished, and with space the same command completes its work',
});

// $1: where results go, $2: the disk, $3: its size; then the command itself.
const script = `
out=$1; disk=$2; size=$3; shift 3
mount -t tmpfs -o size=60m none "$disk" && cd "$disk" || exit 1
mount -o remount,size="$size" none "$disk" || exit 3
"$@" >/dev/null 2>"$out/full"; echo $? >"$out/full.code"
find . -type f >"$out/full.files"
mount -o remount,size=60m none "$disk"
"$@" >/dev/null 2>"$out/again"; echo $? >"$out/again.code"
cp -r . "$out/disk"
`;

/** Runs a command on a disk of this size, and again when there is space. */
function onSmallDisk(size: string, args: readonly string[]) {
  const out = stage.folder();
  const disk = mkdtempSync(join(tmpdir(), 'calls-disk-'));
  try {
    const { status, stderr } = spawnSync(
      'unshare',
      ['-rm', 'sh', '-c', script, 'sh', out, disk, size, process.execPath, stage.bin, ...args],
      { encoding: 'utf8', env: { PATH: process.env.PATH ?? '', HOME: out, ...stage.env } },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  } finally {
    rmdirSync(disk);
  }

  const text = (name: string) => readFileSync(join(out, name), 'utf8').trim();
  return {
    full: {
      code: Number(text('full.code')),
      stderr: text('full'),
      files: text('full.files').split('\n'),
    },
    again: { code: Number(text('again.code')), stderr: text('again') },
    disk: join(out, 'disk'),
  };
}

let inputs = '';
const rowStore = () => `sqlite:${join(inputs, 'calls.db')}`;
beforeAll(async () => {
  inputs = stage.folder();
  const run = (...args: string[]) => stage.quick(args, { cwd: inputs });
  await run('sync', '--store', 'sqlite:calls.db');
});

const all = ['--receipt', '--include-extensions'];
const local = ['--store', 'sqlite:calls.db'];
const cases: [string, string, () => string[], RegExp][] = [
  [
    'calls.ndjson',
    '200k',
    () => ['export', '-o', 'calls.ndjson', ...all],
    /calls\.ndjson: no space left/,
  ],
  ['calls.csv', '200k', () => ['export', '-o', 'calls.csv', ...all], /calls\.csv: no space left/],
  [
    'calls.json.gz',
    '40k',
    () => ['export', '-o', 'calls.json.gz', ...all],
    /calls\.json\.gz: no space left/,
  ],
  [
    'calls.parquet',
    '80k',
    () => ['export', '-o', 'calls.parquet', ...all],
    /calls\.parquet\S*: no space left/,
  ],
  [
    'folder',
    '60k',
    () => ['export', '-o', 'folder', '--partition', 'month', '--store', rowStore(), ...all],
    /folder/,
  ],
  [
    'rows.ndjson',
    '200k',
    () => ['export', '-o', 'rows.ndjson', '--store', rowStore(), ...all],
    /rows\.ndjson: no space left/,
  ],
  ['calls.db', '400k', () => ['sync', ...local], /calls\.db/],
];

test.each(cases)('%s on a disk of %s', async (name, size, args, said) => {
  if (!canMount)
    return void process.stdout.write('A full disk was left out: mounting is not allowed here.\n');
  await tally.run(async () => {
    const { full, again, disk } = onSmallDisk(size, args());
    const lines = full.stderr.split('\n').filter((line) => line.startsWith('calls: '));
    expect(full.code, full.stderr).toBe(7);
    expect(lines).toEqual([expect.stringMatching(said)]);
    expect(full.stderr).toMatch(/free some space/i);

    // A database is there from the beginning; what it says is compared below. Of a folder each
    // month that is there is whole.
    if (!/db$|folder/.test(name)) expect(full.files).not.toContain(`./${name}`);
    const receipts = full.files.filter((file) => file.endsWith('.receipt.json'));
    if (name === 'folder')
      for (const file of receipts)
        expect(full.files).toContain(file.slice(0, -'.receipt.json'.length));
    else expect(receipts).toEqual([]);

    tally.happened('full disks');
    expect(again.code, again.stderr).toBe(0);
    const against = /db$/.test(name) ? ['--against-api'] : [];
    const { code, stdout } = await stage.quick(['verify', name, '--json', ...against], {
      cwd: disk,
    });
    const { verdict, checks } = JSON.parse(stdout) as {
      verdict: string;
      checks: { rows: number }[];
    };
    expect([verdict, checks.reduce((sum, { rows }) => sum + rows, 0)]).toEqual(['proved', 600]);
    expect(code).toBe(0);
  });
});
