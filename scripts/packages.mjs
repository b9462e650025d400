// Packs every package as npm would get it, installs the tarballs into an empty project with plain npm, loads each entry with
// import and with require and starts each bin, on every Node that is supported. Compares the packed sizes with
// bench/sizes.md (see scripts/size.mjs); `--write` updates them.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeBinaries } from './nodes.mjs';
import { compareWithRecord } from './size.mjs';
import { packages, root } from './workspace.mjs';

const work = mkdtempSync(join(tmpdir(), 'packages-'));
/** @type {string[]} */
const problems = [];
/** @param {string} cmd @param {readonly string[]} args @param {string} cwd */
const run = (cmd, args, cwd) =>
  execFileSync(cmd, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });

const entryNames = packages.flatMap(({ manifest, entries }) =>
  entries.map(({ path }) => manifest.name + path.slice(1)),
);

/** Names of what each entry exports, by import or by require, under one Node. @param {string} node @param {'module' | 'commonjs'} type */
function exportsOf(node, type) {
  const load = type === 'module' ? 'await import(name)' : 'require(name)';
  const code = `const out = {}; for (const name of ${JSON.stringify(entryNames)}) out[name] = Object.keys(${load}).filter((key) => key !== 'module.exports' && key !== '__esModule').sort().join(); console.log(JSON.stringify(out));`;
  const result = spawnSync(node, [`--input-type=${type}`, '-e', code], { cwd: work, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.stderr);
  if (result.stderr !== '') problems.push(`${type} prints on stderr: ${result.stderr}`);
  return /** @type {Record<string, string>} */ (JSON.parse(result.stdout));
}

/** @type {import('./size.mjs').Sizes} */
const sizes = {};

try {
  const tarballs = packages.map(({ name, dir }) => {
    const before = new Set(readdirSync(work));
    run('pnpm', ['pack', '--pack-destination', work], dir);
    const tarball = join(work, readdirSync(work).find((file) => !before.has(file)) ?? '');
    sizes[`${name}, packed`] = statSync(tarball).size;
    console.log(`${name}: ${sizes[`${name}, packed`]} bytes packed`);
    for (const [tool, args] of /** @type {const} */ ([
      ['publint', [tarball, '--strict']],
      ['attw', [tarball, '--profile', 'esm-only', '--format', 'ascii']],
    ])) {
      const result = spawnSync('pnpm', ['exec', tool, ...args], { cwd: root, encoding: 'utf8' });
      if (result.status !== 0) problems.push(`${tool} on ${name}:\n${result.stdout}${result.stderr}`);
    }
    return tarball;
  });

  problems.push(...compareWithRecord(sizes));

  writeFileSync(join(work, 'package.json'), '{"private":true}');
  run('npm', ['install', '--no-audit', '--no-fund', '--silent', ...tarballs], work);

  for (const { version, path } of nodeBinaries()) {
    const viaImport = exportsOf(path, 'module');
    const viaRequire = exportsOf(path, 'commonjs');
    for (const entry of entryNames) {
      const names = viaImport[entry];
      if (!names || names !== viaRequire[entry])
        problems.push(
          `${entry} on Node ${version}: import returns "${names}", require returns "${viaRequire[entry]}"`,
        );
    }
    for (const { manifest } of packages) {
      for (const [bin, file] of Object.entries(/** @type {Record<string, string>} */ (manifest.bin ?? {}))) {
        for (const flag of ['--help', '--version']) {
          const script = join(work, 'node_modules', manifest.name, file);
          const { status, stdout, stderr } = spawnSync(path, [script, flag], {
            cwd: work,
            encoding: 'utf8',
            timeout: 20_000,
          });
          const expected = flag === '--version' ? manifest.version : bin;
          if (status !== 0 || !stdout.includes(expected) || stderr !== '') {
            problems.push(
              `${bin} ${flag} on Node ${version}: status ${status}, expected "${expected}" on stdout\n${stdout}${stderr}`,
            );
          }
        }
      }
    }
    console.log(
      `Node ${version}: ${entryNames.length} entries load by import and require, bins accept --help and --version`,
    );
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
