// Packs every package as npm would get it, for publint and attw, and installs the tarballs into
// empty folders by npm and by pnpm, on the oldest and the newest Node.js; with --each-node on all
// that are supported. In each of them it loads every entry with import and with require, starts each
// bin, and sees that SQLite came along where none that can be used is built in, and only there.
// Where it did not come, the declarations of all entries have to compile without optional peers.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { nodeBinaries, outerVersions } from './nodes.mjs';
import { pack } from './pack.mjs';
import { startSandboxProcess } from './sandbox.mjs';
import { packages, root, scope } from './workspace.mjs';

const isEachNode = process.argv.includes('--each-node');
const work = mkdtempSync(join(tmpdir(), 'packages-'));
/** @type {string[]} */
const problems = [];
const tarballs = pack(work);
const sqlite = `${scope}sqlite`;

/** The programs of the packages: the name, its script once installed, and its version. */
const bins = packages.flatMap(({ manifest }) =>
  Object.entries(/** @type {Record<string, string>} */ (manifest.bin ?? {})).map(
    ([name, file]) => ({
      name,
      script: join('node_modules', manifest.name, file),
      version: /** @type {string} */ (manifest.version),
    }),
  ),
);

/** What an entry may need that its package does not bring. */
const peers = Object.assign({}, ...packages.map(({ manifest }) => manifest.peerDependencies));
for (const name of Object.keys(tarballs)) delete peers[name];

/**
 * Files that a tool reads before it installs everything: what packages of this repository need of
 * each other is overridden. The line for the script of SQLite stands in the README.
 * @param {'npm' | 'pnpm'} tool @returns {Record<string, object>}
 */
function filesOf(tool) {
  const { [sqlite]: optional, ...dependencies } = { ...tarballs, ...peers };
  const manifest = {
    private: true,
    type: 'module',
    dependencies,
    optionalDependencies: { [sqlite]: optional },
  };
  if (tool === 'npm') return { 'package.json': { ...manifest, overrides: tarballs } };
  return {
    'package.json': manifest,
    'pnpm-workspace.yaml': {
      overrides: tarballs,
      allowBuilds: { '@photostructure/sqlite': false },
    },
  };
}

/**
 * Everything that users do first, with one tool on one Node.
 * @param {'npm' | 'pnpm'} tool @param {{ version: string, path: string }} node @param {object} env of the sandbox
 */
function tryAll(tool, node, env) {
  const what = `Node ${node.version} with ${tool}`;
  const folder = mkdtempSync(join(work, `${tool}-`));
  const before = problems.length;

  /** @param {string} command @param {readonly string[]} args */
  const run = (command, args) =>
    spawnSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      timeout: 120_000,
      env: {
        ...process.env,
        ...env,
        PATH: `${dirname(node.path)}${delimiter}${process.env.PATH}`,
        CALLS_STORE: '',
      },
    });
  /** @param {string} problem @param {ReturnType<typeof run>} result */
  const fail = (problem, { status, stdout, stderr }) =>
    problems.push(`${what}: ${problem}, status ${status}\n${stdout}${stderr}`);

  for (const [name, content] of Object.entries(filesOf(tool)))
    writeFileSync(join(folder, name), JSON.stringify(content));
  const installed = run(tool, ['install']);
  if (installed.status !== 0) fail('it cannot be installed', installed);

  const calls = bins.find(({ name }) => name === 'calls')?.script ?? '';
  const doctor = run(node.path, [calls, 'doctor', '--offline']);
  const isBuiltIn = /SQLite [\d.]+, built in/.test(doctor.stdout);
  const hasPackage = existsSync(join(folder, 'node_modules', sqlite));
  if (!/ok +sqlite /.test(doctor.stdout)) fail('there is no SQLite', doctor);
  if (isBuiltIn === hasPackage)
    fail(`SQLite is ${isBuiltIn ? '' : 'not '}built in, and ${sqlite} does not follow`, doctor);

  const entries = packages
    .filter(({ manifest }) => manifest.name !== sqlite || hasPackage)
    .flatMap(({ manifest, entries }) => entries.map(({ path }) => manifest.name + path.slice(1)));

  /** What each entry exports. @param {'module' | 'commonjs'} type @returns {Record<string, string>} */
  const exportsBy = (type) => {
    const load = type === 'module' ? 'await import(name)' : 'require(name)';
    const code = `const out = {};
      for (const name of ${JSON.stringify(entries)}) out[name] = Object.keys(${load})
        .filter((key) => key !== 'module.exports' && key !== '__esModule').sort().join();
      console.log(JSON.stringify(out));`;
    const loaded = run(node.path, [`--input-type=${type}`, '-e', code]);
    if (loaded.status !== 0 || loaded.stderr !== '') fail(`loading by ${type}`, loaded);
    return loaded.status === 0 ? JSON.parse(loaded.stdout) : {};
  };
  const viaImport = exportsBy('module');
  const viaRequire = exportsBy('commonjs');
  for (const entry of entries)
    if (!viaImport[entry] || viaImport[entry] !== viaRequire[entry])
      problems.push(
        `${what}: ${entry}: import returns "${viaImport[entry]}", require "${viaRequire[entry]}"`,
      );

  for (const { name, script, version } of bins)
    for (const [flag, expected] of Object.entries({ '--help': name, '--version': version })) {
      const result = run(node.path, [script, flag]);
      if (result.status !== 0 || !result.stdout.includes(expected) || result.stderr !== '')
        fail(`${name} ${flag} does not say "${expected}"`, result);
    }

  // Pipelines of many slices and compressed files: what older versions of Node.js have warned about.
  for (const line of ['demo --records 3000', 'export -o calls.csv.gz --rows 10', 'report']) {
    const result = run(node.path, ['--throw-deprecation', calls, ...line.split(' ')]);
    if (result.status !== 0 || /Warning/.test(result.stderr)) fail(`calls ${line}`, result);
  }

  // Pages for people, which no entry imports.
  for (const page of ['mcp-server/dist/app/answer.html', 'service/dist/page/assets/app.js'])
    if (!existsSync(join(folder, 'node_modules', scope, page)))
      problems.push(`${what}: there is no ${page}`);

  // Of the peers, only zod is in declarations: of `core/schemas`, and of packages that depend on it.
  if (tool === 'npm' && !hasPackage) {
    for (const peer of Object.keys(peers))
      if (peer !== 'zod') rmSync(join(folder, 'node_modules', peer), { recursive: true });
    writeFileSync(join(folder, 'all.ts'), entries.map((entry) => `import '${entry}';`).join('\n'));
    const modules = join(root, 'node_modules');
    const options =
      '--noEmit --strict --skipLibCheck false --lib es2022 --module node20 --types node';
    const args = [...options.split(' '), '--typeRoots', join(modules, '@types'), 'all.ts'];
    const compiled = run(join(modules, '.bin/tsc'), args);
    if (compiled.status !== 0) fail('declarations do not compile without peers', compiled);
  }

  console.log(
    `${what}: ${entries.length} entries and ${bins.length} bins, ${problems.length - before} problems`,
  );
}

for (const tarball of Object.values(tarballs).map((url) => url.slice('file:'.length)))
  for (const [tool, ...args] of [
    ['publint', tarball, '--strict'],
    ['attw', tarball, '--profile', 'esm-only', '--format', 'ascii'],
  ]) {
    const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin', `${tool}`), args, {
      cwd: root,
      encoding: 'utf8',
    });
    if (status !== 0) problems.push(`${tool} on ${tarball}:\n${stdout}${stderr}`);
  }

const sandbox = await startSandboxProcess(['--records', '600']);
try {
  for (const node of nodeBinaries(isEachNode ? undefined : outerVersions))
    for (const tool of /** @type {const} */ (['npm', 'pnpm'])) tryAll(tool, node, sandbox.env);
} finally {
  await sandbox.close();
  rmSync(work, { recursive: true, force: true });
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
