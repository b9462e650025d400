// The command line as users install it, by npm and by pnpm, on each Node.js: SQLite comes along
// where none that can be used is built in, and only there.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { packages } from './workspace.mjs';

/**
 * Files that the tools read: npm takes a package of this repository from the folder's manifest,
 * pnpm from its overrides. The line for the script of SQLite stands in the README.
 * @type {Readonly<Record<'npm' | 'pnpm', (tarballs: Readonly<Record<string, string>>) => Record<string, object>>>}
 */
const filesOf = {
  npm: (tarballs) => ({ 'package.json': { private: true, ...withOptional(tarballs) } }),
  pnpm: (tarballs) => ({
    'package.json': { private: true, dependencies: { [cli]: tarballs[cli] } },
    'pnpm-workspace.yaml': {
      overrides: tarballs,
      allowBuilds: { '@photostructure/sqlite': false },
    },
  }),
};

const cli = '@call-attribution/cli';
const sqlite = '@call-attribution/sqlite';

/** @param {Readonly<Record<string, string>>} tarballs */
function withOptional({ [sqlite]: optional = '', ...dependencies }) {
  return { dependencies, optionalDependencies: { [sqlite]: optional } };
}

/**
 * Installs the command line and starts it. Returns what is wrong, and the size of the folder.
 * @param {'npm' | 'pnpm'} tool
 * @param {{ version: string, path: string }} node
 * @param {readonly string[]} paths of the tarballs of all packages, in the order of `packages`
 */
export function installWith(tool, node, paths) {
  const folder = mkdtempSync(join(tmpdir(), 'install-with-'));
  const env = {
    ...process.env,
    PATH: `${dirname(node.path)}${delimiter}${process.env.PATH}`,
    HOME: folder,
    CALLS_STORE: '',
  };

  /** @param {string} command @param {readonly string[]} args */
  const run = (command, args) => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return { status, output: stdout + stderr };
  };

  try {
    const tarballs = Object.fromEntries(
      packages.map(({ manifest }, i) => [manifest.name, `file:${paths[i]}`]),
    );
    for (const [name, content] of Object.entries(filesOf[tool](tarballs)))
      writeFileSync(join(folder, name), JSON.stringify(content));

    /** @type {string[]} */
    const problems = [];
    const what = `${tool} on Node ${node.version}`;
    const installed = run(tool, ['install']);
    if (installed.status !== 0)
      problems.push(`${what} ends with ${installed.status}\n${installed.output}`);

    const script = join(folder, 'node_modules', cli, 'dist/bin.js');
    const doctor = run(node.path, [script, 'doctor', '--offline']);
    const isBuiltIn = /SQLite [\d.]+, built in/.test(doctor.output);
    const hasPackage = run('find', [folder, '-name', '*.node']).output !== '';
    if (!/ok +sqlite /.test(doctor.output))
      problems.push(`${what}: there is no SQLite\n${doctor.output}`);
    if (isBuiltIn === hasPackage)
      problems.push(
        isBuiltIn
          ? `${what}: @photostructure/sqlite was installed, and is not used`
          : `${what}: @photostructure/sqlite was not installed`,
      );

    const demo = run(node.path, [script, 'demo', '--records', '300']);
    if (demo.status !== 0 || /Warning/.test(demo.output))
      problems.push(`${what}: calls demo ends with ${demo.status}\n${demo.output}`);

    const kilobytes = Number(run('du', ['-sk', 'node_modules']).output.split('\t')[0]);
    return { problems, megabytes: kilobytes / 1000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
