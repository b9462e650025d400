// What keeps a release from being published: facts in, sentences out. See release.mjs.
import { spawnSync } from 'node:child_process';

/**
 * A package as it would be published: its folder, the manifest of its tarball, its files.
 * @typedef {{ dir: string, manifest: Manifest, files: readonly string[], bytes: number, tarball: string }} Planned
 * @typedef {{ name: string, version: string, private?: boolean, license?: string, engines?: { node?: string },
 *   repository?: { url?: string, directory?: string }, publishConfig?: { access?: string, provenance?: boolean, tag?: string },
 *   dependencies?: Record<string, string>, peerDependencies?: Record<string, string>, bin?: Record<string, string>,
 *   exports?: Record<string, unknown> }} Manifest
 */

/** Is this version on npm? @param {string} name @param {string} version */
export function isPublished(name, version) {
  const { status, stderr } = spawnSync('npm', ['view', `${name}@${version}`, 'version', '--json'], {
    encoding: 'utf8',
  });
  if (status === 0) return true;
  if (/E404|404 Not Found/.test(stderr)) return false;
  throw new Error(`npm cannot say whether ${name}@${version} is published: ${stderr}`);
}

/**
 * Files that differ from the last commit would be published without being in the repository.
 * @param {string} status of git
 */
export function treeProblems(status) {
  const files = status
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(3));
  return files.length === 0
    ? []
    : [`${files.length} uncommitted files, such as ${files[0]}: commit or remove them`];
}

/**
 * Packages are published by the workflow, which proves to npm who it is; there is no token.
 * @param {Readonly<Record<string, string | undefined>>} env @param {string} npm its version
 */
export function npmProblems(env, npm) {
  const [major = 0, minor = 0, patch = 0] = npm.split('.').map(Number);
  const isOld = major < 11 || (major === 11 && (minor < 5 || (minor === 5 && patch < 1)));
  return [
    ...(env.ACTIONS_ID_TOKEN_REQUEST_URL
      ? []
      : ['this is not the workflow "release" on GitHub; see --dry-run for what it would publish']),
    ...(env.NPM_TOKEN || env.NODE_AUTH_TOKEN
      ? ['a token of npm is set: remove it, since trusted publishing needs none']
      : []),
    ...(isOld ? [`npm ${npm} is too old for trusted publishing: 11.5.1 is needed`] : []),
  ];
}

/**
 * @param {readonly Planned[]} plan
 * @param {{ url: string, own: ReadonlyMap<string, string> }} repository its URL, and the versions of its packages
 * @returns {string[]}
 */
export function releaseProblems(plan, { url, own }) {
  if (plan.length === 0)
    return ['nothing to publish: there is no changeset, and npm has the version of every package'];
  return plan.flatMap((one) =>
    manifestProblems(one, url, own).map((problem) => `${one.manifest.name}: ${problem}`),
  );
}

/** @param {Planned} one @param {string} url @param {ReadonlyMap<string, string>} own */
function manifestProblems({ dir, manifest, files }, url, own) {
  const { repository, publishConfig, dependencies = {}, peerDependencies = {} } = manifest;
  const problems = [];
  if (manifest.private)
    problems.push('is private, so npm refuses it: leave it out of the changesets');
  if (repository?.url !== url || repository?.directory !== dir)
    problems.push(
      `"repository" must be ${url} with the directory ${dir}: npm compares it with the workflow that publishes`,
    );

  if (publishConfig?.access !== 'public' || publishConfig.provenance !== true)
    problems.push('"publishConfig" must have access "public" and provenance true');
  if (manifest.license === undefined || manifest.engines?.node === undefined)
    problems.push('"license" or "engines" is missing');
  for (const [name, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
    if (/^(?:workspace|catalog|file|link):/.test(range))
      problems.push(`depends on ${name} ${range}, which npm cannot resolve`);
    if (name.startsWith('@call-attribution/') && !own.has(name))
      problems.push(`depends on ${name}, which is private`);
  }

  const needed = [
    'README.md',
    ...Object.values(manifest.bin ?? {}),
    ...targets(manifest.exports ?? {}),
  ];
  for (const path of needed.map((each) => each.replace(/^\.\//, '')))
    if (!files.includes(path)) problems.push(`its tarball lacks ${path}: is it built?`);
  return problems;
}

/** Paths that exports name. @param {unknown} exports @returns {string[]} */
const targets = (exports) => {
  if (typeof exports === 'string') return [exports];
  return typeof exports === 'object' && exports !== null
    ? Object.values(exports).flatMap(targets)
    : [];
};

/**
 * Actions that are not pinned by the full hash of a commit, with their version as a comment.
 * @param {string} file @param {string} text @returns {string[]}
 */
export const unpinnedActions = (file, text) =>
  text
    .split('\n')
    .filter((line) => /^\s*(?:- )?uses:/.test(line) && !/uses: \.\//.test(line))
    .filter((line) => !/uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))
    .map(
      (line) =>
        `${file}: "${line.trim()}" is not pinned by a full hash with a comment such as # v1.2.3`,
    );
