// No snippet in the documentation may rot. ```ts and ```js are type-checked as a user's strict
// TypeScript program would be, against the built declarations, which are checked too, for Node.js
// and for bundlers; ```ts run, ```js run and ```sh run are run against the built packages with a
// live sandbox; ```json must parse. A ```js block that is not run is refused, so that nobody
// forgets the word.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { codeBlocks, markdownFiles } from './markdown.mjs';
import { startSandboxProcess } from './sandbox.mjs';
import { root } from './workspace.mjs';

const only = process.argv.slice(2);
const files = markdownFiles().filter(
  (file) => only.length === 0 || only.some((part) => file.includes(part)),
);
const blocks = files.flatMap((file) =>
  codeBlocks(readFileSync(join(root, file), 'utf8')).map((block) => ({
    ...block,
    where: `${file}:${block.line}`,
  })),
);

/** @type {string[]} */
const problems = [];
// Inside examples/, so that the snippets' imports resolve like those of any user of the packages.
const work = join(root, 'examples/.snippets');
rmSync(work, { recursive: true, force: true });
mkdirSync(join(work, 'bin'), { recursive: true });

const typed = blocks.filter(({ lang }) => lang === 'ts' || lang === 'js');
for (const [i, { code }] of typed.entries())
  writeFileSync(join(work, `${i}.ts`), `export {}; ${code}`);
const consumers = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];
for (const consumer of typed.length > 0 ? consumers : []) {
  const compilerOptions = { ...consumer, noEmit: true, noUnusedLocals: false, skipLibCheck: false };
  const config = join(work, `tsconfig.${consumer.moduleResolution}.json`);
  writeFileSync(
    config,
    JSON.stringify({ extends: '../../tsconfig.base.json', compilerOptions, include: ['./*.ts'] }),
  );
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { error, status, stdout } = spawnSync(tsc, ['-p', config], { cwd: root, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) {
    const shown = stdout.replace(
      /examples\/\.snippets\/(\d+)\.ts/g,
      (_, i) => typed[Number(i)]?.where ?? '',
    );
    problems.push(`With moduleResolution ${consumer.moduleResolution}:\n${shown}`);
  }
}

for (const { lang, flags, code, where } of blocks) {
  if (lang === 'js' && !flags.includes('run'))
    problems.push(`${where}: a js block must be marked "js run" (or be ts)`);
  if (lang === 'json') {
    try {
      JSON.parse(code);
    } catch (error) {
      problems.push(`${where}: ${/** @type {Error} */ (error).message}`);
    }
  }
}

const runnable = blocks.filter(
  ({ lang, flags }) => flags.includes('run') && ['js', 'ts', 'sh'].includes(lang),
);
if (runnable.length > 0) {
  const calls = join(work, 'bin/calls');
  writeFileSync(
    calls,
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'packages/cli/dist/bin.js')}" "$@"\n`,
  );
  chmodSync(calls, 0o755);
  const sandbox = await startSandboxProcess();
  try {
    for (const [i, { lang, code, where }] of runnable.entries()) {
      const cwd = mkdtempSync(join(tmpdir(), 'snippet-'));
      const script = join(work, `run-${i}.mjs`);
      writeFileSync(
        script,
        lang === 'ts' ? transformSync(code, { loader: 'ts', target: 'node20' }).code : code,
      );
      const [command, args] =
        lang === 'sh' ? ['bash', ['-euo', 'pipefail', '-c', code]] : [process.execPath, [script]];
      const result = spawnSync(command, args, {
        cwd,
        encoding: 'utf8',
        timeout: 60_000,
        env: { ...process.env, ...sandbox.env, PATH: `${join(work, 'bin')}:${process.env.PATH}` },
      });
      if (result.status !== 0)
        problems.push(`${where}: ended with ${result.status ?? result.signal}\n${result.stderr}`);
      rmSync(cwd, { recursive: true, force: true });
    }
  } finally {
    await sandbox.close();
  }
}
rmSync(work, { recursive: true, force: true });

for (const problem of problems) console.error(problem);
console.log(
  `${typed.length} snippets type-checked, ${runnable.length} run, ${problems.length} problems`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
