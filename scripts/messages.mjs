// Makes docs/messages.md: every sentence that the packages can print (errors, hints, help, descriptions for assistants), so that
// they can be read in one go. Written and checked by scripts/generate.mjs.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { sentences } from './literals.mjs';
import { packages, scope } from './workspace.mjs';

const head = `<!-- Made by \`pnpm generate\` from the sources. Do not edit. -->
# Messages

Every sentence that the packages can print: errors, hints, help, descriptions for assistants. Text in braces is filled in at
run time; alternatives are separated by a bar.
`;

/** Generated code, shell scripts, and the names and pages of generated calls. */
const skipped = /\/generated\/|\/completion\/|\/made-up\/(?!generate)|make-calls\.ts$/;

/** @param {string} dir */
const sourcesOf = (dir) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src', 'browser'], {
    cwd: dir,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file.endsWith('.ts') && !skipped.test(file))
    .sort();

/** Keys that say nothing about a sentence. */
const plainKeys = new Set([
  'text',
  'message',
  'description',
  'hint',
  'hints',
  'detail',
  'summary',
  'title',
  'meaning',
]);

/** The sentences of a package, by file. @param {string} dir */
const sentencesOf = (dir) =>
  sourcesOf(dir).flatMap((file) => {
    const lines = sentences(readFileSync(join(dir, file), 'utf8')).map(({ label, text }) => {
      const line = text.trim().replace(/\s*\n\s*/g, ' ↵ ');
      return label === '' || plainKeys.has(label) ? line : `${label}: ${line}`;
    });
    return lines.length > 0 ? [`\n### ${file}\n`, '```text', ...new Set(lines), '```'] : [];
  });

/** Bundles the bin of a package from its sources, so that no build is needed. @param {string} dir @param {string} entry */
async function bundled(dir, entry) {
  const made = join(dir, 'node_modules/.cache/messages');
  const outdir = join(made, 'src');
  await build({
    entryPoints: [join(dir, entry)],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true, // what a command loads late, such as a database driver, is not needed for its help
    format: 'esm',
    platform: 'node',
    conditions: [`${scope}source`, 'import', 'node'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
    external: ['libsql', 'pg', 'hyparquet-writer', '@duckdb/node-api'],
  });
  // A program reads its version from the manifest next to its folder.
  copyFileSync(join(dir, 'package.json'), join(made, 'package.json'));
  return join(outdir, basename(entry, '.ts').concat('.mjs'));
}

/**
 * What a bin prints for --help, and for the --help of each of its commands.
 * @param {string} bin @param {string} script @param {string} version of the package, which is not worth a change of the page
 */
function helpOf(bin, script, version) {
  /** @param {readonly string[]} words */
  const screen = (words) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...words, '--help'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, NO_COLOR: '1', COLUMNS: '100' },
    });
    if (status !== 0) throw new Error(`${bin} ${words.join(' ')} --help failed: ${stderr}`);
    return { words, text: stdout.replaceAll(version, '{version}') };
  };
  const first = screen([]);
  const commands = [...first.text.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name = '']) => name);
  return [first, ...commands.map((name) => screen(name.split(' ')))].map(
    ({ words, text }) => `\n### ${[bin, ...words].join(' ')} --help\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``,
  );
}

/** The generated page, for `pnpm generate`. @returns {Promise<{ path: string, text: string }[]>} */
export async function generate() {
  const parts = [head];
  for (const { name, dir, manifest } of packages) {
    parts.push(`\n## ${name}`, ...sentencesOf(dir));
    for (const [bin, file] of Object.entries(/** @type {Record<string, string>} */ (manifest.bin ?? {}))) {
      const source = file.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
      parts.push(...helpOf(bin, await bundled(dir, source), manifest.version));
    }
  }
  return [{ path: 'docs/messages.md', text: `${parts.join('\n')}\n` }];
}
