// `pnpm release --dry-run`: what a release would publish, from the packages as they would be packed. `pnpm release` publishes the versions
// that npm does not have yet; the workflow "release" runs it when there is no changeset left, that
// is, after the pull request with the versions was merged. Both refuse when something is missing.
// `--no-build` takes the packages as they are built.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from './pack.mjs';
import { isPublished, npmProblems, releaseProblems, treeProblems } from './release-checks.mjs';
import { packages, root, scope } from './workspace.mjs';

/** @typedef {import('./release-checks.mjs').Planned} Planned */

/** @param {string} command @param {readonly string[]} args */
const output = (command, args) => execFileSync(command, args, { cwd: root, encoding: 'utf8' });

/**
 * Versions after the changesets are applied, by package; empty without changesets.
 * @returns {Promise<Map<string, string>>}
 */
async function versionsOfChangesets() {
  const require = createRequire(import.meta.url);
  const ofChangesets = createRequire(require.resolve('@changesets/cli/package.json'));
  const plan = await ofChangesets('@changesets/get-release-plan').default(root);

  /** @type {{ name: string, type: string, newVersion: string }[]} */
  const releases = plan.changesets.length === 0 ? [] : plan.releases;
  return new Map(
    releases
      .filter(({ type }) => type !== 'none')
      .map(({ name, newVersion }) => [name, newVersion]),
  );
}

/**
 * A package, its files and its manifest as npm would get them.
 * @param {typeof packages[number]} pkg
 * @param {Map<string, string>} next
 * @param {string} folder
 * @returns {Planned}
 */
function planned(pkg, next, folder) {
  const tarball = pack(pkg, folder);
  const files = output('tar', ['-tzf', tarball])
    .trimEnd()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''));
  const manifest = JSON.parse(output('tar', ['-xzOf', tarball, 'package/package.json']));

  // Ranges of packages of this repository follow their next versions, as the version command writes
  // them.
  for (const ranges of [manifest.dependencies, manifest.peerDependencies])
    for (const name of Object.keys(ranges ?? {}))
      if (next.has(name) && /^\^/.test(ranges[name])) ranges[name] = `^${next.get(name)}`;

  manifest.version = next.get(manifest.name) ?? manifest.version;
  return { dir: `packages/${pkg.name}`, manifest, files, bytes: statSync(tarball).size, tarball };
}

/** Packages before those that need them. @param {readonly Planned[]} plan @returns {Planned[]} */
function inOrder(plan) {
  /** @type {Planned[]} */
  const sorted = [];

  /** @param {Planned} one */
  const add = (one) => {
    if (sorted.includes(one)) return;
    for (const name of Object.keys(one.manifest.dependencies ?? {})) {
      const needed = plan.find(({ manifest }) => manifest.name === name);
      if (needed) add(needed);
    }
    sorted.push(one);
  };

  plan.forEach(add);
  return sorted;
}

/** @param {Planned} one */
function describe({ manifest, files, bytes }) {
  const { name, version, publishConfig = {}, dependencies = {}, peerDependencies = {} } = manifest;
  console.log(`${name} ${version}`);
  console.log(
    `  tag ${publishConfig.tag ?? 'latest'}, git tag ${name}@${version}, ${publishConfig.access} access`,
  );
  console.log(`  ${files.length} files, ${(bytes / 1000).toFixed(1)} kB packed`);
  for (const [kind, ranges] of Object.entries({ needs: dependencies, peers: peerDependencies })) {
    const list = Object.entries(ranges).map(
      ([need, range]) => `${need.replace(scope, '~/')} ${range}`,
    );
    if (list.length > 0) console.log(`  ${kind} ${list.join(', ')}`);
  }
}

/** @param {readonly string[]} problems */
function stopAt(problems) {
  if (problems.length === 0) return;
  for (const problem of problems) console.error(`release: ${problem}`);
  process.exit(1);
}

const known = ['--dry-run', '--no-build'];
const args = process.argv.slice(2);
stopAt(
  args
    .filter((each) => !known.includes(each))
    .map((each) => `unknown option ${each}: pnpm release [--dry-run] [--no-build]`),
);
const isDryRun = args.includes('--dry-run');

const next = await versionsOfChangesets();
const before = treeProblems(output('git', ['status', '--porcelain']));
if (!isDryRun) {
  if (next.size > 0)
    before.push(
      'there are changesets: merge the pull request with the versions first, or run "pnpm changeset version"',
    );
  before.push(...npmProblems(process.env, output('npm', ['--version']).trim()));
}
stopAt(before);
if (!args.includes('--no-build'))
  execFileSync('pnpm', ['build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });

const folder = mkdtempSync(join(tmpdir(), 'release-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const wanted = packages.filter(({ manifest }) =>
  next.size > 0 ? next.has(manifest.name) : !isPublished(manifest.name, manifest.version),
);
const plan = inOrder(wanted.map((pkg) => planned(pkg, next, folder)));
const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const ownNames = new Map(
  packages.map(({ manifest }) => [manifest.name, next.get(manifest.name) ?? manifest.version]),
);
const problems = releaseProblems(plan, { url: repository.url, own: ownNames });

for (const one of plan) {
  if (isDryRun) describe(one);
}
stopAt(problems);
if (isDryRun) {
  const megabytes = plan.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  console.log(`${plan.length} packages, ${megabytes.toFixed(2)} MB packed; nothing was published`);
} else {
  for (const { manifest, tarball } of plan) {
    const tag = manifest.publishConfig?.tag ?? 'latest';
    execFileSync('npm', ['publish', tarball, '--provenance', '--access', 'public', '--tag', tag], {
      stdio: 'inherit',
    });
  }
  // Prints the tags, which the workflow makes into releases on GitHub.
  execFileSync('pnpm', ['exec', 'changeset', 'tag'], { cwd: root, stdio: 'inherit' });
}
