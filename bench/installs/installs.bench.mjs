// What an installation of each package brings: the packed tarballs are installed with npm into an
// empty folder, as a user's program would have them. `pnpm bench installs` prints the table of
// results.md; `--write` updates the page.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Optional peers that programs install next to the package. @type {Record<string, string[]>} */
const peers = { core: ['zod'], store: ['pg'] };

const root = join(import.meta.dirname, '../..');
/** @param {string} name */
const manifestOf = (name) =>
  JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
const names = readdirSync(join(root, 'packages')).filter((name) => !manifestOf(name).private);
const work = mkdtempSync(join(tmpdir(), 'installs-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

/** The packages below a folder, and the one that takes the most space. @param {string} folder */
function measure(folder) {
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  const places = Object.keys(lock.packages).filter((place) => place.includes('node_modules/'));
  const sizes = places.map((place) => ({ place, bytes: bytesOf(join(folder, place)) }));
  sizes.sort((a, b) => b.bytes - a.bytes);
  return {
    count: places.length,
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    largest: sizes[0],
  };
}

/**
 * Bytes of the files of one package, without packages inside it.
 * @param {string} folder
 * @returns {number}
 */
function bytesOf(folder) {
  const lines = execFileSync(
    'find',
    [folder, '-name', 'node_modules', '-prune', '-o', '-type', 'f', '-printf', '%s\n'],
    {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    },
  );
  return lines.split('\n').reduce((sum, line) => sum + Number(line), 0);
}

const rows = [];
for (const name of names) {
  for (const more of [[], ...(peers[name] ?? []).map((peer) => [peer])]) {
    const folder = join(work, `${name}-${more.join('-')}`);
    const versions = more.map(
      (peer) =>
        `${peer}@${manifestOf('core').peerDependencies[peer] ?? manifestOf('store').peerDependencies[peer]}`,
    );
    execFileSync(process.execPath, [join(root, 'scripts/pack.mjs'), folder, name, ...versions], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const { count, bytes, largest } = measure(folder);
    const megabytes = bytes / 1e6;
    const most = largest
      ? `${largest.place.replace(/^.*node_modules\//, '')} ${(largest.bytes / 1e6).toFixed(1)}`
      : '';
    rows.push(
      `| ${[name, ...more].join(' and ')} | ${count} | ${megabytes.toFixed(1)} | ${most} |`,
    );
    console.log(rows.at(-1));
    rmSync(folder, { recursive: true, force: true });
  }
}
if (process.argv.includes('--write')) {
  const page = join(import.meta.dirname, 'results.md');
  const [head = ''] = readFileSync(page, 'utf8').split('\n| package |');
  const title = '| package | packages | MB | largest, MB |\n|---|---:|---:|---|';
  writeFileSync(page, `${head}\n${title}\n${rows.join('\n')}\n`);
}
