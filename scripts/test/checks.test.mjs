// Each check of the house must fail on a planted violation: a check that cannot fail protects
// nobody.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { unshown, unused } from '../exports.mjs';
import { deadLinks, deadPaths } from '../links.mjs';
import { anchors, codeBlocks, links } from '../markdown.mjs';
import { packages, root } from '../workspace.mjs';

const dirs = /** @type {string[]} */ ([]);
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});
const tempDir = () => {
  const dir = mkdtempSync(join(tmpdir(), 'planted-'));
  dirs.push(dir);
  return dir;
};

test('exports: an entry and a name that no page shows and no other package uses are named', () => {
  const report = [
    '// @public\nexport function shown(options: Options): void;',
    '// @public\nexport function imported(): void;',
    '// @public\nexport interface Options {\n    readonly part: Part;\n}',
    '// @public\nexport type Part = string;',
    '// @public\nexport function lonely(): Alone;',
    '// @public\ntype Alone = number;',
    '// @public\nfunction shown_2(): void;',
    'declare namespace time {\n    export {\n        shown_2\n    }\n}',
  ].join('\n\n');
  const pkg = { name: 'core', paths: ['.', './time', './times'], report };
  const pages = ['import { shown } from "@call-attribution/core/times";'];
  const sources = [
    "import { imported } from '@call-attribution/core';",
    "import { lonely } from '@call-attribution/other';",
  ];
  expect(unused(pkg, pages, sources).map((line) => line.split(':')[0])).toEqual([
    '@call-attribution/core/time',
    'lonely of @call-attribution/core',
    'Alone of @call-attribution/core',
  ]);
  expect(unused(pkg, [...pages, 'lonely @call-attribution/core/time'], sources)).toEqual([]);
  expect(unshown(['calls top', 'calls list'], ['calls topical', 'calls list -n 3'])).toEqual([
    'calls top: no page shows it',
  ]);
});

test('links: a link to a missing file or heading is named, code is left alone', () => {
  const dead =
    '# A\n[x](no-such-file.md) [y](README.md#no-such-heading) [z](#a) `[q](gone.md)`\n```\n[in code](gone.md)\n```\n';
  expect(deadLinks('README.md', dead)).toEqual([
    'README.md: no-such-file.md leads to no file',
    'README.md: README.md#no-such-heading leads to no heading of README.md',
  ]);
});

test('links: a path of the repository in backticks that is not there is named', () => {
  const named =
    '`packages/core/src/gone.ts`, `core/src/index.ts`, `core/src/gone.ts`, `scripts/<name>.mjs`, `docs/`';
  expect(deadPaths('README.md', named)).toEqual([
    'README.md: `packages/core/src/gone.ts` is no file',
    'README.md: `core/src/gone.ts` is no file',
  ]);
});

test('markdown: anchors are those of the hosting site, blocks keep their flags and line', () => {
  expect([...anchors('# `calls list`, at once\n## Twice\n## Twice\n')]).toEqual([
    'calls-list-at-once',
    'twice',
    'twice-1',
  ]);
  expect(links('[a](b.md "t") ![i](c.png)\n[r]: d.md\n')).toEqual(['b.md', 'c.png', 'd.md']);
  expect(codeBlocks('x\n```js run\n1\n```\n')).toEqual([
    { lang: 'js', flags: ['run'], code: '1\n', line: 2 },
  ]);
});

test('snippets: a snippet that fails, does not compile or is not marked fails the check', {
  timeout: 60_000,
}, () => {
  const name = `planted-${process.pid}.md`;
  const file = join(root, 'docs', name);
  const planted = [
    '```ts',
    'const n: number = "text";',
    '```',
    '```js',
    '1',
    '```',
    '```json',
    '{,}',
    '```',
    '',
  ].join('\n');
  try {
    writeFileSync(file, planted);
    const { status, stderr } = spawnSync(process.execPath, ['scripts/snippets.mjs', name], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` },
    });
    expect(status).toBe(1);
    expect(stderr).toContain(`docs/${name}:1`);
    expect(stderr).toContain("Type 'string' is not assignable to type 'number'");
    expect(stderr).toContain('must be marked "js run"');
    expect(stderr).toContain(`docs/${name}:7`);
  } finally {
    rmSync(file, { force: true });
  }
});

test('lint: a Node module in query-dsl, a console call, a floating promise, a nested condition, packed literals, long functions and files, rings of files and packages for tests alone are refused', {
  timeout: 60_000,
}, () => {
  const dir = tempDir();
  execFileSync('git', ['init', '-q'], { cwd: dir });
  cpSync(join(root, 'biome.json'), join(dir, 'biome.json'));
  cpSync(join(root, 'scripts/lint'), join(dir, 'scripts/lint'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  const src = join(dir, 'packages/query-dsl/src');
  mkdirSync(src, { recursive: true });
  const lines = (/** @type {number} */ count) => "  void 'a line';\n".repeat(count);
  writeFileSync(join(src, 'a.ts'), `export const a = () => {\n${lines(120)}};\n`);
  writeFileSync(join(src, 'b.ts'), `export const b = () => {\n${lines(121)}};\n`);
  writeFileSync(join(src, 'f.ts'), `export const f = [\n${"  'an item',\n".repeat(599)}];\n`);
  writeFileSync(
    join(src, 'c.ts'),
    "import { readFileSync } from 'node:fs';\nexport const c = readFileSync;\nconsole.log(c);\n",
  );
  writeFileSync(
    join(src, 'd.ts'),
    'const d = async () => 1;\nexport const e = () => {\n  d();\n};\n',
  );

  // Not in query-dsl, where the rule may be off.
  const plain = join(dir, 'packages/test-tools/src');
  mkdirSync(plain, { recursive: true });
  writeFileSync(
    join(plain, 'g.ts'),
    'export const g = (n: number) => (n < 0 ? -1 : n > 0 ? 1 : 0);\n',
  );
  writeFileSync(
    join(plain, 'h.ts'),
    'export const h = (o: object) => ({ ...o, ...(o ? { b: 1 } : {}), ...{ a: 1 } });\n',
  );
  writeFileSync(
    join(plain, 'i.ts'),
    'const [a, b] = [1, 2];\nconst [c] = [a, b].map(String);\nexport const i = c;\n',
  );

  // Two files in a ring by their types, two by an import that is loaded later.
  writeFileSync(join(plain, 'j.ts'), "import type { K } from './k.ts';\nexport type J = K;\n");
  writeFileSync(join(plain, 'k.ts'), "import type { J } from './j.ts';\nexport type K = J[];\n");
  writeFileSync(join(plain, 'l.ts'), "export const l = () => import('./m.ts');\n");
  writeFileSync(join(plain, 'm.ts'), "import { l } from './l.ts';\nexport const m = l;\n");

  const core = join(dir, 'packages/core/src');
  mkdirSync(core, { recursive: true });
  writeFileSync(
    join(dir, 'packages/core/package.json'),
    '{ "dependencies": { "undici": "1" }, "devDependencies": { "fast-check": "1" } }',
  );
  for (const [name, needed] of Object.entries({ n: 'fast-check', o: 'undici', p: 'hono' }))
    writeFileSync(join(core, `${name}.ts`), `import ${name} from '${needed}';\n${name}();\n`);

  const { status, stdout, stderr } = spawnSync(
    join(root, 'node_modules/.bin/biome'),
    ['lint', '--colors=off', '--max-diagnostics=50', '.'],
    { cwd: dir, encoding: 'utf8' },
  );
  expect(status).not.toBe(0);
  const found = [
    ...`${stdout}${stderr}`.matchAll(/src\/(\w)\.ts\S* (?:lint\/\w+\/)?(\w+) .*━/g),
  ].map(([, file, rule]) => `${file}: ${rule}`);
  expect(found.sort()).toEqual([
    'b: noExcessiveLinesPerFunction',
    'c: noConsole',
    'c: noNodejsModules',
    'd: noFloatingPromises',
    'f: noExcessiveLinesPerFile',
    'g: noNestedTernary',
    'h: plugin',
    'i: plugin',
    'j: noImportCycles',
    'k: noImportCycles',
    'l: noImportCycles',
    'm: noImportCycles',
    'n: noUndeclaredDependencies',
    'p: noUndeclaredDependencies',
  ]);
});

test('doctor: an old Node and a half-finished install each get one line that says what to do', () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'scripts'));
  cpSync(join(root, 'scripts/doctor.mjs'), join(dir, 'scripts/doctor.mjs'));
  cpSync(join(root, 'package.json'), join(dir, 'package.json'));
  const run = (/** @type {string[]} */ flags) =>
    spawnSync(process.execPath, [...flags, join(dir, 'scripts/doctor.mjs')], { encoding: 'utf8' });

  const half = run([]);
  expect(half.status).toBe(1);
  expect(half.stderr.trim().split('\n')).toHaveLength(1);
  expect(half.stderr).toContain('npx --yes pnpm@12.21.0 install');

  const preload = join(dir, 'old-node.cjs');
  writeFileSync(
    preload,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } });",
  );
  const old = run(['--require', preload]);
  expect(old.status).toBe(1);
  expect(old.stderr.trim()).toBe(
    'Node 18.20.0 is too old: this project needs Node 20.19 or newer. Install it, then run the command again.',
  );
});

test('tarballs: without the name of a package nothing is made', () => {
  const dir = tempDir();
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts/pack.mjs'), join(dir, 'core')],
    { encoding: 'utf8' },
  );
  expect(status).toBe(2);
  expect(stderr).toBe('name a folder and packages: pnpm tarballs ../calls cli core node-stream\n');
  expect(readdirSync(dir)).toEqual([]);
});

test('workflows: every command is a script of this repository', () => {
  const dir = join(root, '.github/workflows');
  const commands = readdirSync(dir).flatMap((file) =>
    [...readFileSync(join(dir, file), 'utf8').matchAll(/(?:run|publish): ([^}\n]+)/g)].map(
      (match) => (match[1] ?? '').trim(),
    ),
  );
  const { scripts, packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const others = [
    'sudo bash .ci/run',
    'bash .github/pinned-pnpm.sh',
    'pnpm install --frozen-lockfile',
  ];
  expect(commands.length).toBeGreaterThan(2);
  for (const command of commands) {
    if (others.includes(command)) continue;
    const script = /^(?:npx --yes pnpm@12\.21\.0|pnpm) (?:run )?(\w+)$/.exec(command)?.[1];
    expect(scripts).toHaveProperty(script ?? command);
  }

  // What may publish runs nothing whose bytes are not known: pnpm has a hash there, and all else is
  // in the lockfile.
  const release = readFileSync(join(dir, 'release.yml'), 'utf8');
  expect(release).not.toMatch(/\bnpx\b|\bnpm (?:install|ci|exec)\b/);
  const pinned = readFileSync(join(root, '.github/pinned-pnpm.sh'), 'utf8');
  expect(pinned).toContain(`version=${packageManager.replace('pnpm@', '')}\n`);
  expect(pinned.match(/^ {2}sha512=[\da-f]{128}$/gm)).toHaveLength(2);
});

test('repository: no registry host, no unfinished mark', () => {
  const grep = (/** @type {string} */ pattern) =>
    spawnSync('git', ['grep', '-nIE', pattern], { cwd: root, encoding: 'utf8' }).stdout;
  expect(grep(`registry\\.(npmjs|yarnpkg|npmmirror)|npm\\.pkg\\.${'github'}`)).toBe('');
  expect(grep(`\\b(TO${'DO'}|FIX${'ME'}|XX${'X'})\\b`)).toBe('');
});

test('decisions: each package has a page, and each of its dependencies a line on it', () => {
  const page = (/** @type {string} */ name) =>
    readFileSync(join(root, `docs/decisions/${name}.md`), 'utf8');
  const missing = packages.flatMap(({ name, manifest: { dependencies, peerDependencies } }) =>
    Object.keys({ ...dependencies, ...peerDependencies })
      .filter(
        (need) => !need.startsWith('@call-attribution/') && !page(name).includes(`\`${need}\``),
      )
      .map((need) => `${name}: ${need}`),
  );
  expect(missing).toEqual([]);
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(Object.keys(devDependencies).filter((need) => !page('house').includes(need))).toEqual([]);
});

/**
 * Actions that are not pinned by the full hash of a commit, with their version as a comment.
 * @param {string} text of a workflow
 */
const unpinned = (text) =>
  text
    .split('\n')
    .filter((line) => /^\s*(?:- )?uses:/.test(line) && !/uses: \.\//.test(line))
    .filter((line) => !/uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line));

test('actions: each one is pinned by the hash of a commit, with its version as a comment', () => {
  const dir = join(root, '.github/workflows');
  const texts = readdirSync(dir).map((file) => readFileSync(join(dir, file), 'utf8'));
  expect(texts.flatMap(unpinned)).toEqual([]);
  const pin = 'd23441a48e516b6c34aea4fa41551a30e30af803';
  const lines = ['a/b@v5', `a/b@${pin}`, `a/b@${pin} # v6`, `a/b@${pin} # v6.1.0`, './local'];
  expect(unpinned(lines.map((line) => `      - uses: ${line}`).join('\n'))).toHaveLength(3);
});

test('manifests: npm can compare each package with the workflow that publishes it', () => {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const { name, manifest } of packages)
    expect(manifest, name).toMatchObject({
      license: 'MIT',
      engines: { node: expect.stringMatching(/^>=20\.19\.0/) },
      repository: { url: repository.url, directory: `packages/${name}` },
      publishConfig: { access: 'public', provenance: true },
    });
});
