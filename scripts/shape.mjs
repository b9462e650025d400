// `pnpm shape`: how large the packages are and how much they decide, beside the ceilings of shape.json. Fails above a ceiling, when
// a ceiling was raised without a reason, and for hand-written code outside of the places for it.
// With --lower it writes down what was reached. Counted are `packages/*/src` and
// `packages/*/browser` without generated files.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { family } from './errors.mjs';
import { generatedFiles } from './generate.mjs';
import { importSource } from './sources.mjs';
import { root } from './workspace.mjs';

/**
 * @typedef {{ lines: number, branches: number, nested: number, absent: number, tests: number }}
 * Counts
 */
/**
 * @typedef {{ lines: number, per1000: number, branches: number, nested: number, tests: number,
 * goal?: number, reason?: string }} Ceiling
 */
/** @typedef {{ codes: number, absent: number, commands: number, options: number }} Whole */
/**
 * @typedef {{ packages: Record<string, Ceiling>, whole: Whole & { reason?: string },
 *   goals: Whole & { lines: number, per1000: number, nested: number, tests: number } }} Shape
 */
/** @typedef {{ packages: Record<string, Counts>, whole: Whole }} Measured */

// The TypeScript of the house has no compiler API; that of API Extractor has.
const ts = createRequire(createRequire(import.meta.url).resolve('@microsoft/api-extractor'))(
  'typescript',
);

const code = /\.[cm]?[jt]sx?$/;

/** Its test servers are a row of their own. @param {string} file */
const rowOf = (file) =>
  file.startsWith('packages/core/src/testing/') ? 'core/testing' : (file.split('/')[1] ?? '');

/** @param {Pick<Counts, 'branches' | 'lines'>} counts */
const per1000 = ({ branches, lines }) => Math.round((1000 * branches) / Math.max(lines, 1));

/**
 * Decisions of a source: branches, conditions inside of conditions, and what may be absent.
 * @param {string} text
 */
export function decisionsIn(text) {
  const found = { branches: 0, nested: 0, absent: 0 };

  const visit = (/** @type {any} */ node, /** @type {number} */ depth) => {
    let inner = depth;
    if (ts.isIfStatement(node)) found.branches++;
    if (ts.isConditionalExpression(node)) {
      found.branches++;
      if (depth > 0) found.nested++;
      inner = depth + 1;
    }

    if (ts.isFunctionLike(node)) inner = 0;
    if (mayBeAbsent(node)) found.absent++;
    ts.forEachChild(node, (/** @type {any} */ child) => visit(child, inner));
  };

  visit(ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true), 0);
  return found;
}

/**
 * An entry of a table of options (`option.number(…)`), a member of a type that is optional or may
 * be undefined, `Partial`, and
 * `.optional()`, `.nullish()`, `.default(…)` of a schema.
 * @param {any} node
 */
function mayBeAbsent(node) {
  if (ts.isPropertyAccessExpression(node) && ts.isCallExpression(node.parent))
    return (
      node.expression.getText() === 'option' ||
      /^(?:optional|nullish|default)$/.test(node.name.text)
    );

  if (ts.isPropertySignature(node))
    return (
      node.questionToken !== undefined ||
      /\| undefined\b|\bundefined \|/.test(node.type?.getText() ?? '')
    );

  return ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Partial';
}

/**
 * The figures of each package of a repository, and code that is in no place for it.
 * @param {string} repository @param {readonly string[]} generated paths from there
 */
export function measure(repository, generated) {
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', 'packages'],
    {
      cwd: repository,
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((file) => existsSync(join(repository, file)));

  /** @type {Record<string, Counts>} */
  const packages = {};
  const misplaced = [];
  for (const file of files) {
    const [, name = '', folder = '', ...deeper] = file.split('/');
    const isSource = folder === 'src' || folder === 'browser';
    if (file.includes('generated')) {
      if (!generated.includes(file))
        misplaced.push(`${file}: only what pnpm generate writes may be called generated`);
      continue;
    }
    if (code.test(file) && folder !== 'test') {
      // Scripts of the build, and folders that are programs of their own.
      const isScript = deeper.length === 0 && /^(?:generate|.*\.build)\.mjs$/.test(folder);
      const isProgram = existsSync(join(repository, 'packages', name, folder, 'package.json'));
      if (!isSource && !isScript && !isProgram)
        misplaced.push(`${file}: code belongs into src or browser`);
    }
    if (!isSource && folder !== 'test') continue;
    const row = folder === 'test' ? name : rowOf(file);
    packages[row] ??= { lines: 0, branches: 0, nested: 0, absent: 0, tests: 0 };
    const text = readFileSync(join(repository, file), 'utf8');
    const lines = text.split('\n').length - 1;
    packages[row][isSource ? 'lines' : 'tests'] += lines;
    if (!isSource || !code.test(file)) continue;
    for (const [key, count] of Object.entries(decisionsIn(text)))
      packages[row][/** @type {'branches'} */ (key)] += count;
  }

  return { packages, misplaced };
}

/** Groups of options that several commands have, and those of every command. */
const shared = /^(?:Which calls|Output|Accounts|Connection|Listening|Sandbox|Common options)$/;

/** The options of a command that are in no shared group. @param {string} help */
export const ownOptions = (help) =>
  help
    .split(/\n(?=\S)/)
    .filter((section) => !shared.test(section.split(':\n')[0] ?? ''))
    .flatMap((section) =>
      [...section.matchAll(/^ {2}(?:-\w, )?--([a-z][\w-]*)/gm)].map(([, name]) => name),
    )
    .filter((name) => !/^(?:help|version|debug)$/.test(name ?? '')).length;

/**
 * All commands with the number of their own options: what help lists and help knows.
 * @param {(words: readonly string[]) => Promise<string>} helpOf
 * @param {readonly string[]} [words] @returns {Promise<Map<string, number>>}
 */
export async function commandsOf(helpOf, words = []) {
  const found = new Map();
  const help = await helpOf(words);
  for (const [, entry = ''] of help.matchAll(
    /^ {2}([a-z][a-z-]*(?: [a-z][a-z-]*)*)(?= {2}|$| [[<])/gm,
  )) {
    const next = [...words, ...entry.split(' ')];
    const own = entry === 'help' ? '' : await helpOf(next);
    if (!new RegExp(`^Usage: calls ${next.join(' ')}\\b`, 'm').test(own)) continue;
    if (!/^Usage: .*<command>|^Usage: .*\[command\]/m.test(own))
      found.set(next.join(' '), ownOptions(own));
    else for (const [name, count] of await commandsOf(helpOf, next)) found.set(name, count);
  }

  return found;
}

/** What `calls` prints as help, from its sources. @param {readonly string[]} words */
export async function helpOf(words) {
  const { run } = /** @type {{ run(words: readonly string[], io: object): Promise<number> }} */ (
    await importSource(join(root, 'packages/cli/src/index.ts'))
  );
  let text = '';

  /** @param {string} chunk @param {unknown[]} rest */
  const write = (chunk, ...rest) => {
    text += chunk;
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  };

  const io = {
    ...{
      stdin: process.stdin,
      stdout: { write },
      stderr: { write },
      env: {},
      cwd: root,
      typedAs: 'calls',
    },
    ...{ clock: { now: () => Date.now() }, signal: new AbortController().signal },
  };
  const status = await run([...words, '--help'], io);
  return status === 0 ? text : '';
}

/** Every figure that is above its ceiling. @param {Shape} shape @param {Measured} now */
export function tooMuch({ packages, whole }, now) {
  const found = [];
  for (const [name, counts] of Object.entries(now.packages)) {
    const most = packages[name];
    if (most === undefined) {
      found.push(`${name} has no ceilings in shape.json: add them`);
      continue;
    }
    for (const key of /** @type {const} */ (['lines', 'nested', 'tests']))
      if (counts[key] > most[key])
        found.push(`${name}: ${counts[key]} ${words[key]}, at most ${most[key]}`);
    // Who only deletes lines without branches is not above the ceiling.
    if (per1000(counts) > most.per1000 && counts.branches > most.branches)
      found.push(
        `${name}: ${per1000(counts)} branches in 1,000 lines, at most ${most.per1000} (or ${most.branches} branches)`,
      );
  }

  for (const key of /** @type {(keyof Whole)[]} */ (Object.keys(now.whole)))
    if (now.whole[key] > whole[key])
      found.push(`${now.whole[key]} ${words[key]}, at most ${whole[key]}`);

  return found;
}

const words = {
  ...{ lines: 'lines', nested: 'conditions inside of conditions', tests: 'lines of tests' },
  ...{ codes: 'codes of errors', absent: 'things that may be absent', commands: 'commands' },
  options: 'own options of a command',
};

/**
 * Ceilings that are higher than before, without a new reason beside them.
 * @param {Shape} before
 * @param {Shape} after
 */
export function raised(before, after) {
  /** @param {string} name @param {object | undefined} old @param {object} now */
  const compare = (name, old, now) => {
    const [from, to] = [old, now].map(
      (each) => /** @type {Record<string, unknown>} */ (each ?? {}),
    );
    const higher = Object.keys(to ?? {}).filter(
      (key) =>
        key !== 'goal' &&
        typeof to?.[key] === 'number' &&
        Number(to[key]) > Number(from?.[key] ?? 0),
    );
    if (higher.length === 0 || (to?.reason && to.reason !== from?.reason)) return [];
    return [`${name}: the ceiling of ${higher.join(', ')} was raised; add a "reason" beside it`];
  };
  return [
    ...Object.entries(after.packages).flatMap(([name, now]) =>
      compare(name, before.packages[name], now),
    ),
    ...compare('whole', before.whole, after.whole),
  ];
}

/**
 * The ceilings, written down to what was reached.
 * @param {Shape} shape
 * @param {Measured} now
 * @returns {Shape}
 */
export function lowered(shape, now) {
  const packages = Object.entries(shape.packages).flatMap(([name, ceiling]) => {
    const counts = now.packages[name];
    if (counts === undefined) return [];
    const reached = { ...counts, per1000: per1000(counts) };

    /** @type {Ceiling} */
    const next = { ...ceiling };
    for (const key of /** @type {const} */ (['lines', 'per1000', 'branches', 'nested', 'tests']))
      next[key] = Math.min(ceiling[key], reached[key]);
    return [[name, next]];
  });
  const whole = { ...shape.whole };
  for (const key of /** @type {(keyof Whole)[]} */ (Object.keys(now.whole)))
    whole[key] = Math.min(whole[key], now.whole[key]);
  return { ...shape, packages: Object.fromEntries(packages), whole };
}

/**
 * What this change is compared with: where it left main or, on main, the commit before.
 * @returns {string | null}
 */
function baseCommit() {
  const git = (/** @type {string[]} */ ...args) => {
    try {
      return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
    } catch {
      return null;
    }
  };

  const head = git('rev-parse', 'HEAD');
  const fork = git('merge-base', 'HEAD', 'origin/main') ?? git('merge-base', 'HEAD', 'main');
  return fork !== null && fork !== head ? fork : git('rev-parse', '--verify', 'HEAD~1');
}

/**
 * Lines that were added and removed since a commit, by row: sources, then tests.
 * @param {string} base
 */
function changesSince(base) {
  /** @type {Record<string, { source: [number, number], test: [number, number] }>} */
  const rows = {};
  const text = execFileSync('git', ['diff', '--numstat', '--no-renames', base, '--', 'packages'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const [, added, removed, file = ''] of text.matchAll(/^(\d+)\t(\d+)\t(.+)$/gm)) {
    const kind = /^packages\/[^/]+\/(src|browser|test)\//.exec(file)?.[1];
    if (kind === undefined || file.includes('generated')) continue;
    const name = kind === 'test' ? (file.split('/')[1] ?? '') : rowOf(file);
    rows[name] ??= { source: [0, 0], test: [0, 0] };
    const sum = rows[name][kind === 'test' ? 'test' : 'source'];
    sum[0] += Number(added);
    sum[1] += Number(removed);
  }

  return rows;
}

/** @param {Shape} shape @param {Measured} now @param {ReturnType<typeof changesSince>} changes */
function print({ packages, whole, goals }, now, changes) {
  const number = (/** @type {number | undefined} */ count) => count?.toLocaleString('en-US') ?? '';
  const signed = (/** @type {[number, number] | undefined} */ [added, removed] = [0, 0]) =>
    added + removed === 0 ? '' : `+${number(added)} -${number(removed)}`;
  const names = [...new Set([...Object.keys(packages), ...Object.keys(now.packages)])].sort();
  const zero = { lines: 0, branches: 0, nested: 0, absent: 0, tests: 0 };
  const sum = { ...zero };
  const most = { lines: 0, nested: 0, tests: 0 };

  /** @type {string[][]} */
  const rows = [
    [
      'package',
      'lines',
      'ceiling',
      'goal',
      'this change',
      '',
      'per 1000',
      'ceiling',
      '',
      'nested',
      'ceiling',
      '',
    ].concat(['tests', 'ceiling', 'this change']),
  ];
  for (const name of names) {
    const counts = now.packages[name] ?? zero;
    for (const key of /** @type {(keyof Counts)[]} */ (Object.keys(sum))) sum[key] += counts[key];
    const own = packages[name];
    for (const key of /** @type {(keyof typeof most)[]} */ (Object.keys(most)))
      most[key] += own?.[key] ?? 0;
    rows.push([
      ...[
        name,
        number(counts.lines),
        number(own?.lines),
        number(own?.goal),
        signed(changes[name]?.source),
        '',
      ],
      ...[
        number(per1000(counts)),
        number(own?.per1000),
        '',
        number(counts.nested),
        number(own?.nested),
        '',
      ],
      ...[number(counts.tests), number(own?.tests), signed(changes[name]?.test)],
    ]);
  }

  rows.push([
    ...['all', number(sum.lines), number(most.lines), number(goals.lines), '', ''],
    ...[
      number(per1000(sum)),
      `goal ${goals.per1000}`,
      '',
      number(sum.nested),
      number(most.nested),
      '',
    ],
    ...[number(sum.tests), number(most.tests), `goal ${number(goals.tests)}`],
  ]);
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );

  const line = (/** @type {string[]} */ row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join(' ');

  for (const row of rows) console.log(line(row).trimEnd());
  console.log('');
  for (const key of /** @type {(keyof Whole)[]} */ (Object.keys(now.whole)))
    console.log(
      `${words[key].padEnd(26)} ${number(now.whole[key]).padStart(6)}  ceiling ${number(whole[key])}, goal ${number(goals[key])}`,
    );
}

if (process.argv[1] === import.meta.filename) {
  const file = join(root, 'shape.json');
  const generated = (await generatedFiles()).map(({ path }) => path);
  const { packages, misplaced } = measure(root, generated);
  const commands = await commandsOf(helpOf);
  const classes = (await family()).filter(({ name }) => name !== 'Refusal'); // its codes are the answers of the API
  /** @type {Measured} */
  const now = {
    packages,
    whole: {
      codes: classes.reduce((sum, { codes }) => sum + codes.length, 0),
      absent: Object.values(packages).reduce((sum, { absent }) => sum + absent, 0),
      commands: commands.size,
      options: Math.max(...commands.values()),
    },
  };
  const written = /** @type {Shape} */ (JSON.parse(readFileSync(file, 'utf8')));
  const shape = process.argv.includes('--lower') ? lowered(written, now) : written;
  if (shape !== written) writeFileSync(file, `${JSON.stringify(shape, null, 2)}\n`);
  const base = baseCommit();
  const before = base === null ? null : shapeAt(base);
  print(shape, now, base === null ? {} : changesSince(base));
  const [largest] = [...commands].sort(([, a], [, b]) => b - a);
  console.log(`The command with the most options of its own is "${largest?.[0]}".`);
  const problems = [
    ...tooMuch(shape, now),
    ...(before === null ? [] : raised(before, shape)),
    ...misplaced,
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

/** shape.json in a commit, or null. @param {string} commit @returns {Shape | null} */
function shapeAt(commit) {
  try {
    return JSON.parse(
      execFileSync('git', ['show', `${commit}:shape.json`], {
        cwd: root,
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    );
  } catch {
    return null;
  }
}
