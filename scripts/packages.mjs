// Packs every package as npm would get it, for publint and attw, installs the tarballs into an empty
// project with plain npm, loads each entry with import and with require and starts each bin, on the
// oldest and the newest Node.js; with --each-node on all that are supported. Installs the command
// line by npm and by pnpm on each of them, too.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installWith } from './install-with.mjs';
import { nodeBinaries, outerVersions } from './nodes.mjs';
import { install, pack } from './pack.mjs';
import { startSandboxProcess } from './sandbox.mjs';
import { packages, root, scope } from './workspace.mjs';

const isEachNode = process.argv.includes('--each-node');
const work = mkdtempSync(join(tmpdir(), 'packages-'));
/** @type {string[]} */
const problems = [];
const entries = packages.flatMap((pkg) =>
  pkg.entries.map(({ path }) => pkg.manifest.name + path.slice(1)),
);

/** The programs of the packages: the name, its script once installed, and its version. */
const bins = packages.flatMap(({ manifest }) =>
  Object.entries(/** @type {Record<string, string>} */ (manifest.bin ?? {})).map(
    ([name, file]) => ({
      name,
      script: join(work, 'node_modules', manifest.name, file),
      version: /** @type {string} */ (manifest.version),
    }),
  ),
);

/** @param {string} command @param {readonly string[]} args */
function run(command, args, { cwd = work, env = {} } = {}) {
  return spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, ...env },
  });
}

/**
 * Names of what each entry exports, by import or by require, under one Node.
 * @param {string} node @param {'module' | 'commonjs'} type
 * @returns {Record<string, string>}
 */
function exportsOf(node, type) {
  const load = type === 'module' ? 'await import(name)' : 'require(name)';
  const code = `const out = {};
    for (const name of ${JSON.stringify(entries)}) out[name] = Object.keys(${load})
      .filter((key) => key !== 'module.exports' && key !== '__esModule').sort().join();
    console.log(JSON.stringify(out));`;
  const { status, stdout, stderr } = run(node, [`--input-type=${type}`, '-e', code]);
  if (status !== 0) throw new Error(stderr);
  if (stderr !== '') problems.push(`${type} prints on stderr: ${stderr}`);
  return JSON.parse(stdout);
}

/** Everything that users do first, on one Node. @param {string} node @param {object} env */
function tryAll(node, env) {
  const viaImport = exportsOf(node, 'module');
  const viaRequire = exportsOf(node, 'commonjs');
  for (const entry of entries)
    if (!viaImport[entry] || viaImport[entry] !== viaRequire[entry])
      problems.push(
        `${entry}: import returns "${viaImport[entry]}", require "${viaRequire[entry]}"`,
      );

  for (const { name, script, version } of bins)
    for (const [flag, expected] of Object.entries({ '--help': name, '--version': version })) {
      const { status, stdout, stderr } = run(node, [script, flag]);
      if (status !== 0 || !stdout.includes(expected) || stderr !== '')
        problems.push(`${name} ${flag}: status ${status}, not "${expected}"\n${stdout}${stderr}`);
    }

  // Pipelines of many slices and compressed files: what older versions of Node.js have warned about.
  const calls = bins.find(({ name }) => name === 'calls')?.script ?? '';
  for (const line of ['demo --records 3000', 'export -o calls.csv.gz --rows 10', 'report']) {
    const args = ['--throw-deprecation', calls, ...line.split(' ')];
    const { status, stderr } = run(node, args, { env });
    if (status !== 0 || /Warning/.test(stderr))
      problems.push(`calls ${line}: status ${status}\n${stderr}`);
  }
}

const tarballs = packages.map((pkg) => pack(pkg, work));
for (const tarball of tarballs)
  for (const [tool, ...args] of [
    ['publint', tarball, '--strict'],
    ['attw', tarball, '--profile', 'esm-only', '--format', 'ascii'],
  ]) {
    const { status, stdout, stderr } = run(join(root, 'node_modules/.bin', `${tool}`), args, {
      cwd: root,
    });
    if (status !== 0) problems.push(`${tool} on ${tarball}:\n${stdout}${stderr}`);
  }

// What an entry may need that its package does not bring.
const peers = packages.flatMap(({ manifest }) =>
  Object.entries(manifest.peerDependencies ?? {})
    .filter(([name]) => !name.startsWith(scope))
    .map(([name, range]) => `${name}@${range}`),
);
install(work, [...tarballs, ...new Set(peers)]);

// Pages for people, which no entry imports.
for (const page of ['mcp-server/dist/app/answer.html', 'service/dist/page/assets/app.js'])
  if (!existsSync(join(work, 'node_modules', scope, page))) problems.push(`there is no ${page}`);

const sandbox = await startSandboxProcess(['--records', '600']);
try {
  for (const { version, path } of nodeBinaries(isEachNode ? undefined : outerVersions)) {
    const before = problems.length;
    tryAll(path, sandbox.env);
    const sizes = /** @type {const} */ (['npm', 'pnpm']).map((tool) => {
      const found = installWith(tool, { version, path }, tarballs);
      problems.push(...found.problems);
      return `${found.megabytes.toFixed(1)} MB with ${tool}`;
    });
    console.log(
      `Node ${version}: ${entries.length} entries and ${bins.length} bins, ${problems.length - before} problems; calls is ${sizes.join(', ')}`,
    );
  }
} finally {
  await sandbox.close();
  rmSync(work, { recursive: true, force: true });
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
