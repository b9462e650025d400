import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { writeLauncher } from '../../../scripts/pack.mjs';
import { nobody, openStage } from './stage.ts';

const stage = openStage();
const node = dirname(process.execPath);

/** A folder with the program in it, as npm installs it. */
function installed(folder: string): { folder: string; bin: string } {
  const cli = join(folder, 'node_modules/@call-attribution/cli');
  cpSync(dirname(dirname(stage.bin)), cli, { recursive: true });
  return { folder, bin: join(cli, 'src/bin.js') };
}

/** What to type for `calls`, as `calls doctor` says it, started in an empty folder. */
async function typedHere(
  shell: readonly [string, ...string[]],
  path: readonly string[] = [],
): Promise<string> {
  const [program, ...args] = shell;
  const { code, stdout } = await stage.calls([], {
    shell: [program, ...args, 'doctor', '--offline'],
    cwd: stage.folder(),
    env: { ...nobody, PATH: [...path, node, '/usr/bin', '/bin'].join(':') },
  });
  expect(code).toBe(0);
  return /→ (.+) sync --store sqlite:calls\.db makes one$/m.exec(stdout)?.[1] ?? stdout;
}

/** Runs what was said, in a shell of another folder. */
const versionOf = (typed: string, path: readonly string[]): string =>
  execFileSync('/bin/sh', ['-c', `${typed} --version`], {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: [...path, '/usr/bin', '/bin'].join(':') },
  });

/** A program of somebody else that has the same name. */
function strangers(): string {
  const folder = stage.folder();
  writeFileSync(join(folder, 'calls'), '#!/bin/sh\necho a strange program\n');
  chmodSync(join(folder, 'calls'), 0o755);
  return folder;
}

// The launcher is a script of the shell.
const onUnix = test.skipIf(process.platform === 'win32');

onUnix('a launcher starts calls from every folder, without node on PATH, by its path', async () => {
  const { folder, bin } = installed(join(stage.folder(), "it's here"));
  const launcher = writeLauncher(folder, 'calls', bin);
  const typed = await typedHere([launcher]);
  expect(typed).toBe(`'${folder.replace("'", `'\\''`)}/calls'`);
  expect(versionOf(typed, [])).toMatch(/^\d+\.\d+\.\d+\n$/);

  // Another program of this name comes first on PATH.
  expect(await typedHere([launcher], [strangers(), folder])).toBe(typed);
});

onUnix('a launcher whose folder is on PATH is typed by its name', async () => {
  const { folder, bin } = installed(stage.folder());
  const launcher = writeLauncher(folder, 'calls', bin);
  expect(await typedHere([launcher], [folder])).toBe('calls');
  expect(await typedHere(['calls'], [folder])).toBe('calls');
  expect(versionOf('calls', [folder])).toMatch(/^\d+\.\d+\.\d+\n$/);
});

onUnix('what npm installs for all projects is typed by its name', async () => {
  const prefix = stage.folder();
  const { bin } = installed(join(prefix, 'lib'));
  chmodSync(bin, 0o755);
  mkdirSync(join(prefix, 'bin'));
  symlinkSync(bin, join(prefix, 'bin/calls'));
  expect(await typedHere(['calls'], [join(prefix, 'bin')])).toBe('calls');
});

onUnix('what npm installs in a project, and npx starts there, is typed by its path', async () => {
  const { folder, bin } = installed(stage.folder());
  chmodSync(bin, 0o755);
  mkdirSync(join(folder, 'node_modules/.bin'));
  symlinkSync(bin, join(folder, 'node_modules/.bin/calls'));

  // npx puts this folder before PATH.
  const bins = join(folder, 'node_modules/.bin');
  const typed = await typedHere(['calls'], [bins]);
  expect(typed).toBe(`${bins}/calls`);
  expect(versionOf(typed, [node])).toMatch(/^\d+\.\d+\.\d+\n$/);
});

onUnix('a clone is typed by the path of what was built', async () => {
  const typed = await typedHere([process.execPath, stage.bin]);
  expect(typed).toBe(`node ${stage.bin}`);
  expect(versionOf(typed, [node])).toMatch(/^\d+\.\d+\.\d+\n$/);
});

onUnix('what npx has downloaded is typed by the name of its package', async () => {
  const { bin } = installed(join(stage.folder(), '_npx/0123abcd'));
  expect(await typedHere([process.execPath, bin])).toBe('npx @call-attribution/cli');
});
