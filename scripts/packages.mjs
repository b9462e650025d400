// Packs every package as npm would get it, installs the tarballs into an empty project with plain
// npm, loads each entry with import and with require and starts each bin, on the oldest and the
// newest Node.js; with --each-node on all that are supported. Installs the command line by npm and by
// pnpm on each of them, too.
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
/** @type {Awaited<ReturnType<typeof startSandboxProcess>> | undefined} */
let sandbox;
const entryNames = packages.flatMap(({ manifest, entries }) =>
  entries.map(({ path }) => manifest.name + path.slice(1)),
);

/**
 * Names of what each entry exports, by import or by require, under one Node.
 * @param {string} node
 * @param {'module' | 'commonjs'} type
 */
function exportsOf(node, type) {
  const load = type === 'module' ? 'await import(name)' : 'require(name)';
  const code = `const out = {}; for (const name of ${JSON.stringify(entryNames)}) out[name] = Object.keys(${load}).filter((key) => key !== 'module.exports' && key !== '__esModule').sort().join(); console.log(JSON.stringify(out));`;
  const result = spawnSync(node, [`--input-type=${type}`, '-e', code], {
    cwd: work,
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(result.stderr);
  if (result.stderr !== '') problems.push(`${type} prints on stderr: ${result.stderr}`);
  return /** @type {Record<string, string>} */ (JSON.parse(result.stdout));
}

try {
  const tarballs = packages.map((pkg) => {
    const { name } = pkg;
    const tarball = pack(pkg, work);
    for (const [tool, args] of /** @type {const} */ ([
      ['publint', [tarball, '--strict']],
      ['attw', [tarball, '--profile', 'esm-only', '--format', 'ascii']],
    ])) {
      const result = spawnSync(join(root, 'node_modules/.bin', tool), args, {
        cwd: root,
        encoding: 'utf8',
      });
      if (result.status !== 0)
        problems.push(`${tool} on ${name}:\n${result.stdout}${result.stderr}`);
    }

    return tarball;
  });

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

  sandbox = await startSandboxProcess(['--records', '600']);
  for (const { version, path } of nodeBinaries(isEachNode ? undefined : outerVersions)) {
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
      for (const [bin, file] of Object.entries(
        /** @type {Record<string, string>} */ (manifest.bin ?? {}),
      )) {
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
        if (bin !== 'calls') continue;
        // Pipelines of many slices and compressed files: what older versions of Node.js have warned
        // about.
        const script = join(work, 'node_modules', manifest.name, file);
        for (const line of [
          'demo --records 3000',
          'export -o calls.csv.gz --rows 10',
          'report --by day',
        ]) {
          const { status, stderr } = spawnSync(
            path,
            ['--throw-deprecation', script, ...line.split(' ')],
            {
              cwd: work,
              encoding: 'utf8',
              timeout: 60_000,
              env: { ...process.env, ...sandbox.env },
            },
          );
          if (status !== 0 || /Warning/.test(stderr))
            problems.push(`calls ${line} on Node ${version}: status ${status}\n${stderr}`);
        }
      }
    }
    const sizes = /** @type {const} */ (['npm', 'pnpm']).map((tool) => {
      const found = installWith(tool, { version, path }, tarballs);
      problems.push(...found.problems);
      return `${found.megabytes.toFixed(1)} MB with ${tool}`;
    });
    console.log(
      `Node ${version}: ${entryNames.length} entries load by import and require, bins accept --help and --version; calls is ${sizes.join(', ')}`,
    );
  }
} finally {
  await sandbox?.close();
  rmSync(work, { recursive: true, force: true });
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
